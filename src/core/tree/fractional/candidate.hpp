// The test that each column offers at a node: its gain, its split information, and where it cuts.
#pragma once
#include <numeric>
#include <optional>

#include "tree/fractional/growth.hpp"
#include "tree/fractional/information.hpp"
#include "tree/fractional/training.hpp"

namespace baytree::tree::fractional {

enum class MissingValues : int { spread, largest, category, learned };

// The points in which the tree algorithms of this family differ, as values.
struct Rules {
  Measure measure = Measure::entropy;
  MissingValues missing = MissingValues::spread;
  bool by_ratio = true;           // gain ratio among tests of at least average gain; otherwise the largest gain
  bool binary = false;            // nominal tests: one level against the rest
  bool grouped = false;           // nominal tests: levels united into groups
  bool mdl = true;                // charge log2(number of cuts) to a numeric test
  bool midpoint = false;          // cut half-way instead of at a value of the training rows
  bool quinlan_sides = true;      // each side of a cut holds 10 % of an average class, at least min_side, at most 25;
                                  // neighbouring values are 1e-5 apart
  bool gated = true;              // by ratio: only tests of at least average gain
  bool zero_ratio_wins = true;    // a test of ratio 0 may be chosen
  double min_side = 2;
  double tolerance = 0;           // a > b means a - b > tolerance
  double min_info = 0;
  double zero_gain = 0;           // a gain up to here is none
  double min_gain = 0;            // a split must gain more than this per unit of all weight; for chi², −ln p
  double min_split = 0, min_impurity = 0;
  double total = 0;               // weight of all rows, the base of the many-levels rule
  int64_t max_depth = -1, max_leaves = -1;  // -1 = no limit

  bool greater(double a, double b) const { return tolerance > 0 ? a - b > tolerance : a > b; }
  bool reaches(double a, double b) const { return tolerance > 0 ? b - a < tolerance : a >= b; }
};

template <typename Real>
struct Candidate {
  bool is_valid = false;
  Real gain = 0, info = 0;
  Real raw_gain = 0;      // before the charge for the choice of a cut
  int64_t cuts = 0;       // admissible cuts or tests compared
  int32_t rank = -1;      // threshold: ranks up to this one go low
  int32_t next = -1;      // threshold: the neighbouring rank above
  int32_t level = -1;     // one_level
  double cut = 0;
  std::vector<int32_t> group;  // groups: level -> branch
  int32_t branches = 0;
  Real ratio() const { return info > 0 ? static_cast<Real>(gain / info) : Real(0); }
};

// What is the same for every column of a node.
template <typename Real>
struct Situation {
  const Rules& rules;
  const XLog& xlog;
  const Cases<Real>& cases;
  std::span<const Real> counts;    // [n_classes]
  Real weight;
};

// Class weights of the branches of one test, and of the cases without a value.
template <typename Real>
struct Branches {
  std::vector<Real> table;    // [n_branches, n_classes]
  std::vector<Real> weight;   // [n_branches]
  std::vector<Real> known;    // [n_classes]
  std::vector<Real> absent;   // [n_classes]
  Real missing = 0;
  size_t n_classes = 0;
  std::span<const Real> row(size_t b) const { return {table.data() + b * n_classes, n_classes}; }
};

// Entropy gain, in the order of operations that decides Id3's ties.
template <typename Real>
Real id3_gain(const Situation<Real>& at, const Branches<Real>& split) {
  const double known = at.weight - split.missing;
  double gain = id3_entropy(std::vector<double>(split.known.begin(), split.known.end()));
  for (size_t b = 0; b < split.weight.size(); ++b)
    gain -= split.weight[b] / known * id3_entropy(std::vector<double>(split.row(b).begin(), split.row(b).end()));
  return static_cast<Real>(known / at.weight * gain);
}

// −ln p of Pearson's test that the branches have the same classes.
template <typename Real>
Real chi2_gain(const Branches<Real>& split, bool own_branch) {
  std::vector<double> total(split.known.begin(), split.known.end());
  std::vector<std::span<const Real>> rows;
  for (size_t b = 0; b < split.weight.size(); ++b)
    if (split.weight[b] > 0) rows.push_back(split.row(b));
  if (own_branch && split.missing > 0) {
    rows.push_back(split.absent);
    for (size_t c = 0; c < total.size(); ++c) total[c] += split.absent[c];
  }
  const double n = std::accumulate(total.begin(), total.end(), 0.0);
  double statistic = 0;
  for (const auto row : rows) {
    const double weight = std::accumulate(row.begin(), row.end(), 0.0);
    for (size_t c = 0; c < total.size(); ++c) {
      const double expected = weight * total[c] / n, off = row[c] - expected;
      if (expected > 0) statistic += off * off / expected;
    }
  }
  const auto classes = std::count_if(total.begin(), total.end(), [](double weight) { return weight > 0; });
  return static_cast<Real>(log_significance(statistic, static_cast<double>(rows.size() - 1) * static_cast<double>(classes - 1)));
}

// Gain per unit of node weight: the known share of (impurity before − impurity after). For chi², −ln p.
template <typename Real>
Real gain_of(const Situation<Real>& at, const Branches<Real>& split) {
  const bool own_branch = at.rules.missing == MissingValues::category;
  const Real known = own_branch ? at.weight : static_cast<Real>(at.weight - split.missing);
  if (!(known > 0)) return 0;
  if (at.rules.measure == Measure::id3) return id3_gain(at, split);
  if (at.rules.measure == Measure::chi2) return chi2_gain(split, own_branch);
  const Real before = static_cast<Real>(
      impurity(at.rules.measure, own_branch ? at.counts : std::span<const Real>(split.known), at.xlog) / known);
  Real after = 0;
  for (size_t b = 0; b < split.weight.size(); ++b) after += impurity(at.rules.measure, split.row(b), at.xlog);
  if (own_branch) after += impurity(at.rules.measure, std::span<const Real>(split.absent), at.xlog);
  return static_cast<Real>((known / at.weight) * (before - after / known));
}

// Entropy of the branch weights, the cases without a value being one more branch.
template <typename Real>
Real info_of(const Situation<Real>& at, const Branches<Real>& split) {
  std::vector<Real> parts(split.weight);
  parts.push_back(split.missing);
  return static_cast<Real>(information<Real>(parts, at.xlog) / at.weight);
}

template <typename Real>
bool has_two_branches(const Situation<Real>& at, const Branches<Real>& split) {
  const auto& rules = at.rules;
  auto enough = std::count_if(split.weight.begin(), split.weight.end(),
                              [&](Real weight) { return rules.reaches(weight, rules.min_side); });
  if (rules.missing == MissingValues::category) enough += split.missing > 0 && rules.reaches(split.missing, rules.min_side);
  return enough >= 2;
}

}  // namespace baytree::tree::fractional
