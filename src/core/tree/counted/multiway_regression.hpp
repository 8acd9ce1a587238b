// Regression trees with one branch per level of nominal columns; numeric and ordinal columns are split in two by the
// sorted search.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tree/sorted/level_counts.hpp"
#include "tree/sorted/node_search.hpp"
#include "tree/sorted/partitioned_rows.hpp"
#include "tree/sorted/settings.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::counted {

// Multiway least-squares split of a nominal column, from the sums of its levels.

// The levels that occur become branches, in their order.
struct Parting {
  double gain = 0;       // decrease of the sum of squares
  int32_t branches = 0;  // 0: fewer than two levels are large enough
  int32_t missing = 0;   // branch of the missing values
};

// Σ w (y − c) relative to a common centre c, and Σ w, of each branch.
struct BranchSums {
  std::vector<double> sum, weight;

  size_t size() const { return sum.size(); }
  void append(std::span<const double> statistic) { sum.push_back(statistic[0]), weight.push_back(statistic[1]); }
  void join(size_t branch, std::span<const double> statistic) { sum[branch] += statistic[0], weight[branch] += statistic[1]; }

  double fall_of_squares() const {
    double each = 0, all = 0, whole = 0;
    for (size_t b = 0; b < size(); ++b) each += sum[b] * sum[b] / weight[b], all += sum[b], whole += weight[b];
    return each - all * all / whole;
  }
  // The branch whose sum of squares increases least if rows join it, the first one on ties.
  size_t closest(std::span<const double> joining) const {
    size_t best = 0;
    double most = 0;
    for (size_t b = 0; b < size(); ++b) {
      const double together = sum[b] + joining[0];
      const double fit = together * together / (weight[b] + joining[1]) - sum[b] * sum[b] / weight[b];
      if (b == 0 || fit > most) best = b, most = fit;
    }
    return best;
  }
  size_t heaviest() const { return size_t(std::ranges::max_element(weight) - weight.begin()); }
};

// Needs at least two levels of weight `min_leaf`. Missing values go to the branch where the sum of squares is least, to
// their own branch, or with the majority; in the last case the column is scored on its known rows.
inline Parting part_levels(const sorted::Levels& levels, sorted::Absent absent, double min_leaf) {
  const bool has_missing = levels.size() > 0 && levels.code[0] < 0;
  BranchSums known;
  for (size_t i = has_missing; i < levels.size(); ++i) known.append(levels[i]);
  if (std::ranges::count_if(known.weight, [&](double weight) { return weight >= min_leaf; }) < 2) return {};
  size_t missing = known.heaviest();
  if (has_missing && absent == sorted::Absent::kCategory) missing = known.size(), known.append(levels[0]);
  if (has_missing && absent == sorted::Absent::kLearned) missing = known.closest(levels[0]), known.join(missing, levels[0]);
  return {known.fall_of_squares(), int32_t(known.size()), int32_t(missing)};
}

// Growth. The columns of large nodes are shared among threads; small nodes are whole subtrees for one thread.

// A node of the tree. Most nodes are leaves, of which there may be as many as levels.
struct MultiwayNode {
  int32_t column = -1, first = 0, branches = 0, missing = -1;
  int64_t rows = 0;
  double weight = 0, mean = 0, risk = 0, impurity = 0, gain = 0;
  double cut = 0;                  // numeric: threshold, inclusive upper end of the first branch
  std::vector<int32_t> branch_of;  // [n_levels] for a nominal column; -1: the level does not occur

  MultiwayNode() = default;
  explicit MultiwayNode(const sorted::Node& node)
      : rows(node.rows), weight(node.weight), mean(node.mean), risk(node.risk), impurity(node.impurity) {}
  bool is_leaf() const { return branches == 0; }
};

