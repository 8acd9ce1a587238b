// What a column offers to a node: its best cut, or its best two groups of levels.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>
#include "tree/sorted/grouping.hpp"
#include "tree/sorted/ground.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/node.hpp"
#include "tree/sorted/search.hpp"
#include "tree/sorted/two_class_scan.hpp"
#include "workers.hpp"

namespace baytree::tree::sorted {

// What a thread needs to work: nothing in it outlives a task.
template <Measure M> struct Desk {
  Desk(const Target& target, int which) : measure(target), worker(which) {}
  M measure;
  int worker;
  LevelCounter<M> counter;
  Levels levels;
  std::vector<double> left, known, missing, zero;
  Aside aside;
  TwoClassScan::Blocks blocks;
  std::vector<Split> offers;
  std::vector<Substitute> imitations;
};

template <Measure M> class ColumnSearch {
 public:
  ColumnSearch(std::span<const ColumnView> columns, const Target& target, const Settings& settings, const Ground& ground,
               Workers& workers)
      : columns_(columns), target_(target), settings_(settings), ground_(ground), workers_(workers) {
    for (size_t j = 0; j < columns.size(); ++j) blocks_.emplace_back(has_blocks(j) ? ground.rows() : 0);
  }

  Split search(const Node& node, int32_t column, Desk<M>& desk) {
    desk.measure.focus(node.mean, node.risk);
    Split split = columns_[size_t(column)].is_nominal() ? search_levels(node, column, desk) : search_cuts(node, column, desk);
    if (split && !(split.score.value > 0)) split.column = -1;
    return split;
  }

  // To be called for a node whose rows have moved in a column.
  void count_blocks(const Node& node, size_t column) {
    if (!has_blocks(column) || !TwoClassScan::has_blocks(node.end - node.begin)) return;
    blocks_[column].count(ground_.entries(node, column), node.begin);
  }

 private:
  bool is_known_only() const { return settings_.is_known_only(); }
  Limits limits() const { return {settings_.min_leaf}; }

  Split search_cuts(const Node& node, int32_t column, Desk<M>& desk) {
    const auto all = ground_.entries(node, size_t(column));
    const size_t n_known = known_in(all);
    const auto known = all.first(n_known), missing = all.subspan(n_known);
    Split best;
    best.known = uint32_t(n_known);
    const bool may_stand_apart = !missing.empty() && settings_.absent == Absent::kLearned;
    if (n_known == 0 || (rank_of(known.front()) == rank_of(known.back()) && !may_stand_apart)) return best;
    const bool is_improved = missing.empty() ? scan_all(node, size_t(column), known, desk, best)
                                             : scan_with(node, size_t(column), known, missing, desk, best);
    if (!is_improved) return best;
    best.column = column;
    best.cut = cut_after(columns_[size_t(column)], known, best.last);
    return best;
  }

  double cut_after(const ColumnView& view, std::span<const Entry> known, size_t last) const {
    if (last + 1 == known.size()) return std::numeric_limits<double>::infinity();
    return between(view[target_.row(tag_of(known[last]))], view[target_.row(tag_of(known[last + 1]))], settings_.is_cart);
  }

  bool scan_all(const Node& node, size_t column, std::span<const Entry> known, Desk<M>& desk, Split& best) {
    if constexpr (std::same_as<M, ClassMeasure<Gini>>)
      if (is_two_class_count()) {
        const auto [n, one] = two_counts(node.total);
        const TwoClassScan cuts(known, node.begin, blocks_[column], n, one, limits(), desk.blocks);
        best.score = cuts.none();
        return cuts.run(0, 0, false, best);
      }
    desk.measure.begin(node.total);
    best.score = desk.measure.none();
    desk.zero = desk.measure.nothing();
    return scan(known, desk.measure, std::span<const double>(node.total), std::span<const double>(desk.zero), false, limits(), desk.left, best);
  }

  bool scan_with(const Node& node, size_t column, std::span<const Entry> known, std::span<const Entry> missing, Desk<M>& desk,
                 Split& best) {
    desk.missing = sum_of(missing, desk);
    if (settings_.absent == Absent::kLearned) return scan_both_ways(node, column, known, desk, best);
    if constexpr (requires { desk.measure.is_centred(); }) desk.measure.focus(mean_of(known), node.risk);
    desk.known = sum_of(known, desk);
    if (settings_.absent == Absent::kCategory) {
      best.has_own_branch = true, best.missing = 2;
      desk.measure.begin_with(desk.known, desk.missing);
    } else {
      desk.measure.begin(desk.known);
    }
    best.score = desk.measure.none();
    desk.zero = desk.measure.nothing();
    const bool is_improved = scan(known, desk.measure, std::span<const double>(desk.known), std::span<const double>(desk.zero), false, limits(), desk.left, best);
    best.score.under = 0;  // another column's fraction is of other rows
    return is_improved;
  }

  // The rows without a value on the upper side first; on the lower one only if that is better.
  bool scan_both_ways(const Node& node, size_t column, std::span<const Entry> known, Desk<M>& desk, Split& best) {
    if constexpr (std::same_as<M, ClassMeasure<Gini>>)
      if (is_two_class_count()) {
        const auto [n, one] = two_counts(node.total);
        const auto [absent, absent_one] = two_counts(desk.missing);
        const TwoClassScan cuts(known, node.begin, blocks_[column], n, one, limits(), desk.blocks);
        best.score = cuts.none();
        bool is_improved = cuts.run(0, 0, true, best);
        best.missing = is_improved ? 1 : -1;
        if (cuts.run(absent, absent_one, false, best)) is_improved = true, best.missing = 0;
        return is_improved;
      }
    desk.measure.begin(node.total);
    best.score = desk.measure.none();
    desk.zero = desk.measure.nothing();
    const std::span<const double> total(node.total), zero(desk.zero), absent(desk.missing);
    bool is_improved = scan(known, desk.measure, total, zero, true, limits(), desk.left, best);
    best.missing = is_improved ? 1 : -1;
    if (scan(known, desk.measure, total, absent, false, limits(), desk.left, best)) is_improved = true, best.missing = 0;
    return is_improved;
  }

  bool has_blocks(size_t column) const {
    return std::same_as<M, ClassMeasure<Gini>> && is_two_class_count() && !columns_[column].is_nominal();
  }
  bool is_two_class_count() const { return target_.class_bits == 1 && target_.is_counted && !target_.weight; }
  static std::pair<uint64_t, uint64_t> two_counts(std::span<const double> total) {
    return {uint64_t(total[0] + total[1]), uint64_t(total[1])};
  }
  std::vector<double> sum_of(std::span<const Entry> entries, const Desk<M>& desk) const {
    std::vector<double> sum(desk.measure.width(), 0.0);
    for (const Entry e : entries) desk.measure.add(sum.data(), tag_of(e));
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


  Split search_levels(const Node& node, int32_t column, Desk<M>& desk) {
    const ColumnView& view = columns_[size_t(column)];
    if constexpr (requires { desk.measure.is_centred(); }) center_on_known(node, view, desk);
    if (is_tallied(node, column)) desk.counter.read(node.tallies[size_t(column)], target_.classes, desk.levels);
    else desk.counter.count(ground_.tags(node), ground_.slots(size_t(column)), view.levels, target_, desk.measure, desk.levels);
    Split best;
    best.known = uint32_t(node.end - node.begin);
    Levels& levels = desk.levels;
    const bool has_missing = levels.size() > 0 && levels.code[0] < 0;
    std::span<const double> total(node.total);
    if (is_known_only() && has_missing) {
      drop_missing(levels);
      desk.known = sum_of_levels(levels);
      total = desk.known;
    } else if (settings_.is_cart) {
      desk.known = sum_of_levels(levels);
      total = desk.known;
    }
    if (levels.size() < 2) return best;
    desk.measure.begin(total);
    best.score = desk.measure.none();
    const bool is_tried = !desk.measure.is_ordered() && levels.size() <= size_t(settings_.most_levels);
    const auto pause = [&] {
      if (desk.worker == 0) workers_.poll();
    };
    const bool is_improved = is_tried ? group_by_trying_all(levels, desk.measure, total, limits(), pause, best)
                                      : group_in_order(levels, desk.measure, total, limits(), best);
    if (is_known_only() && has_missing) best.score.under = 0;
    if (!is_improved) return best;
    best.column = column;
    take_missing_out(best);
    return best;
  }

  static bool is_tallied(const Node& node, int32_t column) {
    return !node.tallies.empty() && !node.tallies[size_t(column)].empty();
  }
  void center_on_known(const Node& node, const ColumnView& view, Desk<M>& desk) const {
    std::vector<uint32_t> known;
    for (const uint32_t row : ground_.tags(node))
      if (view.level(row) >= 0) known.push_back(row);
    desk.measure.focus(mean_of(known), node.risk);
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
  const Ground& ground_;
  Workers& workers_;
  std::vector<ClassBlocks> blocks_;  // per column, of no rows where they are of no use
};

}  // namespace baytree::tree::sorted
