// Level-wise growth of trees with sorted columns, and the held-out rows that follow the tree while it grows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tree/sorted/branch_assignment.hpp"
#include "tree/sorted/level_counts.hpp"
#include "tree/sorted/node_search.hpp"
#include "tree/sorted/partitioned_rows.hpp"
#include "tree/sorted/settings.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::sorted {

// Held-out rows, which the tree is not trained on but will predict: they follow it while it grows, so that surrogates
// are searched only where some row needs them.

class RowsLeftOut {
 public:
  RowsLeftOut(std::span<const ColumnView> columns, size_t rows) : columns_(columns), rows_(rows) { std::iota(rows_.begin(), rows_.end(), 0U); }

  void enter(Node& root) const { root.left_out_end = uint32_t(rows_.size()); }

  // Whether the split of a node cannot assign some held-out row of the node.
  bool ask(const Node& node, const BranchAssigner& assigner) const {
    const ColumnView& view = columns_[size_t(node.split.column)];
    const auto is_lost = [&](uint32_t row) { return assigner.branch(node.split, view, row) == kUnassigned; };
    return std::any_of(rows_.begin() + node.left_out, rows_.begin() + node.left_out_end, is_lost);
  }

  // Rows that neither tests nor the missing-value rule assign stay at the node. Nodes have disjoint rows, so threads
  // may call this concurrently.
  void divide(const Node& node, std::span<Node> children, const BranchAssigner& assigner) {
    auto begin = rows_.begin() + node.left_out;
    const auto end = rows_.begin() + node.left_out_end;
    for (size_t b = 0; b < children.size(); ++b) {
      const auto next = std::partition(begin, end, [&](uint32_t row) { return branch(node, row, assigner) == int32_t(b); });
      children[b].left_out = uint32_t(begin - rows_.begin()), children[b].left_out_end = uint32_t(next - rows_.begin());
      begin = next;
    }
  }

 private:
  int32_t branch(const Node& node, uint32_t row, const BranchAssigner& assigner) const {
    uint8_t side = assigner.branch(node.split, columns_[size_t(node.split.column)], row);
    for (const Surrogate& each : node.surrogates)
      if (side == kUnassigned) side = each.side(columns_[size_t(each.column)], row);
    return side == kUnassigned ? node.missing : int32_t(side);
  }

  std::span<const ColumnView> columns_;
  std::vector<uint32_t> rows_;  // rows of a node are contiguous
};

// The sorted search. Every numeric column is sorted once; a split partitions each column in place. The columns of large
// nodes are shared among threads; small nodes are whole subtrees for one thread. The tree does not depend on the
// threads.

class Grower {
 public:
  // `asked`: the only other rows that the tree will predict, if these are known.
  Grower(std::span<const ColumnView> columns, size_t rows, const Target& target, const Settings& settings, Workers& workers, RowsLeftOut* asked = nullptr)
      : columns_(columns), n_(rows), target_(target), settings_(settings), workers_(workers), asked_(asked),
        partitioned_(columns, rows, target, workers), assigner_(columns, target, settings, partitioned_),
        search_(node_search(columns, target, settings, partitioned_, assigner_, workers)),
        levels_(columns, target, partitioned_, workers, search_->is_plain_count()), rooms_(size_t(workers.size())) {}

  std::vector<Node> grow() {
    std::vector<Node> nodes(1);
    nodes[0].end = uint32_t(n_);
    if (asked_) asked_->enter(nodes[0]);
    search_->measure(nodes[0], 0);
    std::vector<size_t> large, small;
    if (!nodes[0].is_final) (n_ >= kLarge ? large : small).push_back(0);
    if (!large.empty()) levels_.count_root(nodes[0]);
    while (!large.empty()) large = grow_level(nodes, large, small);
    grow_subtrees(nodes, small);
    return nodes;
  }

 private:
  // Buffers of a thread.
  struct Room {
    PartitionBuffer buffer;
    std::vector<Split> offers;
    std::vector<Surrogate> candidates;
  };

