// Pruning by error: collapsing, pessimistic estimates with subtree raising (Quinlan 1993), and reduced-error pruning on
// held-out rows.
#pragma once
#include <limits>

#include "tree/fractional/grower.hpp"

namespace baytree::tree::pruning {

using fractional::Growth, fractional::Node;

// Pessimistic estimate: normal quantile of the convention, and its bound for nodes where nearly every case is
// misclassified.
struct Pessimism {
  double confidence = 0.25;
  double z = 0.6925;
  double top_share = 0.67;  // proportion of correct cases, if more than N − ½ are wrong
  double nearly_one = 1;    // fewer errors than this are interpolated between zero and one, among more than `few` cases
  double few = 0;

  // Expected additional errors among N cases of which E are wrong (upper confidence limit of a binomial).
  double extra(double n, double e) const {
    if (!(n > 0)) return 0;
    if (e < 1e-6) return none_wrong(n);
    if (e < nearly_one && n > few) return none_wrong(n) + e * (extra(n, 1.0) - none_wrong(n));
    if (e + 0.5 >= n) return std::max(top_share * (n - e), 0.0);
    const double a = e + 0.5, q = z * z;
    return n * (a + q / 2 + std::sqrt(q * (a * (1 - a / n) + q / 4))) / (n + q) - e;
  }

 private:
  double none_wrong(double n) const { return n * (1 - std::pow(confidence, 1 / n)); }
};

struct PruningRules {
  Pessimism pessimism;
  double tolerance = 0;  // branch weights closer than this are tied
};

inline constexpr double kPruningSlack = 0.1;
inline constexpr double kCollapseSlack = 1e-3;

// Turns subtrees into leaves that make no fewer errors on their training cases than a leaf.
template <std::floating_point Real>
void collapse(Growth& tree) {
  std::vector<Real> errors(tree.node.size());
  for (size_t id = tree.node.size(); id-- > 0;) {
    Node& node = tree.node[id];
    const Real as_leaf = static_cast<Real>(node.weight - tree.template kept<double>(id).largest());
    errors[id] = 0;
    for (int32_t b = 0; b < node.branches; ++b) errors[id] += errors[static_cast<size_t>(node.first + b)];
    if (node.is_leaf() || errors[id] >= as_leaf - kCollapseSlack) {
      tree.make_leaf(id);
      errors[id] = node.weight > 0 ? as_leaf : Real(0);
    }
    node.errors = errors[id];
  }
}

// Pessimistic pruning without raising: needs only the class weights of the nodes.
template <std::floating_point Real>
void prune_by_counts(Growth& tree, const PruningRules& rules) {
  for (size_t id = tree.node.size(); id-- > 0;) {
    Node& node = tree.node[id];
    const Real wrong = static_cast<Real>(node.weight - tree.weight_of(id, node.label));
    const Real as_leaf = node.weight > 0 ? static_cast<Real>(wrong + rules.pessimism.extra(node.weight, wrong)) : Real(0);
    Real below = 0;
    for (int32_t b = 0; b < node.branches; ++b) below += static_cast<Real>(tree.node[static_cast<size_t>(node.first + b)].errors);
    if (node.is_leaf() || as_leaf <= below + kPruningSlack) tree.make_leaf(id);
    node.errors = node.is_leaf() ? as_leaf : below;
  }
}

// Subtree raising: a node may become a leaf, or be replaced by its heaviest branch.

using fractional::Cases, fractional::ClassCounter, fractional::ClassWeights, fractional::GivenColumn, fractional::Partition;

// Branch of each case at a node; -1: missing.
template <std::floating_point Real>
std::vector<int32_t> directions_of(const Growth& tree, const Node& node, std::span<const GivenColumn> columns, const Cases<Real>& cases) {
  const GivenColumn& column = columns[node.column];
  std::vector<int32_t> direction(cases.size(), node.missing);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto row = static_cast<size_t>(cases[i].row);
    if (column.is_numeric()) {
      if (!std::isnan(column.value[row])) direction[i] = tree.branch(node, column.value[row]);
    } else if (column.code[row] >= 0) {
      direction[i] = tree.branch(node, column.code[row]);
    }
  }
  return direction;
}

