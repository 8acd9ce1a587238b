// Best threshold of a sorted column under a monotone constraint: the target may not decrease (or increase) from the
// first side to the second.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/measures.hpp"
#include "tree/sorted/split.hpp"

namespace baytree::tree::sorted {

// Whether the mean, or the proportion of the classes from each one on, does not decrease (direction 1) or increase
// (-1).
template <Measure M> bool follows(const M& measure, std::span<const double> left, std::span<const double> total, int direction) {
  if constexpr (requires { measure.mass_in(left, size_t(0)); }) {
    double first = 0, second = 0;  // weights of the sides
    for (size_t k = 0; k < measure.classes(); ++k)
      first += measure.mass_in(left, k), second += measure.mass_in(total, k) - measure.mass_in(left, k);
    double first_from = 0, second_from = 0;  // of the classes from each one on
    for (size_t k = measure.classes(); k-- > 1;) {
      first_from += measure.mass_in(left, k), second_from += measure.mass_in(total, k) - measure.mass_in(left, k);
      if (direction * (first_from * second - second_from * first) > 0) return false;
    }
    return true;
  } else {
    return direction * (left[0] * (total[1] - left[1]) - (total[0] - left[0]) * left[1]) <= 0;
  }
}

// Like `scan`, but only thresholds that satisfy the constraint. A threshold above all values separates missing values,
// which have no order.
template <Measure M>
bool scan_following(std::span<const Entry> known, M& measure, std::span<const double> total, std::span<const double> first,
                    bool may_take_all, Limits limits, int direction, std::vector<double>& left, Split& best) {
  left.assign(first.begin(), first.end());
  const size_t size = left.size() - 1;
  const double slack = measure.slack();
  bool is_improved = false;
  for (size_t i = 0; i < known.size(); ++i) {
    measure.add(left.data(), tag_of(known[i]));
    const bool is_last = i + 1 == known.size();
    if (is_last ? !may_take_all : rank_of(known[i]) == rank_of(known[i + 1])) continue;
    if (left[size] < limits.min_leaf) continue;
    if (total[size] - left[size] < limits.min_leaf) break;
    const double value = measure.value(left);
    if (value < best.score.value - slack || !(value == value)) continue;
    if (!is_last && !follows(measure, left, total, direction)) continue;
    const Score score = measure.score(left, value);
    if (!is_better(score, best.score, slack)) continue;
    best.score = score, best.last = uint32_t(i), is_improved = true;
  }
  return is_improved;
}

}  // namespace baytree::tree::sorted
