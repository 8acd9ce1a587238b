// The best threshold of a numeric column: one scan of the cases in value order.
#pragma once
#include "tree/fractional/gain.hpp"

namespace baytree::tree::fractional {

// Class weights below and above a moving threshold. Sums use the precision of the convention; `roughly` tracks the
// impurity in double, so that the exact arithmetic is needed only for thresholds that could be the best.
template <std::floating_point Real>
class Sides {
 public:
  Sides(std::span<const Real> known, const XLog2XTable& x_log2_x, Rough rough)
      : x_log2_x_(x_log2_x), rough_(rough), low_(known.size()), high_(known.begin(), known.end()), low_term_(known.size()) {
    for (const Real weight : high_) {
      high_term_.push_back(term(weight));
      high_sum_ += high_term_.back();
    }
  }
  void move(int32_t label, Real weight) {
    low_[label] += weight;
    high_[label] -= weight;
    below_ += weight;
    if (rough_ == Rough::none) return;
    if (label != moved_) settle();
    moved_ = label;
  }
  // Updates the sums: consecutive cases of one class are added in one step.
  void settle() {
    if (moved_ < 0) return;
    const double low = term(low_[moved_]), high = term(high_[moved_]);
    low_sum_ += low - low_term_[moved_];
    high_sum_ += high - high_term_[moved_];
    low_term_[moved_] = low;
    high_term_[moved_] = high;
    moved_ = -1;
  }
  Real below() const { return below_; }
  // Σ x log2 x of all class weights, an upper bound of those of both sides; 0 if not tracked.
  double terms() const { return low_sum_ + high_sum_; }
  std::span<const Real> low() const { return low_; }
  std::span<const Real> high() const { return high_; }
  // Remaining impurity, in units of weight; both sides are non-empty.
  double roughly(Real known) {
    settle();
    const double below = below_, above = known - below_;
    if (rough_ == Rough::none) return 0;
    if (rough_ == Rough::gini) return below - low_sum_ / below + above - high_sum_ / above;
    return x_log2_x_.nearly(below) - low_sum_ + x_log2_x_.nearly(above) - high_sum_;
  }

 private:
  double term(double weight) const { return rough_ == Rough::gini ? weight * weight : x_log2_x_.nearly(weight); }
  const XLog2XTable& x_log2_x_;
  const Rough rough_;
  std::vector<Real> low_, high_;
  std::vector<double> low_term_, high_term_;
  double low_sum_ = 0, high_sum_ = 0;
  Real below_ = 0;
  int32_t moved_ = -1;  // class whose terms are not up to date
};

// The minimum weight of each side.
template <std::floating_point Real>
Real smallest_side(const Rules& rules, Real known, size_t n_classes) {
  if (!rules.quinlan_sides) return static_cast<Real>(rules.min_side);
  const Real share = static_cast<Real>(0.1 * known / static_cast<double>(n_classes));
  if (share <= rules.min_side) return static_cast<Real>(rules.min_side);
  return share > 25 ? Real(25) : share;
}

// A value between two neighbours, never equal to the upper one.
template <std::floating_point Real>
double halfway(double low, double high) {
  const Real a = static_cast<Real>(low), b = static_cast<Real>(high);
  Real middle = (a + b) / 2;
  if (!std::isfinite(middle)) middle = a / 2 + b / 2;
  return middle < b && middle >= a ? static_cast<double>(middle) : low;
}

// The class weights of the cases with and without a value, summed in `Sum`.
template <std::floating_point Sum, std::floating_point Real>
Branches<Sum> known_part(const Cases<Real>& cases, std::span<const Sum> counts, std::span<const int32_t> place, const RankedColumn& column,
                         size_t n_known) {
  const auto k = counts.size();
  Branches<Sum> split{.table = std::vector<Sum>(2 * k), .weight = std::vector<Sum>(2), .known = {},
                      .absent = std::vector<Sum>(k), .missing = 0, .n_classes = k};
  if (n_known == cases.size()) {
    split.known.assign(counts.begin(), counts.end());
    return split;
  }
  split.known.resize(k);
  for (const auto [row, label, weight] : cases.all) {
    const bool is_known = column.rank[row] >= 0;
    (is_known ? split.known : split.absent)[place[label]] += weight;
    if (!is_known) split.missing += weight;
  }
  return split;
}

template <std::floating_point Real>
bool are_whole(const Cases<Real>& cases) {
  return std::all_of(cases.all.begin(), cases.all.end(), [](const Case<Real>& it) { return it.weight == std::floor(it.weight); });
}

// Twice the maximum rounding error of a gain. Each of k classes on both sides is one addition to a sum of at most
// `terms`; fractional weights are themselves rounded, and then terms are up to n·log2 n.
template <std::floating_point Real>
double rounding_of_gain(const NodeCases<Real>& at, size_t n_sorted, double terms) {
  const auto k = static_cast<double>(at.counts.size()), weight = static_cast<double>(at.weight), log = std::log2(2 + weight);
  const double in_double = 1e-9 + 8 * std::numeric_limits<double>::epsilon() * static_cast<double>(n_sorted);
  const double added = are_whole(at.cases) ? 16 * log + k * terms / weight : 2 * k * log + 8;
  return in_double + static_cast<double>(std::numeric_limits<Real>::epsilon()) * added;
}

// Thresholds with enough weight on both sides, in order, and their approximate gains.
struct PossibleCuts {
  std::vector<size_t> place;  // index of the last case on the lower side
  std::vector<double> gain;
};

template <std::floating_point Real>
PossibleCuts possible_cuts(const NodeCases<Real>& at, const Branches<Real>& split, std::span<const double> measured, double gap,
                           std::span<const OrderedCase> sorted, Sides<Real>& sides, double before) {
  const Rules& rules = at.rules;
  const Real known = static_cast<Real>(at.weight - split.missing), least = smallest_side(rules, known, at.place.size());
  PossibleCuts cuts;
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    const OrderedCase here = sorted[i];
    sides.move(at.place[at.cases[here.item].label], at.cases[here.item].weight);
    const int32_t next = sorted[i + 1].rank;
    if (next == here.rank || !(measured[here.rank] < measured[next] - gap)) continue;
    if (!rules.reaches(sides.below(), least)) continue;
    if (!rules.reaches(known - sides.below(), least)) break;
    cuts.place.push_back(i);
    cuts.gain.push_back((before - sides.roughly(known)) / static_cast<double>(at.weight));
  }
  return cuts;
}

