// Which of the candidate tests of a node wins.
#pragma once
#include <optional>

#include "tree/fractional/gain.hpp"

namespace baytree::tree::fractional {

// Gains this much below the average still pass, and gains this much below zero still are tests.
inline constexpr double kGainSlack = 1e-3;

// The nominal columns that have too many levels to count among the others; none where all of them have.
inline std::vector<bool> many_levels(std::span<const GivenColumn> columns, double total) {
  std::vector<bool> has_many;
  for (const GivenColumn& column : columns) has_many.push_back(!column.is_numeric() && std::max(column.levels, 2) >= 0.3 * total);
  if (std::all_of(has_many.begin(), has_many.end(), [](bool is) { return is; })) has_many.assign(has_many.size(), false);
  return has_many;
}

// The average gain of the tests that count: nominal columns with very many levels would raise it unfairly.
template <std::floating_point Real>
std::optional<Real> average_gain(std::span<const ColumnTest<Real>> tests, const std::vector<bool>& has_many_levels) {
  Real sum = 0;
  int64_t counted = 0;
  for (size_t j = 0; j < tests.size(); ++j) {
    if (!tests[j].is_valid || has_many_levels[j] || !(tests[j].gain > -kGainSlack)) continue;
    sum += tests[j].gain;
    ++counted;
  }
  if (counted == 0) return std::nullopt;
  return static_cast<Real>(sum / static_cast<double>(counted));
}

// The best gain ratio among tests of at least average gain; the earlier column wins ties. -1 = no test.
template <std::floating_point Real>
int32_t best_by_ratio(std::span<const ColumnTest<Real>> tests, const std::vector<bool>& has_many_levels, const Rules& rules, double least) {
  const auto average = rules.gated ? average_gain(tests, has_many_levels) : std::optional<Real>(Real(0));
  if (!average) return -1;
  int32_t best = -1;
  double best_ratio = 0;
  for (size_t j = 0; j < tests.size(); ++j) {
    const ColumnTest<Real>& test = tests[j];
    if (!test.is_valid || !(test.gain > -kGainSlack)) continue;
    if (!(test.gain >= *average - kGainSlack) || !(test.info > rules.min_info)) continue;
    if (!rules.zero_ratio_wins && !(test.gain > least)) continue;
    const bool is_first = best < 0 && rules.zero_ratio_wins;
    if (!is_first && !rules.greater(test.ratio(), best_ratio)) continue;
    best = static_cast<int32_t>(j);
    best_ratio = test.ratio();
  }
  return best;
}

template <std::floating_point Real>
int32_t best_by_gain(std::span<const ColumnTest<Real>> tests, const Rules& rules, double least) {
  int32_t best = -1;
  double best_gain = rules.zero_ratio_wins ? -kGainSlack : least;
  for (size_t j = 0; j < tests.size(); ++j) {
    if (!tests[j].is_valid || !rules.greater(tests[j].gain, best_gain)) continue;
    best = static_cast<int32_t>(j);
    best_gain = tests[j].gain;
  }
  return best;
}

}  // namespace baytree::tree::fractional
