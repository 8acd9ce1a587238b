// The best cut of a sorted column for two classes that are only counted, under gini.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/sorted/rows/class_walks.hpp"
#include "tree/sorted/splits/measures.hpp"
#include "tree/sorted/splits/split.hpp"

namespace baytree::tree::sorted {

// With c of C in class 1 among the first l of n rows, the gain is 2 d^2 / (n l r), d = c n - l C, r = n - l. What a block of
// cuts can be worth at most follows from its rows of class 1, and closer from their order; only blocks that can hold the
// best are judged cut by cut.
class TwoClassScan {
 public:
  struct Block {
    size_t begin, stop;  // its first cut, and the first after it
    int level;           // of the walks; -1: it has no parts, nor are they known
    uint64_t ones;       // rows of class 1 on the first side before it
    uint64_t own_ones;
    double top;          // no cut in it is worth more
    double end;          // what the cut at its end is worth
  };
  using Blocks = std::vector<Block>;

  // `known` starts at place `begin` of the column that `walks` are of.
  TwoClassScan(std::span<const Entry> known, size_t begin, const ClassWalks& walks, uint64_t n, uint64_t of_one, Limits limits,
               Blocks& blocks)
      : known_(known), begin_(begin), walks_(walks), n_(n), of_one_(of_one),
        least_(uint64_t(std::ceil(std::max(limits.min_leaf, 1.0)))), slack_(1e-12 * double(n)),
        parent_(double(squares(n, of_one)) / double(n)), blocks_(blocks) {}

  static bool has_blocks(uint64_t n) { return n > kSmall; }

  Score none() const { return {0, squares(n_, of_one_), double(n_) < kExactSize ? n_ : 0}; }

  // `first` rows, `first_one` of class 1, are on the first side from the beginning.
  bool run(uint64_t first, uint64_t first_one, bool may_take_all, Split& best) const {
    const size_t end = known_.empty() ? 0 : known_.size() - (may_take_all ? 0 : 1);
    if (!has_blocks(n_)) return run_small(end, first, first_one, best);
    if (end == 0) return false;
    list_blocks(end, first, first_one);
    const double least = bar(probe(first, best));
    const Walks walk = walks();
    bool is_improved = false;
    for (const Block& block : blocks_) is_improved |= judge_within(block, first, walk, least, best);
    return is_improved;
  }

 private:
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

  // What some rows do to d: where it ends, and how far it strays on the way.
  struct Walk {
    int64_t end, high, low;
    Walk then(const Walk& next) const { return {end + next.end, std::max(high, end + next.high), std::min(low, end + next.low)}; }
  };
  using Walks = std::array<Walk, 256>;  // of eight rows, the class of the first in the highest bit

  Walk step(uint64_t bit) const {
    const int64_t d = (bit ? int64_t(n_) : 0) - int64_t(of_one_);
    return {d, d, d};
  }
  Walks walks() const {
    std::array<Walk, 4> two;
    std::array<Walk, 16> four;
    Walks eight;
    for (size_t bits = 0; bits < 4; ++bits) two[bits] = step(bits >> 1).then(step(bits & 1));
    for (size_t bits = 0; bits < 16; ++bits) four[bits] = two[bits >> 2].then(two[bits & 3]);
    for (size_t bits = 0; bits < 256; ++bits) eight[bits] = four[bits >> 4].then(four[bits & 15]);
    return eight;
  }
  size_t eight(size_t at) const {
    size_t bits = 0;
    for (size_t i = 0; i < 8; ++i) bits = bits << 1 | (known_[at + i] & 1);
    return bits;
  }

