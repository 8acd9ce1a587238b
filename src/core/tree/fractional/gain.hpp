// What a criterion makes of branches whose cases are fractions.
#pragma once
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "numbers/tails.hpp"
#include "tree/criteria.hpp"
#include "tree/fractional/column_test.hpp"

namespace baytree::tree::fractional {

// The impurities that can be followed from cut to cut.
enum class Rough { none, entropy, gini };

// A criterion as this search asks for it.
template <std::floating_point Real> struct Worth {
  // weight · impurity of class weights
  Real (*impurity)(std::span<const Real> weights, const XLog2XTable& x_log2_x);
  // Per unit of node weight the known share of (impurity before − impurity after); of a test of significance −ln p.
  Real (*gain)(const NodeCases<Real>& at, const Branches<Real>& split);
  Rough rough = Rough::none;     // the gain is what this impurity falls
  bool is_significance = false;  // the gain is −ln p, which does not grow with the weight
};

template <std::floating_point Real>
bool has_own_branch(const NodeCases<Real>& at) {
  return at.rules.missing == MissingValues::category;
}

// The weight that a test is judged by.
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

// The same for levels in release 8's float32: the entropy before the test is summed in double, that of the branches in float32. Inferred from
// the ties of its trees (docs/decisions/0010-c45-ties.md).
inline float float_gain_of_levels(const NodeCases<float>& at, const Branches<float>& split) {
  const float known = judged_weight(at, split);
  if (has_own_branch(at) || !(known > 0)) return decrease<numbers::Entropy, float>(at, split);
  const std::vector<double> counts(split.known.begin(), split.known.end());
  const auto before = static_cast<float>(numbers::entropy<double>(counts, at.x_log2_x) / known);
  float after = 0;
  for (size_t b = 0; b < split.weight.size(); ++b) after += numbers::entropy<float>(split.row(b), at.x_log2_x);
  return (known / at.weight) * (before - after / known);
}

// In the order of operations that decides Id3's ties.
template <std::floating_point Real>
Real id3_gain(const NodeCases<Real>& at, const Branches<Real>& split) {
  if (!(judged_weight(at, split) > 0)) return 0;
  const double known = at.weight - split.missing;
  double gain = numbers::id3_entropy(std::vector<double>(split.known.begin(), split.known.end()));
  for (size_t b = 0; b < split.weight.size(); ++b)
    gain -= split.weight[b] / known * numbers::id3_entropy(std::vector<double>(split.row(b).begin(), split.row(b).end()));
  return static_cast<Real>(known / at.weight * gain);
}

// −ln p of Pearson's test that the branches have the same classes.
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
  const double statistic = numbers::pearson(rows.size(), [&](size_t i) { return rows[i]; }, total, numbers::total(total));
  const auto classes = std::count_if(total.begin(), total.end(), [](double weight) { return weight > 0; });
  const double degrees = static_cast<double>(rows.size() - 1) * static_cast<double>(classes - 1);
  return static_cast<Real>(0 - numbers::chi2_log_tail(statistic, degrees));
}

template <typename Impurity> constexpr Rough rough_of() {
  if constexpr (std::same_as<Impurity, numbers::Entropy>) return Rough::entropy;
  return std::same_as<Impurity, numbers::Gini> ? Rough::gini : Rough::none;
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
  if (measure == "id3") return worth<Entropy, Real>();  // Id3 knows no numbers, so there are no ties of its own to follow
  return Criteria::with(measure, []<Criterion C>() { return worth<C, Real>(); });
}

template <std::floating_point Real> Worth<Real> worth_of_levels(std::string_view measure) {
  Worth<Real> found = worth_of_cuts<Real>(measure);
  if (measure == "id3") found.gain = &id3_gain<Real>;
  if constexpr (std::same_as<Real, float>)
    if (found.gain == &decrease<numbers::Entropy, float>) found.gain = &float_gain_of_levels;
  return found;
}

}  // namespace baytree::tree::fractional
