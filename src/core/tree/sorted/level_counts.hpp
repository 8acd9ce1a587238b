// Statistics of the levels of a nominal column among the rows of a node; in large nodes they are derived from those of
// the parent.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tree/sorted/measures.hpp"
#include "tree/sorted/partitioned_rows.hpp"
#include "tree/sorted/settings.hpp"
#include "tree/sorted/sorting.hpp"
#include "tree/sorted/target.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::sorted {

// Number of rows per level (the missing one first) and class: [n_levels + 1, n_classes].
using LevelCounts = std::vector<uint32_t>;

// Rows of weight 1: two alternating tables, so that a row does not wait for the store of the previous one. `class_of`
// maps a tag to its class, or to the index of the class in the node.
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

// Counts for all classes, and for those of a node.
inline LevelCounts count_by_class(std::span<const uint32_t> tags, const NarrowLevels& narrow, int32_t n_levels, const Target& target) {
  return count_levels(tags, narrow, n_levels, target, target.classes, [&](uint32_t tag) { return target.class_of(tag); });
}
inline LevelCounts count_by_place(std::span<const uint32_t> tags, const NarrowLevels& narrow, int32_t n_levels, const Target& target,
                                  const PresentClasses& present) {
  if (present.size() == target.classes) return count_by_class(tags, narrow, n_levels, target);
  return count_levels(tags, narrow, n_levels, target, present.size(), [&](uint32_t tag) { return present.place_of(tag); });
}

// Counts the levels of the rows. Few rows of many levels are sorted by level, so that the cost depends on the rows.
template <Measure M> class LevelCounter {
 public:
  // Counts the rows with these tags.
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
  // Reads levels that are already counted, for all classes.
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
  // `classes` cells per level, of which `n` are read: that of class index i is at cell_of(i).
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

// Counts in large nodes: computed once at the root, then for all children except the largest, whose counts are the
// parent's minus the others'.

constexpr size_t kLarge = 16384;  // rows of a node whose columns are processed in parallel

class LargeNodeLevels {
 public:
  // `are_counts`: whether the measure's statistics are counts of classes.
  LargeNodeLevels(std::span<const ColumnView> columns, const Target& target, const PartitionedRows& partitioned, Workers& workers,
                  bool are_counts)
      : columns_(columns), target_(target), partitioned_(partitioned), workers_(workers), are_counts_(are_counts) {}

  void count_root(Node& root) {
    root.level_counts.resize(columns_.size());
    workers_.run(columns_.size(), [&](size_t j, int) {
      if (is_counted(j)) root.level_counts[j] = counts(root, j);
    });
  }

  void count_children(std::vector<Node>& nodes, const std::vector<size_t>& parents) {
    const size_t width = columns_.size();
    for (const size_t parent : parents)
      for (int b = 0; b < nodes[parent].branches; ++b) nodes[size_t(nodes[parent].first + b)].level_counts.resize(width);
    workers_.run(parents.size() * width, [&](size_t task, int) {
      const Node& parent = nodes[parents[task / width]];
      if (parent.is_leaf() || !is_counted(task % width)) return;
      count_siblings(parent, {&nodes[size_t(parent.first)], size_t(parent.branches)}, task % width);
    });
    for (const size_t parent : parents) nodes[parent].level_counts.clear();
  }

 private:
  bool is_counted(size_t column) const {
    return columns_[column].is_nominal() && are_counts_ && (size_t(columns_[column].levels) + 1) * target_.classes <= kLarge;
  }
  LevelCounts counts(const Node& node, size_t column) const {
    return count_by_class(partitioned_.tags(node), partitioned_.levels(column), columns_[column].levels, target_);
  }
  static size_t rows(const Node& node) { return node.end - node.begin; }
  static bool is_open(const Node& node) { return !node.is_final && rows(node) >= kLarge; }

  void count_siblings(const Node& parent, std::span<Node> children, size_t column) const {
    Node& largest = *std::ranges::max_element(children, {}, rows);
    if (!is_open(largest) || children.back().end != parent.end) return;  // some rows may have stayed at the parent
    LevelCounts rest = parent.level_counts[column];
    if (rest.empty()) return;
    for (Node& child : children) {
      if (&child == &largest) continue;
      LevelCounts own = counts(child, column);
      for (size_t i = 0; i < rest.size(); ++i) rest[i] -= own[i];
      if (is_open(child)) child.level_counts[column] = std::move(own);
    }
    largest.level_counts[column] = std::move(rest);
  }

  std::span<const ColumnView> columns_;
  const Target& target_;
  const PartitionedRows& partitioned_;
  Workers& workers_;
  bool are_counts_;
};

}  // namespace baytree::tree::sorted
