// The closest two groups of levels by the contrasts of all pairs that may merge, which are kept from step to step.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tree/counted/group_tests.hpp"
#include "tree/counted/level_groups.hpp"

namespace baytree::tree::counted {

template <GroupTest Test> class MeasuredPairs {
 public:
  MeasuredPairs(const LevelGroups& groups, bool is_ordered)
      : groups_(groups), n_(groups.weight.size()), is_ordered_(is_ordered), pairs_(is_ordered ? n_ : n_ * n_), nearest_(n_) {
    for (size_t i = 0; i < alive().size(); ++i)
      for (size_t j = i + 1; j < end_of(i); ++j) measure(i, j);
  }

  ClosestPair closest() {
    ClosestPair best{.left = alive()[0], .right = alive()[1]};
    for (size_t i = 0; i + 1 < alive().size() && best.log_p < 0; ++i)  // what does not differ at all cannot be outdone
      if (const Nearest& row = nearest_[alive()[i]]; !row.is_uniform || !best.is_nearer_than(row.contrast)) look_along(i, best);
    return best;
  }

  // After the second group became part of the first.
  void join(size_t into, size_t) {
    const auto at = size_t(std::ranges::lower_bound(alive(), into) - alive().begin());
    for (size_t i = 0; i < alive().size(); ++i)
      if (i != at && (!is_ordered_ || i + 1 == at || i == at + 1)) measure(std::min(i, at), std::max(i, at));
  }

 private:
  // What is known of two groups; log p costs far more than the statistic, and most pairs never need it.
  struct Known {
    Contrast contrast;
    double log_p = unknown;
  };
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  // At most as large as the least statistic of a group with the groups after it, where all these have the same degrees of freedom.
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
  std::vector<Nearest> nearest_;  // [n_levels], by the groups' first levels
};

}  // namespace baytree::tree::counted
