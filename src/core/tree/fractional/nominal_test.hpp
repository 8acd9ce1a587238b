// Tests of a nominal column: a branch for each level, or one level against the rest.
#pragma once
#include "tree/fractional/gain.hpp"

namespace baytree::tree::fractional {

// Room for counting a column's levels without a table as long as the column has levels.
struct LevelIndex {
  std::vector<int32_t> row_of;   // level -> row of the table, -1 = not met
  std::vector<int32_t> present;  // levels met, ascending once counted
};

// Class weights of the levels that occur among the cases, in level order, summed in `Sum`; k classes occur, each at its place.
template <std::floating_point Sum, std::floating_point Real>
Branches<Sum> tabulate(const Cases<Real>& cases, size_t k, std::span<const int32_t> place, std::span<const int32_t> code, int32_t levels,
                       LevelIndex& index) {
  if (index.row_of.size() < static_cast<size_t>(levels)) index.row_of.resize(static_cast<size_t>(levels), -1);
  index.present.clear();
  for (const Case<Real>& it : cases.all)
    if (const int32_t level = code[it.row]; level >= 0 && index.row_of[level] < 0) {
      index.row_of[level] = 0;
      index.present.push_back(level);
    }
  std::sort(index.present.begin(), index.present.end());
  for (size_t b = 0; b < index.present.size(); ++b) index.row_of[index.present[b]] = static_cast<int32_t>(b);

  Branches<Sum> split{.table = std::vector<Sum>(index.present.size() * k), .weight = std::vector<Sum>(index.present.size()),
                      .known = std::vector<Sum>(k), .absent = std::vector<Sum>(k), .missing = 0, .n_classes = k};
  for (const auto [row, label, weight] : cases.all) {
    const int32_t level = code[row];
    const auto c = static_cast<size_t>(place[label]);
    if (level < 0) {
      split.missing += weight;
      split.absent[c] += weight;
      continue;
    }
    const auto b = static_cast<size_t>(index.row_of[level]);
    split.table[b * k + c] += weight;
    split.weight[b] += weight;
    split.known[c] += weight;
  }
  for (const int32_t level : index.present) index.row_of[level] = -1;
  return split;
}

// One branch for each level.
template <std::floating_point Real>
ColumnTest<Real> each_level(const NodeCases<Real>& at, const Branches<Real>& split, int32_t levels) {
  ColumnTest<Real> test;
  if (!has_two_branches(at, split)) return test;
  test.is_valid = true;
  test.gain = test.raw_gain = at.worth.gain(at, split);
  test.info = info_of(at, split);
  test.branches = levels;
  return test;
}

// Two branches: this level and all others.
template <std::floating_point Real>
Branches<Real> against_rest(const Branches<Real>& split, size_t b) {
  const auto k = split.n_classes;
  Branches<Real> two{.table = std::vector<Real>(2 * k), .weight = std::vector<Real>(2), .known = split.known,
                     .absent = split.absent, .missing = split.missing, .n_classes = k};
  for (size_t other = 0; other < split.weight.size(); ++other) {
    const size_t side = other == b ? 0 : 1;
    two.weight[side] += split.weight[other];
    for (size_t c = 0; c < k; ++c) two.table[side * k + c] += split.row(other)[c];
  }
  return two;
}

// The level whose test against the rest has the best gain ratio, the first on ties.
template <std::floating_point Real>
ColumnTest<Real> best_level(const NodeCases<Real>& at, const Branches<Real>& split, std::span<const int32_t> present) {
  ColumnTest<Real> best;
  for (size_t b = 0; b < present.size(); ++b) {
    if (!at.rules.reaches(split.weight[b], at.rules.min_side)) continue;
    const Branches<Real> two = against_rest(split, b);
    if (!at.rules.reaches(two.weight[1], at.rules.min_side)) continue;
    ColumnTest<Real> test;
    test.is_valid = true;
    test.gain = test.raw_gain = at.worth.gain(at, two);
    test.info = info_of(at, two);
    test.level = present[b];
    test.branches = 2;
    test.cuts = best.cuts + 1;
    const bool better = at.rules.by_ratio ? at.rules.greater(test.ratio(), best.ratio()) : at.rules.greater(test.gain, best.gain);
    if (!best.is_valid || better) best = std::move(test);
    else best.cuts = test.cuts;
  }
  return best;
}

}  // namespace baytree::tree::fractional
