// Regression trees with a branch for each level: numbers and ranks are cut in two by the sorted search, levels parted into all.
// Large nodes share their columns among the threads, small ones are whole subtrees of work for one thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tree/counted/parting.hpp"
#include "tree/sorted/node_search.hpp"
#include "tree/sorted/rows/partitioned_rows.hpp"
#include "tree/sorted/splits/large_node_levels.hpp"
#include "workers.hpp"

namespace baytree::tree::counted {

struct MultiwayNode : sorted::Node {
  int32_t column = -1;
  double cut = 0;                  // where the column is cut: up to here the first branch
  std::vector<int32_t> branch_of;  // [n_levels] where the column has levels; -1: none of its rows is here
};

// The nodes depth first: the children of a node side by side, its first subtree before the next.
inline std::vector<MultiwayNode> depth_first(std::vector<MultiwayNode>&& from) {
  std::vector<MultiwayNode> to;
  to.reserve(from.size());
  to.push_back(std::move(from[0]));
  for (std::vector<size_t> waiting{0}; !waiting.empty();) {
    const size_t at = waiting.back();
    waiting.pop_back();
    const auto children = from.begin() + to[at].first;
    if (to[at].is_leaf()) continue;
    to[at].first = int32_t(to.size());
    std::move(children, children + to[at].branches, std::back_inserter(to));
    for (size_t child = to.size(); child-- > size_t(to[at].first);) waiting.push_back(child);
  }
  return to;
}

class MultiwayNumbers {
 public:
  MultiwayNumbers(std::span<const ColumnView> columns, size_t rows, const sorted::Target& target, const sorted::Settings& settings,
                  Workers& workers)
      : columns_(columns), target_(target), settings_(settings), workers_(workers), partitioned_(columns, rows, target, workers),
        assigner_(columns, target, settings, partitioned_), search_(sorted::node_search(columns, target, settings, partitioned_, assigner_, workers)),
        branch_(rows), buffers_(size_t(workers.size())) {}

  std::vector<MultiwayNode> grow() {
    std::vector<MultiwayNode> nodes(1);
    nodes[0].end = uint32_t(branch_.size());
    search_->measure(nodes[0], 0);
    std::vector<size_t> large, small;
    const auto open = [&](size_t node) {
      if (!nodes[node].is_final) (nodes[node].end - nodes[node].begin >= sorted::kLarge ? large : small).push_back(node);
    };
    const auto shared = [&](const auto& task) {
      workers_.run(columns_.size(), task);
    };
    for (open(0); !large.empty();) {
      const size_t at = large.back();
      large.pop_back();
      adopt(nodes, at, split(nodes[at], 0, shared));
      for (int b = 0; b < nodes[at].branches; ++b) open(size_t(nodes[at].first + b));
    }
    grow_subtrees(nodes, small);
    return depth_first(std::move(nodes));
  }

 private:
  // What a column can do for a node.
  struct Offer {
    double gain = 0;
    int32_t branches = 0;  // 0: nothing
    int32_t missing = -1;  // -1: with the heavier side
    double cut = 0;
  };

  void grow_subtrees(std::vector<MultiwayNode>& nodes, const std::vector<size_t>& roots) {
    std::vector<std::vector<MultiwayNode>> grown(roots.size());
    workers_.run(roots.size(), [&](size_t i, int worker) { grown[i] = subtree(nodes[roots[i]], worker); });
    for (size_t i = 0; i < roots.size(); ++i) {
      const auto shift = int32_t(nodes.size()) - 1;
      for (MultiwayNode& node : grown[i])
        if (!node.is_leaf()) node.first += shift;
      nodes[roots[i]] = std::move(grown[i][0]);
      std::move(grown[i].begin() + 1, grown[i].end(), std::back_inserter(nodes));
    }
  }

  std::vector<MultiwayNode> subtree(const MultiwayNode& root, int worker) {
    const auto alone = [&](const auto& task) {
      for (size_t column = 0; column < columns_.size(); ++column) task(column, worker);
    };
    std::vector<MultiwayNode> nodes{root};
    for (std::vector<size_t> open{0}; !open.empty();) {
      if (worker == 0) workers_.poll();
      const size_t at = open.back();
      open.pop_back();
      adopt(nodes, at, split(nodes[at], worker, alone));
      for (int b = 0; b < nodes[at].branches; ++b)
        if (const auto child = size_t(nodes[at].first + b); !nodes[child].is_final) open.push_back(child);
    }
    return nodes;
  }

  static void adopt(std::vector<MultiwayNode>& nodes, size_t parent, std::vector<MultiwayNode>&& children) {
    if (children.empty()) return;
    nodes[parent].first = int32_t(nodes.size());
    nodes[parent].branches = int32_t(children.size());
    std::move(children.begin(), children.end(), std::back_inserter(nodes));
  }

