// The branch of the cases without a value, where they are not spread over all.
#pragma once
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "tree/fractional/gain.hpp"
#include "tree/fractional/growth.hpp"

namespace baytree::tree::fractional {

// The heaviest branch, or the one that the cases without a value make least impure.
template <std::floating_point Real>
int32_t best_fitting_branch(const Rules& rules, const XLog2XTable& x_log2_x, size_t branches, size_t n_classes, const Cases<Real>& cases,
                            std::span<const int32_t> direction) {
  const auto impurity = worth_of_levels<double>(rules.measure).impurity;
  std::vector<double> table(branches * n_classes), absent(n_classes), fit(branches);
  for (size_t i = 0; i < cases.size(); ++i)
    (direction[i] >= 0 ? table[static_cast<size_t>(direction[i]) * n_classes + static_cast<size_t>(cases[i].label)]
                       : absent[static_cast<size_t>(cases[i].label)]) += cases[i].weight;
  const bool is_learned = rules.missing == MissingValues::learned && std::any_of(absent.begin(), absent.end(), [](double w) { return w > 0; });
  for (size_t b = 0; b < branches; ++b) {
    const std::span<double> counts(table.data() + b * n_classes, n_classes);
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
void settle_missing(const Rules& rules, const XLog2XTable& x_log2_x, size_t n_classes, Node& node, const Cases<Real>& cases,
                    std::vector<int32_t>& direction) {
  if (rules.missing == MissingValues::spread) return;
  const bool is_needed = std::find(direction.begin(), direction.end(), -1) != direction.end();
  if (rules.missing == MissingValues::category && !is_needed) return;
  if (rules.missing == MissingValues::category) node.missing = node.branches - 1;
  else node.missing = best_fitting_branch<Real>(rules, x_log2_x, static_cast<size_t>(node.branches), n_classes, cases, direction);
  std::replace(direction.begin(), direction.end(), -1, node.missing);
}

}  // namespace baytree::tree::fractional
