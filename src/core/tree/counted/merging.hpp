// CHAID merging (Kass 1980): repeatedly merges the two groups of levels of a column that differ least.
#pragma once
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "tree/counted/closest_groups.hpp"
#include "tree/counted/group_tests.hpp"
#include "tree/counted/level_groups.hpp"

namespace baytree::tree::counted {

struct MergeRules {
  double log_alpha = 0;    // two groups are merged while log p is above this
  double least = 0;        // a group of less weight must be merged
  bool is_ordered = false;  // only neighbours are merged
  bool is_exhaustive = false;  // merge down to two groups and return the step with the smallest p-value (Biggs et al. 1991)
};

// Provides the closest pair of groups.
template <typename P>
concept Pairs = requires(P& pairs, size_t level) {
  { pairs.closest() } -> std::same_as<ClosestPair>;
  pairs.join(level, level);
};

template <GroupTest Test, Pairs P> class Merger {
 public:
  Merger(LevelGroups& groups, P pairs, const MergeRules& rules) : groups_(groups), pairs_(std::move(pairs)), rules_(rules) {}

  std::vector<int32_t> merge() { return rules_.is_exhaustive ? merge_exhaustively() : merge_similar(); }

 private:
  std::vector<int32_t> merge_similar() {
    while (groups_.alive.size() > 1) {
      const ClosestPair pair = pairs_.closest();
      const bool is_alike = groups_.alive.size() > 2 && pair.log_p > rules_.log_alpha;
      if (!is_alike && are_large()) break;
      join(pair);
    }
    return groups_.numbered();
  }

  std::vector<int32_t> merge_exhaustively() {
    std::vector<int32_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (;;) {
      const size_t n = groups_.alive.size();
      if (are_large() || n == 1) {
        const double log_p = Test::log_p(test_.contrast(all()));
        if (best.empty() || log_p < least) least = log_p, best = groups_.numbered();
      }
      if (n == 1 || (n == 2 && !best.empty())) return best;
      join(pairs_.closest());
    }
  }

  void join(const ClosestPair& pair) {
    groups_.join(pair.left, pair.right);
    pairs_.join(pair.left, pair.right);
  }

  Groups all() const {
    Groups groups;
    for (const size_t k : groups_.alive) groups.push_back(groups_.row(k));
    return groups;
  }
  bool are_large() const {
    for (const size_t k : groups_.alive)
      if (groups_.weight[k] < rules_.least) return false;
    return true;
  }

  LevelGroups& groups_;
  P pairs_;
  MergeRules rules_;
  Test test_;
};

// With the contrasts of all pairs.
template <GroupTest Test>
std::vector<int32_t> merge_pairs(std::span<const double> statistics, std::span<const double> weight, const MergeRules& rules) {
  LevelGroups groups(statistics, weight);
  if constexpr (std::same_as<Test, ClassTest<true>>)
    if (!rules.is_ordered && NearShares::is_for(groups)) return Merger<Test, NearShares>(groups, NearShares(groups), rules).merge();
  return Merger<Test, MeasuredPairs<Test>>(groups, MeasuredPairs<Test>(groups, rules.is_ordered), rules).merge();
}

// Group of each level, numbered in order of their first levels. statistics: [n_levels, width]; weight: [n_levels]
template <GroupTest Test>
std::vector<int32_t> merge_levels(std::span<const double> statistics, std::span<const double> weight, const MergeRules& rules) {
  if (std::same_as<Test, MeanTest> || rules.is_ordered || rules.is_exhaustive || rules.log_alpha >= 0) return merge_pairs<Test>(statistics, weight, rules);
  const SameShares same = same_shares(statistics, weight, std::same_as<Test, ClassTest<true>>);
  if (!same) return merge_pairs<Test>(statistics, weight, rules);
  const size_t width = statistics.size() / weight.size();
  const std::vector<int32_t> of_kind = merge_pairs<Test>(same.sums_of(statistics, width), same.sums_of(weight, 1), rules);
  std::vector<int32_t> group(weight.size());
  for (size_t level = 0; level < group.size(); ++level) group[level] = of_kind[size_t(same.kind_of[level])];
  return group;
}

}  // namespace baytree::tree::counted
