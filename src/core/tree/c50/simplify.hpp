// Final simplification of C5.0 trees: removal of impossible levels, merging of equal leaves of a test.
#pragma once
#include <optional>

#include "tree/c50/training_rows.hpp"

namespace baytree::tree::c50 {

enum class Joining { same_class, empty_only };

class Tidier {
 public:
  Tidier(Growth& tree, const Bench& bench, Joining joining) : tree_(tree), bench_(bench), joining_(joining), classes_(tree.n_classes) {}

  void tidy() {
    drop_impossible_levels();
    for (size_t id = tree_.node.size(); id-- > 0;) join_leaves(id);
  }

 private:
  bool is_group_test(const Node& node) const { return node.test == Test::groups && !bench_.from.columns[node.column].is_ordered; }

  std::span<int32_t> map_of(const Node& node) { return {tree_.branch_of.data() + node.group, static_cast<size_t>(node.levels)}; }

  // Ancestors on the same column have sent these levels to other branches; only the last group can contain them.
  void drop_impossible_levels() {
    std::vector<int32_t> parent(tree_.node.size(), -1);
    for (size_t id = 0; id < tree_.node.size(); ++id) {
      Node& node = tree_.node[id];
      for (int32_t b = 0; b < node.branches; ++b) parent[static_cast<size_t>(node.first + b)] = static_cast<int32_t>(id);
      if (node.test != Test::groups) continue;
      const auto map = map_of(node);
      for (auto below = static_cast<int32_t>(id); parent[below] >= 0; below = parent[below]) {
        const Node& above = tree_.node[parent[below]];
        if (above.test != Test::groups || above.column != node.column) continue;
        for (size_t level = 0; level < map.size(); ++level)
          if (tree_.branch_of[static_cast<size_t>(above.group) + level] != below - above.first &&
              (map[level] == node.branches - 1 || !is_group_test(node)))
            map[level] = -1;
      }
      const bool is_last_empty = std::find(map.begin(), map.end(), node.branches - 1) == map.end();
      if (is_group_test(node) && is_last_empty && node.branches > 2) --node.branches;
    }
  }

  void join_leaves(size_t id) {
    const Node node = tree_.node[id];
    const bool is_each = node.test == Test::each_level && node.levels > 2;
    if (!is_group_test(node) && !is_each) return;
    std::vector<int32_t> to(static_cast<size_t>(node.branches));
    int32_t kept = 0;
    for (int32_t b = 0; b < node.branches; ++b) {
      const auto earlier = partner(node, b, to, is_each);
      to[static_cast<size_t>(b)] = earlier ? *earlier : kept++;
    }
    if (kept == node.branches) return;
    if (kept == 1) return tree_.make_leaf(id);
    join(id, to, kept);
  }

  // Index of an earlier leaf that this one is merged into.
  std::optional<int32_t> partner(const Node& node, int32_t b, std::span<const int32_t> to, bool is_each) const {
    const Node& mine = tree_.node[static_cast<size_t>(node.first + b)];
    const auto is_empty = [](const Node& leaf) { return leaf.weight < kEmpty; };
    if (!mine.is_leaf() || (joining_ == Joining::empty_only && is_each && !is_empty(mine))) return std::nullopt;
    for (int32_t a = 0; a < b; ++a) {
      const Node& other = tree_.node[static_cast<size_t>(node.first + a)];
      const bool any_class = joining_ == Joining::empty_only && is_each;
      if (!other.is_leaf() || (other.label != mine.label && !any_class) || (is_each && is_empty(other) != is_empty(mine))) continue;
      return to[static_cast<size_t>(a)];
    }
    return std::nullopt;
  }

  void join(size_t id, std::span<const int32_t> to, int32_t kept) {
    const Node before = tree_.node[id];
    std::vector<int32_t> map(static_cast<size_t>(before.levels));
    for (int32_t level = 0; level < before.levels; ++level) {
      const int32_t branch = tree_.branch(before, level);
      map[static_cast<size_t>(level)] = branch < 0 ? -1 : to[static_cast<size_t>(branch)];
    }
    Node& node = tree_.node[id];
    node.test = Test::groups;
    node.group = static_cast<int64_t>(tree_.branch_of.size());
    node.branches = kept;
    tree_.branch_of.insert(tree_.branch_of.end(), map.begin(), map.end());
    int32_t seen = -1;
    for (int32_t b = 0; b < before.branches; ++b) {
      const auto from = static_cast<size_t>(before.first + b), into = static_cast<size_t>(before.first + to[static_cast<size_t>(b)]);
      if (to[static_cast<size_t>(b)] > seen) move_node(from, into), seen = to[static_cast<size_t>(b)];
      else add_leaf(from, into);
    }
  }

  // Class weights are not moved: nothing refers to the old index afterwards.
  void move_node(size_t from, size_t into) { tree_.node[into] = tree_.node[from]; }

  void add_leaf(size_t from, size_t into) {
    tree_.node[into].weight = static_cast<float>(tree_.node[into].weight + tree_.node[from].weight);
    tree_.node[into].rows += tree_.node[from].rows;
    Cases<double> both;
    for (const size_t id : {into, from})
      for (const auto& [label, weight] : tree_.counts_of(id)) both.all.push_back({0, label, weight});
    const ClassWeights<double> summed = classes_.count(both);
    tree_.keep(into, ClassWeights<float>{summed.label, {summed.weight.begin(), summed.weight.end()}});
  }

  Growth& tree_;
  const Bench& bench_;
  const Joining joining_;
  ClassCounter<double> classes_;
};

}  // namespace baytree::tree::c50
