// Tests of a C5.0 node: threshold of a numeric column, threshold of ordered levels, one branch per level; and the
// choice among the columns.
#pragma once
#include <optional>

#include "tree/c50/training_rows.hpp"
#include "tree/fractional/nominal_test.hpp"
#include "tree/fractional/numeric_test.hpp"

namespace baytree::tree::c50 {

using fractional::Branches, fractional::LevelIndex, fractional::Rough, fractional::Sides;
using Offer = fractional::ColumnTest<float>;

// Values shared by all columns of a node.
struct NodeView {
  const Bench& bench;
  const Cases<float>& cases;
  std::span<const double> counts;  // of the classes that occur
  std::span<const int32_t> place;  // [n_classes], index of a class among those that occur
  double summed;                   // weight of the cases, summed in double
  double weight;                   // the same in float32, as in the node: decides ties of tests that separate all classes
  double min_cases() const { return bench.settings.min_cases; }
};

// (1 − missing proportion) (entropy before − entropy after); `rest` is weight · entropy after the test. Rounded to
// float32 only after the penalty, when the candidate is stored: rounding earlier would change ties between penalised
// and unpenalised tests.
inline double gain_of(const NodeView& at, const Branches<double>& split, double rest) {
  const double known = at.summed - split.missing;
  if (!(known > 0)) return 0;
  return std::max((1 - split.missing / at.weight) * (at.bench.entropy(split.known) - rest) / known, 0.0);
}

inline double rest_of(const Bench& bench, const Branches<double>& split) {
  double rest = 0;
  for (size_t b = 0; b < split.weight.size(); ++b) rest += bench.entropy(split.row(b));
  return rest;
}

// Between two cases of one class with unique values the entropy is concave, so no threshold there is better than both
// around it.
inline bool is_within_run(const Cases<float>& cases, std::span<const OrderedCase> sorted, size_t i) {
  if (i == 0 || i + 2 >= sorted.size() || cases[sorted[i].item].label != cases[sorted[i + 1].item].label) return false;
  return sorted[i - 1].rank != sorted[i].rank && sorted[i + 2].rank != sorted[i + 1].rank;
}

// A threshold with enough weight on both sides, and its remaining entropy up to the last digits.
struct PossibleCut {
  size_t place;  // index of the last case on the lower side
  double rest;
};

// In order, without those within runs; `counted` counts all.
inline std::vector<PossibleCut> possible_cuts(const NodeView& at, const Branches<double>& split, std::span<const OrderedCase> sorted, double known,
                                              double least, int64_t& counted) {
  Sides<double> sides(split.known, at.bench.x_log2_x, Rough::entropy);
  std::vector<PossibleCut> cuts;
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    const OrderedCase here = sorted[i];
    sides.move(at.place[at.cases[here.item].label], at.cases[here.item].weight);
    if (sorted[i + 1].rank == here.rank || sides.below() < least - 1e-5) continue;
    if (known - sides.below() < least) break;
    ++counted;
    const bool is_last = known - sides.below() - at.cases[sorted[i + 1].item].weight < least;
    if (counted > 1 && !is_last && is_within_run(at.cases, sorted, i)) continue;
    cuts.push_back({i, sides.roughly(known)});
  }
  return cuts;
}

// Limit of the approximate entropy for thresholds that are scored exactly: well above the rounding errors of float32
// weights.
inline double bar_of(std::span<const PossibleCut> cuts, double known) {
  double least = std::numeric_limits<double>::infinity();
  for (const PossibleCut& cut : cuts) least = std::min(least, cut.rest);
  return least + 128 * known * static_cast<double>(std::numeric_limits<float>::epsilon()) * std::log2(2 + known);
}

// The threshold of minimum entropy, the lowest on ties; then penalised for the choice among thresholds, or for its
// precision.
inline Offer best_cut(const NodeView& at, const RankedColumn& column, std::span<const OrderedCase> sorted) {
  Offer best;
  best.branches = 2;
  if (sorted.size() < 2) return best;
  const auto split = fractional::known_part<double>(at.cases, at.counts, at.place, column, sorted.size());
  const double known = at.summed - split.missing;
  if (known < 2 * at.min_cases()) return best;
  const double least = std::max(at.min_cases(), std::min(0.1 * known / at.bench.settings.declared, 25.0));
  const double slack = known * (1e-9 + 8 * std::numeric_limits<double>::epsilon() * static_cast<double>(sorted.size()));
  const auto cuts = possible_cuts(at, split, sorted, known, least, best.cuts);
  const double bar = bar_of(cuts, known);
  Sides<double> sides(split.known, at.bench.x_log2_x, Rough::none);
  double least_rest = std::numeric_limits<double>::infinity(), low = 0;
  size_t moved = 0;
  for (const PossibleCut& cut : cuts) {
    if (cut.rest > std::min(bar, least_rest + slack)) continue;
    for (; moved <= cut.place; ++moved) sides.move(at.place[at.cases[sorted[moved].item].label], at.cases[sorted[moved].item].weight);
    const double rest = at.bench.entropy(sides.low()) + at.bench.entropy(sides.high());
    if (!(rest < least_rest)) continue;
    least_rest = rest;
    low = sides.below();
    best.rank = sorted[cut.place].rank;
    best.next = sorted[cut.place + 1].rank;
  }
  if (best.rank < 0) return best;
  const double gain = gain_of(at, split, least_rest);
  best.raw_gain = static_cast<float>(gain);
  const double range = column.measured[sorted.back().rank] - column.measured[sorted.front().rank];
  const double gap = column.measured[best.next] - column.measured[best.rank];
  const double charge = std::min(std::log2(static_cast<double>(best.cuts)), std::log2(range / gap));
  best.gain = static_cast<float>(gain - charge / at.weight);
  best.info = at.bench.info(std::vector<double>{low, known - low}, split.missing, at.weight);
  best.is_valid = best.gain > 0;
  return best;
}

