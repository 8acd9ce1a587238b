// The best cut of a sorted column: one pass, exact thresholds, ties to the lower cut.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "measures.hpp"
#include "sorting.hpp"

namespace baytree {

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

// Scans cuts in ascending order with `first` rows already on the first side; `best` only ever improves.
// Returns whether some cut here became the best.
template <Measure M>
bool scan(std::span<const Entry> known, M& measure, std::span<const double> total, std::span<const double> first,
          bool may_take_all, Limits limits, std::vector<double>& left, Split& best) {
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
    const Score score = measure.score(left, value);
    if (!is_better(score, best.score, slack)) continue;
    best.score = score, best.last = uint32_t(i), is_improved = true;
  }
  return is_improved;
}

// The same for two classes that are only counted, under gini. With c of C in the first class among the first l of n
// rows, the gain is proportional to (c n - l C)^2 / (l (n - l)): a block of cuts is judged at once, and only
// blocks that could hold the best are looked at one by one, in whole numbers.
inline bool scan_two_classes(std::span<const Entry> known, uint64_t n, uint64_t of_one, uint64_t first, uint64_t first_one,
                             bool may_take_all, Limits limits, Split& best) {
  constexpr size_t kBlock = 128;
  if (known.empty()) return false;
  const double N = double(n), C = double(of_one);
  const double parent = (C * C + (N - C) * (N - C)) / N;
  const double slack = 1e-12 * N;
  const auto least = uint64_t(std::ceil(std::max(limits.min_leaf, 1.0)));
  const size_t end = known.size() - (may_take_all ? 0 : 1);
  bool is_improved = false;
  double one[kBlock], worth[kBlock];
  uint64_t c = first_one;
  // (A/l + B/r) - parent = 2 d^2 / (l r n): the bar in units of d^2 / (l r).
  double bar = (best.score.value - slack) * N / 2;
  for (size_t begin = 0; begin < end; begin += kBlock) {
    const size_t count = std::min(kBlock, end - begin);
    const Entry* block = known.data() + begin;
    uint64_t running = c;
    for (size_t i = 0; i < count; ++i) {
      running += block[i] & 1;
      one[i] = double(int64_t(running));
    }
    const double base = double(first + begin + 1);
    double top = -1;
    for (size_t i = 0; i < count; ++i) {
      const double l = base + double(int(i)), d = one[i] * N - l * C;
      worth[i] = d * d / (l * (N - l));
    }
    for (size_t i = 0; i < count; ++i) top = std::max(top, worth[i]);
    c = running;
    if (!(top >= bar) && !(top != top)) continue;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = begin + i;
      if (!(worth[i] >= bar)) continue;
      if (at + 1 < known.size() && rank_of(known[at]) == rank_of(known[at + 1])) continue;
      const uint64_t l = first + at + 1, r = n - l;
      if (l < least || r < least) continue;
      const auto l1 = uint64_t(one[i]), l0 = l - l1, r1 = of_one - l1, r0 = r - r1;
      const auto squares_left = (unsigned __int128)(l0) * l0 + (unsigned __int128)(l1) * l1;
      const auto squares_right = (unsigned __int128)(r0) * r0 + (unsigned __int128)(r1) * r1;
      const double value = double(squares_left) / double(l) + double(squares_right) / double(r) - parent;
      const Score score =
          N < kExactSize ? gini_fraction(value, squares_left, l, squares_right, r) : Score{value, 0, 0};
      if (!is_better(score, best.score, slack)) continue;
      best.score = score, best.last = uint32_t(at), is_improved = true;
      bar = (value - slack) * N / 2;
    }
  }
  return is_improved;
}

}  // namespace baytree
