// Which of the splits that the columns offer to a node wins.
#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tree/sorted/branch_assignment.hpp"
#include "tree/sorted/node.hpp"
#include "tree/sorted/splits/measures.hpp"
#include "tree/sorted/workspace.hpp"

namespace baytree::tree::sorted {

template <Measure M> class SplitChoice {
 public:
  SplitChoice(std::span<const ColumnView> columns, const Target& target, const Settings& settings, const PartitionedRows& partitioned,
              const BranchAssigner& assigner)
      : columns_(columns), target_(target), settings_(settings), partitioned_(partitioned), assigner_(assigner) {}

  // Gives the node its split, the earlier column's among equals; false where none is good enough.
  bool choose(Node& node, std::span<Split> offers, Workspace<M>& workspace) const {
    workspace.measure.enter(node.present);
    workspace.measure.focus(node.mean, node.risk);
    workspace.measure.begin(node.total);
    const double slack = workspace.measure.slack();
    Split* best = nullptr;
    for (Split& offer : offers) {
      if (!offer || !is_candidate(node, offer)) continue;
      if (!best || is_better(offer.score, best->score, slack)) best = &offer;
    }
    if (!best || !is_enough(node, *best)) return false;
    node.split = std::move(*best);
    node.gain = settings_.is_cart && !target_.classes ? node.split.score.value * node.risk : node.split.score.value;
    if (settings_.is_cart) set_direction(node, workspace);
    return true;
  }

 private:
  // rpart: an improvement that is rounding noise beside the largest one seen is none.
  bool is_candidate(Node& node, const Split& offer) const {
    if (!settings_.is_cart) return true;
    node.most_improved = std::max(node.most_improved, offer.score.value);
    return offer.score.value > 1e-10 * node.most_improved;
  }

  bool is_enough(const Node& node, const Split& split) const {
    if (split.score.value < settings_.min_gain) return false;
    return settings_.critical.empty() || assigner_.is_significant(node, split);
  }

  // rpart calls the side with the smaller mean left; for levels that is the first branch, for numbers a flag.
  void set_direction(Node& node, const Workspace<M>& workspace) const {
    Split& split = node.split;
    const size_t width = workspace.measure.width();
    const std::vector<double> sides = sums_by_side(node, workspace.measure);
    const std::span<const double> first(sides.data(), width), second(sides.data() + width, width);
    const bool is_lower = workspace.measure.mean(first) < workspace.measure.mean(second);
    if (columns_[size_t(split.column)].is_nominal()) {
      if (!is_lower) std::swap(split.group[0], split.group[1]);
    } else {
      split.is_mirrored = !is_lower;
    }
  }

  // [2, width], of the rows that the split sends to either side.
  std::vector<double> sums_by_side(const Node& node, const M& measure) const {
    const size_t width = measure.width();
    std::vector<double> sums(2 * width, 0.0);
    if constexpr (requires { measure.adds_counts(); })
      if (measure.adds_counts()) {  // of which a mean asks for the classes alone
        assigner_.each_counted_side(node, [&](size_t side, uint32_t tag) { sums[side * width + measure.place_of(tag)] += 1; });
        return sums;
      }
    assigner_.each_side(node, [&](size_t side, uint32_t tag) { measure.add(sums.data() + side * width, tag); });
    return sums;
  }

  std::span<const ColumnView> columns_;
  const Target& target_;
  const Settings& settings_;
  const PartitionedRows& partitioned_;
  const BranchAssigner& assigner_;
};

}  // namespace baytree::tree::sorted
