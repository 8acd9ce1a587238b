// Numeric columns sorted once: rank and row of each value, by bucket sort on monotone 32-bit keys; and nominal columns
// as narrow codes.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tree/column_view.hpp"

namespace baytree::tree::sorted {

// Monotone 32-bit keys of numbers.

constexpr uint64_t kMissingKey = ~uint64_t(0);

// Doubles as integers of the same order; -0.0 equals 0.0.
inline uint64_t sortable(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x + 0.0);
  return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}
inline double number_of(uint64_t key) { return std::bit_cast<double>(key >> 63 ? key & 0x7FFFFFFFFFFFFFFFu : ~key); }

// Maps a number to a key either linearly, which spreads ordinary columns evenly, or by its leading bits, for numbers of
// very different magnitudes; a sample decides. Both are monotone and only round.
class KeyScale {
 public:
  explicit KeyScale(std::span<const uint64_t> keys) {
    uint64_t low = kMissingKey, high = 0;
    for (const uint64_t key : keys)
      if (key != kMissingKey) low = std::min(low, key), high = std::max(high, key);
    if (high < low) return;
    low_bits_ = low;
    shift_ = high - low > 0xFFFFFFFFu ? 32 - std::countl_zero(high - low) : 0;
    low_ = number_of(low);
    unit_ = kMost / (number_of(high) - low_);
    if (shift_ == 0 || !(unit_ > 0) || std::isinf(unit_)) return;
    choose(keys, number_of(high) - low_);
  }

  uint32_t operator()(uint64_t key) const {
    return is_even_ ? uint32_t(int64_t((number_of(key) - low_) * unit_)) : uint32_t((key - low_bits_) >> shift_);
  }
  // Whether different numbers have different keys.
  bool is_exact() const { return is_even_ ? is_whole_ : shift_ == 0; }

 private:
  static constexpr double kMost = 4294966272.0;  // slightly below 2^32: rounding may not reach it
  static constexpr size_t kSample = 256;

  void choose(std::span<const uint64_t> keys, double range) {
    std::array<uint64_t, kSample> sample;
    size_t n = 0;
    for (size_t i = 0; i < kSample; ++i)
      if (const uint64_t key = keys[i * keys.size() / kSample]; key != kMissingKey) sample[n++] = key;
    const size_t by_bits = distinct({sample.data(), n});
    is_even_ = true;
    is_even_ = distinct({sample.data(), n}) >= by_bits;
    is_whole_ = is_even_ && range < kMost && std::abs(low_) < kWhole && std::ranges::all_of(sample.data(), sample.data() + n, is_whole) &&
                std::ranges::all_of(keys, is_whole);
    if (is_whole_) unit_ = 1;
  }
  size_t distinct(std::span<const uint64_t> sample) const {
    std::array<uint32_t, kSample> key;
    std::ranges::transform(sample, key.begin(), *this);
    std::sort(key.begin(), key.begin() + std::ptrdiff_t(sample.size()));
    return size_t(std::unique(key.begin(), key.begin() + std::ptrdiff_t(sample.size())) - key.begin());
  }
  static constexpr double kWhole = 4503599627370496.0;  // 2^52: integers up to here, and their differences, are exact
  static bool is_whole(uint64_t key) {
    const double x = number_of(key);
    return key == kMissingKey || (std::abs(x) < kWhole && double(int64_t(x)) == x);
  }

  uint64_t low_bits_ = 0;
  int shift_ = 0;
  double low_ = 0, unit_ = 0;
  bool is_even_ = false, is_whole_ = false;
};

// Bucket sort of entries by their upper 32 bits; each bucket fits the first-level cache.

// A row of a column: rank of its value in the upper half, its tag (row and class) in the lower half.
using Entry = uint64_t;
inline uint32_t rank_of(Entry e) { return uint32_t(e >> 32); }
inline uint32_t tag_of(Entry e) { return uint32_t(e); }
inline Entry entry(uint32_t rank, uint32_t tag) { return Entry(rank) << 32 | tag; }

