// What a branch for each level of a nominal column is worth to a node, by least squares: a function of sums per level.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/node.hpp"
#include "tree/sorted/splits/level_counter.hpp"

namespace baytree::tree::counted {

// The levels that occur, each with a branch of its own, in their order.
struct Parting {
  double gain = 0;       // what the squares about the means fall by
  int32_t branches = 0;  // 0: too few levels hold enough
  int32_t missing = 0;   // the branch of the rows without a level
};

// Σ w (y − c) about any common centre c, and Σ w, of each branch.
struct BranchSums {
  std::vector<double> sum, weight;

  size_t size() const { return sum.size(); }
  void append(std::span<const double> statistic) { sum.push_back(statistic[0]), weight.push_back(statistic[1]); }
  void join(size_t branch, std::span<const double> statistic) { sum[branch] += statistic[0], weight[branch] += statistic[1]; }

  double fall_of_squares() const {
    double each = 0, all = 0, whole = 0;
    for (size_t b = 0; b < size(); ++b) each += sum[b] * sum[b] / weight[b], all += sum[b], whole += weight[b];
    return each - all * all / whole;
  }
  // The branch whose squares rise least where rows join it, the first of equals.
  size_t closest(std::span<const double> joining) const {
    size_t best = 0;
    double most = 0;
    for (size_t b = 0; b < size(); ++b) {
      const double together = sum[b] + joining[0];
      const double fit = together * together / (weight[b] + joining[1]) - sum[b] * sum[b] / weight[b];
      if (b == 0 || fit > most) best = b, most = fit;
    }
    return best;
  }
  size_t heaviest() const { return size_t(std::ranges::max_element(weight) - weight.begin()); }
};

// At least two levels hold `min_leaf`. Rows without a level go where the squares are least, into a branch of their own, or with
// the heaviest branch, and then the column is judged by the known rows.
inline Parting part_levels(const sorted::Levels& levels, sorted::Absent absent, double min_leaf) {
  const bool has_missing = levels.size() > 0 && levels.code[0] < 0;
  BranchSums known;
  for (size_t i = has_missing; i < levels.size(); ++i) known.append(levels[i]);
  if (std::ranges::count_if(known.weight, [&](double weight) { return weight >= min_leaf; }) < 2) return {};
  size_t missing = known.heaviest();
  if (has_missing && absent == sorted::Absent::kCategory) missing = known.size(), known.append(levels[0]);
  if (has_missing && absent == sorted::Absent::kLearned) missing = known.closest(levels[0]), known.join(missing, levels[0]);
  return {known.fall_of_squares(), int32_t(known.size()), int32_t(missing)};
}

}  // namespace baytree::tree::counted
