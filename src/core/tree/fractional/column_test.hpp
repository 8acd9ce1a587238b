// The best test of a column at a node, and the class weights of its branches.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "numeric/impurity.hpp"
#include "tree/fractional/cases.hpp"
#include "tree/fractional/rules.hpp"

namespace baytree::tree::fractional {

using numeric::XLog2XTable;

template <std::floating_point Real>
struct ColumnTest {
  bool is_valid = false;
  Real gain = 0, info = 0;
  Real raw_gain = 0;      // before the penalty for the choice of a threshold
  int64_t cuts = 0;       // admissible cuts or tests compared
  int32_t rank = -1;      // threshold: ranks up to this one go to the lower branch
  int32_t next = -1;      // threshold: the neighbouring rank above
  int32_t level = -1;     // one_level
  double cut = 0;
  std::vector<int32_t> group;  // groups: level -> branch
  int32_t branches = 0;
  Real ratio() const { return info > 0 ? static_cast<Real>(gain / info) : Real(0); }
};

// Class weights of the branches of one test and of the cases with a missing value, for the classes that occur in the
// node.
template <std::floating_point Real>
struct Branches {
  std::vector<Real> table;    // [n_branches, n_classes]
  std::vector<Real> weight;   // [n_branches]
  std::vector<Real> known;    // [n_classes]
  std::vector<Real> absent;   // [n_classes]
  Real missing = 0;
  size_t n_classes = 0;
  std::span<const Real> row(size_t b) const { return {table.data() + b * n_classes, n_classes}; }
};

template <std::floating_point Real> struct Worth;

// Values shared by all columns of a node.
template <std::floating_point Real>
struct NodeCases {
  const Rules& rules;
  const Worth<Real>& worth;
  const XLog2XTable& x_log2_x;
  const Cases<Real>& cases;
  std::span<const Real> counts;    // of the classes that occur
  std::span<const int32_t> place;  // [n_classes], index of a class among those that occur
  Real weight;

  NodeCases judged_by(const Worth<Real>& other) const { return {rules, other, x_log2_x, cases, counts, place, weight}; }
};

// Split information: entropy of the branch weights, with the missing values as one more branch.
template <std::floating_point Real>
Real info_of(const NodeCases<Real>& at, const Branches<Real>& split) {
  std::vector<Real> parts(split.weight);
  parts.push_back(split.missing);
  return static_cast<Real>(numeric::entropy<Real>(parts, at.x_log2_x) / at.weight);
}

template <std::floating_point Real>
bool has_two_branches(const NodeCases<Real>& at, const Branches<Real>& split) {
  const auto& rules = at.rules;
  auto enough = std::count_if(split.weight.begin(), split.weight.end(),
                              [&](Real weight) { return rules.reaches(weight, rules.min_side); });
  if (rules.missing == MissingValues::category) enough += split.missing > 0 && rules.reaches(split.missing, rules.min_side);
  return enough >= 2;
}

}  // namespace baytree::tree::fractional