// Stored branch weights of a node; if there are none, all weight is in the first branch.
template <std::floating_point Real>
std::vector<Real> remembered_weights(const Growth& tree, const Node& node) {
  std::vector<Real> weight;
  for (int32_t b = 0; b < node.branches; ++b) weight.push_back(static_cast<Real>(tree.node[static_cast<size_t>(node.first + b)].weight));
  if (std::all_of(weight.begin(), weight.end(), [](Real w) { return !(w > 0); })) weight.front() = 1;
  return weight;
}

// Visits nodes with an explicit stack: subtrees are evaluated again after each raising.
template <std::floating_point Real>
class RaisingPruner {
 public:
  RaisingPruner(Growth& tree, std::span<const GivenColumn> columns, const PruningRules& rules, Workers& workers)
      : tree_(tree), columns_(columns), rules_(rules), workers_(workers), classes_(tree.n_classes) {}

  void prune(Cases<Real>&& cases) {
    stack_.push_back(visit(0, std::move(cases), true));
    while (!stack_.empty()) {
      step(stack_.back());
      workers_.poll();
    }
  }

 private:
  enum class Stage { enter, branches, heaviest };

  struct Visit {
    size_t id;
    Cases<Real> cases;
    bool changes;  // whether to change the tree, or only to compute its errors on these cases
    Stage stage = Stage::enter;
    std::vector<Cases<Real>> parts = {};
    size_t next = 0;
    int32_t heaviest = 0;
    Real as_leaf = 0, as_tree = 0;
  };

  static Visit visit(size_t id, Cases<Real>&& cases, bool changes) { return {.id = id, .cases = std::move(cases), .changes = changes}; }

  void step(Visit& at) {
    if (at.stage == Stage::enter) return enter(at);
    if (at.stage == Stage::branches) {
      at.as_tree += returned_;
      return next_branch(at);
    }
    decide(at, returned_);
  }

  void leave(Real errors) {
    if (stack_.back().changes) tree_.node[stack_.back().id].errors = errors;
    returned_ = errors;
    stack_.pop_back();
  }

  void enter(Visit& at) {
    Node& node = tree_.node[at.id];
    const ClassWeights<Real> counts = classes_.count(at.cases);
    const Real weight = std::accumulate(counts.weight.begin(), counts.weight.end(), Real(0));
    const int32_t label = counts.largest() > counts.of(node.label) ? counts.heaviest() : node.label;
    const Real wrong = weight - counts.of(label);
    at.as_leaf = static_cast<Real>(wrong + rules_.pessimism.extra(weight, wrong));
    if (at.changes) {
      tree_.keep(at.id, counts);
      node.weight = weight;
      node.rows = static_cast<int64_t>(at.cases.size());
      node.label = label;
    }
    if (node.is_leaf()) return leave(at.as_leaf);
    part(at, node);
    at.stage = Stage::branches;
    at.next = 0;
    at.as_tree = 0;
    next_branch(at);
  }

  void part(Visit& at, const Node& node) {
    const auto direction = directions_of(tree_, node, columns_, at.cases);
    Partition<Real> parts(at.cases, direction, remembered_weights<Real>(tree_, node));
    at.heaviest = 0;
    for (size_t b = 1; b < parts.known.size(); ++b)
      if (parts.known[b] >= parts.known[static_cast<size_t>(at.heaviest)] - rules_.tolerance) at.heaviest = static_cast<int32_t>(b);
    at.parts = std::move(parts.children);
    for (size_t b = 0; b < at.parts.size() && at.changes; ++b)
      if (at.parts[b].size() == 0) empty(static_cast<size_t>(node.first) + b);
  }