// Tags are given in ascending order and every step is stable, so the result is the order of whole entries.
class BucketSort {
 public:
  BucketSort(std::vector<Entry>& entries, std::vector<Entry>& scratch) : entries_(entries), scratch_(scratch) {}

  void sort() {
    if (entries_.size() <= kFew) {
      std::ranges::sort(entries_);
      return;
    }
    scratch_.resize(std::max(scratch_.size(), entries_.size())), room_.resize(2 * kMuch);
    const int bits = std::clamp(int(std::bit_width(entries_.size())) - 11, 4, 12);
    std::vector<uint32_t> place(size_t(1) << bits);
    deal(entries_, scratch_.data(), 64 - bits, place);
    uint32_t begin = 0;
    for (const uint32_t end : place) {
      if (end > begin) sort_bucket(begin, end, bits);
      begin = end;
    }
  }

 private:
  static constexpr size_t kFew = 1024, kMuch = 1 << 14, kLongRun = 32;

  // Stable; `place` becomes the end of each bucket.
  static uint32_t deal(std::span<const Entry> from, Entry* to, int shift, std::span<uint32_t> place) {
    const uint64_t mask = place.size() - 1;
    std::ranges::fill(place, 0u);
    for (const Entry e : from) ++place[(e >> shift) & mask];
    const uint32_t most = std::ranges::max(place);
    uint32_t sum = 0;
    for (auto& p : place) sum += std::exchange(p, sum);
    for (const Entry e : from) to[place[(e >> shift) & mask]++] = e;
    return most;
  }

  // From the buffer back into place: split by further bits into about one entry per bucket, then insertion sort.
  void sort_bucket(uint32_t begin, uint32_t end, int bits_before) {
    const std::span<Entry> from(scratch_.data() + begin, end - begin), to(entries_.data() + begin, end - begin);
    if (from.size() > kMuch) return sort_by_bytes(from, to);
    const int bits = std::min(int(std::bit_width(from.size())), 32 - bits_before);
    const uint32_t most = deal(from, to.data(), 64 - bits_before - bits, std::span(room_).first(size_t(1) << bits));
    if (most <= kLongRun) insert_in_order(to);
    else if (!std::ranges::is_sorted(to)) std::ranges::sort(to);
  }

  static void insert_in_order(std::span<Entry> entries) {
    for (size_t i = 1; i < entries.size(); ++i) {
      const Entry e = entries[i];
      size_t at = i;
      for (; at > 0 && entries[at - 1] > e; --at) entries[at] = entries[at - 1];
      entries[at] = e;
    }
  }

  // A bucket with a large part of the rows: radix sort by bytes, lowest first; an even number of passes.
  static void sort_by_bytes(std::span<Entry> from, std::span<Entry> to) {
    std::array<uint32_t, 256> place;
    for (int shift = 32; shift < 64; shift += 16) {
      deal(from, to.data(), shift, place);
      deal(to, from.data(), shift + 8, place);
    }
    std::ranges::copy(from, to.begin());
  }

  std::vector<Entry>& entries_;
  std::vector<Entry>& scratch_;
  std::vector<uint32_t> room_;
};

// Sorted columns: each row once, with the rank of its value among the distinct values.

constexpr uint32_t kMissing = 0xFFFFFFFFu;  // rank of a missing value: after every number

// Copies rows [begin, end) of a column into `keys`, as integers that sort like the numbers.
inline void copy_keys(const ColumnView& column, size_t begin, size_t end, std::span<uint64_t> keys) {
  for (size_t i = begin; i < end; ++i) {
    const double x = column[i];
    keys[i] = x == x ? sortable(x) : kMissingKey;
  }
}

// Entries of equal key have equal numbers, usually, or numbers that the keys do not distinguish.
template <std::invocable<Entry> Number> void sort_run(std::span<Entry> run, const Number& number) {
  const double first = number(run[0]);
  if (std::ranges::all_of(run.subspan(1), [&](Entry e) { return number(e) == first; })) return;
  std::vector<std::pair<double, Entry>> apart;
  for (const Entry e : run) apart.emplace_back(number(e), e);
  std::ranges::sort(apart);
  for (size_t i = 0; i < run.size(); ++i) run[i] = apart[i].second;
}

