// Rows as bits of their tests, and additive counts of pairs of tests.
#pragma once
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tree/optimal/test_pairs.hpp"

namespace baytree::tree::optimal {

// Rows as bits, so that rows in which two tests hold are counted 64 at a time.
//
// Rows of one class and one weight form a group; if there are many different weights, a row is in several groups, one
// per binary digit of its weight. A row of a group is a cell. Every count is Σ over groups of unit · cells, in
// integers, and so exact.

// Transposes a 64 × 64 bit matrix.
inline void transpose(std::uint64_t (&word)[64]) {
  std::uint64_t mask = 0x00000000FFFFFFFFu;
  for (unsigned half = 32; half; half >>= 1, mask ^= mask << half)
    for (unsigned k = 0; k < 64; k = (k + half + 1) & ~half) {
      const std::uint64_t other = ((word[k] >> half) ^ word[k + half]) & mask;
      word[k] ^= other << half, word[k + half] ^= other;
    }
}

// Test results by rows, one bit per test: [rows, words].
struct RowBits {
  std::size_t tests, words;
  std::vector<std::uint64_t> bits;

  // From bits by tests: [tests, ⌈rows / 64⌉].
  RowBits(std::span<const std::uint64_t> by_test, std::size_t n_tests, std::size_t rows)
      : tests(n_tests), words((n_tests + 63) / 64), bits(rows * words) {
    const std::size_t blocks = (rows + 63) / 64;
    for (std::size_t w = 0; w < words; ++w)
      for (std::size_t b = 0; b < blocks; ++b) {
        std::uint64_t word[64] = {};
        for (std::size_t t = 0; t < std::min<std::size_t>(64, tests - 64 * w); ++t) word[t] = by_test[(64 * w + t) * blocks + b];
        transpose(word);
        for (std::size_t r = 0; r < std::min<std::size_t>(64, rows - 64 * b); ++r) bits[(64 * b + r) * words + w] = word[r];
      }
  }

  const std::uint64_t* of(std::size_t row) const { return bits.data() + row * words; }
  bool holds(std::size_t row, std::size_t test) const { return of(row)[test / 64] >> (test % 64) & 1; }
  bool are_equal(std::size_t a, std::size_t b) const { return std::equal(of(a), of(a) + words, of(b)); }
  bool is_before(std::size_t a, std::size_t b) const { return std::lexicographical_compare(of(a), of(a) + words, of(b), of(b) + words); }
};

struct Cell {
  std::uint32_t row;
  std::int32_t label;
  std::int64_t unit;
  std::int64_t lost;  // of the weight of identical rows, the part that every tree misclassifies; stored at the first of them only
};

// The cells of all groups, group after group; rows of weight 0 are dropped.
class Cells {
 public:
  Cells(const RowBits& rows, std::span<const std::int32_t> label, std::span<const std::int64_t> weight) : rows_(rows) {
    const std::vector<std::int64_t> lost = lost_weights(label, weight);
    std::map<std::int64_t, std::size_t> weights;
    for (const std::int64_t w : weight) if (w > 0) ++weights[w];
    const bool is_by_weight = weights.size() <= most_weights;
    for (std::size_t r = 0; r < weight.size(); ++r) {
      if (weight[r] <= 0) continue;
      std::int64_t told = lost[r];
      const auto append = [&](std::int64_t unit) { cells_.push_back({std::uint32_t(r), label[r], unit, std::exchange(told, 0)}); };
      if (is_by_weight) append(weight[r]);
      else
        for (std::uint64_t left = std::uint64_t(weight[r]); left; left &= left - 1) append(std::int64_t(left & (~left + 1)));
    }
    std::stable_sort(cells_.begin(), cells_.end(),
                     [](const Cell& a, const Cell& b) { return std::pair(a.label, a.unit) < std::pair(b.label, b.unit); });
  }

  std::size_t size() const { return cells_.size(); }
  const Cell& operator[](std::uint32_t cell) const { return cells_[cell]; }
  bool holds(std::uint32_t cell, std::size_t test) const { return rows_.holds(cells_[cell].row, test); }
  const std::uint64_t* bits(std::uint32_t cell) const { return rows_.of(cells_[cell].row); }

