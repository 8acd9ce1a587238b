// The best cut of a sorted column for two classes that are only counted, as rpart judges it: most cuts are passed by whole numbers alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "tree/sorted/rows/sorting.hpp"
#include "tree/sorted/splits/rpart_measures.hpp"
#include "tree/sorted/splits/split.hpp"

namespace baytree::tree::sorted {

// As `scan` of rows that count 1 each, of all of which `measure` has begun with the `total`: sides are counted as whole numbers, and
// a cut that is surely below the best is not judged.
inline bool scan_counts(std::span<const Entry> known, const RpartClassMeasure& measure, std::span<const double> total, Limits limits,
                        Split& best) {
  const double n = total[0] + total[1];
  uint32_t ones = 0;
  bool is_improved = false;
  for (size_t i = 0; i + 1 < known.size(); ++i) {
    ones += uint32_t(known[i] & 1);
    if (rank_of(known[i]) == rank_of(known[i + 1])) continue;
    const double l = double(i + 1), one = ones, left[5] = {l - one, one, l, n - l, l};
    if (l < limits.min_leaf) continue;
    if (n - l < limits.min_leaf) break;
    if (measure.is_below(left, best.score.value)) continue;
    const double value = measure.value(left);
    if (!(value > best.score.value)) continue;
    best.score = measure.score(left, value), best.last = uint32_t(i), is_improved = true;
  }
  return is_improved;
}

}  // namespace baytree::tree::sorted
