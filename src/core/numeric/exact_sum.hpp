// Exact sums of doubles and of their products: fixed-point numbers wide enough for every finite double and its square.
//
// A cell is a row of 64-bit limbs in base 2^32; limb k weighs 2^(32 k - offset). Because additions are exact, the
// order of the rows, the number of threads and the boundaries of parts cannot change a single bit of a sum.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "util/thread_pool.hpp"

namespace baytree::numeric {

inline constexpr int limb_bits = 32;
inline constexpr int limb_offset = 3232;  // a multiple of 32; the lowest bit of subnormal weight * value^2 is 2^-3222
inline constexpr int n_limbs = 203;       // up to 2^(32 * 203 - 3232) = 2^3264: weight * value^2 < 2^3072, times 2^190 rows

// Brings every limb but the last into [0, 2^32); that one carries the sign.
inline void carry_over(std::span<std::int64_t> limbs) {
  std::int64_t carry = 0;
  for (std::int64_t& limb : limbs.first(limbs.size() - 1)) {
    const std::int64_t sum = limb + carry;
    carry = sum >> limb_bits;
    limb = sum & 0xffffffff;
  }
  limbs.back() += carry;
}

// An exact sum. The limbs used so far are stored in a short window, so that the cells of many columns stay in the
// cache; only sums of numbers of very different magnitudes allocate all limbs.
class ExactCell {
 public:
  // Adds an integer multiple of a power of two: value * 2^exponent.
  void add(std::int64_t value, int exponent) {
    const int position = exponent + limb_offset;
    const int limb = position / limb_bits, shift = position % limb_bits;
    const __int128 wide = static_cast<__int128>(value) << shift;  // at most 53 + 31 bits, or 64 + 31
    std::int64_t* const at = limbs_from(limb);
    at[0] += static_cast<std::int64_t>(wide & 0xffffffff);
    at[1] += static_cast<std::int64_t>((wide >> 32) & 0xffffffff);
    at[2] += static_cast<std::int64_t>(wide >> 64);
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

  // Afterwards every limb of the window but the last is a digit in [0, 2^32).
  void normalise() {
    if (all_) carry_over(*all_);
    else carry_over(near_);
    pending_ = 0;
  }

  // The limbs from `first` on, after `normalise`; higher limbs are the sign extension of the last one.
  std::span<const std::int64_t> limbs() const { return all_ ? std::span<const std::int64_t>(*all_) : near_; }
  int first() const { return all_ ? 0 : std::max(first_, 0); }

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

  // Storage of three limbs, starting with this one.
  std::int64_t* limbs_from(int limb) {
    if (static_cast<unsigned>(limb - first_) < n_reached && first_ >= 0) return near_.data() + (limb - first_);
    return all_ || first_ >= 0 ? all_from(limb) : begin_at(limb);
  }

  // Places the window so that the first number added lies near its top: later numbers are mostly smaller.
  std::int64_t* begin_at(int limb) {
    first_ = std::clamp(limb - 8, 0, n_limbs - static_cast<int>(near_.size()));
    return limbs_from(limb);
  }

  std::int64_t* all_from(int limb) {
    if (!all_) {
      all_ = std::make_unique<std::array<std::int64_t, n_limbs>>();
      std::copy(near_.begin(), near_.end(), all_->begin() + first_);
      first_ = n_limbs;  // the window is no longer used
    }
    return all_->data() + limb;
  }

  static constexpr int carry_after = 1 << 28;  // 2^28 additions of less than 2^33 stay below 2^62
  static constexpr unsigned n_reached = 14;    // first limbs of additions; the window has four more, for the other two limbs and for carries
  std::array<std::int64_t, n_reached + 4> near_{};
  int first_ = -1;  // first limb of the window; negative while the sum is empty
  int pending_ = 0;
  std::unique_ptr<std::array<std::int64_t, n_limbs>> all_;
};

// Many exact numbers in one window of limbs: [n_cells, n_limbs], the limb at `low` first, the last one signed.
struct ExactTable {
  std::vector<std::int64_t> limbs;
  std::size_t width = 1;
  int low = limb_offset / limb_bits;

  std::size_t n_cells() const { return limbs.size() / width; }
  std::span<const std::int64_t> cell(std::size_t k) const { return std::span(limbs).subspan(k * width, width); }
  std::span<std::int64_t> cell(std::size_t k) { return std::span(limbs).subspan(k * width, width); }
  bool is_zero() const {
    return std::all_of(limbs.begin(), limbs.end(), [](std::int64_t limb) { return limb == 0; });
  }
};

// Index of the highest limb that is not a sign extension; it can carry the sign itself.
inline int highest_limb(std::span<const std::int64_t> limbs) {
  int top = static_cast<int>(limbs.size()) - 1;
  const bool is_negative = limbs[static_cast<std::size_t>(top)] < 0;
  const std::int64_t filler = is_negative ? 0xffffffff : 0;
  if (limbs[static_cast<std::size_t>(top)] != (is_negative ? -1 : 0)) return top;
  for (--top; top > 0 && limbs[static_cast<std::size_t>(top)] == filler; --top) {}
  const bool has_sign_bit = limbs[static_cast<std::size_t>(top)] & 0x80000000;
  return has_sign_bit == is_negative ? top : top + 1;
}

// The limbs that some numbers need together: from the lowest non-zero limb to the highest that must carry a sign.
struct Reach {
  int low = n_limbs, high = -1;

