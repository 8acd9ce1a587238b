// The closest pair of groups of levels, for CHAID merging: by the contrasts of all pairs, or, for two classes, by
// bounds on Pearson's statistic.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tree/counted/group_tests.hpp"
#include "tree/counted/level_groups.hpp"

namespace baytree::tree::counted {

// All pairs that may merge; their contrasts are cached between steps.

template <GroupTest Test> class MeasuredPairs {
 public:
  MeasuredPairs(const LevelGroups& groups, bool is_ordered)
      : groups_(groups), n_(groups.weight.size()), is_ordered_(is_ordered), pairs_(is_ordered ? n_ : n_ * n_), nearest_(n_) {
    for (size_t i = 0; i < alive().size(); ++i)
      for (size_t j = i + 1; j < end_of(i); ++j) measure(i, j);
  }

  ClosestPair closest() {
    ClosestPair best{.left = alive()[0], .right = alive()[1]};
    for (size_t i = 0; i + 1 < alive().size() && best.log_p < 0; ++i)  // a p-value of 1 cannot be exceeded
      if (const Nearest& row = nearest_[alive()[i]]; !row.is_uniform || !best.is_nearer_than(row.contrast)) look_along(i, best);
    return best;
  }

  // After the second group has been merged into the first.
  void join(size_t into, size_t) {
    const auto at = size_t(std::ranges::lower_bound(alive(), into) - alive().begin());
    for (size_t i = 0; i < alive().size(); ++i)
      if (i != at && (!is_ordered_ || i + 1 == at || i == at + 1)) measure(std::min(i, at), std::max(i, at));
  }

 private:
  // Cached results of two groups; log p costs far more than the statistic, and most pairs never need it.
  struct Known {
    Contrast contrast;
    double log_p = unknown;
  };
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  // Lower bound of the statistics of a group with all later groups, where these have the same degrees of freedom.
  struct Nearest {
    Contrast contrast = {.statistic = std::numeric_limits<double>::infinity(), .freedom = unknown, .rest = 0};
    bool is_uniform = true;

    void count(const Contrast& pair) {
      if (std::isnan(contrast.freedom)) contrast = pair;
      is_uniform = is_uniform && contrast.is_comparable(pair);
      contrast.statistic = std::min(contrast.statistic, pair.statistic);
    }
  };

  void look_along(size_t i, ClosestPair& best) {
    Nearest row;
    for (size_t j = i + 1; j < end_of(i); ++j) {
      Known& pair = at(i, j);
      row.count(pair.contrast);
      if (best.is_nearer_than(pair.contrast)) continue;
      if (std::isnan(pair.log_p)) pair.log_p = Test::log_p(pair.contrast);
      best.show(alive()[i], alive()[j], pair.contrast, pair.log_p);
    }
    nearest_[alive()[i]] = row;
  }

  void measure(size_t i, size_t j) {
    pair_[0] = groups_.row(alive()[i]), pair_[1] = groups_.row(alive()[j]);
    at(i, j) = {test_.contrast(pair_), unknown};
    nearest_[alive()[i]].count(at(i, j).contrast);
  }

  const std::vector<size_t>& alive() const { return groups_.alive; }
  size_t end_of(size_t i) const { return is_ordered_ ? std::min(i + 2, alive().size()) : alive().size(); }
  Known& at(size_t i, size_t j) { return pairs_[is_ordered_ ? alive()[i] : alive()[i] * n_ + alive()[j]]; }

  const LevelGroups& groups_;
  size_t n_;
  bool is_ordered_;
  Test test_;
  Groups pair_ = Groups(2);
  std::vector<Known> pairs_;
  std::vector<Nearest> nearest_;  // [n_levels], by the first level of each group
};

// Closest pair by Pearson's test for two classes, without computing most of the pairs.
//
// χ² of two groups of weights n and m, whose proportions of a class differ by d, is d² / ((1/n + 1/m) p (1 − p)), where
// p is their joint proportion. A lower bound follows from d, the smallest m and the largest p (1 − p) in between, so
// only neighbours in the order of the proportions can be close to a group.

class NearShares {
 public:
  using Test = ClassTest<true>;

