// A numeric column in ascending order: each row once, with the rank of its value among the distinct ones.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// One row of a sorted column: the rank of its value above, its tag (row and class) below.
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

// Sorts by the upper 32 bits, stable, eleven bits at a time; digits that never vary cost nothing.
inline void radix_sort(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  constexpr int kDigits = 3, kBits = 11, kBuckets = 1 << kBits;
  std::vector<std::array<uint32_t, kBuckets>> count(kDigits);
  for (auto& c : count) c.fill(0);
  for (const uint64_t key : keys)
    for (int d = 0; d < kDigits; ++d) ++count[size_t(d)][(key >> (32 + d * kBits)) & (kBuckets - 1)];
  scratch.resize(keys.size());
  for (int d = 0; d < kDigits; ++d) {
    auto& place = count[size_t(d)];
    const int shift = 32 + d * kBits;
    if (place[(keys[0] >> shift) & (kBuckets - 1)] == keys.size()) continue;
    uint32_t sum = 0;
    for (auto& p : place) sum += std::exchange(p, sum);
    for (const uint64_t key : keys) scratch[place[(key >> shift) & (kBuckets - 1)]++] = key;
    keys.swap(scratch);
  }
}

}  // namespace detail

// The column's rows in ascending order as (rank, row), ties by row, missing values last. Three passes over the upper
// 32 bits of the range do nearly all the work; what they cannot tell apart is a short run, sorted by itself.
inline std::vector<Entry> sorted(const ColumnView& column, size_t rows, std::vector<uint64_t>& scratch) {
  uint64_t low = ~uint64_t(0), high = 0;
  size_t known = 0;
  for (size_t i = 0; i < rows; ++i) {
    const double x = column[i];
    if (std::isnan(x)) continue;
    const uint64_t key = sortable(x);
    low = std::min(low, key), high = std::max(high, key), ++known;
  }
  std::vector<uint64_t> order;
  order.reserve(rows);
  const int shift = known && high - low > 0xFFFFFFFFu ? 32 - std::countl_zero(high - low) : 0;
  for (size_t i = 0; i < rows; ++i)
    if (const double x = column[i]; !std::isnan(x)) order.push_back((sortable(x) - low) >> shift << 32 | i);
  if (known > 1024) detail::radix_sort(order, scratch);
  else std::sort(order.begin(), order.end());
  if (shift)
    for (size_t i = 0; i < known;) {
      size_t end = i + 1;
      while (end < known && rank_of(order[end]) == rank_of(order[i])) ++end;
      if (end - i > 1)
        std::sort(order.begin() + std::ptrdiff_t(i), order.begin() + std::ptrdiff_t(end), [&](Entry a, Entry b) {
          const double p = column[tag_of(a)], q = column[tag_of(b)];
          return p != q ? p < q : tag_of(a) < tag_of(b);
        });
      i = end;
    }
  uint32_t rank = 0;
  for (size_t i = 0; i < known; ++i) {
    const uint64_t here = order[i];
    if (i + 1 < known) {
      const uint64_t next = order[i + 1];
      const bool differs = rank_of(next) != rank_of(here) || (shift && column[tag_of(next)] != column[tag_of(here)]);
      order[i] = entry(rank, tag_of(here));
      rank += differs;
    } else {
      order[i] = entry(rank, tag_of(here));
    }
  }
  if (known < rows)
    for (size_t i = 0; i < rows; ++i)
      if (std::isnan(column[i])) order.push_back(entry(kMissing, uint32_t(i)));
  return order;
}

}  // namespace baytree
