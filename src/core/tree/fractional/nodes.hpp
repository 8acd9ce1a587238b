// A multiway tree during growth and pruning: nodes in a flat list, children consecutive and after their parent.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/fractional/cases.hpp"

namespace baytree::tree::fractional {

enum class Test : int32_t { none, threshold, each_level, one_level, groups };

struct Node {
  Test test = Test::none;
  int32_t column = -1;
  int32_t first = -1;         // first child
  int32_t branches = 0;
  int32_t label = 0;          // predicted class
  int32_t level = -1;         // one_level: this level goes to the first branch
  int64_t group = -1;         // groups: start of its level -> branch map
  int32_t levels = 0;         // of the column, unless the test is a threshold
  int32_t origin = -1;        // its index in the unpruned tree
  int32_t missing = -1;       // branch of missing values; -1: all branches, in proportion to their weights
  double cut = 0;             // threshold: value <= cut goes to the first branch
  double weight = 0;
  int64_t rows = 0;           // number of cases, whatever their weights
  double gain = 0, ratio = 0;
  double errors = 0;
  int64_t counted = 0;        // start of its class weights
  int32_t n_counted = 0;
  bool is_leaf() const { return test == Test::none; }
};

// A soft threshold with bounds: in between, a row follows both branches, with half of its weight each at the middle.
struct SoftCut {
  double low = 0, mid = 0, high = 0;

  double share_below(double value, double middle) const {
    if (value <= low) return 1;
    if (value >= high) return 0;
    return value <= middle ? 1 - 0.5 * (value - low) / (middle - low) : 0.5 * (high - value) / (high - middle);
  }
};

// Weight of a class in a node.
struct ClassWeight {
  int32_t label;
  double weight;
};

struct Growth {
  std::vector<Node> node;
  std::vector<ClassWeight> counts;  // of all nodes, in any order; within a node ascending by class
  std::vector<int32_t> branch_of;  // level -> branch maps of grouped tests, concatenated
  size_t n_classes = 0;
  std::vector<SoftCut> soft;       // [n_nodes] if thresholds are soft, else empty

  std::span<ClassWeight> counts_of(size_t id) { return {counts.data() + node[id].counted, static_cast<size_t>(node[id].n_counted)}; }
  std::span<const ClassWeight> counts_of(size_t id) const {
    return {counts.data() + node[id].counted, static_cast<size_t>(node[id].n_counted)};
  }
  double weight_of(size_t id, int32_t label) const {
    const auto all = counts_of(id);
    const auto found = std::lower_bound(all.begin(), all.end(), label, [](const ClassWeight& it, int32_t wanted) { return it.label < wanted; });
    return found != all.end() && found->label == label ? found->weight : 0.0;
  }

  // Stores the class weights of a node, in place of the previous ones if these are not fewer.
  template <std::floating_point Sum> void keep(size_t id, const ClassWeights<Sum>& found) {
    Node& it = node[id];
    if (found.label.size() > static_cast<size_t>(it.n_counted)) {
      it.counted = static_cast<int64_t>(counts.size());
      counts.resize(counts.size() + found.label.size());
    }
    it.n_counted = static_cast<int32_t>(found.label.size());
    for (size_t c = 0; c < found.label.size(); ++c) counts_of(id)[c] = {found.label[c], static_cast<double>(found.weight[c])};
  }
  template <std::floating_point Sum> ClassWeights<Sum> kept(size_t id) const {
    ClassWeights<Sum> found;
    for (const auto& [label, weight] : counts_of(id)) found.label.push_back(label), found.weight.push_back(static_cast<Sum>(weight));
    return found;
  }

  // The branch of a known value.
  int32_t branch(const Node& node, double value) const { return value <= node.cut ? 0 : 1; }
  int32_t branch(const Node& node, int32_t code) const {
    if (node.test == Test::each_level) return code;
    if (node.test == Test::one_level) return code == node.level ? 0 : 1;
    return code < node.levels ? branch_of[static_cast<size_t>(node.group + code)] : -1;
  }

  int32_t append(size_t count) {
    const auto first = static_cast<int32_t>(node.size());
    node.resize(node.size() + count);
    for (auto id = static_cast<size_t>(first); id < node.size(); ++id) node[id].origin = static_cast<int32_t>(id);
    return first;
  }

  void make_leaf(size_t id) {
    Node& it = node[id];
    it.test = Test::none;
    it.column = it.first = -1;
    it.branches = 0;
  }
};

// The class of maximum weight, the first one on ties.
template <std::floating_point Real>
int32_t heaviest(std::span<const Real> counts) {
  size_t best = 0;
  for (size_t c = 1; c < counts.size(); ++c)
    if (counts[c] > counts[best]) best = c;
  return static_cast<int32_t>(best);
}

// The tree without unreachable nodes, in breadth-first order.
inline Growth compact(const Growth& from) {
  Growth to;
  to.n_classes = from.n_classes;
  std::vector<int32_t> origin;
  if (from.node.empty()) return to;
  to.append(1);
  origin.push_back(0);
  for (size_t id = 0; id < origin.size(); ++id) {
    const auto old = static_cast<size_t>(origin[id]);
    Node node = from.node[old];
    node.counted = static_cast<int64_t>(to.counts.size());
    to.counts.insert(to.counts.end(), from.counts_of(old).begin(), from.counts_of(old).end());
    if (!node.is_leaf()) {
      for (int32_t b = 0; b < node.branches; ++b) origin.push_back(node.first + b);
      node.first = to.append(static_cast<size_t>(node.branches));
    }
    if (node.test == Test::groups) {
      const auto map = from.branch_of.begin() + node.group;
      node.group = static_cast<int64_t>(to.branch_of.size());
      to.branch_of.insert(to.branch_of.end(), map, map + node.levels);
    }
    to.node[id] = node;
  }
  return to;
}

}  // namespace baytree::tree::fractional
