// Statistics of a node before it is split: counts, risk, impurity, and whether it stays a leaf.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tree/sorted/measures.hpp"
#include "tree/sorted/partitioned_rows.hpp"
#include "tree/sorted/settings.hpp"
#include "tree/sorted/workspace.hpp"

namespace baytree::tree::sorted {

template <Measure M> class NodeMeasure {
 public:
  NodeMeasure(const Target& target, const Settings& settings, const PartitionedRows& partitioned)
      : target_(target), settings_(settings), partitioned_(partitioned) {}

  // Except at the root, the classes have been counted by the parent.
  void measure(Node& node, Workspace<M>& workspace) {
    const auto own = partitioned_.tags(node);
    node.rows = int64_t(own.size());
    if constexpr (requires { workspace.measure.present(); }) measure_classes(node, own, workspace);
    else measure_numbers(node, own, workspace);
    const double size = node.total.back();
    node.is_final = size < settings_.min_split || node.depth >= settings_.max_depth ||
                    node.impurity <= settings_.min_impurity || (settings_.is_cart && node.risk <= settings_.min_risk);
  }

  // With integer weights and no rows left at the parent, the counts of the largest child are the parent's minus those
  // of the others.
  void count_children(const Node& parent, std::span<Node> children, Workspace<M>& workspace) const {
    if constexpr (requires { workspace.measure.present(); }) count_classes(parent, children, workspace);
  }

 private:
  void count_classes(const Node& parent, std::span<Node> children, Workspace<M>& workspace) const {
    workspace.measure.enter(parent.present);
    const bool is_whole = !target_.weight || (target_.is_counted && target_.classes <= kFewClasses);
    const bool is_shared = is_whole && children.back().end == parent.end;
    Node* largest = is_shared ? &*std::ranges::max_element(children, {}, [](const Node& child) { return child.end - child.begin; }) : nullptr;
    std::vector<double> rest = parent.counts;
    for (Node& child : children) {
      if (&child == largest) continue;
      ClassCounts own = counts_of(partitioned_.tags(child), workspace);
      for (size_t k = 0; k < rest.size(); ++k) rest[k] -= own.weight[k];
      keep_present(child, parent.present, std::move(own));
    }
    if (largest) keep_present(*largest, parent.present, {std::move(rest), {}});
  }

  // Counts of the classes that the measure considers.
  struct ClassCounts {
    std::vector<double> weight;
    std::vector<uint8_t> occurs;  // empty where rows have weight 1: then a class occurs if its count is positive
  };

  void measure_classes(Node& node, std::span<const uint32_t> own, Workspace<M>& workspace) {
    if (node.counts.empty()) count_root(node, own, workspace);
    workspace.measure.enter(node.present);
    node.total.assign(workspace.measure.width(), 0.0);
    for (const double count : node.counts) node.weight += count;
    sum_classes(node, own, workspace);
    if constexpr (requires { workspace.measure.impurity(node.total); })
      node.impurity = std::max(0.0, workspace.measure.impurity(node.total)) /
                      std::max(total({node.total.data(), node.present.size()}), 1e-300);
    decide(node);
  }

  void count_root(Node& root, std::span<const uint32_t> own, Workspace<M>& workspace) const {
    std::vector<int32_t> all(target_.classes);
    std::iota(all.begin(), all.end(), 0);
    workspace.measure.enter(all);
    keep_present(root, all, counts_of(own, workspace));
  }

  void keep_present(Node& node, const std::vector<int32_t>& classes, ClassCounts&& counts) const {
    if (target_.classes <= kFewClasses) {
      node.present = classes, node.counts = std::move(counts.weight);
      return;
    }
    for (size_t k = 0; k < classes.size(); ++k) {
      if (!(counts.occurs.empty() ? counts.weight[k] > 0 : counts.occurs[k])) continue;
      node.present.push_back(classes[k]), node.counts.push_back(counts.weight[k]);
    }
  }

  ClassCounts counts_of(std::span<const uint32_t> own, const Workspace<M>& workspace) const {
    const PresentClasses& present = workspace.measure.present();
    if (!target_.weight) return {count_rows(own, present), {}};
    ClassCounts counts{std::vector<double>(present.size(), 0.0), std::vector<uint8_t>(present.size(), 0)};
    for (const uint32_t tag : own) {
      const size_t place = present.place_of(tag);
      counts.weight[place] += target_.weight_of(target_.row(tag)), counts.occurs[place] = 1;
    }
    return counts;
  }
  // Four alternating tables for many rows: consecutive rows of one class would wait for each other's stores.
  static std::vector<double> count_rows(std::span<const uint32_t> own, const PresentClasses& present) {
    const size_t classes = present.size(), lanes = own.size() < 16 * classes ? 1 : 4;
    std::vector<uint32_t> lane(lanes * classes, 0);
    for (size_t i = 0; i < own.size(); ++i) ++lane[(i & (lanes - 1)) * classes + present.place_of(own[i])];
    std::vector<double> counts(classes, 0.0);
    for (size_t i = 0; i < lane.size(); ++i) counts[i % classes] += lane[i];
    return counts;
  }

  // Class weights from the counts, where this has the same bits as summing row by row.
  void sum_classes(Node& node, std::span<const uint32_t> own, const Workspace<M>& workspace) const {
    if constexpr (requires { workspace.measure.adds_counts(); })
      if (workspace.measure.adds_counts()) {
        std::ranges::copy(node.counts, node.total.begin());
        M::complete(node.total, node.present.size());
        return;
      }
    if (settings_.is_cart) {
      for (const uint32_t tag : own) workspace.measure.add(node.total.data(), tag);
      return;
    }
    for (size_t k = 0; k < node.present.size(); ++k) node.total[k] = node.counts[k] * target_.scale[size_t(node.present[k])];
    node.total.back() = target_.counts_rows ? double(own.size()) : node.weight;
  }

  // The class of minimum expected loss, the first one on ties. Absent classes are interchangeable where all errors cost
  // the same.
  void decide(Node& node) const {
    std::vector<double> lost(node.present.size());
    for (size_t k = 0; k < lost.size(); ++k) lost[k] = settings_.risk_scale[size_t(node.present[k])] * node.counts[k];
    node.risk = std::numeric_limits<double>::infinity();
    const auto consider = [&](size_t label, double risk) {
      if (risk < node.risk) node.risk = risk, node.prediction = int32_t(label);
    };
    if (!settings_.loss.empty()) {
      for (size_t j = 0; j < target_.classes; ++j) consider(j, sum_of(lost, [&](size_t k) { return lost[k] * loss(node.present[k], j); }));
      return;
    }
    const double all = sum_of(lost, [&](size_t k) { return lost[k]; });
    const bool is_exact = std::ranges::all_of(lost, [](double each) { return each == std::floor(each); }) && all < kExactSum;
    const size_t absent = first_absent(node.present);
    for (size_t j = 0; j < lost.size(); ++j) {
      if (absent == j) consider(absent, all);
      consider(size_t(node.present[j]), is_exact ? all - lost[j] : sum_of(lost, [&](size_t k) { return k == j ? 0.0 : lost[k]; }));
    }
    if (absent == lost.size() && absent < target_.classes) consider(absent, all);
  }
  static constexpr double kExactSum = 9007199254740992.0;  // 2^53
  double loss(int32_t is, size_t predicted) const { return settings_.loss[size_t(is) * target_.classes + predicted]; }
  static double sum_of(std::span<const double> lost, const auto& amount) {
    double sum = 0;
    for (size_t k = 0; k < lost.size(); ++k) sum += amount(k);
    return sum;
  }
  // The smallest class that is not among these ascending ones.
  static size_t first_absent(std::span<const int32_t> classes) {
    for (size_t k = 0; k < classes.size(); ++k)
      if (classes[k] != int32_t(k)) return k;
    return classes.size();
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