  // Products of three weights must be finite.
  static bool is_for(const LevelGroups& groups) {
    return groups.width == 2 && groups.alive.size() > 1 &&
           std::ranges::all_of(groups.weight, [](double weight) { return weight > 1e-90 && weight < 1e90; });
  }

  explicit NearShares(const LevelGroups& groups) : groups_(groups), nearest_(groups.weight.size(), kFar), by_share_(groups.alive) {
    for (const size_t level : groups.alive) group_.push_back(of(level)), feigned_ += kFeigned * group_.back().weight;
    std::ranges::sort(by_share_, {}, [&](size_t level) { return place(level); });
    find_lightest();
    for (const size_t level : groups.alive) find_nearest(level);
  }

  ClosestPair closest() {
    if (!is_alive(lightest_)) find_lightest();
    const double least = least_statistic(), reach = least * ClosestPair::kBeyondDoubt;
    ClosestPair best{.left = groups_.alive[0], .right = groups_.alive[1]};
    for (const size_t level : groups_.alive) {
      if (nearest_[level] > reach) continue;
      if (!group_[level].is_exact) find_nearest(level);
      if (nearest_[level] <= reach) look_around(level, reach, best);
      if (best.contrast.statistic <= least * kEqual) break;  // later pairs cannot be closer by more than a tie
    }
    return best;
  }

  // After the second group has been merged into the first.
  void join(size_t into, size_t from) {
    for (const size_t level : {into, from}) by_share_.erase(find(level));
    nearest_[from] = kFar;
    group_[into] = of(into);
    if (lightest_ == into) find_lightest();
    by_share_.insert(find(into), into);
    for (const size_t level : groups_.alive)
      if (level != into) beside(level, into, from);
    find_nearest(into);
  }

 private:
  struct Group {
    double share, variance, weight, first, second;
    size_t partner = 0;     // of the closest pair
    bool is_exact = false;  // the partner has exactly that statistic
  };

  Group of(size_t level) const {
    const double first = groups_.row(level)[0], second = groups_.row(level)[1], weight = first + second;
    return {.share = first / weight, .variance = (first / weight) * (second / weight), .weight = weight, .first = first, .second = second};
  }
  bool is_alive(size_t level) const { return groups_.group_of[level] == int32_t(level); }
  std::pair<double, size_t> place(size_t level) const { return {group_[level].share, level}; }
  std::vector<size_t>::const_iterator find(size_t level) const {
    return std::ranges::lower_bound(by_share_, place(level), {}, [&](size_t other) { return place(other); });
  }

  void find_lightest() {
    lightest_ = *std::ranges::min_element(groups_.alive, {}, [&](size_t level) { return group_[level].weight; });
  }

  // Updates the bound of a group after two others have been merged.
  void beside(size_t level, size_t into, size_t from) {
    Group& group = group_[level];
    if (group.partner == into || group.partner == from) group.is_exact = false;
    if (is_beyond(group, group_[into], nearest_[level])) return;  // the usual case, which needs no division
    if (const double bound = at_least(group, group_[into]); bound < nearest_[level]) nearest_[level] = bound, group.is_exact = false;
  }

  // Bounds rise to statistics where they are the least, until the least is one.
  double least_statistic() {
    for (;;) {
      const size_t level = nearest_group();
      if (group_[level].is_exact) return nearest_[level];
      find_nearest(level);
    }
  }

  // Minima in turn, so that a comparison need not wait for the one before it.
  size_t nearest_group() const {
    std::array<double, 4> least = {kFar, kFar, kFar, kFar};
    size_t k = 0;
    for (; k + 4 <= nearest_.size(); k += 4)
      for (size_t lane = 0; lane < 4; ++lane) least[lane] = std::min(least[lane], nearest_[k + lane]);
    for (; k < nearest_.size(); ++k) least[0] = std::min(least[0], nearest_[k]);
    return size_t(std::ranges::find(nearest_, std::ranges::min(least)) - nearest_.begin());
  }

