// Cost-complexity pruning of a flat tree (Breiman et al. 1984, chapter 3): the penalty per split at which each split is
// removed.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "tree/routing/router.hpp"

namespace baytree::tree::pruning {

using routing::Router;

struct Shape {
  std::span<const int32_t> first, branches;  // [n_nodes]
  std::span<const uint8_t> is_mirrored;      // [n_nodes], the second child is visited first
  std::span<const double> risk;              // [n_nodes]
};

// Value of a subtree: number of splits that pay, and their remaining risk.
struct Below {
  double splits = 0, risk = 0;
};

class Complexities {
 public:
  // alpha: minimum value of a split. `is_bounded`: a node whose risk cannot pay for a split is skipped, as in rpart.
  Complexities(const Shape& shape, double alpha, bool is_bounded)
      : shape_(shape), alpha_(alpha), is_bounded_(is_bounded), below_(shape.first.size()) {
    complexity.assign(shape.first.size(), alpha), is_split.assign(shape.first.size(), 0);
    run();
    limit_by_parents();
  }
  std::vector<double> complexity;
  std::vector<uint8_t> is_split;

 private:
  struct Visit {
    int32_t node;
    double bound;
    int32_t next;  // next branch to visit
  };

  void run() {
    std::vector<Visit> open;
    enter(0, is_bounded_ ? shape_.risk[0] : std::numeric_limits<double>::infinity(), open);
    while (!open.empty()) {
      Visit& here = open.back();
      if (here.next < shape_.branches[size_t(here.node)]) {
        const int32_t branch = here.next++;
        enter(child(here.node, branch), bound_of(here, branch), open);  // may reallocate `open`: `here` is not used afterwards
        continue;
      }
      finish(here.node);
      open.pop_back();
    }
  }

  int32_t child(int32_t node, int32_t order) const {
    const int32_t n = shape_.branches[size_t(node)];
    return shape_.first[size_t(node)] + (shape_.is_mirrored[size_t(node)] ? n - 1 - order : order);
  }

  void enter(int32_t node, double bound, std::vector<Visit>& open) {
    const double risk = shape_.risk[size_t(node)];
    below_[size_t(node)] = {0, risk};
    if (shape_.branches[size_t(node)] == 0 || (is_bounded_ && std::min(risk, bound) <= alpha_)) return;
    open.push_back({node, bound, 0});
  }

  double bound_of(const Visit& here, int32_t branch) const {
    const double risk = shape_.risk[size_t(here.node)];
    if (branch == 0) return std::min(risk, here.bound) - alpha_;
    const auto before = size_t(child(here.node, branch - 1));
    const Below& left = below_[before];
    return std::min(here.bound, std::max((risk - left.risk) / (left.splits + 1), risk - shape_.risk[before])) - alpha_;
  }

  void finish(int32_t node) {
    const auto at = size_t(node);
    const int32_t n = shape_.branches[at];
    std::vector<size_t> order;
    for (int32_t b = n - 1; b >= 0; --b) order.push_back(size_t(child(node, b)));  // ties: the last one first
    std::ranges::stable_sort(order, {}, [&](size_t c) { return complexity[c]; });
    double gain = gain_of(at, order);
    for (const size_t c : order) {
      if (!(gain > complexity[c]) || below_[c].splits == 0) continue;  // a leaf changes nothing
      below_[c] = {0, shape_.risk[c]};
      gain = gain_of(at, order);
    }
    complexity[at] = gain;
    if (gain <= alpha_) return;
    is_split[at] = 1;
    Below sum{double(n - 1), 0};
    for (const size_t c : order) sum.splits += below_[c].splits, sum.risk += below_[c].risk;
    below_[at] = sum;
  }

  double gain_of(size_t at, const std::vector<size_t>& children) const {
    double risk = shape_.risk[at], splits = double(children.size()) - 1;
    // In visiting order, so that the last bits agree with those of two children.
    for (size_t i = 0; i < children.size(); ++i) {
      const auto c = size_t(child(int32_t(at), int32_t(i)));
      risk -= below_[c].risk, splits += below_[c].splits;
    }
    return risk / std::max(splits, 1.0);
  }

  void limit_by_parents() {
    for (size_t at = 0; at < shape_.first.size(); ++at)
      for (int32_t b = 0; b < shape_.branches[at]; ++b) {
        const auto c = size_t(shape_.first[at] + b);
        complexity[c] = std::min(complexity[c], std::max(complexity[at], alpha_));
      }
  }

  const Shape& shape_;
  double alpha_;
  bool is_bounded_;
  std::vector<Below> below_;
};

// Nodes that remain if only some splits are kept.
inline std::vector<uint8_t> reached(const Shape& shape, std::span<const uint8_t> is_split) {
  std::vector<uint8_t> is_there(shape.first.size(), 0);
  is_there[0] = 1;
  for (size_t at = 0; at < is_there.size(); ++at)
    for (int32_t b = 0; is_there[at] && is_split[at] && b < shape.branches[at]; ++b) is_there[size_t(shape.first[at] + b)] = 1;
  return is_there;
}

// Sums over rows of weight * loss and weight * loss^2 at every penalty of a descending list. Complexity never increases
// downwards, so one walk per row serves the whole list.
struct PathLoss {
  std::vector<double> sum, squares;
};
template <std::invocable<size_t, size_t> Loss>
PathLoss path_losses(const Router& router, std::span<const ColumnView> columns, std::span<const double> complexity,
                     std::span<const double> penalty, std::span<const double> weight, const Loss& loss) {
  PathLoss total{std::vector<double>(penalty.size(), 0.0), std::vector<double>(penalty.size(), 0.0)};
  for (size_t row = 0; row < weight.size(); ++row) {
    int32_t at = 0;
    bool is_stopped = false;
    for (size_t i = 0; i < penalty.size(); ++i) {
      while (!is_stopped && router.nodes[size_t(at)].column >= 0 && complexity[size_t(at)] > penalty[i]) {
        const routing::Test& node = router.nodes[size_t(at)];
        const int32_t taken = router.branch(node, columns, row);
        is_stopped = taken < 0;
        if (!is_stopped) at = node.first + taken;
      }
      const double lost = loss(size_t(at), row);
      total.sum[i] += weight[row] * lost, total.squares[i] += weight[row] * lost * lost;
    }
  }
  return total;
}

}  // namespace baytree::tree::pruning
