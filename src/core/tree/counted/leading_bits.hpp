// Doubles as integers in the same order, of which the leading bits are counted to find exact quantiles.
#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::counted {

inline uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // -0.0 is 0.0
  return bits >> 63 ? ~bits : bits | (uint64_t(1) << 63);
}

// The prefixes (ascending, the first n_bits of numbers) by their first 16 bits, so that few are left to compare.
class PrefixIndex {
 public:
  PrefixIndex(std::span<const uint64_t> prefixes, int n_bits)
      : prefixes_(prefixes), shift_(64 - n_bits), begin_((size_t(1) << known_) + 1) {
    for (const uint64_t prefix : prefixes) ++begin_[size_t(prefix << shift_ >> (64 - known_)) + 1];
    for (size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
  }

  // The place of the prefix that a key begins with; -1 where there is none.
  int64_t place(uint64_t key) const {
    const size_t first_bits = size_t(key >> (64 - known_));
    size_t first = begin_[first_bits], last = begin_[first_bits + 1];
    const uint64_t head = key >> shift_;
    while (last - first > 1) {
      const size_t middle = (first + last) / 2;
      (prefixes_[middle] <= head ? first : last) = middle;
    }
    return first < last && prefixes_[first] == head ? int64_t(first) : -1;
  }

 private:
  static constexpr int known_ = 16;
  std::span<const uint64_t> prefixes_;
  int shift_;
  std::vector<uint32_t> begin_;
};

// Calls `use` with the cell of each known value that begins with one of the prefixes: the place of the prefix, then the next `bits`
// bits. The prefixes have the bits before these; there are none before the first 16.
template <std::invocable<uint64_t> Use>
void each_prefix_cell(std::span<const double> values, std::span<const uint64_t> prefixes, int shift, int bits, const Use& use) {
  const uint64_t mask = (uint64_t(1) << bits) - 1;
  if (shift + bits == 64) {
    for (const double value : values)
      if (!std::isnan(value)) use(ordered_bits(value) >> shift);
    return;
  }
  const PrefixIndex index(prefixes, 64 - shift - bits);
  for (const double value : values) {
    const uint64_t key = ordered_bits(value);
    const int64_t place = std::isnan(value) ? -1 : index.place(key);
    if (place >= 0) use((uint64_t(place) << bits) | ((key >> shift) & mask));
  }
}

// Whether there are more than `most` different known values: stops where that is certain.
inline bool are_many(std::span<const double> values, size_t most) {
  if (values.size() <= most) return false;
  const int log_size = std::bit_width(2 * most + 2);
  std::vector<uint64_t> table(size_t(1) << log_size);  // 0 is an empty place: the key of no known value
  size_t n_met = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    const uint64_t key = ordered_bits(value);
    size_t at = size_t((key * 0x9E3779B97F4A7C15u) >> (64 - log_size));
    while (table[at] != 0 && table[at] != key) at = (at + 1) & (table.size() - 1);
    if (table[at] == key) continue;
    table[at] = key;
    if (++n_met > most) return true;
  }
  return false;
}

}  // namespace baytree::tree::counted