  void find_nearest(size_t level) {
    Group& group = group_[level];
    double least = kFar;
    walk(level, [&](double bound) { return bound < least; }, [&](size_t other) {
      if (is_beyond(group, group_[other], least)) return;
      if (const double found = contrast(level, other).statistic; found < least) least = found, group.partner = other;
    });
    nearest_[level] = least, group.is_exact = true;
  }

  // Shows the pairs of a group with those after it in the order of levels.
  void look_around(size_t level, double reach, ClosestPair& best) {
    near_.clear();
    walk(level, [&](double bound) { return bound <= reach; }, [&](size_t other) {
      if (other > level && !is_beyond(group_[level], group_[other], reach)) near_.push_back(other);
    });
    std::ranges::sort(near_);
    for (const size_t other : near_)
      if (const Contrast found = contrast(level, other); !best.is_nearer_than(found)) best.show(level, other, found, Test::log_p(found));
  }

  // Visits the groups on both sides, in order of increasing difference of proportions, until the lower bound exceeds
  // the best statistic.
  template <std::predicate<double> GoesOn, std::invocable<size_t> Visit>
  void walk(size_t level, const GoesOn& goes_on, const Visit& visit) const {
    const Group& group = group_[level];
    const auto at = find(level);
    const auto may_be_near = [&](size_t other) { return goes_on(at_least_beyond(group, group_[other])); };
    for (auto other = at + 1; other != by_share_.end() && may_be_near(*other); ++other) visit(*other);
    for (auto other = at; other != by_share_.begin() && may_be_near(*(other - 1));) visit(*--other);
  }

  // Never above the statistic of these two, as it is computed.
  double at_least(const Group& a, const Group& b) const {
    const double weight = a.weight + b.weight;
    return beyond_rounding(a.share - b.share, a.weight * b.weight * weight, (a.first + b.first) * (a.second + b.second));
  }
  // Whether it is surely above; never where it may count as 0.
  bool is_beyond(const Group& a, const Group& b, double statistic) const {
    const double sure = std::abs(a.share - b.share) - kGapRounding, reach = std::max(statistic, feigned_) * (1 + 1e-9);
    return sure > 0 && sure * sure * a.weight * b.weight * (a.weight + b.weight) > reach * ((a.first + b.first) * (a.second + b.second));
  }
  // Lower bound of the statistic of the first group with the other one, or with any group further away on that side.
  double at_least_beyond(const Group& a, const Group& other) const {
    const bool is_across = (a.share - 0.5) * (other.share - 0.5) <= 0;
    const double variance = is_across ? 0.25 : std::max(a.variance, other.variance), lightest = group_[lightest_].weight;
    return beyond_rounding(a.share - other.share, a.weight * lightest, variance * (a.weight + lightest));
  }
  // difference² · weight / variance, minus the rounding errors of a statistic and of this bound; 0 where a statistic
  // may count as 0.
  double beyond_rounding(double gap, double weight, double variance) const {
    const double sure = std::abs(gap) - kGapRounding;
    const double bound = sure > 0 ? sure * sure * weight / variance * (1 - 1e-9) : 0;
    return bound > feigned_ ? bound : 0;
  }

  Contrast contrast(size_t a, size_t b) {
    pair_[0] = groups_.row(std::min(a, b)), pair_[1] = groups_.row(std::max(a, b));
    return test_.contrast(pair_);
  }

  static constexpr double kFar = std::numeric_limits<double>::infinity();
  static constexpr double kFeigned = 1.01e-28;  // relative to the weight: a statistic up to this may count as 0 (see ClassTest)
  static constexpr double kGapRounding = 2e-14;
  static constexpr double kEqual = 1 + 1e-12;   // statistics this close have p-values within a tie
  const LevelGroups& groups_;
  Test test_;
  Groups pair_ = Groups(2);
  std::vector<Group> group_;      // [n_levels], by the first level of each group, like the next one
  std::vector<double> nearest_;   // lower bound of the statistic of any pair with this group
  std::vector<size_t> by_share_;  // groups in the order of their proportions, then of their levels
  std::vector<size_t> near_;
  size_t lightest_ = 0;
  double feigned_ = 0;
};

}  // namespace baytree::tree::counted
