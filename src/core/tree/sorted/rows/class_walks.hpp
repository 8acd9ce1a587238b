// Two classes that are only counted: how far one leads over the other along each block of a sorted column. Blocks lie at fixed
// places of the column, so that a node whose rows did not move keeps those of its parent.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/rows/bucket_sort.hpp"

namespace baytree::tree::sorted {

// Rows of class 0 less those of class 1 along some entries: after the last, and at least and at most after any of them.
struct ClassWalk {
  int8_t end = 0, low = 127, high = -127;

  static ClassWalk of(std::span<const Entry> entries) {
    int lead = 0, low = 127, high = -127;
    for (const Entry e : entries) lead += 1 - 2 * int(e & 1), low = std::min(low, lead), high = std::max(high, lead);
    return {int8_t(lead), int8_t(low), int8_t(high)};
  }
};

class ClassWalks {
 public:
  static constexpr size_t kRows = 64;
  static constexpr size_t kLeast = 8192;  // rows of a node whose walks are kept

  explicit ClassWalks(size_t rows) : walks_(rows / kRows) {}

  // Walks the blocks that lie wholly within entries [begin, begin + size) of the column; the others may have rows of
  // a neighbour, whose thread must not meet this one.
  void count(std::span<const Entry> entries, size_t begin) {
    for (size_t block = (begin + kRows - 1) / kRows; (block + 1) * kRows <= begin + entries.size(); ++block)
      walks_[block] = ClassWalk::of(entries.subspan(block * kRows - begin, kRows));
  }
  // Of the block that starts at a place of the column.
  ClassWalk at(size_t place) const { return walks_[place / kRows]; }

 private:
  std::vector<ClassWalk> walks_;  // [n_rows / kRows]
};

}  // namespace baytree::tree::sorted
