// Gain of tests with fractional cases, by criterion; and the branch of missing values where they are not distributed.
#pragma once
#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "numeric/distributions.hpp"
#include "tree/criteria.hpp"
#include "tree/fractional/column_test.hpp"
#include "tree/fractional/nodes.hpp"

namespace baytree::tree::fractional {

// Impurities that can be updated from threshold to threshold.
enum class Rough { none, entropy, gini };

// A criterion, as the fractional search calls it.
template <std::floating_point Real> struct Worth {
  // weight · impurity of class weights
  Real (*impurity)(std::span<const Real> weights, const XLog2XTable& x_log2_x);
  // Known proportion times (impurity before − impurity after), per unit of node weight; for a significance test −ln p.
  Real (*gain)(const NodeCases<Real>& at, const Branches<Real>& split);
  Rough rough = Rough::none;     // the impurity whose decrease is the gain
  bool is_significance = false;  // the gain is −ln p, which does not scale with the weight
};

template <std::floating_point Real>
bool has_own_branch(const NodeCases<Real>& at) {
  return at.rules.missing == MissingValues::category;
}

// The weight that a test is scored on.
template <std::floating_point Real>
Real judged_weight(const NodeCases<Real>& at, const Branches<Real>& split) {
  return has_own_branch(at) ? at.weight : static_cast<Real>(at.weight - split.missing);
}

template <typename Impurity, std::floating_point Real>
Real decrease(const NodeCases<Real>& at, const Branches<Real>& split) {
  const bool own_branch = has_own_branch(at);
  const Real known = judged_weight(at, split);
  if (!(known > 0)) return 0;
  const Real before = static_cast<Real>(
      Impurity::of(own_branch ? at.counts : std::span<const Real>(split.known), at.x_log2_x) / known);
  Real after = 0;
  for (size_t b = 0; b < split.weight.size(); ++b) after += Impurity::of(split.row(b), at.x_log2_x);
  if (own_branch) after += Impurity::of(std::span<const Real>(split.absent), at.x_log2_x);
  return static_cast<Real>((known / at.weight) * (before - after / known));
}

// The same for levels in release 8's float32: the entropy before the test is summed in double, that of the branches in
// float32. Inferred from the ties in its trees (docs/decisions/0010-c45-ties.md).
inline float float_gain_of_levels(const NodeCases<float>& at, const Branches<float>& split) {
  const float known = judged_weight(at, split);
  if (has_own_branch(at) || !(known > 0)) return decrease<numeric::Entropy, float>(at, split);
  const std::vector<double> counts(split.known.begin(), split.known.end());
  const auto before = static_cast<float>(numeric::entropy<double>(counts, at.x_log2_x) / known);
  float after = 0;
  for (size_t b = 0; b < split.weight.size(); ++b) after += numeric::entropy<float>(split.row(b), at.x_log2_x);
  return (known / at.weight) * (before - after / known);
}

// With the order of operations that decides ties in Weka's Id3.
template <std::floating_point Real>
Real id3_gain(const NodeCases<Real>& at, const Branches<Real>& split) {
  if (!(judged_weight(at, split) > 0)) return 0;
  const double known = at.weight - split.missing;
  double gain = numeric::id3_entropy(std::vector<double>(split.known.begin(), split.known.end()));
  for (size_t b = 0; b < split.weight.size(); ++b)
    gain -= split.weight[b] / known * numeric::id3_entropy(std::vector<double>(split.row(b).begin(), split.row(b).end()));
  return static_cast<Real>(known / at.weight * gain);
}

// −ln p of Pearson's chi-squared test of independence of branches and classes.
template <std::floating_point Real>
Real pearson_gain(const NodeCases<Real>& at, const Branches<Real>& split) {
  if (!(judged_weight(at, split) > 0)) return 0;
  std::vector<double> total(split.known.begin(), split.known.end());
  std::vector<std::span<const Real>> rows;
  for (size_t b = 0; b < split.weight.size(); ++b)
    if (split.weight[b] > 0) rows.push_back(split.row(b));
  if (has_own_branch(at) && split.missing > 0) {
    rows.push_back(split.absent);
    for (size_t c = 0; c < total.size(); ++c) total[c] += split.absent[c];
  }
  const double statistic = numeric::pearson(rows.size(), [&](size_t i) { return rows[i]; }, total, numeric::total(total));
  const auto classes = std::count_if(total.begin(), total.end(), [](double weight) { return weight > 0; });
  const double degrees = static_cast<double>(rows.size() - 1) * static_cast<double>(classes - 1);
  return static_cast<Real>(0 - numeric::chi2_log_tail(statistic, degrees));
}

template <typename Impurity> constexpr Rough rough_of() {
  if constexpr (std::same_as<Impurity, numeric::Entropy>) return Rough::entropy;
  return std::same_as<Impurity, numeric::Gini> ? Rough::gini : Rough::none;
}

template <Criterion C, std::floating_point Real> Worth<Real> worth() {
  if constexpr (ClassCriterion<C>) {
    constexpr auto impurity = [](std::span<const Real> weights, const XLog2XTable& term) { return C::Impurity::of(weights, term); };
    if constexpr (C::suits.multiway && C::is_decrease)
      return {impurity, &decrease<typename C::Impurity, Real>, rough_of<typename C::Impurity>(), false};
    else if constexpr (C::suits.multiway && C::suits.test == "pearson") return {impurity, &pearson_gain<Real>, Rough::none, true};
  }
  throw std::invalid_argument("criterion='" + std::string(C::name) + "' cannot compare many branches");
}

// The criterion of this name for numeric columns.
template <std::floating_point Real> Worth<Real> worth_of_cuts(std::string_view measure) {
  if (measure == "id3") return worth<Entropy, Real>();  // Id3 has no numeric columns, so there is no tie rule to reproduce
  return Criteria::with(measure, []<Criterion C>() { return worth<C, Real>(); });
}

template <std::floating_point Real> Worth<Real> worth_of_levels(std::string_view measure) {
  Worth<Real> found = worth_of_cuts<Real>(measure);
  if (measure == "id3") found.gain = &id3_gain<Real>;
  if constexpr (std::same_as<Real, float>)
    if (found.gain == &decrease<numeric::Entropy, float>) found.gain = &float_gain_of_levels;
  return found;
}

// Branch of missing values, where they are not distributed over all branches.

// Class weights of the known cases of each branch, and of the cases with a missing value.
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

// The heaviest branch, or the one that becomes least impure with the missing values.
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

// Gives missing values their own branch, or the best fitting one, if the rules say so.
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
