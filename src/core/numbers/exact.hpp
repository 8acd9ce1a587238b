// Exact sums of doubles and of their products: fixed-point numbers wide enough for every finite double and its square.
//
// A cell is a row of 64-bit limbs in base 2^32; limb k weighs 2^(32 k - offset). Because additions are exact, the
// order of the rows, the number of threads and the boundaries of parts cannot change a single bit of a sum.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <algorithm>
#include <span>
#include <vector>

namespace baytree::numbers {

inline constexpr int limb_bits = 32;
inline constexpr int limb_offset = 3232;  // a multiple of 32; the lowest bit of subnormal weight * value^2 is 2^-3222
inline constexpr int n_limbs = 203;       // up to 2^(32 * 203 - 3232) = 2^3264: weight * value^2 < 2^3072, times 2^190 rows

class ExactCell {
 public:
  // Adds an integer multiple of a power of two: value * 2^exponent.
  void add(std::int64_t value, int exponent) {
    const int position = exponent + limb_offset;
    const int limb = position / limb_bits, shift = position % limb_bits;
    const __int128 wide = static_cast<__int128>(value) << shift;  // at most 53 + 31 bits, or 64 + 31
    limbs_[limb] += static_cast<std::int64_t>(wide & 0xffffffff);
    limbs_[limb + 1] += static_cast<std::int64_t>((wide >> 32) & 0xffffffff);
    limbs_[limb + 2] += static_cast<std::int64_t>(wide >> 64);
    if (++pending_ == carry_after) normalise();
  }

  void add(double value) {
    if (value == 0) return;
    const auto [integer, exponent] = split(value);
    add(integer, exponent);
  }

  // Adds the product a * b exactly: 53 x 53 bits as two halves.
  void add_product(double a, double b) {
    if (a == 0 || b == 0) return;
    const auto [left, left_exponent] = split(a);
    const auto [right, right_exponent] = split(b);
    add_wide(static_cast<__int128>(left) * right, left_exponent + right_exponent);
  }

  // Adds w * x * x exactly; the product of three 53-bit integers is taken in two parts of x * x.
  void add_weighted_square(double w, double x) {
    if (w == 0 || x == 0) return;
    const auto [weight, weight_exponent] = split(w);
    const auto [value, exponent] = split(x);
    const __int128 square = static_cast<__int128>(value) * value;
    const auto low = static_cast<std::int64_t>(square & ((__int128{1} << 53) - 1));
    const auto high = static_cast<std::int64_t>(square >> 53);
    add_wide(static_cast<__int128>(low) * weight, 2 * exponent + weight_exponent);
    add_wide(static_cast<__int128>(high) * weight, 2 * exponent + weight_exponent + 53);
  }

  void add(const ExactCell& other) {
    normalise();
    for (int k = 0; k < n_limbs; ++k) limbs_[k] += other.limbs_[k];
    pending_ = carry_after / 2;
    normalise();
  }

  // Brings every limb but the last into [0, 2^32); the last carries the sign.
  void normalise() {
    std::int64_t carry = 0;
    for (int k = 0; k + 1 < n_limbs; ++k) {
      const std::int64_t sum = limbs_[k] + carry;
      carry = sum >> limb_bits;
      limbs_[k] = sum & 0xffffffff;
    }
    limbs_[n_limbs - 1] += carry;
    pending_ = 0;
  }

  std::span<const std::int64_t, n_limbs> limbs() const { return limbs_; }

 private:
  struct Split {
    std::int64_t integer;
    int exponent;
  };

  // value = integer * 2^exponent, integer of at most 53 bits.
  static Split split(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int field = static_cast<int>((bits >> 52) & 0x7ff);
    const auto fraction = static_cast<std::int64_t>(bits & 0xfffffffffffffULL);
    const std::int64_t magnitude = field ? fraction | (std::int64_t{1} << 52) : fraction;
    return {bits >> 63 ? -magnitude : magnitude, (field ? field : 1) - 1075};
  }

  void add_wide(__int128 value, int exponent) {
    const auto low = static_cast<std::int64_t>(value & ((__int128{1} << 62) - 1));
    add(low, exponent);
    add(static_cast<std::int64_t>(value >> 62), exponent + 62);
  }

  static constexpr int carry_after = 1 << 28;  // 2^28 additions of less than 2^33 stay below 2^62
  std::array<std::int64_t, n_limbs> limbs_{};
  int pending_ = 0;
};

// Many exact numbers in one window of limbs: [n_cells, n_limbs], the limb at `low` first, the last one signed.
struct ExactTable {
  std::vector<std::int64_t> limbs;
  std::size_t width = 1;
  int low = limb_offset / limb_bits;
};

// The index of the highest limb that is more than the sign's extension, so that it can carry the sign itself.
inline int highest_limb(std::span<const std::int64_t, n_limbs> limbs) {
  const bool is_negative = limbs[n_limbs - 1] < 0;
  const std::int64_t filler = is_negative ? 0xffffffff : 0;
  int top = n_limbs - 1;
  if (limbs[top] != (is_negative ? -1 : 0)) return top;
  for (--top; top > 0 && limbs[top] == filler; --top) {}
  const bool has_sign_bit = limbs[top] & 0x80000000;
  return has_sign_bit == is_negative ? top : top + 1;
}

// The smallest common window of these cells. An all-zero table is one zero limb at weight 1.
inline ExactTable export_cells(std::vector<ExactCell>& cells) {
  ExactTable table;
  int low = n_limbs, high = -1;
  for (ExactCell& cell : cells) {
    cell.normalise();
    const auto limbs = cell.limbs();
    const auto first = std::find_if(limbs.begin(), limbs.end(), [](std::int64_t limb) { return limb != 0; });
    if (first == limbs.end()) continue;
    low = std::min(low, static_cast<int>(first - limbs.begin()));
    high = std::max(high, highest_limb(limbs));
  }
  if (high >= 0) {
    table.low = low;
    table.width = static_cast<std::size_t>(std::max(high, low) - low + 1);
  }
  table.limbs.reserve(cells.size() * table.width);
  for (const ExactCell& cell : cells)
    for (std::size_t k = 0; k < table.width; ++k) {
      const std::int64_t limb = cell.limbs()[static_cast<std::size_t>(table.low) + k];
      const bool is_top = k + 1 == table.width;
      table.limbs.push_back(is_top ? static_cast<std::int32_t>(static_cast<std::uint32_t>(limb)) : limb);
    }
  return table;
}

}  // namespace baytree::numbers
