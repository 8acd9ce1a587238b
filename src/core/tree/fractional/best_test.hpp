// The best test of a column at a node.
#pragma once
#include <algorithm>
#include <cmath>
#include <span>

#include "tree/fractional/nominal_test.hpp"
#include "tree/fractional/numeric_test.hpp"
#include "tree/fractional/value_groups.hpp"

namespace baytree::tree::fractional {

template <std::floating_point Real>
ColumnTest<Real> best_test_of_known(const NodeCases<Real>& at, const Worth<Real>& of_cuts, const Training& from, size_t column,
                                    LevelIndex& index) {
  const GivenColumn& given = from.columns[column];
  if (given.is_numeric()) {
    const auto stripe = static_cast<size_t>(from.stripe[column]);
    return best_cut(at.judged_by(of_cuts), from.ranked[stripe], at.cases.sorted(stripe));
  }
  const Branches<Real> split = tabulate<Real>(at.cases, at.counts.size(), at.place, given.code, given.levels, index);
  if (at.rules.binary) return best_level(at, split, std::span<const int32_t>(index.present));
  if (at.rules.grouped && given.levels > 2) return best_groups(at, split, std::span<const int32_t>(index.present), given.levels);
  return each_level(at, split, given.levels);
}

// Where missing values have a branch of their own, it counts.
template <std::floating_point Real>
ColumnTest<Real> best_test(const NodeCases<Real>& at, const Worth<Real>& of_cuts, const Training& from, size_t column, LevelIndex& index) {
  ColumnTest<Real> test = best_test_of_known(at, of_cuts, from, column, index);
  const GivenColumn& given = from.columns[column];
  const auto is_missing = [&](const Case<Real>& it) {
    return given.is_numeric() ? std::isnan(given.value[it.row]) : given.code[it.row] < 0;
  };
  if (at.rules.missing == MissingValues::category && std::any_of(at.cases.all.begin(), at.cases.all.end(), is_missing)) ++test.branches;
  return test;
}

}  // namespace baytree::tree::fractional
