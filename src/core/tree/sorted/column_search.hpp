// Best split of each column of a node, and choice among the columns.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tree/sorted/branch_assignment.hpp"
#include "tree/sorted/level_grouping.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/monotone_scan.hpp"
#include "tree/sorted/partitioned_rows.hpp"
#include "tree/sorted/rpart_measures.hpp"
#include "tree/sorted/settings.hpp"
#include "tree/sorted/split.hpp"
#include "tree/sorted/two_class_scan.hpp"
#include "tree/sorted/workspace.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::sorted {

// Best threshold of a numeric column, or best two groups of levels of a nominal column.

template <Measure M> class ColumnSearch {
 public:
  ColumnSearch(std::span<const ColumnView> columns, const Target& target, const Settings& settings, const PartitionedRows& partitioned,
               Workers& workers)
      : columns_(columns), target_(target), settings_(settings), partitioned_(partitioned), workers_(workers),
        measure_(target, settings.criterion) {}

  Split search(const Node& node, int32_t column, Workspace<M>& workspace) {
    workspace.measure.enter(node.present);
    workspace.measure.focus(node.mean, node.risk);
    Split split = columns_[size_t(column)].is_nominal() ? search_levels(node, column, workspace) : search_cuts(node, column, workspace);
    if (split && !(split.score.value > 0)) split.column = -1;
    return split || !settings_.takes_no_gain ? split : split_without_gain(node, column, workspace);
  }

  // The levels of a nominal column in this node.
  const Levels& levels(const Node& node, int32_t column, Workspace<M>& workspace) const {
    workspace.measure.enter(node.present);
    workspace.measure.focus(node.mean, node.risk);
    count_levels_of(node, column, workspace);
    return workspace.levels;
  }

 private:
  bool is_known_only() const { return settings_.is_known_only(); }
  Limits limits() const { return {settings_.min_leaf}; }

  Split search_cuts(const Node& node, int32_t column, Workspace<M>& workspace) {
    const auto all = partitioned_.entries(node, size_t(column));
    const size_t n_known = known_in(all);
    const auto known = all.first(n_known), missing = all.subspan(n_known);
    Split best;
    best.known = uint32_t(n_known);
    const bool may_stand_apart = !missing.empty() && settings_.absent == Absent::kLearned;
    if (n_known == 0 || (rank_of(known.front()) == rank_of(known.back()) && !may_stand_apart)) return best;
    const bool is_improved = missing.empty() ? scan_all(node, size_t(column), known, workspace, best)
                                             : scan_with(node, size_t(column), known, missing, workspace, best);
    if (!is_improved) return best;
    best.column = column;
    best.cut = cut_after(columns_[size_t(column)], known, best.last);
    return best;
  }

  // The first split of an impure node with enough rows on both sides, of score 0: any split with a gain is better. A
  // monotone column has none, since without a gain its direction is unknown.
  Split split_without_gain(const Node& node, int32_t column, Workspace<M>& workspace) const {
    if (settings_.direction(size_t(column)) || is_pure(node)) return {};
    return columns_[size_t(column)].is_nominal() ? first_levels(node, column, workspace.levels) : first_cut(node, column);
  }

  // Whether all rows are of one class: with class scales, the impurity of such a node may be above 0 by rounding.
  static bool is_pure(const Node& node) {
    return !node.counts.empty() && std::ranges::count_if(node.counts, [](double count) { return count > 0; }) < 2;
  }

  // The lowest threshold. Missing values go to the second side, or have a branch of their own; if all known values are
  // equal, they are split from the known ones.
  Split first_cut(const Node& node, int32_t column) const {
    Split split;
    const auto all = partitioned_.entries(node, size_t(column));
    const auto known = all.first(known_in(all));
    const bool has_missing = known.size() < all.size(), is_learned = settings_.absent == Absent::kLearned;
    const double size = is_learned ? node.total.back() : size_of(known);
    double left = 0;
    for (size_t i = 0; i + (has_missing && is_learned ? 0 : 1) < known.size(); ++i) {
      left += target_.size_of(target_.row(tag_of(known[i])));
      if ((i + 1 < known.size() && rank_of(known[i]) == rank_of(known[i + 1])) || !is_large(left)) continue;
      if (!is_large(size - left)) break;
      split.column = column, split.last = uint32_t(i), split.known = uint32_t(known.size());
      split.cut = cut_after(columns_[size_t(column)], known, i);
      split.has_own_branch = has_missing && settings_.absent == Absent::kCategory;
      if (has_missing && !is_known_only()) split.missing = split.has_own_branch ? 2 : 1;
      break;
    }
    return split;
  }

  // Whether a side has enough rows; rows without weight are not enough, whatever the limit.
  bool is_large(double side) const { return side > 0 && side >= settings_.min_leaf; }

  double size_of(std::span<const Entry> entries) const {
    double size = 0;
    for (const Entry e : entries) size += target_.size_of(target_.row(tag_of(e)));
    return size;
  }

  // The first levels, in level order; a missing level comes last. `levels` are those that the search has counted.
  Split first_levels(const Node& node, int32_t column, const Levels& levels) const {
    Split split;
    std::vector<size_t> order(levels.size());
    std::iota(order.begin(), order.end(), size_t(0));
    if (!order.empty() && levels.code[0] < 0) std::ranges::rotate(order, order.begin() + 1);
    double size = 0, left = 0;
    for (size_t i = 0; i < levels.size(); ++i) size += levels[i].back();
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      left += levels[order[i]].back();
      if (!is_large(left)) continue;
      if (!is_large(size - left)) break;
      split.column = column, split.known = uint32_t(node.end - node.begin);
      for (size_t k = 0; k < order.size(); ++k) split.group[k > i].push_back(levels.code[order[k]]);
      std::ranges::sort(split.group[1]);
      take_missing_out(split);
      break;
    }
    return split;
  }

  double cut_after(const ColumnView& view, std::span<const Entry> known, size_t last) const {
    if (last + 1 == known.size()) return std::numeric_limits<double>::infinity();
    return between(view[target_.row(tag_of(known[last]))], view[target_.row(tag_of(known[last + 1]))], settings_.is_cart);
  }

  bool scan_all(const Node& node, size_t column, std::span<const Entry> known, Workspace<M>& workspace, Split& best) {
    if (is_two_class_gini(column)) {
      const auto [n, one] = two_counts(node.total);
      const TwoClassScan cuts(known, n, one, limits());
      best.score = cuts.none();
      return cuts.run(0, 0, false, best);
    }
    workspace.measure.begin(node.total);
    best.score = workspace.measure.none();
    workspace.zero = workspace.measure.nothing();
    return scan_cuts(node, column, known, node.total, workspace.zero, false, workspace, best);
  }

  bool scan_with(const Node& node, size_t column, std::span<const Entry> known, std::span<const Entry> missing, Workspace<M>& workspace,
                 Split& best) {
    workspace.missing = sum_of(missing, workspace);
    if (settings_.absent == Absent::kLearned) return scan_both_ways(node, column, known, workspace, best);
    if constexpr (requires { workspace.measure.is_centred(); }) workspace.measure.focus(mean_of(known), node.risk);
    workspace.known = sum_of(known, workspace);
    if (settings_.absent == Absent::kCategory) {
      best.has_own_branch = true, best.missing = 2;
      workspace.measure.begin_with(workspace.known, workspace.missing);
    } else {
      workspace.measure.begin(workspace.known);
    }
    best.score = workspace.measure.none();
    workspace.zero = workspace.measure.nothing();
    const bool is_improved = scan_cuts(node, column, known, workspace.known, workspace.zero, false, workspace, best);
    best.score.under = 0;  // fractions of different columns are not comparable: the rows differ
    return is_improved;
  }

  // Missing values with the upper side first; with the lower side only if that is better.
  bool scan_both_ways(const Node& node, size_t column, std::span<const Entry> known, Workspace<M>& workspace, Split& best) {
    if (is_two_class_gini(column)) {
      const auto [n, one] = two_counts(node.total);
      const auto [absent, absent_one] = two_counts(workspace.missing);
      const TwoClassScan cuts(known, n, one, limits());
      best.score = cuts.none();
      bool is_improved = cuts.run(0, 0, true, best);
      best.missing = is_improved ? 1 : -1;
      if (cuts.run(absent, absent_one, false, best)) is_improved = true, best.missing = 0;
      return is_improved;
    }
    workspace.measure.begin(node.total);
    best.score = workspace.measure.none();
    workspace.zero = workspace.measure.nothing();
    bool is_improved = scan_cuts(node, column, known, node.total, workspace.zero, true, workspace, best);
    best.missing = is_improved ? 1 : -1;
    if (scan_cuts(node, column, known, node.total, workspace.missing, false, workspace, best)) is_improved = true, best.missing = 0;
    return is_improved;
  }

  bool scan_cuts(const Node& node, size_t column, std::span<const Entry> known, std::span<const double> total, std::span<const double> first,
                 bool may_take_all, Workspace<M>& workspace, Split& best) {
    if (const int direction = settings_.direction(column))
      return scan_following(known, workspace.measure, total, first, may_take_all, limits(), direction, workspace.room.left, best);
    if constexpr (std::same_as<M, RpartClassMeasure>)
      if (is_two_class_count() && settings_.absent != Absent::kLearned) return scan_counts(known, workspace.measure, total, limits(), best);
    return scan(known, workspace.measure, total, first, may_take_all, limits(), workspace.room, best);
  }

  // Of a column that the target need not follow.
  bool is_two_class_gini(size_t column) const { return is_gini() && is_two_class_count() && !settings_.direction(column); }
  bool is_gini() const {
    if constexpr (requires { measure_.is_gini(); }) return measure_.is_gini();
    return false;
  }
  bool is_two_class_count() const { return target_.class_bits == 1 && target_.is_counted && !target_.weight; }
  static std::pair<uint64_t, uint64_t> two_counts(std::span<const double> total) {
    return {uint64_t(total[0] + total[1]), uint64_t(total[1])};
  }
  std::vector<double> sum_of(std::span<const Entry> entries, const Workspace<M>& workspace) const {
    std::vector<double> sum(workspace.measure.width(), 0.0);
    for (const Entry e : entries) workspace.measure.add(sum.data(), tag_of(e));
    return sum;
  }
  template <typename Items> double mean_of(const Items& items) const {
    double sum = 0, weight = 0;
    for (const auto item : items) {
      const uint32_t row = uint32_t(item);
      target_.add_weighted(sum, target_.y[row], row), weight += target_.weight_of(row);
    }
    return weight > 0 ? sum / weight : 0.0;
  }


  Split search_levels(const Node& node, int32_t column, Workspace<M>& workspace) {
    const ColumnView& view = columns_[size_t(column)];
    if constexpr (requires { workspace.measure.is_centred(); }) center_on_known(node, view, workspace);
    count_levels_of(node, column, workspace);
    Split best;
    best.known = uint32_t(node.end - node.begin);
    Levels& levels = workspace.levels;
    const bool has_missing = levels.size() > 0 && levels.code[0] < 0;
    std::span<const double> total(node.total);
    if (is_known_only() && has_missing) {
      drop_missing(levels);
      workspace.known = sum_of_levels(levels);
      total = workspace.known;
    } else if (settings_.is_cart) {
      workspace.known = sum_of_levels(levels);
      total = workspace.known;
    }
    if (levels.size() < 2) return best;
    workspace.measure.begin(total);
    best.score = workspace.measure.none();
    const bool is_exact = !workspace.measure.is_ordered() && levels.size() <= size_t(settings_.max_levels);
    const auto pause = [&] {
      if (workspace.worker == 0) workers_.poll();
    };
    const auto group = [&] {
      if (!is_exact) return group_in_order(levels, workspace.measure, total, limits(), best);
      if constexpr (std::same_as<M, RpartClassMeasure>)
        if (levels.size() > size_t(settings_.max_exhaustive_levels)) return group_by_bounds(levels, workspace.measure, total, limits(), pause, best);
      return group_by_trying_all(levels, workspace.measure, total, limits(), pause, best);
    };
    const bool is_improved = group();
    if (is_known_only() && has_missing) best.score.under = 0;
    if (!is_improved) return best;
    best.column = column;
    take_missing_out(best);
    return best;
  }

  void count_levels_of(const Node& node, int32_t column, Workspace<M>& workspace) const {
    const auto at = size_t(column);
    if (is_counted_by_level(node, column)) workspace.counter.read(node.level_counts[at], target_.classes, node.present, workspace.measure, workspace.levels);
    else workspace.counter.count(partitioned_.tags(node), partitioned_.levels(at), columns_[at].levels, target_, workspace.measure, workspace.levels);
  }
  static bool is_counted_by_level(const Node& node, int32_t column) {
    return !node.level_counts.empty() && !node.level_counts[size_t(column)].empty();
  }
  void center_on_known(const Node& node, const ColumnView& view, Workspace<M>& workspace) const {
    std::vector<uint32_t> known;
    for (const uint32_t row : partitioned_.tags(node))
      if (view.level(row) >= 0) known.push_back(row);
    workspace.measure.focus(mean_of(known), node.risk);
  }
  static void drop_missing(Levels& levels) {
    levels.code.erase(levels.code.begin());
    levels.statistic.erase(levels.statistic.begin(), levels.statistic.begin() + std::ptrdiff_t(levels.width));
  }
  static std::vector<double> sum_of_levels(const Levels& levels) {
    std::vector<double> sum(levels.width, 0.0);
    for (size_t i = 0; i < levels.size(); ++i)
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += levels[i][k];
    return sum;
  }
  static void take_missing_out(Split& split) {
    for (int b = 0; b < 2; ++b) {
      auto& group = split.group[b];
      if (!group.empty() && group.front() < 0) split.missing = b, group.erase(group.begin());
    }
  }

  std::span<const ColumnView> columns_;
  const Target& target_;
  const Settings& settings_;
  const PartitionedRows& partitioned_;
  Workers& workers_;
  const M measure_;
};