  // ---- one depth of large nodes ----

  std::vector<size_t> grow_level(std::vector<Node>& nodes, const std::vector<size_t>& large, std::vector<size_t>& small) {
    const size_t width = columns_.size();
    std::vector<Split> offers(large.size() * width);
    workers_.run(offers.size(), [&](size_t task, int worker) {
      offers[task] = search_->search(nodes[large[task / width]], int32_t(task % width), worker);
    });
    std::vector<BranchWeights> assigned(large.size());
    workers_.run(large.size(), [&](size_t i, int worker) {
      assigned[i] = choose(nodes[large[i]], {offers.data() + i * width, width}, worker);
    });
    std::vector<Surrogate> candidates;
    if (settings_.max_surrogates > 0) {
      candidates.resize(offers.size());
      std::vector<uint8_t> seeks;
      for (size_t i = 0; i < large.size(); ++i) seeks.push_back(seeks_surrogates(nodes[large[i]], assigned[i]));
      workers_.run(offers.size(), [&](size_t task, int) {
        const size_t i = task / width;
        if (seeks[i]) candidates[task] = assigner_.surrogate(nodes[large[i]], int32_t(task % width), assigned[i]);
      });
    }
    std::vector<std::vector<Node>> children(large.size());
    workers_.run(large.size(), [&](size_t i, int worker) {
      if (!nodes[large[i]].split) return;
      std::span<Surrogate> own;
      if (!candidates.empty()) own = {candidates.data() + i * width, width};
      children[i] = divide(nodes[large[i]], own, assigned[i], worker);
    });
    workers_.run(offers.size(), [&](size_t task, int worker) {
      const size_t i = task / width;
      if (!children[i].empty()) partition(nodes[large[i]], children[i], task % width, worker);
    });
    std::vector<size_t> next;
    for (size_t i = 0; i < large.size(); ++i) {
      adopt(nodes, large[i], children[i]);
      const Node& parent = nodes[large[i]];
      for (int b = 0; b < parent.branches; ++b) {
        const size_t child = size_t(parent.first + b);
        if (!nodes[child].is_final) (nodes[child].end - nodes[child].begin >= kLarge ? next : small).push_back(child);
      }
    }
    levels_.count_children(nodes, large);
    return next;
  }

  // ---- small nodes: one thread per subtree ----

  void grow_subtrees(std::vector<Node>& nodes, const std::vector<size_t>& roots) {
    std::vector<std::vector<Node>> grown(roots.size());
    workers_.run(roots.size(), [&](size_t i, int worker) { grown[i] = subtree(nodes[roots[i]], worker); });
    for (size_t i = 0; i < roots.size(); ++i) {
      const auto shift = int32_t(nodes.size()) - 1;
      for (Node& node : grown[i])
        if (!node.is_leaf()) node.first += shift;
      nodes[roots[i]] = std::move(grown[i][0]);
      std::move(grown[i].begin() + 1, grown[i].end(), std::back_inserter(nodes));
    }
  }

  std::vector<Node> subtree(const Node& root, int worker) {
    std::vector<Node> nodes{root};
    std::vector<size_t> open{0};
    while (!open.empty()) {
      if (worker == 0) workers_.poll();
      const size_t at = open.back();
      open.pop_back();
      std::vector<Node> children = split_alone(nodes[at], worker);
      adopt(nodes, at, children);
      for (int b = nodes[at].branches - 1; b >= 0; --b)
        if (const auto child = size_t(nodes[at].first + b); !nodes[child].is_final) open.push_back(child);
    }
    return nodes;
  }