// Two branches: the levels below one that occurs, and the others.
inline Offer best_ordered_cut(const NodeView& at, const Branches<double>& split, std::span<const int32_t> present, int32_t levels) {
  Offer best;
  best.branches = 2;
  const double known = at.summed - split.missing;
  std::vector<double> low(at.counts.size()), high(split.known);
  double below = 0, low_weight = 0, least_rest = std::numeric_limits<double>::infinity();
  for (size_t b = 0; b + 1 < present.size(); ++b) {
    below += split.weight[b];
    for (size_t c = 0; c < low.size(); ++c) low[c] += split.row(b)[c], high[c] -= split.row(b)[c];
    if (below < at.min_cases() || known - below < at.min_cases()) continue;
    ++best.cuts;
    const double rest = at.bench.entropy(low) + at.bench.entropy(high);
    if (!(rest < least_rest)) continue;
    least_rest = rest;
    low_weight = below;
    best.level = present[b + 1];
  }
  if (best.level < 0) return best;
  const double gain = gain_of(at, split, least_rest);
  best.raw_gain = static_cast<float>(gain);
  best.gain = static_cast<float>(gain - std::log2(static_cast<double>(best.cuts)) / at.weight);
  best.info = at.bench.info(std::vector<double>{low_weight, known - low_weight}, split.missing, at.weight);
  best.is_valid = best.gain > 0;
  best.group.assign(static_cast<size_t>(levels), 1);
  std::fill_n(best.group.begin(), best.level, 0);
  return best;
}

// One branch per declared level.
inline Offer each_level(const NodeView& at, const Branches<double>& split, int32_t levels) {
  Offer offer;
  const auto enough = std::count_if(split.weight.begin(), split.weight.end(), [&](double weight) { return weight >= at.min_cases(); });
  if (enough < 2) return offer;
  offer.is_valid = true;
  offer.branches = levels;
  offer.cuts = std::count_if(split.weight.begin(), split.weight.end(), [](double weight) { return weight > 0.5; });
  offer.gain = offer.raw_gain = static_cast<float>(gain_of(at, split, rest_of(at.bench, split)));
  offer.info = at.bench.info(split.weight, split.missing, at.weight);
  return offer;
}

// Choice among the candidates of a node's columns.

// Minimum gain: a fraction of the mean gain plus, for many rows, a fraction of log2(candidates) / W.
struct Gate {
  double mean = 1, log = 0;
  static Gate of(size_t n_rows, size_t n_classes) {
    const auto q = static_cast<double>(n_rows / std::max<size_t>(n_classes, 1));
    const double f = std::clamp((q - 500) / 500, 0.0, 1.0);
    return {1 - f, 0.9 * f};
  }
};

// Number of branches as C5.0 counts them, with one for "not applicable" unless the test has groups.
inline int32_t counted_branches(const GivenColumn& column, const Offer& offer) {
  if (column.is_numeric() || column.is_ordered || column.levels == 2) return 3;
  return offer.group.empty() ? offer.branches + 1 : offer.branches;
}

inline int32_t choose(std::span<const Offer> offers, std::span<const GivenColumn> columns, const std::vector<bool>& has_many_levels, const Gate& gate,
                      double weight) {
  const auto counts = [&](size_t j) { return offers[j].is_valid && offers[j].gain >= 1e-4 && !has_many_levels[j]; };
  double sum = 0, n = 0;
  for (size_t j = 0; j < offers.size(); ++j)
    if (counts(j)) sum += offers[j].gain, ++n;
  if (n == 0) return -1;
  const double least = gate.mean * sum / n + gate.log * std::log2(n) / weight;
  int32_t best = -1;
  for (size_t j = 0; j < offers.size(); ++j) {
    const Offer& offer = offers[j];
    if (!counts(j) || !(offer.gain >= 0.999 * least) || !(offer.info > 0)) continue;
    if (best >= 0) {
      const Offer& leader = offers[static_cast<size_t>(best)];
      const int32_t mine = counted_branches(columns[j], offer), theirs = counted_branches(columns[static_cast<size_t>(best)], leader);
      const bool wins_tie = mine < theirs || (mine == theirs && offer.gain > leader.gain);
      if (!(offer.ratio() > leader.ratio()) && !(offer.ratio() > 0.999 * leader.ratio() && wins_tie)) continue;
    }
    best = static_cast<int32_t>(j);
  }
  return best;
}

// Without groups, nominal columns with more levels than a third of the rows are excluded, unless all columns are like
// that.
inline std::vector<bool> many_levels(const Bench& bench) {
  std::vector<bool> has_many(bench.from.columns.size());
  if (bench.settings.groups) return has_many;
  bool all = true;
  for (size_t j = 0; j < has_many.size(); ++j) {
    const GivenColumn& column = bench.from.columns[j];
    has_many[j] = !column.is_numeric() && column.levels + 1 >= 0.3 * static_cast<double>(bench.n_rows());
    if (bench.in_use[j] && !has_many[j]) all = false;
  }
  if (all) has_many.assign(has_many.size(), false);
  return has_many;
}

}  // namespace baytree::tree::c50
