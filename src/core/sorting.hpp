// A numeric column in ascending order: each row once, with the rank of its value among the distinct ones.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace baytree {

// A column of a table as it lies in memory; numbers may be strided, levels are codes with -1 for missing.
struct ColumnView {
  const double* x = nullptr;
  const int32_t* code = nullptr;
  std::ptrdiff_t stride = 1;
  int32_t levels = 0;

  bool is_nominal() const { return levels > 0; }
  // Ordinal columns are cut at their codes.
  double operator[](size_t row) const {
    if (x) return x[std::ptrdiff_t(row) * stride];
    const int32_t c = code[std::ptrdiff_t(row) * stride];
    return c < 0 ? std::numeric_limits<double>::quiet_NaN() : double(c);
  }
  int32_t level(size_t row) const { return code[std::ptrdiff_t(row) * stride]; }
};

// One row of a column: above the rank of its value, or its level, below its tag (row and class).
using Entry = uint64_t;
constexpr uint32_t kMissing = 0xFFFFFFFFu;  // the rank of a missing value: after every number
inline uint32_t rank_of(Entry e) { return uint32_t(e >> 32); }
inline uint32_t tag_of(Entry e) { return uint32_t(e); }
inline Entry entry(uint32_t rank, uint32_t tag) { return Entry(rank) << 32 | tag; }

// Doubles as integers in the same order; -0.0 equals 0.0.
inline uint64_t sortable(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x + 0.0);
  return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}

namespace detail {

// Sorts by the upper 32 bits, stable, a byte at a time: 256 places to write to stay in the fastest cache.
inline void radix_sort(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  constexpr int kDigits = 4, kBits = 8, kBuckets = 1 << kBits;
  std::array<std::array<uint32_t, kBuckets>, kDigits> count{};
  for (const uint64_t key : keys)
    for (int d = 0; d < kDigits; ++d) ++count[size_t(d)][(key >> (32 + d * kBits)) & (kBuckets - 1)];
  scratch.resize(keys.size());
  for (int d = 0; d < kDigits; ++d) {
    auto& place = count[size_t(d)];
    const int shift = 32 + d * kBits;
    if (place[(keys[0] >> shift) & (kBuckets - 1)] == keys.size()) continue;
    uint32_t sum = 0;
    for (auto& p : place) sum += std::exchange(p, sum);
    uint64_t* out = scratch.data();
    for (const uint64_t key : keys) out[place[(key >> shift) & (kBuckets - 1)]++] = key;
    keys.swap(scratch);
  }
}

// Rows whose keys agree in the upper 32 bits are few: each run of them is sorted by the numbers themselves.
inline void sort_runs(std::span<Entry> order, const ColumnView& column) {
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && rank_of(order[end]) == rank_of(order[i])) ++end;
    if (end - i > 1)
      std::ranges::sort(order.subspan(i, end - i), [&](Entry a, Entry b) {
        const double p = column[tag_of(a)], q = column[tag_of(b)];
        return p != q ? p < q : tag_of(a) < tag_of(b);
      });
    i = end;
  }
}

// Keys to ranks: what is in the upper half is replaced by the number of smaller distinct values.
inline void set_ranks(std::span<Entry> order, const ColumnView& column, bool is_cut_off) {
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Entry here = order[i];
    order[i] = entry(rank, tag_of(here));
    if (i + 1 == order.size()) break;
    const Entry next = order[i + 1];
    rank += rank_of(next) != rank_of(here) || (is_cut_off && column[tag_of(next)] != column[tag_of(here)]);
  }
}

}  // namespace detail

// Copies rows [begin, end) of a column into `bits`, as the integers that sort like the numbers; missing is ~0.
inline void copy_keys(const ColumnView& column, size_t begin, size_t end, std::span<uint64_t> bits) {
  for (size_t i = begin; i < end; ++i) {
    const double x = column[i];
    bits[i] = x == x ? sortable(x) : ~uint64_t(0);
  }
}

// Turns a column's keys into its rows in ascending order as (rank, row): ties by row, missing values last.
inline void sort_keys(const ColumnView& column, std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  uint64_t low = ~uint64_t(0), high = 0;
  for (const uint64_t key : keys)
    if (key != ~uint64_t(0)) low = std::min(low, key), high = std::max(high, key);
  const int shift = high > low && high - low > 0xFFFFFFFFu ? 32 - std::countl_zero(high - low) : 0;
  std::vector<uint32_t> missing;
  const size_t rows = keys.size();
  size_t known = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (keys[i] == ~uint64_t(0)) missing.push_back(uint32_t(i));
    else keys[known++] = (keys[i] - low) >> shift << 32 | i;
  }
  keys.resize(known);
  if (known > 1024) detail::radix_sort(keys, scratch);
  else std::ranges::sort(keys);
  if (shift) detail::sort_runs(keys, column);
  detail::set_ranks(keys, column, shift > 0);
  for (const uint32_t row : missing) keys.push_back(entry(kMissing, row));
}

}  // namespace baytree
