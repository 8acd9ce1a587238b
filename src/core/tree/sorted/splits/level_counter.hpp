// The levels of a nominal column among the rows of a node, each with its statistic.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tree/sorted/levels.hpp"
#include "tree/sorted/rows/bucket_sort.hpp"
#include "tree/sorted/rows/narrow_levels.hpp"
#include "tree/sorted/splits/measures.hpp"

namespace baytree::tree::sorted {

// How many rows of each level, the missing one first, and class there are: [n_levels + 1, n_classes].
using LevelCounts = std::vector<uint32_t>;

// Rows that count 1 each: two tables in turn, so that a row need not wait for the one before it. `class_of` a tag is its class,
// or its place among the classes of a node.
template <std::invocable<uint32_t> ClassOf>
LevelCounts count_levels(std::span<const uint32_t> tags, const NarrowLevels& narrow, int32_t n_levels, const Target& target, size_t classes,
                         const ClassOf& class_of) {
  const size_t cells = (size_t(n_levels) + 1) * classes;
  LevelCounts counts(2 * cells, 0);
  uint32_t *even = counts.data(), *odd = even + cells;
  narrow.with([&](const auto* shifted) {
    const auto cell = [&](uint32_t tag) { return size_t(shifted[target.row(tag)]) * classes + class_of(tag); };
    size_t i = 0;
    for (; i + 1 < tags.size(); i += 2) ++even[cell(tags[i])], ++odd[cell(tags[i + 1])];
    if (i < tags.size()) ++even[cell(tags[i])];
  });
  for (size_t i = 0; i < cells; ++i) even[i] += odd[i];
  counts.resize(cells);
  return counts;
}

// By all classes, and by those of a node.
inline LevelCounts count_by_class(std::span<const uint32_t> tags, const NarrowLevels& narrow, int32_t n_levels, const Target& target) {
  return count_levels(tags, narrow, n_levels, target, target.classes, [&](uint32_t tag) { return target.class_of(tag); });
}
inline LevelCounts count_by_place(std::span<const uint32_t> tags, const NarrowLevels& narrow, int32_t n_levels, const Target& target,
                                  const PresentClasses& present) {
  if (present.size() == target.classes) return count_by_class(tags, narrow, n_levels, target);
  return count_levels(tags, narrow, n_levels, target, present.size(), [&](uint32_t tag) { return present.place_of(tag); });
}

// Counts the levels of the rows. Few rows of many levels are sorted by level, so the cost follows the rows.
template <Measure M> class LevelCounter {
 public:
  // Of the rows with these tags.
  void count(std::span<const uint32_t> tags, const NarrowLevels& narrow, int32_t n_levels, const Target& target, const M& measure,
             Levels& levels) {
    levels.width = measure.width(), levels.code.clear(), levels.statistic.clear();
    if (tags.size() * 4 < size_t(n_levels)) {
      list_levels(tags, narrow, target);
      by_sorting(measure, levels);
    } else if (!read_counts(tags, narrow, n_levels, target, measure, levels)) {
      narrow.with([&](const auto* shifted) {
        by_table(tags, [&](uint32_t tag) { return size_t(shifted[target.row(tag)]); }, size_t(n_levels) + 1, measure, levels);
      });
    }
  }
  // Levels that are already counted, by all classes.
  static void read(const LevelCounts& counts, size_t classes, std::span<const int32_t> present, const M& measure, Levels& levels) {
    levels.width = measure.width();
    read_cells(counts, classes, present.size(), [&](size_t place) { return size_t(present[place]); }, levels);
  }

 private:
  static bool read_counts(std::span<const uint32_t> tags, const NarrowLevels& narrow, int32_t n_levels, const Target& target,
                          const M& measure, Levels& levels) {
    if constexpr (requires { measure.present(); }) {
      if (!measure.adds_counts()) return false;
      const size_t n = measure.classes();
      read_cells(count_by_place(tags, narrow, n_levels, target, measure.present()), n, n, std::identity(), levels);
      return true;
    }
    return false;
  }
  // `classes` cells a level, of which `n` are read: that of each place is at cell_of(place).
  template <std::invocable<size_t> CellOf>
  static void read_cells(const LevelCounts& counts, size_t classes, size_t n, const CellOf& cell_of, Levels& levels) {
    levels.code.clear(), levels.statistic.clear();
    std::vector<double> statistic(levels.width);
    for (size_t at = 0; at * classes < counts.size(); ++at) {
      for (size_t k = 0; k < n; ++k) statistic[k] = double(counts[at * classes + cell_of(k)]);
      if constexpr (requires { M::complete(statistic, n); }) M::complete(statistic, n);
      if (statistic[n] > 0) append(int32_t(at) - 1, statistic, levels);
    }
  }

  template <std::invocable<uint32_t> ShiftedOf>
  void by_table(std::span<const uint32_t> tags, const ShiftedOf& shifted_of, size_t n_shifted, const M& measure, Levels& levels) {
    const size_t width = levels.width;
    table_.assign(n_shifted * width, 0.0);
    seen_.assign(n_shifted, 0);
    for (const uint32_t tag : tags) {
      const size_t at = shifted_of(tag);
      measure.add(table_.data() + at * width, tag), seen_[at] = 1;
    }
    for (size_t i = 0; i < n_shifted; ++i)
      if (seen_[i]) append(int32_t(i) - 1, {table_.data() + i * width, width}, levels);
  }
  void list_levels(std::span<const uint32_t> tags, const NarrowLevels& narrow, const Target& target) {
    order_.clear();
    narrow.with([&](const auto* shifted) {
      for (const uint32_t tag : tags) order_.push_back(entry(uint32_t(shifted[target.row(tag)]), tag));
    });
  }
  void by_sorting(const M& measure, Levels& levels) {
    std::ranges::sort(order_);
    std::vector<double> statistic(levels.width);
    for (size_t i = 0; i < order_.size();) {
      std::fill(statistic.begin(), statistic.end(), 0.0);
      const uint32_t at = rank_of(order_[i]);
      for (; i < order_.size() && rank_of(order_[i]) == at; ++i) measure.add(statistic.data(), tag_of(order_[i]));
      append(int32_t(at) - 1, statistic, levels);
    }
  }
  static void append(int32_t code, std::span<const double> statistic, Levels& levels) {
    levels.code.push_back(code);
    levels.statistic.insert(levels.statistic.end(), statistic.begin(), statistic.end());
  }
  std::vector<double> table_;
  std::vector<uint8_t> seen_;
  std::vector<uint64_t> order_;
};

}  // namespace baytree::tree::sorted