  // Calls found(label, unit, marked) for ascending cells, one run of a group after the other.
  template <typename Found> void each_run(std::span<const std::uint32_t> cells, std::vector<std::uint64_t>& room, const Found& found) const {
    for (std::size_t first = 0; first < cells.size();) {
      const Cell& here = cells_[cells[first]];
      std::size_t last = first + 1;
      while (last < cells.size() && last - first < most_in_run && is_of_group(cells[last], here)) ++last;
      const std::size_t words = (last - first + 63) / 64;
      mark(cells.subspan(first, last - first), words, room);
      found(here.label, here.unit, Marked{room.data(), rows_.tests, words});
      first = last;
    }
  }

 private:
  static constexpr std::size_t most_weights = 32;   // up to this number of different weights, each is a group
  static constexpr std::size_t most_in_run = 2048;  // cells whose bits fit the cache

  bool is_of_group(std::uint32_t cell, const Cell& of) const { return cells_[cell].label == of.label && cells_[cell].unit == of.unit; }

  void mark(std::span<const std::uint32_t> cells, std::size_t words, std::vector<std::uint64_t>& room) const {
    room.resize(rows_.words * 64 * words);
    for (std::size_t b = 0; b < words; ++b)
      for (std::size_t w = 0; w < rows_.words; ++w) {
        std::uint64_t word[64] = {};
        for (std::size_t k = 64 * b; k < std::min(cells.size(), 64 * b + 64); ++k) word[k - 64 * b] = bits(cells[k])[w];
        transpose(word);
        for (std::size_t t = 0; t < 64; ++t) room[(64 * w + t) * words + b] = word[t];
      }
  }

  // Rows with identical test results are in one leaf of every tree: all but those of their heaviest class are
  // misclassified.
  std::vector<std::int64_t> lost_weights(std::span<const std::int32_t> label, std::span<const std::int64_t> weight) const {
    std::vector<std::int64_t> lost(weight.size());
    std::vector<std::uint32_t> order;
    for (std::size_t r = 0; r < weight.size(); ++r) if (weight[r] > 0) order.push_back(std::uint32_t(r));
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return rows_.is_before(a, b) || (!rows_.is_before(b, a) && a < b);
    });
    for (std::size_t first = 0, last; first < order.size(); first = last) {
      std::map<std::int32_t, std::int64_t> of_class;
      for (last = first; last < order.size() && rows_.are_equal(order[first], order[last]); ++last) of_class[label[order[last]]] += weight[order[last]];
      std::int64_t all = 0, most = 0;
      for (const auto& [_, amount] : of_class) all += amount, most = std::max(most, amount);
      lost[order[first]] = all - most;
    }
    return lost;
  }

  const RowBits& rows_;
  std::vector<Cell> cells_;
};

// Counts of pairs of tests for a set of rows; additive, so rows can be added and removed.

template <std::signed_integral Count> class PairTable {
 public:
  PairTable(std::size_t tests, std::size_t classes) : tests_(tests), pairs_(classes * tests * padded(tests)), total_(classes) {}

  void clear() { std::fill(pairs_.begin(), pairs_.end(), Count(0)), std::fill(total_.begin(), total_.end(), Count(0)); }

  // Adds ascending cells, or removes them if `sign` is -1.
  void add(const Cells& all, std::span<const std::uint32_t> cells, Count sign, std::vector<std::uint64_t>& room) {
    const auto& loops = test_pair_loops().of<Count>();
    all.each_run(cells, room, [&](std::int32_t label, std::int64_t unit, const Marked& marked) {
      loops.add(marked, sign * Count(unit), pairs_.data() + std::size_t(label) * tests_ * padded(tests_));
    });
    for (const std::uint32_t cell : cells) total_[std::size_t(all[cell].label)] += sign * Count(all[cell].unit);
  }

  const Count* data() const { return pairs_.data(); }
  std::span<const Count> total() const { return total_; }
  // Weights of the pairs of test i with the tests from i on.
  std::span<const Count> row(std::size_t c, std::size_t i) const { return {pairs_.data() + (c * tests_ + i) * padded(tests_), tests_}; }

 private:
  std::size_t tests_;
  std::vector<Count> pairs_;  // [classes, tests, padded(tests)], upper half
  std::vector<Count> total_;  // [classes]
};

}  // namespace baytree::tree::optimal
