// Cut points of a sorted numeric column: the best one by entropy, and all that the MDL criterion of Fayyad and Irani
// (1993) accepts.
//
// Used by naive Bayes and feature selection, which do not depend on trees.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "numeric/impurity.hpp"

namespace baytree::numeric {

// Lookup table of k log2 k for integer counts k.
struct XLog2XOfCounts {
  std::span<const double> of_count;
  double operator()(double count) const { return of_count[static_cast<std::size_t>(count)]; }
};

// A numeric column in ascending order: row order[i] holds the i-th value. An empty weight means weight 1.
struct SortedColumn {
  std::span<const double> values;
  std::span<const std::int64_t> order;
  std::span<const std::int32_t> label;
  std::span<const double> weight;
  std::size_t n_classes;

  double value(std::size_t i) const { return values[static_cast<std::size_t>(order[i])]; }
  std::size_t label_of(std::size_t i) const { return static_cast<std::size_t>(label[static_cast<std::size_t>(order[i])]); }
  double weight_of(std::size_t i) const { return weight.empty() ? 1.0 : weight[static_cast<std::size_t>(order[i])]; }
};

// One side of a cut, or all rows: weight, weight times entropy in bits, and number of classes present.
struct Side {
  double weight, spread;
  std::size_t n_classes;
};

// A cut of the rows [first, last): `position` is the first row of the upper side; `first` means no cut.
struct Cut {
  std::size_t position;
  Side whole, low, high;
  double gain() const { return whole.spread - low.spread - high.spread; }
};

template <EntropyTerm F>
Side side(const SortedColumn& column, std::size_t first, std::size_t last, const F& term, std::vector<double>& counts) {
  counts.assign(column.n_classes, 0.0);
  for (std::size_t i = first; i < last; ++i) counts[column.label_of(i)] += column.weight_of(i);
  std::size_t present = 0;
  for (const double count : counts) present += count > 0;
  return {total(counts), entropy<double>(counts, term), present};
}

// The cut with the smallest class entropy, the lowest of ties; none if no cut reduces the entropy.
template <EntropyTerm F>
Cut best_cut(const SortedColumn& column, std::size_t first, std::size_t last, const F& term) {
  std::vector<double> low(column.n_classes), high;
  const Side whole = side(column, first, last, term, high);
  double smallest = whole.spread;
  std::size_t position = first;
  for (std::size_t i = first; i + 1 < last; ++i) {
    const std::size_t c = column.label_of(i);
    low[c] += column.weight_of(i);
    high[c] -= column.weight_of(i);
    if (!(column.value(i) < column.value(i + 1))) continue;
    const double candidate = entropy<double>(low, term) + entropy<double>(high, term);
    if (candidate < smallest) smallest = candidate, position = i + 1;
  }
  if (position == first) return {first, whole, whole, {}};
  // both sides are summed again: repeated subtraction need not end at exactly 0
  return {position, whole, side(column, first, position, term, low), side(column, position, last, term, high)};
}

// The MDL criterion of Fayyad and Irani; N is the number of rows of the part.
inline bool pays(const Cut& cut) {
  const auto cost = [](const Side& s) { return static_cast<double>(s.n_classes) * s.spread / s.weight; };
  const double k = static_cast<double>(cut.whole.n_classes), n = cut.whole.weight;
  const double description = std::log2(n - 1) + std::log2(std::pow(3.0, k) - 2) - (cost(cut.whole) - cost(cut.low) - cost(cut.high));
  return cut.gain() > description;
}

// Positions of all accepted cuts, ascending: recursive search on both sides of each accepted cut.
template <EntropyTerm F> std::vector<std::size_t> paying_cuts(const SortedColumn& column, const F& term) {
  std::vector<std::size_t> positions;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, column.order.size()}};
  while (!open.empty()) {
    const auto [first, last] = open.back();
    open.pop_back();
    if (last - first < 2) continue;
    const Cut cut = best_cut(column, first, last, term);
    if (cut.position == first || !pays(cut)) continue;
    positions.push_back(cut.position);
    open.push_back({cut.position, last});
    open.push_back({first, cut.position});
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace baytree::numeric
