// The best cut of a sorted column for two classes that are only counted, under gini, by whole numbers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tree/sorted/measures.hpp"
#include "tree/sorted/sorting.hpp"
#include "tree/sorted/split.hpp"

namespace baytree::tree::sorted {

// Of n rows, C are of class 1. With c of them among the l rows of the first side, a cut gains 2 d² / (n l r), d = c n − l C, r = n − l:
// a product tells whether a cut can be the best, and only then it is judged as a fraction.
class TwoClassScan {
 public:
  TwoClassScan(std::span<const Entry> known, uint64_t n, uint64_t of_one, Limits limits)
      : known_(known), n_(n), of_one_(of_one), least_(uint64_t(std::ceil(std::max(limits.min_leaf, 1.0)))), slack_(1e-12 * double(n)),
        parent_(double(squares(n, of_one)) / double(n)) {}

  Score none() const { return {0, squares(n_, of_one_), double(n_) < kExactSize ? n_ : 0}; }

  // `first` rows, `one` of class 1, are on the first side from the beginning.
  bool run(uint64_t first, uint64_t one, bool may_take_all, Split& best) const {
    const size_t end = known_.empty() ? 0 : known_.size() - (may_take_all ? 0 : 1);
    double least = bar(best);
    bool is_improved = false;
    for (size_t at = 0; at < end; ++at) {
      one += known_[at] & 1;
      const uint64_t l = first + at + 1;
      const double d = double(int64_t(one * n_ - l * of_one_));
      if (d * d < least * double(l) * double(n_ - l) || !judge(at, l, one, best)) continue;
      is_improved = true, least = bar(best);
    }
    return is_improved;
  }

 private:
  static unsigned __int128 squares(uint64_t size, uint64_t one) {
    const auto a = (unsigned __int128)(one), b = (unsigned __int128)(size - one);
    return a * a + b * b;
  }
  double bar(const Split& best) const { return (best.score.value - slack_) * double(n_) / 2; }

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
};

}  // namespace baytree::tree::sorted
