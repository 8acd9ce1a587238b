// The best cut of a sorted column: one pass, exact thresholds, ties to the lower cut.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/sorted/rows/sorting.hpp"
#include "tree/sorted/splits/cut_estimates.hpp"
#include "tree/sorted/splits/measures.hpp"

namespace baytree::tree::sorted {

// What a column offers: how much it is worth and where it divides the rows.
struct Split {
  Score score;
  int32_t column = -1;           // -1: nothing worth doing
  double cut = 0;                // numbers: up to here the first branch
  uint32_t last = 0;             // numbers: place of the last entry of the first branch
  int32_t missing = -1;          // branch of the rows without a value, -1 if none decided it
  bool has_own_branch = false;   // the rows without a value are a third branch
  bool is_mirrored = false;
  uint32_t known = 0;            // rows with a value
  std::vector<int32_t> group[2]; // levels of each branch; empty where the column is cut

  explicit operator bool() const { return column >= 0; }
};

struct Limits {
  double min_leaf = 1;  // in sizes
};

// The number between two neighbours a < b, with a <= cut < b (a < cut <= b where strict): also for neighbouring
// doubles, infinities and values whose sum is beyond the largest number.
inline double between(double a, double b, bool is_strict) {
  constexpr double kMost = std::numeric_limits<double>::max();
  if (std::isinf(a)) a = -kMost;
  if (std::isinf(b)) b = kMost;
  const double sum = a + b, middle = std::isfinite(sum) ? sum / 2 : a / 2 + b / 2;
  if (is_strict) return middle > a && middle <= b ? middle : b;
  return middle >= a && middle < b ? middle : a;
}

// Room to scan the cuts of a column in.
template <Measure M> struct ScanRoom {
  std::vector<double> left;
  CutEstimates<M> estimates;
};

// Scans cuts in ascending order with `first` rows already on the first side; `best` only ever improves.
// Returns whether some cut here became the best.
template <Measure M>
bool scan(std::span<const Entry> known, M& measure, std::span<const double> total, std::span<const double> first,
          bool may_take_all, Limits limits, ScanRoom<M>& room, Split& best) {
  const double bar = room.estimates.bar(known, measure, total, first, may_take_all, limits.min_leaf);
  auto& left = room.left;
  left.assign(first.begin(), first.end());
  const size_t size = left.size() - 1;
  const double slack = measure.slack();
  bool is_improved = false;
  for (size_t i = 0; i < known.size(); ++i) {
    measure.add(left.data(), tag_of(known[i]));
    if (!room.estimates.may_be_best(i, bar)) continue;
    const bool is_last = i + 1 == known.size();
    if (is_last ? !may_take_all : rank_of(known[i]) == rank_of(known[i + 1])) continue;
    if (left[size] < limits.min_leaf) continue;
    if (total[size] - left[size] < limits.min_leaf) break;
    const double value = measure.value(left);
    if (value < best.score.value - slack || !(value == value)) continue;
    const Score score = measure.score(left, value);
    if (!is_better(score, best.score, slack)) continue;
    best.score = score, best.last = uint32_t(i), is_improved = true;
  }
  return is_improved;
}

}  // namespace baytree::tree::sorted