  void include(std::span<const std::int64_t> limbs, int first) {
    const auto lowest = std::find_if(limbs.begin(), limbs.end(), [](std::int64_t limb) { return limb != 0; });
    if (lowest == limbs.end()) return;
    low = std::min(low, first + static_cast<int>(lowest - limbs.begin()));
    high = std::max(high, first + highest_limb(limbs));
  }
  void include(const Reach& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }

  // An all-zero table has one zero limb at weight 1.
  ExactTable table(std::size_t n_cells) const {
    ExactTable table;
    if (high >= 0) {
      table.low = low;
      table.width = static_cast<std::size_t>(std::max(high, low) - low + 1);
    }
    table.limbs.resize(n_cells * table.width);
    return table;
  }
};

// Writes a number, whose first limb is `first` and whose last limb is signed, to limbs that start at `low`.
inline void write_limbs(std::span<const std::int64_t> limbs, int first, std::span<std::int64_t> to, int low) {
  const auto size = static_cast<int>(to.size()), begin = std::clamp(first - low, 0, size);
  const int end = std::clamp(first + static_cast<int>(limbs.size()) - low, begin, size);
  std::fill_n(to.begin(), begin, 0);
  for (int k = begin; k < end; ++k) to[static_cast<std::size_t>(k)] = limbs[static_cast<std::size_t>(k + low - first)] & 0xffffffff;
  std::fill(to.begin() + end, to.end(), limbs.back() < 0 ? 0xffffffff : 0);
  to.back() = static_cast<std::int32_t>(static_cast<std::uint32_t>(to.back()));
}

// The cells in their smallest common window.
inline ExactTable export_cells(std::vector<ExactCell>& cells) {
  Reach reach;
  for (ExactCell& cell : cells) {
    cell.normalise();
    reach.include(cell.limbs(), cell.first());
  }
  ExactTable table = reach.table(cells.size());
  for (std::size_t k = 0; k < cells.size(); ++k) write_limbs(cells[k].limbs(), cells[k].first(), table.cell(k), table.low);
  return table;
}

// Copies cells of one table into another with a larger window, initially zero, from this cell on.
inline void widen_cells(std::span<const std::int64_t> limbs, const ExactTable& from, ExactTable& to, std::size_t cell) {
  const auto below = static_cast<std::size_t>(from.low - to.low), above = to.width - below - from.width;
  std::int64_t* at = to.limbs.data() + cell * to.width + below;
  if (to.width == from.width) return void(std::copy(limbs.begin(), limbs.end(), at));
  for (std::size_t first = 0; first < limbs.size(); first += from.width, at += to.width) {
    for (std::size_t k = 0; k < from.width; ++k) at[k] = limbs[first + k];
    if (above == 0 || at[from.width - 1] >= 0) continue;
    at[from.width - 1] &= 0xffffffff;
    for (std::size_t k = 0; k < above; ++k) at[from.width + k] = 0xffffffff;
    at[from.width + above - 1] = -1;
  }
}

// Joins tables of the same rows, [n_rows, n_columns of each], in their smallest common window.
inline ExactTable side_by_side(std::span<const ExactTable> tables, std::size_t n_rows) {
  Reach reach;
  std::size_t n_cells = 0;
  for (const ExactTable& table : tables) {
    n_cells += table.n_cells();
    if (table.is_zero()) continue;  // fits any window
    reach.include({table.low, table.low + static_cast<int>(table.width) - 1});
  }
  ExactTable whole = reach.table(n_cells);
  std::size_t column = 0;
  for (const ExactTable& table : tables) {
    const std::size_t n_columns = n_rows == 0 ? 0 : table.n_cells() / n_rows;
    for (std::size_t row = 0; row < n_rows; ++row) {
      const std::span<const std::int64_t> from = std::span(table.limbs).subspan(row * n_columns * table.width, n_columns * table.width);
      if (!table.is_zero()) widen_cells(from, table, whole, row * (n_cells / n_rows) + column);
    }
    column += n_columns;
  }
  return whole;
}

inline constexpr std::size_t run_cells = 4096;  // cells of a task: much longer than handing it to a thread

// Carries limbs of any size below 2^62, [n_cells, width], into digits in their smallest common window, in parallel.
inline ExactTable carried_cells(std::span<const std::int64_t> limbs, std::size_t width, int low, Workers& workers) {
  const std::size_t n_cells = limbs.size() / width, wide = width + 2, n_runs = (n_cells + run_cells - 1) / run_cells;
  std::vector<std::int64_t> digits(n_cells * wide);
  const auto cell_of = [&](std::size_t cell) { return std::span(digits).subspan(cell * wide, wide); };
  const auto each_run = [&](const auto& work) {
    workers.run(n_runs, [&](std::size_t run, int) {
      for (std::size_t cell = run * run_cells; cell < std::min((run + 1) * run_cells, n_cells); ++cell) work(run, cell);
    });
  };
  std::vector<Reach> reached(n_runs);
  each_run([&](std::size_t run, std::size_t cell) {
    std::copy_n(limbs.begin() + static_cast<std::ptrdiff_t>(cell * width), width, cell_of(cell).begin());
    carry_over(cell_of(cell));
    reached[run].include(cell_of(cell), low);
  });
  Reach reach;
  for (const Reach& each : reached) reach.include(each);
  ExactTable table = reach.table(n_cells);
  each_run([&](std::size_t, std::size_t cell) { write_limbs(cell_of(cell), low, table.cell(cell), table.low); });
  return table;
}

}  // namespace baytree::numeric