// The threshold of maximum gain, the lowest on ties; then penalised for the choice among many. `measured` are the
// values of the ranks; neighbours must differ by more than a minimum gap. Only thresholds whose approximate gain is
// close to the maximum are scored in the arithmetic of the convention; if gains tie within a tolerance, also all those
// that are as good as the best before them.
template <std::floating_point Real>
ColumnTest<Real> best_cut(const NodeCases<Real>& at, Branches<Real> split, std::span<const double> measured, double gap,
                          std::span<const OrderedCase> sorted) {
  const Rules& rules = at.rules;
  ColumnTest<Real> best;
  best.branches = 2;
  const auto k = at.counts.size();
  const Real known = static_cast<Real>(at.weight - split.missing);
  const Rough kind = rules.missing == MissingValues::category ? Rough::none : at.worth.rough;
  Sides<Real> moving(split.known, at.x_log2_x, kind), sides(split.known, at.x_log2_x, Rough::none);
  const double before = kind == Rough::none ? 0.0 : at.worth.impurity(split.known, at.x_log2_x);
  const double slack = rounding_of_gain(at, sorted.size(), kind == Rough::entropy ? moving.terms() : 0.0);
  const PossibleCuts cuts = possible_cuts(at, split, measured, gap, sorted, moving, before);
  best.cuts = static_cast<int64_t>(cuts.place.size());
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const bool is_first_of_best = kind != Rough::none && rules.tolerance == 0 && best.cuts > 0;
  const double bar = is_first_of_best ? *std::max_element(cuts.gain.begin(), cuts.gain.end()) - 2 * slack : kNone;
  Real best_low = 0;
  size_t moved = 0;
  for (size_t cut = 0; cut < cuts.place.size(); ++cut) {
    if (kind != Rough::none && (cuts.gain[cut] < bar || (best.is_valid && cuts.gain[cut] + slack < static_cast<double>(best.gain)))) continue;
    for (; moved <= cuts.place[cut]; ++moved) sides.move(at.place[at.cases[sorted[moved].item].label], at.cases[sorted[moved].item].weight);
    const OrderedCase here = sorted[cuts.place[cut]];
    const int32_t next = sorted[cuts.place[cut] + 1].rank;
    std::copy(sides.low().begin(), sides.low().end(), split.table.begin());
    std::copy(sides.high().begin(), sides.high().end(), split.table.begin() + static_cast<std::ptrdiff_t>(k));
    split.weight = {sides.below(), static_cast<Real>(known - sides.below())};
    const Real gain = at.worth.gain(at, split);
    if (best.is_valid && !rules.greater(gain, best.gain)) continue;
    best.is_valid = true;
    best.gain = best.raw_gain = gain;
    best.rank = here.rank;
    best.next = next;
    best_low = sides.below();
  }
  if (!best.is_valid) return best;
  split.weight = {best_low, static_cast<Real>(known - best_low)};
  best.info = info_of(at, split);
  // The penalty is rounded before it is subtracted: this decides ties with tests of smaller penalties.
  if (rules.mdl) best.gain -= static_cast<Real>(std::log2(static_cast<double>(best.cuts)) / at.weight);
  if (rules.mdl && !rules.greater(best.gain, 0)) best.is_valid = false;
  return best;
}

template <std::floating_point Real>
ColumnTest<Real> best_cut(const NodeCases<Real>& at, const RankedColumn& column, std::span<const OrderedCase> sorted) {
  if (sorted.size() < 2) return {.group = {}, .branches = 2};
  return best_cut(at, known_part(at.cases, at.counts, at.place, column, sorted.size()), column.measured, at.rules.quinlan_sides ? column.min_gap : 0.0, sorted);
}

// The largest training value that is not above the midpoint of two neighbours, by rank.
inline int32_t rank_below_middle(const RankedColumn& column, int32_t low, int32_t high) {
  const double a = column.measured[low], b = column.measured[high];
  const double middle = column.is_single ? halfway<float>(a, b) : halfway<double>(a, b);
  return static_cast<int32_t>(std::upper_bound(column.measured.begin(), column.measured.end(), middle) - column.measured.begin()) - 1;
}

// The threshold of the winning cut: the largest training value not above the midpoint, or the midpoint itself.
template <std::floating_point Real>
void place_cut(ColumnTest<Real>& test, const RankedColumn& column, bool midpoint) {
  if (midpoint) {
    test.cut = halfway<double>(column.distinct[test.rank], column.distinct[test.next]);
    return;
  }
  test.rank = rank_below_middle(column, test.rank, test.next);
  test.cut = column.distinct[test.rank];
}

}  // namespace baytree::tree::fractional
