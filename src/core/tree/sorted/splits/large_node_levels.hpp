// The levels of nominal columns in large nodes: counted once at the root, then for all children but the largest, whose counts
// are what the others leave of the parent's.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "tree/sorted/node.hpp"
#include "tree/sorted/rows/partitioned_rows.hpp"
#include "tree/sorted/splits/level_counter.hpp"
#include "workers.hpp"

namespace baytree::tree::sorted {

constexpr size_t kLarge = 16384;  // rows of a node whose columns are worth a thread each

class LargeNodeLevels {
 public:
  // `are_counts`: the measure's statistics are counts of classes.
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
