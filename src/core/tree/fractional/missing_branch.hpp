// The branch of the cases without a value, where they are not spread over all.
#pragma once
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "tree/fractional/gain.hpp"
#include "tree/fractional/growth.hpp"

namespace baytree::tree::fractional {

// Weight per class of the known cases of each branch, and of the cases without a value; of the classes that occur.
struct KnownAndAbsent {
  std::vector<double> table, absent;  // [n_branches, n_classes], [n_classes]
};

template <std::floating_point Real>
KnownAndAbsent known_and_absent(size_t branches, size_t n_classes, std::span<const int32_t> place, const Cases<Real>& cases,
                                std::span<const int32_t> direction) {
  KnownAndAbsent sums{std::vector<double>(branches * n_classes), std::vector<double>(n_classes)};
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto c = static_cast<size_t>(place[cases[i].label]);
    (direction[i] >= 0 ? sums.table[static_cast<size_t>(direction[i]) * n_classes + c] : sums.absent[c]) += cases[i].weight;
  }
  return sums;
}

// The heaviest branch, or the one that the cases without a value make least impure.
inline int32_t best_fitting_branch(const Rules& rules, const XLog2XTable& x_log2_x, KnownAndAbsent sums) {
  const auto impurity = worth_of_levels<double>(rules.measure).impurity;
  const std::vector<double>& absent = sums.absent;
  const size_t n_classes = absent.size();
  std::vector<double> fit(sums.table.size() / n_classes);
  const bool is_learned = rules.missing == MissingValues::learned && std::any_of(absent.begin(), absent.end(), [](double w) { return w > 0; });
  for (size_t b = 0; b < fit.size(); ++b) {
    const std::span<double> counts(sums.table.data() + b * n_classes, n_classes);
    fit[b] = std::accumulate(counts.begin(), counts.end(), 0.0);
    if (!is_learned) continue;
    fit[b] = impurity(counts, x_log2_x);
    for (size_t c = 0; c < n_classes; ++c) counts[c] += absent[c];
    fit[b] -= impurity(counts, x_log2_x);
  }
  return heaviest<double>(fit);
}

// Gives the cases without a value a branch of their own or the best fitting one, where the rules say so.
template <std::floating_point Real>
void settle_missing(const Rules& rules, const XLog2XTable& x_log2_x, ClassCounter<Real>& classes, Node& node, const Cases<Real>& cases,
                    std::vector<int32_t>& direction) {
  if (rules.missing == MissingValues::spread) return;
  const bool is_needed = std::find(direction.begin(), direction.end(), -1) != direction.end();
  if (rules.missing == MissingValues::category && !is_needed) return;
  if (rules.missing == MissingValues::category) node.missing = node.branches - 1;
  else {
    const std::vector<int32_t> present = classes.count(cases).label;
    const auto place = classes.places(present);
    const auto sums = known_and_absent(static_cast<size_t>(node.branches), present.size(), place, cases, direction);
    node.missing = best_fitting_branch(rules, x_log2_x, sums);
  }
  std::replace(direction.begin(), direction.end(), -1, node.missing);
}

}  // namespace baytree::tree::fractional
