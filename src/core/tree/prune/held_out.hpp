// Reduced-error pruning: a subtree stays only if it makes fewer errors than a leaf on rows it was not grown from.
#pragma once
#include "tree/prune/raising.hpp"

namespace baytree::tree::prune {

// The weight of the held-out rows that each node would get wrong as a leaf, rows being spread in the shares of the training rows.
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

// Bottom-up; ties prune. A branch without training rows answers with its parent's class, which it carries.
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

}  // namespace baytree::tree::prune