// Nodes in depth-first order: the children of a node are contiguous, its first subtree comes before the next.
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
    Open root{{}, 0};
    root.rows.end = uint32_t(branch_.size());
    search_->measure(root.rows, 0);
    std::vector<MultiwayNode> nodes{MultiwayNode(root.rows)};
    std::vector<Open> large, small;
    const auto open = [&](Open&& node) { (node.rows.end - node.rows.begin >= sorted::kLarge ? large : small).push_back(std::move(node)); };
    const auto shared = [&](const auto& task) { workers_.run(columns_.size(), task); };
    if (!root.rows.is_final) open(std::move(root));
    while (!large.empty()) {
      const Open at = std::move(large.back());
      large.pop_back();
      for (Open& child : split(nodes, at, 0, shared)) open(std::move(child));
    }
    grow_subtrees(nodes, small);
    return depth_first(std::move(nodes));
  }

 private:
  // A node that may be split, and its index.
  struct Open {
    sorted::Node rows;
    size_t place = 0;
  };

  // Best split of a column at a node.
  struct Offer {
    double gain = 0;
    int32_t branches = 0;  // 0: none
    int32_t missing = -1;  // -1: with the majority
    double cut = 0;
  };

  void grow_subtrees(std::vector<MultiwayNode>& nodes, const std::vector<Open>& roots) {
    std::vector<std::vector<MultiwayNode>> grown(roots.size());
    workers_.run(roots.size(), [&](size_t i, int worker) { grown[i] = subtree(roots[i].rows, worker); });
    size_t n = nodes.size();
    for (const auto& each : grown) n += each.size() - 1;
    nodes.reserve(n);
    for (size_t i = 0; i < roots.size(); ++i) {
      const auto shift = int32_t(nodes.size()) - 1;
      for (MultiwayNode& node : grown[i])
        if (!node.is_leaf()) node.first += shift;
      nodes[roots[i].place] = std::move(grown[i][0]);
      std::move(grown[i].begin() + 1, grown[i].end(), std::back_inserter(nodes));
    }
  }

  std::vector<MultiwayNode> subtree(const sorted::Node& root, int worker) {
    const auto alone = [&](const auto& task) {
      for (size_t column = 0; column < columns_.size(); ++column) task(column, worker);
    };
    std::vector<MultiwayNode> nodes{MultiwayNode(root)};
    for (std::vector<Open> open{{root, 0}}; !open.empty();) {
      if (worker == 0) workers_.poll();
      const Open at = std::move(open.back());
      open.pop_back();
      std::ranges::move(split(nodes, at, worker, alone), std::back_inserter(open));
    }
    return nodes;
  }

  // Creates the children of a node; returns those that may be split, or none if no split is good enough. `each_column`
  // calls a task for every column.
  std::vector<Open> split(std::vector<MultiwayNode>& nodes, const Open& open, int worker, const auto& each_column) {
    const sorted::Node& rows = open.rows;
    std::vector<Offer> offers(columns_.size());
    each_column([&](size_t column, int by) {
      if (rows.depth > 0 || settings_.first_column < 0 || column == size_t(settings_.first_column)) offers[column] = offer(rows, column, by);
    });
    MultiwayNode& node = nodes[open.place];
    node.column = best(node, offers);
    if (node.column < 0) return {};
    const Offer& taken = offers[size_t(node.column)];
    node.gain = std::max(taken.gain, 0.0), node.cut = taken.cut, node.missing = taken.missing;
    node.first = int32_t(nodes.size()), node.branches = taken.branches;
    if (columns_[size_t(node.column)].is_nominal()) assign_by_level(node, rows, worker);
    else assign_by_cut(node, rows);
    const auto divided = is_divided(rows, node) ? size_t(node.column) : columns_.size();
    const std::vector<uint32_t> begin = partitioned_.deal_rows(rows, size_t(taken.branches), branch_, buffers_[size_t(worker)]);
    std::vector<Open> children = measured(nodes, rows, begin, worker);
    if (!children.empty())
      each_column([&](size_t column, int by) {
        if (!columns_[column].is_nominal() && column != divided) partitioned_.deal_column(rows, column, begin, branch_, buffers_[size_t(by)]);
      });
    return children;
  }

  Offer offer(const sorted::Node& node, size_t column, int worker) {
    if (!columns_[column].is_nominal()) {
      const sorted::Split split = search_->search(node, int32_t(column), worker);
      return split ? Offer{split.score.value, split.has_own_branch ? 3 : 2, split.missing, split.cut} : Offer{};
    }
    const Parting parting = part_levels(search_->levels(node, int32_t(column), worker), settings_.absent, settings_.min_leaf);
    return {parting.gain, parting.branches, parting.missing, 0};
  }

  // The column of maximum gain beyond rounding, the earlier one on ties, also without a gain if that is asked for; -1: none. As in binary trees, thresholds first
  // compete among themselves.
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
    if (best < 0) return -1;
    const bool has_gain = offers[size_t(best)].gain > slack && offers[size_t(best)].gain >= settings_.min_gain;
    return has_gain || (settings_.takes_no_gain && settings_.min_gain <= 0) ? best : -1;
  }
  static constexpr double kSlack = 1e-12;  // relative to the node's sum of squares

  // Whether the split's own numeric column is already partitioned: missing values come last.
  bool is_divided(const sorted::Node& rows, const MultiwayNode& node) const {
    if (columns_[size_t(node.column)].is_nominal()) return false;
    return node.missing > 0 || sorted::known_in(partitioned_.entries(rows, size_t(node.column))) == rows.end - rows.begin;
  }

  void assign_by_level(MultiwayNode& node, const sorted::Node& rows, int worker) {
    const ColumnView& view = columns_[size_t(node.column)];
    node.branch_of.assign(size_t(view.levels), -1);
    int32_t branch = 0;
    for (const int32_t code : search_->levels(rows, node.column, worker).code)
      if (code >= 0) node.branch_of[size_t(code)] = branch++;
    for (const uint32_t row : partitioned_.tags(rows)) {
      const int32_t code = view.level(row);
      branch_[row] = code < 0 ? node.missing : node.branch_of[size_t(code)];
    }
  }

  // Missing values without a branch from the search go with the majority.
  void assign_by_cut(MultiwayNode& node, const sorted::Node& rows) {
    const ColumnView& view = columns_[size_t(node.column)];
    const auto all = partitioned_.entries(rows, size_t(node.column));
    const auto known = all.first(sorted::known_in(all));
    const auto row_of = [&](sorted::Entry entry) { return target_.row(sorted::tag_of(entry)); };
    const auto cut = std::ranges::partition_point(known, [&](sorted::Entry entry) { return view[row_of(entry)] <= node.cut; });
    const auto n_below = size_t(cut - known.begin());
    for (size_t i = 0; i < known.size(); ++i) branch_[row_of(known[i])] = int32_t(i >= n_below);
    for (const sorted::Entry entry : all.subspan(known.size())) branch_[row_of(entry)] = node.missing;
    if (node.missing >= 0) return;
    node.missing = heavier(rows, n_below, known.size() - n_below);
    for (const sorted::Entry entry : all.subspan(known.size())) branch_[row_of(entry)] = node.missing;
  }

  // The heavier of two branches; weights are added in table order.
  int32_t heavier(const sorted::Node& rows, size_t n_below, size_t n_above) const {
    if (!target_.weight) return int32_t(n_above > n_below);
    double weight[2] = {0, 0};
    for (const uint32_t row : partitioned_.tags(rows))
      if (branch_[row] >= 0) weight[branch_[row]] += target_.weight[row];
    return int32_t(weight[1] > weight[0]);
  }

  // Appends the children of a node; returns those that may be split.
  std::vector<Open> measured(std::vector<MultiwayNode>& nodes, const sorted::Node& parent, std::span<const uint32_t> begin, int worker) {
    std::vector<Open> open;
    for (size_t b = 0; b + 1 < begin.size(); ++b) {
      sorted::Node child;
      child.begin = begin[b], child.end = begin[b + 1], child.depth = parent.depth + 1;
      search_->measure(child, worker);
      nodes.emplace_back(child);
      if (!child.is_final) open.push_back({std::move(child), nodes.size() - 1});
    }
    return open;
  }

  std::span<const ColumnView> columns_;
  const sorted::Target& target_;
  const sorted::Settings& settings_;
  Workers& workers_;
  sorted::PartitionedRows partitioned_;
  sorted::BranchAssigner assigner_;
  const std::unique_ptr<sorted::NodeSearch> search_;
  std::vector<int32_t> branch_;  // [n_rows], in the node that holds the row
  std::vector<sorted::PartitionBuffer> buffers_;  // [n_workers]
};

}  // namespace baytree::tree::counted
