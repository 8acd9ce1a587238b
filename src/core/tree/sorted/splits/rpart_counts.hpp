// The best cut of a sorted column for two classes that are only counted, as rpart judges it: most cuts are passed by whole numbers alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "tree/sorted/rows/sorting.hpp"
#include "tree/sorted/splits/rpart_measures.hpp"
#include "tree/sorted/splits/split.hpp"

namespace baytree::tree::sorted {

// As `scan` of rows that count 1 each, of all of which `measure` has begun with the `total`. With a and b of either class among l rows on
// the first side, the improvement by gini is q + constant, q = (a^2 + b^2) / l + the same of the rest; a cut whose q lies below that of the
// best by more than rounding is not judged. Under another criterion all are.
inline bool scan_counts(std::span<const Entry> known, const RpartClassMeasure& measure, std::span<const double> total, Limits limits,
                        Split& best) {
  const double n = total[0] + total[1];
  const auto bar = [&] {
    return measure.is_information() ? -std::numeric_limits<double>::infinity() : best.score.value - measure.parent() + n * (1 - 1e-9);
  };
  double least = bar();
  uint32_t ones = 0;
  bool is_improved = false;
  for (size_t i = 0; i + 1 < known.size(); ++i) {
    ones += uint32_t(known[i] & 1);
    if (rank_of(known[i]) == rank_of(known[i + 1])) continue;
    const double l = double(i + 1), r = n - l;
    if (l < limits.min_leaf) continue;
    if (r < limits.min_leaf) break;
    const double one = ones, zero = l - one, rest_one = total[1] - one, rest_zero = r - rest_one;
    if ((one * one + zero * zero) * r + (rest_one * rest_one + rest_zero * rest_zero) * l < least * l * r) continue;
    const double left[5] = {zero, one, l, r, l};
    const double value = measure.value(left);
    if (!(value > best.score.value)) continue;
    best.score = measure.score(left, value), best.last = uint32_t(i), least = bar(), is_improved = true;
  }
  return is_improved;
}

}  // namespace baytree::tree::sorted