// Choice among the splits of the columns.

template <Measure M> class SplitChoice {
 public:
  SplitChoice(std::span<const ColumnView> columns, const Target& target, const Settings& settings, const PartitionedRows& partitioned,
              const BranchAssigner& assigner)
      : columns_(columns), target_(target), settings_(settings), partitioned_(partitioned), assigner_(assigner) {}

  // Stores the best split in the node (the first column wins ties); returns false if none is good enough.
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
  // rpart: an improvement that is only rounding noise relative to the largest one is ignored.
  bool is_candidate(Node& node, const Split& offer) const {
    if (!settings_.is_cart) return true;
    node.most_improved = std::max(node.most_improved, offer.score.value);
    return offer.score.value > 1e-10 * node.most_improved;
  }

  bool is_enough(const Node& node, const Split& split) const {
    if (split.score.value < settings_.min_gain) return false;
    return settings_.critical.empty() || assigner_.is_significant(node, split);
  }

  // rpart puts the side with the smaller mean on the left: for levels this is the first branch, for numbers a flag.
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

  // [2, width]: statistics of the rows that the split sends to each side.
  std::vector<double> sums_by_side(const Node& node, const M& measure) const {
    const size_t width = measure.width();
    std::vector<double> sums(2 * width, 0.0);
    if constexpr (requires { measure.adds_counts(); })
      if (measure.adds_counts()) {  // the mean needs only the classes
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
