// Which of the offers of a node's columns is taken.
#pragma once
#include <optional>

#include "tree/c50/column_tests.hpp"

namespace baytree::tree::c50 {

// What a gain must reach: a share of the mean gain, and a share of log2(offers)/W where rows are many.
struct Gate {
  double mean = 1, log = 0;
  static Gate of(size_t n_rows, size_t n_classes) {
    const auto q = static_cast<double>(n_rows / std::max<size_t>(n_classes, 1));
    const double f = std::clamp((q - 500) / 500, 0.0, 1.0);
    return {1 - f, 0.9 * f};
  }
};

// Branches as the program counts them, with one for "not applicable" where a test is no group test.
inline int32_t counted_branches(const GivenColumn& column, const Offer& offer) {
  if (column.is_numeric() || column.is_ordered || column.levels == 2) return 3;
  return offer.group.empty() ? offer.branches + 1 : offer.branches;
}

inline int32_t choose(std::span<const Offer> offers, std::span<const GivenColumn> columns, const std::vector<bool>& has_many_levels, const Gate& gate,
                      double weight) {
  const auto counts = [&](size_t j) { return offers[j].is_valid && offers[j].gain >= 1e-4 && !has_many_levels[j]; };
  double sum = 0, n = 0;
  for (size_t j = 0; j < offers.size(); ++j)
    if (counts(j)) sum += offers[j].gain, ++n;
  if (n == 0) return -1;
  const double least = gate.mean * sum / n + gate.log * std::log2(n) / weight;
  int32_t best = -1;
  for (size_t j = 0; j < offers.size(); ++j) {
    const Offer& offer = offers[j];
    if (!counts(j) || !(offer.gain >= 0.999 * least) || !(offer.info > 0)) continue;
    if (best >= 0) {
      const Offer& leader = offers[static_cast<size_t>(best)];
      const int32_t mine = counted_branches(columns[j], offer), theirs = counted_branches(columns[static_cast<size_t>(best)], leader);
      const bool wins_tie = mine < theirs || (mine == theirs && offer.gain > leader.gain);
      if (!(offer.ratio() > leader.ratio()) && !(offer.ratio() > 0.999 * leader.ratio() && wins_tie)) continue;
    }
    best = static_cast<int32_t>(j);
  }
  return best;
}

// Without groups, columns with levels for a third of the rows do not compete, unless all columns are like that.
inline std::vector<bool> many_levels(const Bench& bench) {
  std::vector<bool> has_many(bench.from.columns.size());
  if (bench.settings.groups) return has_many;
  bool all = true;
  for (size_t j = 0; j < has_many.size(); ++j) {
    const GivenColumn& column = bench.from.columns[j];
    has_many[j] = !column.is_numeric() && column.levels + 1 >= 0.3 * static_cast<double>(bench.n_rows());
    if (bench.in_use[j] && !has_many[j]) all = false;
  }
  if (all) has_many.assign(has_many.size(), false);
  return has_many;
}

}  // namespace baytree::tree::c50
