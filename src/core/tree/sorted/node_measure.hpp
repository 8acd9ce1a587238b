// What is known of a node before it is split: counts, risk, impurity, and whether it stays a leaf.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/sorted/node.hpp"
#include "tree/sorted/rows/partitioned_rows.hpp"
#include "tree/sorted/splits/measures.hpp"
#include "tree/sorted/workspace.hpp"

namespace baytree::tree::sorted {

template <Measure M> class NodeMeasure {
 public:
  NodeMeasure(const Target& target, const Settings& settings, const PartitionedRows& partitioned)
      : target_(target), settings_(settings), partitioned_(partitioned) {}

  void measure(Node& node, Workspace<M>& workspace) {
    const auto own = partitioned_.tags(node);
    node.rows = int64_t(own.size());
    if (target_.classes) measure_classes(node, own, workspace);
    else measure_numbers(node, own, workspace);
    const double size = node.total.back();
    node.is_final = size < settings_.min_split || node.depth >= settings_.max_depth ||
                    node.impurity <= settings_.min_impurity || (settings_.is_cart && node.risk <= settings_.min_risk);
  }

  // Whole numbers only, and only where every row went on: what the others leave of the parent's is the largest child's.
  void count_children(const Node& parent, std::span<Node> children) const {
    if (!target_.classes || target_.weight || children.back().end != parent.end) return;
    Node& largest = *std::ranges::max_element(children, {}, [](const Node& child) { return child.end - child.begin; });
    std::vector<double> rest = parent.counts;
    for (Node& child : children) {
      if (&child == &largest) continue;
      child.counts = counts_of(partitioned_.tags(child));
      for (size_t k = 0; k < rest.size(); ++k) rest[k] -= child.counts[k];
    }
    largest.counts = std::move(rest);
  }

 private:
  void measure_classes(Node& node, std::span<const uint32_t> own, Workspace<M>& workspace) {
    const size_t classes = target_.classes;
    node.total.assign(workspace.measure.width(), 0.0);
    if (node.counts.empty()) node.counts = counts_of(own);
    for (size_t k = 0; k < classes; ++k) node.weight += node.counts[k];
    sum_classes(node, own, workspace);
    if constexpr (requires { workspace.measure.impurity(node.total); })
      node.impurity = std::max(0.0, workspace.measure.impurity(node.total)) / std::max(total({node.total.data(), classes}), 1e-300);
    decide(node);
  }

  std::vector<double> counts_of(std::span<const uint32_t> own) const {
    std::vector<double> counts(target_.classes, 0.0);
    if (!target_.weight) count_classes(own, counts);
    else
      for (const uint32_t tag : own) counts[target_.class_of(tag)] += target_.weight_of(target_.row(tag));
    return counts;
  }
  // Four tables in turn: rows of one class after the other would each wait for the sum before.
  void count_classes(std::span<const uint32_t> own, std::vector<double>& counts) const {
    const size_t classes = target_.classes;
    std::vector<uint32_t> lane(4 * classes, 0);
    for (size_t i = 0; i < own.size(); ++i) ++lane[(i & 3) * classes + target_.class_of(own[i])];
    for (size_t i = 0; i < lane.size(); ++i) counts[i % classes] += lane[i];
  }

  // Masses from the counts where that is the same as row by row.
  void sum_classes(Node& node, std::span<const uint32_t> own, const Workspace<M>& workspace) const {
    if (settings_.is_cart) {
      for (const uint32_t tag : own) workspace.measure.add(node.total.data(), tag);
      return;
    }
    for (size_t k = 0; k < target_.classes; ++k) node.total[k] = node.counts[k] * target_.scale[k];
    node.total.back() = target_.counts_rows ? double(own.size()) : node.weight;
  }

  // The class of least expected loss, the first one on equality.
  void decide(Node& node) const {
    const size_t classes = target_.classes;
    node.risk = std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < classes; ++j) {
      double loss = 0;
      for (size_t i = 0; i < classes; ++i)
        loss += settings_.risk_scale[i] * node.counts[i] * settings_.loss[i * classes + j];
      if (loss < node.risk) node.risk = loss, node.prediction = int32_t(j);
    }
  }

  void measure_numbers(Node& node, std::span<const uint32_t> own, Workspace<M>& workspace) {
    double weight = 0, sum = 0;
    const double origin = own.empty() ? 0.0 : target_.y[own[0]];
    for (const uint32_t row : own) weight += target_.weight_of(row), target_.add_weighted(sum, target_.y[row] - origin, row);
    double mean = origin + (weight > 0 ? sum / weight : 0.0), rest = 0, squares = 0;
    for (const uint32_t row : own) target_.add_weighted(rest, target_.y[row] - mean, row);
    mean += weight > 0 ? rest / weight : 0.0;
    for (const uint32_t row : own) {
      const double apart = target_.y[row] - mean;
      target_.add_weighted(squares, apart * apart, row);
    }
    node.weight = weight, node.mean = mean, node.risk = squares;
    node.impurity = weight > 0 ? squares / weight : 0.0;
    workspace.measure.focus(mean, squares);
    node.total.assign(workspace.measure.width(), 0.0);
    for (const uint32_t row : own) workspace.measure.add(node.total.data(), row);
  }

  const Target& target_;
  const Settings& settings_;
  const PartitionedRows& partitioned_;
};

}  // namespace baytree::tree::sorted
