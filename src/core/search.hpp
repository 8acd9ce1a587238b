// The best cut of a sorted column: one pass, exact thresholds, ties to the lower cut.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// The same for two classes that are only counted, under gini. With c of C in class 1 among the first l of n rows, the
// gain is 2 d^2 / (n l r), d = c n - l C, r = n - l. A first pass bounds each block of cuts by its farthest d;
// only blocks that can hold the best are then judged cut by cut.
class TwoClassScan {
 public:
  struct Block {
    double top;     // no cut in it is worth more
    uint64_t ones;  // rows of class 1 on the first side before it
  };
  using Blocks = std::vector<Block>;

  TwoClassScan(std::span<const Entry> known, uint64_t n, uint64_t of_one, Limits limits, Blocks& blocks)
      : known_(known), n_(n), of_one_(of_one), least_(uint64_t(std::ceil(std::max(limits.min_leaf, 1.0)))),
        slack_(1e-12 * double(n)), parent_(double(squares(n, of_one)) / double(n)), blocks_(blocks) {}

  Score none() const { return {0, squares(n_, of_one_), double(n_) < kExactSize ? n_ : 0}; }

  // `first` rows, `first_one` of class 1, are on the first side from the beginning.
  bool run(uint64_t first, uint64_t first_one, bool may_take_all, Split& best) const {
    const size_t end = known_.empty() ? 0 : known_.size() - (may_take_all ? 0 : 1);
    if (n_ <= kSmall) return run_small(end, first, first_one, best);
    bound(end, first, first_one);
    if (blocks_.empty()) return false;
    const auto highest = size_t(std::ranges::max_element(blocks_, {}, &Block::top) - blocks_.begin());
    Split probe = best;  // shows how high the bar is; the cut itself is found in order, so that ties go to the lower one
    if (!(blocks_[highest].top >= bar(best))) return false;
    judge_block(highest, end, first, probe);
    const double least = bar(probe);
    bool is_improved = false;
    for (size_t block = 0; block < blocks_.size(); ++block)
      if (blocks_[block].top >= least) is_improved |= judge_block(block, end, first, best);
    return is_improved;
  }

 private:
  static constexpr size_t kBlock = 64;
  static constexpr uint64_t kSmall = 8192;  // up to here cross products of fractions are 64-bit numbers: n^5 / 16 < 2^64

  // Few rows: every cut as a fraction of whole numbers, at once.
  bool run_small(size_t end, uint64_t first, uint64_t one, Split& best) const {
    auto over = uint64_t(best.score.over), under = best.score.under;
    bool is_improved = false;
    for (size_t at = 0; at < end; ++at) {
      one += known_[at] & 1;
      const uint64_t l = first + at + 1, r = n_ - l;
      if (l < least_ || (at + 1 < known_.size() && rank_of(known_[at]) == rank_of(known_[at + 1]))) continue;
      if (r < least_) break;
      const uint64_t l0 = l - one, r1 = of_one_ - one, r0 = r - r1;
      const uint64_t worth = (one * one + l0 * l0) * r + (r1 * r1 + r0 * r0) * l, whole = l * r;
      if (worth * under <= over * whole) continue;
      over = worth, under = whole, best.last = uint32_t(at), is_improved = true;
    }
    if (is_improved) best.score = {double(over) / double(under) - parent_, over, under};
    return is_improved;
  }

  static unsigned __int128 squares(uint64_t size, uint64_t one) {
    const auto a = (unsigned __int128)(one), b = (unsigned __int128)(size - one);
    return a * a + b * b;
  }
  double bar(const Split& best) const { return (best.score.value - slack_) * double(n_) / 2; }

  // What some rows do to d, by their classes: where it ends, and how far it strays on the way.
  struct Walk {
    int64_t end, high, low, ones;
    Walk then(const Walk& next) const {
      return {end + next.end, std::max(high, end + next.high), std::min(low, end + next.low), ones + next.ones};
    }
  };
  Walk step(uint64_t bit) const {
    const int64_t d = (bit ? int64_t(n_) : 0) - int64_t(of_one_);
    return {d, d, d, int64_t(bit)};
  }
  // Of eight rows, the class of the first in the highest bit.
  std::array<Walk, 256> walks() const {
    std::array<Walk, 256> walk;
    for (size_t bits = 0; bits < 256; ++bits) {
      walk[bits] = step(bits >> 7);
      for (int at = 6; at >= 0; --at) walk[bits] = walk[bits].then(step(bits >> at & 1));
    }
    return walk;
  }
  size_t eight(size_t at) const {
    size_t bits = 0;
    for (size_t i = 0; i < 8; ++i) bits = bits << 1 | (known_[at + i] & 1);
    return bits;
  }

  // No cut of a block is worth more than its largest d^2 over its smallest l r, which is at one of its ends.
  void bound(size_t end, uint64_t first, uint64_t first_one) const {
    const auto walk = walks();
    const auto n = int64_t(n_), all = int64_t(of_one_);
    auto one = int64_t(first_one);
    blocks_.clear();
    for (size_t begin = 0; begin < end; begin += kBlock) {
      const size_t stop = std::min(begin + kBlock, end);
      const auto l = int64_t(first + begin), last = int64_t(first + stop), start = one * n - l * all;
      Walk whole{start, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), 0};
      size_t at = begin;
      for (; at + 8 <= stop; at += 8) whole = whole.then(walk[eight(at)]);
      for (; at < stop; ++at) whole = whole.then(step(known_[at] & 1));
      const double farthest = double(std::max(whole.high, -whole.low));
      blocks_.push_back({farthest * farthest / double(std::min((l + 1) * (n - l - 1), last * (n - last))), uint64_t(one)});
      one += whole.ones;
    }
  }

  bool judge_block(size_t block, size_t end, uint64_t first, Split& best) const {
    uint64_t one = blocks_[block].ones;
    double least = bar(best);
    bool is_improved = false;
    for (size_t at = block * kBlock; at < std::min(end, (block + 1) * kBlock); ++at) {
      one += known_[at] & 1;
      const uint64_t l = first + at + 1;
      const double d = double(int64_t(one * n_ - l * of_one_));
      if (d * d < least * double(l) * double(n_ - l) || !judge(at, l, one, best)) continue;
      is_improved = true, least = bar(best);
    }
    return is_improved;
  }

  bool judge(size_t at, uint64_t l, uint64_t one, Split& best) const {
    const uint64_t r = n_ - l;
    if (l < least_ || r < least_ || (at + 1 < known_.size() && rank_of(known_[at]) == rank_of(known_[at + 1]))) return false;
    const auto left = squares(l, one), right = squares(r, of_one_ - one);
    const double value = double(left) / double(l) + double(right) / double(r) - parent_;
    if (value < best.score.value - slack_) return false;
    const Score score = double(n_) < kExactSize ? gini_fraction(value, left, l, right, r) : Score{value, 0, 0};
    if (!is_better(score, best.score, slack_)) return false;
    best.score = score, best.last = uint32_t(at);
    return true;
  }

  std::span<const Entry> known_;
  uint64_t n_, of_one_, least_;
  double slack_, parent_;
  Blocks& blocks_;
};

}  // namespace baytree