  std::vector<Node> split_alone(Node& node, int worker) {
    const size_t width = columns_.size();
    Room& room = rooms_[size_t(worker)];
    room.offers.resize(width);
    for (size_t j = 0; j < width; ++j) room.offers[j] = search_->search(node, int32_t(j), worker);
    const BranchWeights assigned = choose(node, room.offers, worker);
    if (!node.split) return {};
    room.candidates.clear();
    if (seeks_surrogates(node, assigned))
      for (size_t j = 0; j < width; ++j) room.candidates.push_back(assigner_.surrogate(node, int32_t(j), assigned));
    std::vector<Node> children = divide(node, room.candidates, assigned, worker);
    for (size_t j = 0; j < width; ++j) partition(node, children, j, worker);
    return children;
  }

  void partition(const Node& node, const std::vector<Node>& children, size_t column, int worker) {
    partitioned_.partition(node, children, column, rooms_[size_t(worker)].buffer);
  }

  static void adopt(std::vector<Node>& nodes, size_t parent, std::vector<Node>& children) {
    if (children.empty()) return;
    nodes[parent].first = int32_t(nodes.size());
    nodes[parent].branches = int32_t(children.size());
    std::move(children.begin(), children.end(), std::back_inserter(nodes));
  }

  // ---- assignment of rows to branches ----

  // Whether some training or held-out row of the node cannot be assigned by its split.
  bool seeks_surrogates(const Node& node, const BranchWeights& assigned) const {
    if (settings_.max_surrogates == 0 || !node.split) return false;
    return !asked_ || assigned.is_partial || asked_->ask(node, assigner_);
  }

  static void keep_only(size_t column, std::span<Split> offers) {
    for (size_t j = 0; j < offers.size(); ++j)
      if (j != column) offers[j].column = -1;
  }

  // Random subset of the columns that could split a node, drawn by the node's position among the rows: independent of
  // the number of threads.
  void draw(const Node& node, std::span<Split> offers) const {
    std::vector<std::pair<uint64_t, size_t>> lots;
    for (size_t j = 0; j < offers.size(); ++j)
      if (offers[j]) lots.emplace_back(mixed(mixed(mixed(mixed(settings_.seed) ^ node.begin) ^ node.end) ^ (uint64_t(node.depth) << 32 | j)), j);
    if (lots.size() <= size_t(settings_.columns_per_node)) return;
    std::ranges::sort(lots);
    for (size_t i = size_t(settings_.columns_per_node); i < lots.size(); ++i) offers[lots[i].second].column = -1;
  }
  // splitmix64
  static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  BranchWeights choose(Node& node, std::span<Split> offers, int worker) {
    if (node.depth == 0 && settings_.first_column >= 0) keep_only(size_t(settings_.first_column), offers);
    if (settings_.columns_per_node > 0) draw(node, offers);
    if (!search_->choose(node, offers, worker)) return {};
    return assigner_.assign_by_split(node);
  }

  std::vector<Node> divide(Node& node, std::span<Surrogate> candidates, const BranchWeights& assigned, int worker) {
    assigner_.keep_best(node, candidates);
    assigner_.assign_missing(node, assigned);
    const size_t branches = node.split.has_own_branch ? 3 : 2;
    std::vector<Node> children(branches);
    partitioned_.divide_rows(node, children, rooms_[size_t(worker)].buffer);
    search_->count_children(node, children, worker);
    for (Node& child : children) {
      child.depth = node.depth + 1, child.most_improved = node.most_improved;
      search_->measure(child, worker);
      if (child.is_final)
        for (const uint32_t tag : partitioned_.tags(child)) partitioned_.side()[target_.row(tag)] = kUnassigned;
    }
    node.is_strict = settings_.is_cart;
    node.missing = assigner_.branch_of_missing(node, children);
    if (asked_) asked_->divide(node, children, assigner_);
    return children;
  }

  std::span<const ColumnView> columns_;
  size_t n_;
  const Target& target_;
  const Settings& settings_;
  Workers& workers_;
  RowsLeftOut* const asked_;
  PartitionedRows partitioned_;
  BranchAssigner assigner_;
  const std::unique_ptr<NodeSearch> search_;
  LargeNodeLevels levels_;
  std::vector<Room> rooms_;
};

}  // namespace baytree::tree::sorted