  // The children of a node; none where no column is worth it. `each_column` calls a task for every column.
  std::vector<MultiwayNode> split(MultiwayNode& node, int worker, const auto& each_column) {
    std::vector<Offer> offers(columns_.size());
    each_column([&](size_t column, int by) { offers[column] = offer(node, column, by); });
    node.column = best(node, offers);
    if (node.column < 0) return {};
    const Offer& taken = offers[size_t(node.column)];
    node.gain = taken.gain, node.cut = taken.cut, node.missing = taken.missing;
    if (columns_[size_t(node.column)].is_nominal()) assign_by_level(node, worker);
    else assign_by_cut(node);
    const std::vector<uint32_t> begin = partitioned_.deal_rows(node, size_t(taken.branches), branch_, buffers_[size_t(worker)]);
    std::vector<MultiwayNode> children = measured(node, begin, worker);
    if (!std::ranges::all_of(children, &MultiwayNode::is_final))
      each_column([&](size_t column, int by) {
        if (!columns_[column].is_nominal()) partitioned_.deal_column(node, column, begin, branch_, buffers_[size_t(by)]);
      });
    return children;
  }

  Offer offer(const MultiwayNode& node, size_t column, int worker) {
    if (!columns_[column].is_nominal()) {
      const sorted::Split split = search_->search(node, int32_t(column), worker);
      return split ? Offer{split.score.value, split.has_own_branch ? 3 : 2, split.missing, split.cut} : Offer{};
    }
    const Parting parting = part_levels(search_->levels(node, int32_t(column), worker), settings_.absent, settings_.min_leaf);
    return {parting.gain, parting.branches, parting.missing, 0};
  }

  // The column that gains most beyond rounding, the earlier of equals; -1: none gains enough. As in trees of two branches the
  // cuts first compete among themselves.
  int32_t best(const MultiwayNode& node, std::span<const Offer> offers) const {
    const double slack = kSlack * node.risk;
    const auto most = [&](const auto& competes) {
      int32_t best = -1;
      for (size_t j = 0; j < offers.size(); ++j)
        if (offers[j].branches && competes(j) && (best < 0 || offers[j].gain > offers[size_t(best)].gain + slack)) best = int32_t(j);
      return best;
    };
    const int32_t cut = most([&](size_t j) { return !columns_[j].is_nominal(); });
    const int32_t best = most([&](size_t j) { return columns_[j].is_nominal() || int32_t(j) == cut; });
    const bool is_enough = best >= 0 && offers[size_t(best)].gain > slack && offers[size_t(best)].gain >= settings_.min_gain;
    return is_enough ? best : -1;
  }
  static constexpr double kSlack = 1e-12;  // of the node's sum of squares

  void assign_by_level(MultiwayNode& node, int worker) {
    const ColumnView& view = columns_[size_t(node.column)];
    node.branch_of.assign(size_t(view.levels), -1);
    int32_t branch = 0;
    for (const int32_t code : search_->levels(node, node.column, worker).code)
      if (code >= 0) node.branch_of[size_t(code)] = branch++;
    for (const uint32_t row : partitioned_.tags(node)) {
      const int32_t code = view.level(row);
      branch_[row] = code < 0 ? node.missing : node.branch_of[size_t(code)];
    }
  }

  // Rows without a value for which the search found no side go with the heavier one.
  void assign_by_cut(MultiwayNode& node) {
    const ColumnView& view = columns_[size_t(node.column)];
    double weight[2] = {0, 0};
    for (const uint32_t row : partitioned_.tags(node)) {
      const double x = view[row];
      branch_[row] = x == x ? int32_t(!(x <= node.cut)) : node.missing;
      if (x == x) weight[branch_[row]] += target_.weight_of(row);
    }
    if (node.missing >= 0) return;
    node.missing = int32_t(weight[1] > weight[0]);
    for (const uint32_t row : partitioned_.tags(node))
      if (branch_[row] < 0) branch_[row] = node.missing;
  }

  std::vector<MultiwayNode> measured(const MultiwayNode& node, std::span<const uint32_t> begin, int worker) {
    std::vector<MultiwayNode> children(begin.size() - 1);
    for (size_t b = 0; b < children.size(); ++b) {
      children[b].begin = begin[b], children[b].end = begin[b + 1], children[b].depth = node.depth + 1;
      search_->measure(children[b], worker);
    }
    return children;
  }

  std::span<const ColumnView> columns_;
  const sorted::Target& target_;
  const sorted::Settings& settings_;
  Workers& workers_;
  sorted::PartitionedRows partitioned_;
  sorted::BranchAssigner assigner_;
  const std::unique_ptr<sorted::NodeSearch> search_;
  std::vector<int32_t> branch_;  // [n_rows], at the node that holds the row
  std::vector<sorted::PartitionBuffer> buffers_;  // [n_workers]
};

}  // namespace baytree::tree::counted