  double closer_top(const Block& block, uint64_t first, const Walks& walk) const {
    size_t at = block.begin;
    const auto l = int64_t(first + at), last = int64_t(first + block.stop), d = int64_t(block.ones * n_ - uint64_t(l) * of_one_);
    Walk whole{d, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    for (; at + 8 <= block.stop; at += 8) whole = whole.then(walk[eight(at)]);
    for (; at < block.stop; ++at) whole = whole.then(step(known_[at] & 1));
    const double farthest = double(std::max(whole.high, -whole.low));
    return farthest * farthest / least_product(l, last);
  }
  // l r is smallest at one end of a block.
  double least_product(int64_t l, int64_t last) const {
    const auto n = int64_t(n_);
    return std::min(double(l + 1) * double(n - l - 1), double(last) * double(n - last));
  }

  // The largest blocks that lie within the cuts; those at the ends are small.
  void list_blocks(size_t end, uint64_t first, uint64_t one) const {
    blocks_.clear();
    for (size_t begin = 0; begin < end; begin = blocks_.back().stop) {
      const int level = walks_.level_at(begin_ + begin, end - begin);
      const size_t rows = level < 0 ? ClassWalks::kRows - (begin_ + begin) % ClassWalks::kRows : ClassWalks::rows_of(level);
      blocks_.push_back(block(begin, std::min(end, begin + rows), level, one, first));
      one += blocks_.back().own_ones;
    }
  }
  // Within a block d strays farthest if all rows of one class come first, or as the walks tell.
  Block block(size_t begin, size_t stop, int level, uint64_t before, uint64_t first) const {
    const auto n = int64_t(n_), all = int64_t(of_one_), l = int64_t(first + begin), last = int64_t(first + stop);
    const auto ones = int64_t(ones_in(begin, stop, level)), others = int64_t(stop - begin) - ones, d = int64_t(before) * n - l * all;
    double high = double(ones * (n - all)), low = -double(others * all);
    if (level > 0) {
      const ClassStray& stray = walks_.strays(level, begin_ + begin)[1];
      const double drift = (walks_.share(1) - double(all) / double(n)) * double(stop - begin), rounding = 1e-9 * double(stop - begin);
      high = std::min(high, double(n) * (stray.high + std::max(0.0, drift) + rounding));
      low = std::max(low, double(n) * (stray.low + std::min(0.0, drift) - rounding));
    }
    const double farthest = std::max(double(d) + high, -double(d) - low), at_end = double(d + ones * (n - all) - others * all);
    return {begin, stop, level, before, uint64_t(ones), farthest * farthest / least_product(l, last), at_end * at_end / (double(last) * double(n - last))};
  }
  uint64_t ones_in(size_t begin, size_t stop, int level) const {
    return level < 0 ? count_ones(known_.subspan(begin, stop - begin)) : uint64_t(walks_.masses(level, begin_ + begin)[1]);
  }
  // In order.
  void each_part(const Block& whole, uint64_t first, const auto& visit) const {
    const size_t rows = ClassWalks::rows_of(whole.level - 1);
    uint64_t ones = whole.ones;
    for (size_t begin = whole.begin; begin < whole.stop; begin += rows) {
      const Block part = block(begin, begin + rows, whole.level - 1, ones, first);
      ones += part.own_ones;
      visit(part);
    }
  }

  // How high the bar is at least; the cut itself is found in order, so that ties go to the lower one. Blocks at the ends
  // have loose bounds, so they are looked at too.
  Split probe(uint64_t first, const Split& best) const {
    Split probe = best;
    for (const Block& each : {blocks_.front(), *std::ranges::max_element(blocks_, {}, &Block::end), blocks_.back()})
      judge_block(highest_part(each, first), first, probe);
    return probe;
  }
  Block highest_part(Block block, uint64_t first) const {
    while (block.level > 0) {
      Block highest{};
      each_part(block, first, [&](const Block& part) {
        if (highest.stop == 0 || part.end > highest.end) highest = part;
      });
      block = highest;
    }
    return block;
  }

  // At those parts of a block that can hold the best.
  bool judge_within(const Block& block, uint64_t first, const Walks& walk, double least, Split& best) const {
    if (!(block.top >= least)) return false;
    if (block.level < 1) return closer_top(block, first, walk) >= least && judge_block(block, first, best);
    bool is_improved = false;
    each_part(block, first, [&](const Block& part) { is_improved |= judge_within(part, first, walk, least, best); });
    return is_improved;
  }

  bool judge_block(const Block& block, uint64_t first, Split& best) const {
    uint64_t one = block.ones;
    double least = bar(best);
    bool is_improved = false;
    for (size_t at = block.begin; at < block.stop; ++at) {
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
  size_t begin_;
  const ClassWalks& walks_;
  uint64_t n_, of_one_, least_;
  double slack_, parent_;
  Blocks& blocks_;
};

}  // namespace baytree::tree::sorted
