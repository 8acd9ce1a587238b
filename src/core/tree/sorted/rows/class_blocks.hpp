// Two classes that are only counted: the rows of class 1 in each block of a sorted column. Blocks lie at fixed places of
// the column, so that a node whose rows did not move keeps those of its parent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/rows/bucket_sort.hpp"

namespace baytree::tree::sorted {

inline uint64_t count_ones(std::span<const Entry> entries) {
  uint64_t ones = 0;
  for (const Entry e : entries) ones += e & 1;
  return ones;
}

class ClassBlocks {
 public:
  static constexpr size_t kRows = 64;

  explicit ClassBlocks(size_t rows) : ones_(rows / kRows) {}

  // Counts the blocks that lie wholly within entries [begin, begin + size) of the column; the others may have rows of
  // a neighbour, whose thread must not meet this one.
  void count(std::span<const Entry> entries, size_t begin) {
    for (size_t block = (begin + kRows - 1) / kRows; (block + 1) * kRows <= begin + entries.size(); ++block)
      ones_[block] = uint8_t(count_ones(entries.subspan(block * kRows - begin, kRows)));
  }

  // Of the block that starts at a place of the column.
  uint64_t ones_at(size_t place) const { return ones_[place / kRows]; }

 private:
  std::vector<uint8_t> ones_;  // [n_rows / kRows]
};

}  // namespace baytree::tree::sorted