  // A branch without cases keeps only its class.
  void empty(size_t id) {
    tree_.make_leaf(id);
    tree_.node[id].weight = tree_.node[id].errors = 0;
    tree_.node[id].rows = 0;
    tree_.node[id].n_counted = 0;
  }

  void next_branch(Visit& at) {
    while (at.next < at.parts.size() && at.parts[at.next].size() == 0) ++at.next;
    const auto first = static_cast<size_t>(tree_.node[at.id].first);
    if (at.next < at.parts.size()) {
      const size_t b = at.next++;
      stack_.push_back(visit(first + b, std::move(at.parts[b]), at.changes));
      return;
    }
    if (!at.changes) return leave(at.as_tree);
    at.stage = Stage::heaviest;
    Cases<Real> all{.all = at.cases.all, .ordered = {}, .known = {}};
    stack_.push_back(visit(first + static_cast<size_t>(at.heaviest), std::move(all), false));
  }

  void decide(Visit& at, Real as_branch) {
    if (at.as_leaf <= as_branch + kPruningSlack && at.as_leaf <= at.as_tree + kPruningSlack) {
      tree_.make_leaf(at.id);
      return leave(at.as_leaf);
    }
    if (as_branch > at.as_tree + kPruningSlack) return leave(at.as_tree);
    tree_.node[at.id] = tree_.node[static_cast<size_t>(tree_.node[at.id].first + at.heaviest)];
    at.stage = Stage::enter;
  }

  Growth& tree_;
  const std::span<const GivenColumn> columns_;
  const PruningRules& rules_;
  Workers& workers_;
  ClassCounter<Real> classes_;
  std::vector<Visit> stack_;
  Real returned_ = 0;
};

// Reduced-error pruning: a subtree stays only if it makes fewer errors than a leaf on held-out rows.

// Errors of each node as a leaf on held-out rows; missing values are distributed in the proportions of the training
// rows.
inline std::vector<double> held_out_errors(const Growth& tree, std::span<const GivenColumn> columns, Cases<double>&& cases, Workers& workers) {
  std::vector<double> errors(tree.node.size());
  ClassCounter<double> classes(tree.n_classes);
  std::vector<Cases<double>> at(tree.node.size());
  at.front() = std::move(cases);
  for (size_t id = 0; id < tree.node.size(); ++id) {
    const Cases<double> here = std::move(at[id]);
    const Node& node = tree.node[id];
    const ClassWeights<double> counts = classes.count(here);
    errors[id] = std::accumulate(counts.weight.begin(), counts.weight.end(), 0.0) - counts.of(node.label);
    workers.poll();
    if (node.is_leaf() || here.size() == 0) continue;
    const auto direction = directions_of(tree, node, columns, here);
    const auto weight = remembered_weights<double>(tree, node);
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    const auto send = [&](size_t i, size_t branch, double share) {
      if (share > 0) at[static_cast<size_t>(node.first) + branch].all.push_back({here[i].row, here[i].label, here[i].weight * share});
    };
    for (size_t i = 0; i < here.size(); ++i) {
      if (direction[i] >= 0) send(i, static_cast<size_t>(direction[i]), 1.0);
      else for (size_t b = 0; b < weight.size(); ++b) send(i, b, weight[b] / total);
    }
  }
  return errors;
}

// Bottom-up; ties are pruned. A branch without training rows predicts its parent's class, which it stores.
inline void reduce_errors(Growth& tree, std::span<const double> as_leaf, double tolerance) {
  std::vector<double> errors(tree.node.size());
  for (size_t id = tree.node.size(); id-- > 0;) {
    const Node& node = tree.node[id];
    for (int32_t b = 0; b < node.branches; ++b) errors[id] += errors[static_cast<size_t>(node.first + b)];
    if (!node.is_leaf() && !(as_leaf[id] - errors[id] < tolerance)) continue;
    tree.make_leaf(id);
    errors[id] = as_leaf[id];
  }
}

}  // namespace baytree::tree::pruning
