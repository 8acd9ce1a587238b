// The pairs of tests of some rows: a statistic, which adds up and can be taken away again.
#pragma once
#include <concepts>

#include "tree/optimal/cells.hpp"

namespace baytree::tree::optimal {

template <std::signed_integral Count> class PairTable {
 public:
  PairTable(std::size_t tests, std::size_t classes) : tests_(tests), pairs_(classes * tests * padded(tests)), total_(classes) {}

  void clear() { std::fill(pairs_.begin(), pairs_.end(), Count(0)), std::fill(total_.begin(), total_.end(), Count(0)); }

  // Adds cells in ascending order, or takes them away where `sign` is -1.
  void add(const Cells& all, std::span<const std::uint32_t> cells, Count sign, std::vector<std::uint64_t>& room) {
    const auto& loops = pair_loops().of<Count>();
    all.each_run(cells, room, [&](std::int32_t label, std::int64_t unit, const Marked& marked) {
      loops.add(marked, sign * Count(unit), pairs_.data() + std::size_t(label) * tests_ * padded(tests_));
    });
    for (const std::uint32_t cell : cells) total_[std::size_t(all[cell].label)] += sign * Count(all[cell].unit);
  }

  const Count* data() const { return pairs_.data(); }
  std::span<const Count> total() const { return total_; }
  // The weights of the pairs of test i with those from i on.
  std::span<const Count> row(std::size_t c, std::size_t i) const { return {pairs_.data() + (c * tests_ + i) * padded(tests_), tests_}; }

 private:
  std::size_t tests_;
  std::vector<Count> pairs_;  // [classes, tests, padded(tests)], upper half
  std::vector<Count> total_;  // [classes]
};

}  // namespace baytree::tree::optimal
