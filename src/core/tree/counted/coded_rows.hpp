// Rows given as codes of one width: their leaf in a tree of tests on codes, and counts of each code per class and leaf;
// codes of numbers by intervals; and prefixes of their bits, for exact quantiles.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::counted {

// Routing and counting of coded rows.

template <typename C>
concept Code = std::same_as<C, uint8_t> || std::same_as<C, uint16_t> || std::same_as<C, uint32_t>;

// A row at node k whose code in column[k] is c goes to child[start[k] + c]; if that or column[k] is negative, it ends
// at k.
struct CodeTests {
  std::span<const int32_t> column;  // [n_nodes]
  std::span<const int64_t> start;   // [n_nodes]
  std::span<const int32_t> child;
};

// place: `place_of` of the node where each row ends. codes: [n_columns, n_rows].
template <Code C>
void coded_places(std::span<const C> codes, const CodeTests& tests, std::span<const int32_t> place_of, std::span<int32_t> place) {
  const size_t n = place.size();
  for (size_t row = 0; row < n; ++row) {
    size_t at = 0;
    while (tests.column[at] >= 0) {
      const C code = codes[size_t(tests.column[at]) * n + row];
      const int32_t child = tests.child[size_t(tests.start[at]) + code];
      if (child < 0) break;
      at = size_t(child);
    }
    place[row] = place_of[at];
  }
}

// The rows to count: those with a place.
struct CountedRows {
  std::vector<uint32_t> row, place, label;

  CountedRows(std::span<const int32_t> places, std::span<const int32_t> labels) {
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0) row.push_back(uint32_t(i)), place.push_back(uint32_t(places[i])), label.push_back(uint32_t(labels[i]));
  }
};

// Adds the amount of each row to its cell of one column: [n_places, n_codes, n_classes].
template <Code C, typename Cell, std::invocable<uint32_t> AmountOf>
void count_codes(const C* codes, const CountedRows& rows, size_t n_codes, size_t n_classes, const AmountOf& amount_of, Cell* cells) {
  for (size_t i = 0; i < rows.row.size(); ++i)
    cells[(rows.place[i] * n_codes + codes[rows.row[i]]) * n_classes + rows.label[i]] += amount_of(rows.row[i]);
}

// Interval codes of numbers.

// code: 0 for a missing value, else 1 plus the number of ends below it. The binary search has no data-dependent
// branches, which would be mispredicted half of the time, and processes several values together to hide the latency of
// memory.
template <std::integral Code>
void interval_codes(std::span<const double> values, std::span<const double> ends, std::span<Code> code) {
  constexpr size_t kTogether = 16;
  size_t first[kTogether];
  for (size_t begin = 0; begin < values.size(); begin += kTogether) {
    const size_t n = std::min(kTogether, values.size() - begin);
    const double* value = values.data() + begin;
    std::fill_n(first, n, size_t(0));
    for (size_t left = ends.size(); left > 1; left -= left / 2)
      for (size_t k = 0; k < n; ++k) first[k] += (ends[first[k] + left / 2 - 1] < value[k]) * (left / 2);
    for (size_t k = 0; k < n; ++k) {
      const size_t below = first[k] + (!ends.empty() && ends[first[k]] < value[k]);
      code[begin + k] = std::isnan(value[k]) ? Code(0) : Code(below + 1);
    }
  }
}

// Doubles as integers of the same order, whose leading bits are counted to find exact quantiles.

inline uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // -0.0 becomes 0.0
  return bits >> 63 ? ~bits : bits | (uint64_t(1) << 63);
}

// Ascending prefixes (the first n_bits of numbers), indexed by their first 16 bits, so that few have to be compared.
class PrefixIndex {
 public:
  PrefixIndex(std::span<const uint64_t> prefixes, int n_bits)
      : prefixes_(prefixes), shift_(64 - n_bits), begin_((size_t(1) << known_) + 1) {
    for (const uint64_t prefix : prefixes) ++begin_[size_t(prefix << shift_ >> (64 - known_)) + 1];
    for (size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
  }

  // Index of the prefix of a key; -1 if there is none.
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

// Calls `use` with the cell of each known value that has one of the prefixes: the index of the prefix, then the next
// `bits` bits. Without previous bits there are no prefixes: the first 16 bits are the cell.
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

// Whether there are more than `most` distinct known values; stops as soon as that is certain.
inline bool are_many(std::span<const double> values, size_t most) {
  if (values.size() <= most) return false;
  const int log_size = std::bit_width(2 * most + 2);
  std::vector<uint64_t> table(size_t(1) << log_size);  // 0 is an empty slot: not the key of any known value
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