template <std::invocable<Entry> Number> void sort_runs(std::span<Entry> order, const Number& number) {
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && rank_of(order[end]) == rank_of(order[i])) ++end;
    if (end - i > 1) sort_run(order.subspan(i, end - i), number);
    i = end;
  }
}

// Replaces the upper half by the number of smaller distinct values.
template <std::invocable<Entry> Number> void set_ranks(std::span<Entry> order, const Number& number, bool is_cut_off) {
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Entry here = order[i];
    order[i] = entry(rank, tag_of(here));
    if (i + 1 == order.size()) break;
    const Entry next = order[i + 1];
    rank += rank_of(next) != rank_of(here) || (is_cut_off && number(next) != number(here));
  }
}

// Few rows are sorted by full keys: finding a scale would take longer.
constexpr size_t kFewRows = 512;
template <std::invocable<size_t> Tag> void sort_few_keys(const Tag& tag_of_row, std::vector<uint64_t>& keys) {
  std::array<std::pair<uint64_t, uint32_t>, kFewRows> order;
  const std::span rows(order.data(), keys.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = {keys[i], tag_of_row(i)};
  std::ranges::sort(rows);
  uint32_t rank = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [key, tag] = rows[i];
    rank += i > 0 && key != rows[i - 1].first;
    keys[i] = entry(key == kMissingKey ? kMissing : rank, tag);
  }
}

// Turns a column's keys into its rows in ascending order as (rank, tag): ties by row, missing values last. `keys` are
// the numbers as written by `copy_keys`; a tag is the row with `class_bits` additional bits, computed by tag_of(row).
template <std::invocable<size_t> Tag>
void sort_keys(const ColumnView& column, int class_bits, const Tag& tag_of_row, std::vector<uint64_t>& keys,
               std::vector<uint64_t>& scratch) {
  if (keys.size() <= kFewRows) return sort_few_keys(tag_of_row, keys);
  const KeyScale scale(keys);
  std::vector<uint32_t> missing;
  const size_t rows = keys.size();
  size_t known = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (keys[i] == kMissingKey) missing.push_back(tag_of_row(i));
    else keys[known++] = entry(scale(keys[i]), tag_of_row(i));
  }
  keys.resize(known);
  BucketSort(keys, scratch).sort();
  const auto number = [&](Entry e) { return column[tag_of(e) >> class_bits]; };
  if (!scale.is_exact()) sort_runs(keys, number);
  set_ranks(keys, number, !scale.is_exact());
  for (const uint32_t tag : missing) keys.push_back(entry(kMissing, tag));
}

// Nominal columns as narrow codes: level + 1 of each row, 0 for a missing value.

// Rows of a node are scattered over the table, so counting levels has random access: fewer bytes per row means fewer
// cache misses.
class NarrowLevels {
 public:
  NarrowLevels() = default;
  explicit NarrowLevels(const ColumnView& column, size_t rows) {
    if (column.levels < 0xFF) narrow_.resize(rows);
    else if (column.levels < 0xFFFF) middle_.resize(rows);
    else wide_.resize(rows);
  }
  void copy(const ColumnView& column, size_t begin, size_t end) {
    const auto fill = [&](auto& shifted) {
      for (size_t i = begin; i < end; ++i) shifted[i] = std::remove_cvref_t<decltype(shifted[i])>(column.level(i) + 1);
    };
    if (!narrow_.empty()) fill(narrow_);
    else if (!middle_.empty()) fill(middle_);
    else fill(wide_);
  }
  // Calls use(pointer to level + 1 of the first row).
  template <typename Use> auto with(const Use& use) const {
    if (!narrow_.empty()) return use(narrow_.data());
    if (!middle_.empty()) return use(middle_.data());
    return use(wide_.data());
  }

 private:
  std::vector<uint8_t> narrow_;
  std::vector<uint16_t> middle_;
  std::vector<uint32_t> wide_;
};

}  // namespace baytree::tree::sorted
