// Groups of levels during CHAID merging; initial runs of similar levels; and levels with equal class distributions.
#pragma once
#include <algorithm>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "tree/counted/group_tests.hpp"

namespace baytree::tree::counted {

// Groups of the levels of a column; a group is identified by its first level.
struct LevelGroups {
  // all: [n_levels, width]; weights: [n_levels]
  LevelGroups(std::span<const double> all, std::span<const double> weights)
      : width(weights.empty() ? 0 : all.size() / weights.size()), statistics(all.begin(), all.end()),
        weight(weights.begin(), weights.end()), group_of(weights.size()) {
    for (size_t k = 0; k < weight.size(); ++k) group_of[k] = int32_t(k), alive.push_back(k);
  }

  std::span<const double> row(size_t k) const { return {statistics.data() + k * width, width}; }

  void join(size_t into, size_t from) {
    for (size_t s = 0; s < width; ++s) statistics[into * width + s] += statistics[from * width + s];
    weight[into] += weight[from];
    for (int32_t& group : group_of)
      if (group == int32_t(from)) group = int32_t(into);
    alive.erase(std::ranges::lower_bound(alive, from));
  }

  // Group of each level, numbered in order of their first levels.
  std::vector<int32_t> numbered() const {
    std::vector<int32_t> number(group_of.size()), of_level(group_of.size());
    for (size_t i = 0; i < alive.size(); ++i) number[alive[i]] = int32_t(i);
    for (size_t k = 0; k < group_of.size(); ++k) of_level[k] = number[size_t(group_of[k])];
    return of_level;
  }

  size_t width;
  std::vector<double> statistics, weight;
  std::vector<int32_t> group_of;
  std::vector<size_t> alive;  // first levels of the groups, in order
};

// The closest of the pairs that it was given, in order of levels; the first one on ties. A difference within rounding
// errors counts as none.
struct ClosestPair {
  size_t left = 0, right = 0;
  double log_p = -std::numeric_limits<double>::max();
  Contrast contrast = {.statistic = std::numeric_limits<double>::infinity(), .freedom = 0, .rest = 0};

  bool is_nearer_than(const Contrast& other) const {
    return contrast.is_comparable(other) && other.statistic > contrast.statistic * kBeyondDoubt;
  }
  void show(size_t i, size_t j, const Contrast& other, double other_log_p) {
    if (other_log_p > log_p - kTie * log_p) left = i, right = j, log_p = other_log_p, contrast = other;
  }

  static constexpr double kBeyondDoubt = 1 + 1e-6;  // a larger ratio of statistics means a smaller p despite rounding
  static constexpr double kTie = 1e-11;             // of log p, which is never positive
};

// Very many levels are combined into fewer runs of similar outcome and weight.

// Run of each level, in order of the outcomes, then of the levels. Runs are numbered in order of their first levels.
inline std::vector<int32_t> level_runs(std::span<const double> outcome, std::span<const double> weight, size_t most) {
  std::vector<size_t> order(outcome.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::stable_sort(order, {}, [&](size_t level) { return outcome[level]; });
  std::vector<double> middle(order.size());  // midpoint of the level's range of cumulative weight
  double reached = 0;
  for (const size_t level : order) reached += weight[level], middle[level] = reached - weight[level] / 2;
  const double end = middle[order.back()], n = static_cast<double>(most);
  std::vector<int32_t> run(order.size()), number(most, -1);
  int32_t n_runs = 0;
  for (size_t level = 0; level < run.size(); ++level) {
    int32_t& own = number[static_cast<size_t>(std::min(middle[level] / end * n, n - 1))];
    if (own < 0) own = n_runs++;
    run[level] = own;
  }
  return run;
}

// Levels with equal class proportions, which are merged before all others.
//
// Pearson's statistic of two such levels counts as 0, so p is 1 and no pair is closer. Integer weights add up exactly
// in any order: as long as two kinds of proportions are left, the result equals that of merging one pair after the
// other.

struct SameShares {
  std::vector<int32_t> kind_of;  // [n_levels], numbered in order of their first levels; empty if unknown or not useful
  size_t n_kinds = 0;

  explicit operator bool() const { return !kind_of.empty(); }
  std::vector<double> sums_of(std::span<const double> values, size_t width) const {  // [n_levels, width] to [n_kinds, width]
    std::vector<double> sums(n_kinds * width);
    for (size_t level = 0; level < kind_of.size(); ++level)
      for (size_t s = 0; s < width; ++s) sums[size_t(kind_of[level]) * width + s] += values[level * width + s];
    return sums;
  }
};

// Below this limit different proportions are different doubles, and the statistic of their levels exceeds rounding
// errors: for weights n and m it is at least 1 / (n + m)³.
constexpr double kMostOfShares = 1 << 22;

// `are_alike`: also levels with several classes; by the likelihood ratio only levels of a single class have p = 1
// despite rounding. statistics: [n_levels, n_classes]
inline SameShares same_shares(std::span<const double> statistics, std::span<const double> weight, bool are_alike) {
  const size_t n = weight.size(), width = n ? statistics.size() / n : 0;
  double total = 0;
  for (const double each : statistics) {
    if (each != std::floor(each)) return {};
    total += each;
  }
  if (!(total < kMostOfShares)) return {};
  std::vector<double> share(statistics.begin(), statistics.end());
  std::vector<bool> is_pure(n);
  for (size_t level = 0; level < n; ++level) {
    const std::span<double> own(share.data() + level * width, width);
    if (!(weight[level] > 0)) return {};
    for (double& each : own) each /= weight[level];
    is_pure[level] = std::ranges::find(own, 1.0) != own.end();
  }
  const auto row = [&](size_t level) { return std::span<const double>(share.data() + level * width, width); };
  const auto before = [&](size_t a, size_t b) {
    const auto order = std::lexicographical_compare_three_way(row(a).begin(), row(a).end(), row(b).begin(), row(b).end());
    return order < 0 || (order == 0 && a < b);
  };
  std::vector<size_t> by_share(n);
  for (size_t level = 0; level < n; ++level) by_share[level] = level;
  std::ranges::sort(by_share, before);
  std::vector<size_t> first(n);  // the first level with the same proportions
  for (size_t i = 0; i < n; ++i) {
    const size_t level = by_share[i];
    const bool is_same = i > 0 && (are_alike || is_pure[level]) && std::ranges::equal(row(level), row(by_share[i - 1]));
    first[level] = is_same ? first[by_share[i - 1]] : level;
  }
  SameShares same{.kind_of = std::vector<int32_t>(n)};
  for (size_t level = 0; level < n; ++level) same.kind_of[level] = first[level] == level ? int32_t(same.n_kinds++) : same.kind_of[first[level]];
  return same.n_kinds < 2 || same.n_kinds == n ? SameShares{} : same;
}

}  // namespace baytree::tree::counted
