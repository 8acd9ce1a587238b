// Pruning by error: collapse, Quinlan's pessimistic estimate with subtree raising, and held-out rows.
#pragma once
#include "tree/fractional/grower.hpp"

namespace baytree::tree::prune {

using fractional::Growth, fractional::Node;

// How pessimistic: the convention's normal quantile and its bound for nodes where nearly every case is wrong.
struct Pessimism {
  double confidence = 0.25;
  double z = 0.6925;
  double top_share = 0.67;  // of the right cases, when more than N − ½ are wrong
  double nearly_one = 1;    // fewer errors than this lie between none and one, among more than `few` cases
  double few = 0;

  // Expected further errors among N cases of which E are wrong (upper confidence limit of a binomial).
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
  double tolerance = 0;  // branch weights closer than this are a tie
};

inline constexpr double kPruningSlack = 0.1;
inline constexpr double kCollapseSlack = 1e-3;

// Turns into a leaf what makes no fewer errors on its training cases than a leaf would.
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

// Error-based pruning without raising: it needs the class weights of the nodes only.
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

}  // namespace baytree::tree::prune
