// C5.0's global pruning: the subtrees that cost least per leaf go, as long as the errors rise by no more than one standard error.
#pragma once
#include "tree/c50/classify.hpp"
#include "workers.hpp"

namespace baytree::tree::c50 {

class GlobalPruner {
 public:
  GlobalPruner(Growth& tree, Workers& workers) : tree_(tree), workers_(workers), errors_(tree.node.size()), leaves_(tree.node.size()) {}

  // `base` are the errors of the tree on all rows.
  void prune(double base, double n_rows) {
    for (double allowed = std::sqrt(base * (1 - base / n_rows)); allowed > 0;) {
      workers_.poll();
      sum_up();
      const std::vector<size_t> weakest = find_weakest(allowed);
      double extra = 0;
      for (const size_t id : weakest) extra += extra_errors(id);
      if (weakest.empty() || extra > allowed) return;
      for (const size_t id : weakest) tree_.make_leaf(id);
      allowed -= extra;
    }
  }

  double errors() {
    sum_up();
    return errors_.front();
  }

 private:
  double as_leaf(size_t id) const { return static_cast<float>(tree_.node[id].weight - tree_.weight_of(id, tree_.node[id].label)); }
  // The other classes are added up one by one: another last bit than that of `as_leaf`, which decides equal ratios.
  double leaf_errors(size_t id) const {
    float sum = 0;
    for (const auto& [label, weight] : tree_.counts_of(id))
      if (label != tree_.node[id].label) sum += static_cast<float>(weight);
    return sum;
  }
  double extra_errors(size_t id) const { return as_leaf(id) - errors_[id]; }

  // Children come after their parent, so one pass from the end sums up what is below every node.
  void sum_up() {
    for (size_t id = tree_.node.size(); id-- > 0;) {
      const Node& node = tree_.node[id];
      errors_[id] = node.is_leaf() ? leaf_errors(id) : 0;
      leaves_[id] = node.is_leaf() && node.weight > 1e-3 ? 1 : 0;
      for (int32_t b = 0; b < node.branches; ++b) {
        const auto child = static_cast<size_t>(node.first + b);
        errors_[id] += errors_[child];
        leaves_[id] += leaves_[child];
      }
    }
  }

  // Nodes of the least ratio. It is kept in float32, as the program does, so that equal ratios tie only where float32 holds them.
  std::vector<size_t> find_weakest(double allowed) const {
    std::vector<size_t> weakest, below(tree_.node.size());  // inner nodes of each subtree
    float least = 1e30F;
    const std::vector<size_t> order = children_first();
    for (size_t place = 0; place < order.size(); ++place) {
      const size_t id = order[place];
      below[id] = 1;
      for (int32_t b = 0; b < tree_.node[id].branches; ++b) below[id] += below[static_cast<size_t>(tree_.node[id].first + b)];
      const double extra = extra_errors(id);
      if (extra > allowed || leaves_[id] < 2) continue;
      const double ratio = extra / (leaves_[id] - 1);
      if (ratio < least) {
        weakest.assign(1, place);
        least = static_cast<float>(ratio);
      } else if (ratio == least) {
        while (!weakest.empty() && weakest.back() + below[id] > place) weakest.pop_back();  // its descendants go with it
        weakest.push_back(place);
      }
    }
    for (size_t& place : weakest) place = order[place];
    return weakest;
  }

  std::vector<size_t> children_first() const {
    std::vector<size_t> order, waiting{0};
    while (!waiting.empty()) {
      const size_t id = waiting.back();
      waiting.pop_back();
      const Node& node = tree_.node[id];
      if (node.is_leaf()) continue;
      order.push_back(id);
      for (int32_t b = 0; b < node.branches; ++b)
        if (const auto child = static_cast<size_t>(node.first + b); tree_.node[child].weight > 0.1) waiting.push_back(child);
    }
    std::reverse(order.begin(), order.end());  // a node, then its last branch first: backwards, branches in order before their node
    return order;
  }

  Growth& tree_;
  Workers& workers_;
  std::vector<double> errors_, leaves_;
};

}  // namespace baytree::tree::c50
