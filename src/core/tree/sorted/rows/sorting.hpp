// A numeric column in ascending order: each row once, with the rank of its value among the distinct ones.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "tree/column_view.hpp"
#include "tree/sorted/rows/bucket_sort.hpp"
#include "tree/sorted/rows/key_scale.hpp"

namespace baytree::tree::sorted {

constexpr uint32_t kMissing = 0xFFFFFFFFu;  // the rank of a missing value: after every number

// Copies rows [begin, end) of a column into `keys`, as the integers that sort like the numbers.
inline void copy_keys(const ColumnView& column, size_t begin, size_t end, std::span<uint64_t> keys) {
  for (size_t i = begin; i < end; ++i) {
    const double x = column[i];
    keys[i] = x == x ? sortable(x) : kMissingKey;
  }
}

// Entries of equal rank hold numbers that the scale could not tell apart, or equal ones: most runs are the latter.
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

// What is in the upper half is replaced by the number of smaller distinct values.
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

// Few rows are sorted by whole keys: to find a scale that spreads them would take longer.
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

// Turns a column's keys into its rows in ascending order as (rank, tag): ties by row, missing values last.
// `keys` are the numbers as `copy_keys` gives them, a tag is a row with `class_bits` more bits that tag_of(row) knows.
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

}  // namespace baytree::tree::sorted
