// The groups of a column's levels while they merge, and the pair of them that differs least.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/counted/group_tests.hpp"

namespace baytree::tree::counted {

// A group is named by its first level.
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

  // The group of each level, numbered in the order of their first levels.
  std::vector<int32_t> numbered() const {
    std::vector<int32_t> number(group_of.size()), of_level(group_of.size());
    for (size_t i = 0; i < alive.size(); ++i) number[alive[i]] = int32_t(i);
    for (size_t k = 0; k < group_of.size(); ++k) of_level[k] = number[size_t(group_of[k])];
    return of_level;
  }

  size_t width;
  std::vector<double> statistics, weight;
  std::vector<int32_t> group_of;
  std::vector<size_t> alive;  // the groups' first levels, in order
};

// The pair that differs least of those it was shown, in the order of levels: of several the first. What rounding can feign is no
// difference.
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

  static constexpr double kBeyondDoubt = 1 + 1e-6;  // a statistic so much larger has the smaller p, however both are rounded
  static constexpr double kTie = 1e-11;             // of log p, which is never positive
};

}  // namespace baytree::tree::counted
