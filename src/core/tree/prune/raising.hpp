// Error-based pruning with subtree raising: a node may become a leaf, or give its place to its heaviest branch.
#pragma once
#include <limits>

#include "tree/prune/error_pruning.hpp"

namespace baytree::tree::prune {

using fractional::Cases, fractional::ClassCounter, fractional::ClassWeights, fractional::GivenColumn, fractional::Partition;

// Where each case goes at a node: a branch, or -1 = no value.
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

// The branch weights that a node remembers; all in the first branch if there are none.
template <std::floating_point Real>
std::vector<Real> remembered_weights(const Growth& tree, const Node& node) {
  std::vector<Real> weight;
  for (int32_t b = 0; b < node.branches; ++b) weight.push_back(static_cast<Real>(tree.node[static_cast<size_t>(node.first + b)].weight));
  if (std::all_of(weight.begin(), weight.end(), [](Real w) { return !(w > 0); })) weight.front() = 1;
  return weight;
}

// One visit of a node after the other, on a stack of its own: subtrees are judged again after each raising.
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
    bool changes;  // whether the tree may be changed, or only its error on these cases is asked
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

  // A branch that no case reaches keeps its class only.
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

}  // namespace baytree::tree::prune
