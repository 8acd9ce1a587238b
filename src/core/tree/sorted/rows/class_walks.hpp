// Two classes that are only counted: how far one leads over the other along each block of a sorted column, of 64 rows, of eight
// such blocks, of eight of these, and so on. Blocks lie at fixed places of the column, so that a node whose rows did not move keeps
// those of its parent.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/sorted/rows/bucket_sort.hpp"

namespace baytree::tree::sorted {

// Rows of class 0 less those of class 1 along some entries: after the last, and at least and at most after any of them.
struct ClassWalk {
  int32_t end = 0, low = std::numeric_limits<int32_t>::max(), high = std::numeric_limits<int32_t>::min();

  static ClassWalk of(std::span<const Entry> entries) {
    ClassWalk walk;
    for (const Entry e : entries) {
      walk.end += 1 - 2 * int32_t(e & 1);
      walk.low = std::min(walk.low, walk.end), walk.high = std::max(walk.high, walk.end);
    }
    return walk;
  }
  ClassWalk then(const ClassWalk& next) const { return {end + next.end, std::min(low, end + next.low), std::max(high, end + next.high)}; }
};

class ClassWalks {
 public:
  static constexpr size_t kRows = 64;     // in the smallest blocks
  static constexpr size_t kTogether = 8;  // blocks of one size in one of the next
  static constexpr size_t kLeast = 256;   // rows of a node whose walks are kept

  explicit ClassWalks(size_t rows) {
    for (size_t size = kRows; size <= rows; size *= kTogether) walks_.emplace_back(rows / size);
  }

  // Walks the blocks that lie wholly within entries [begin, begin + size) of the column; the others may have rows of
  // a neighbour, whose thread must not meet this one.
  void count(std::span<const Entry> entries, size_t begin) {
    const size_t end = begin + entries.size();
    for (size_t block = (begin + kRows - 1) / kRows; (block + 1) * kRows <= end; ++block)
      walks_[0][block] = ClassWalk::of(entries.subspan(block * kRows - begin, kRows));
    for (size_t level = 1, size = kRows * kTogether; level < walks_.size(); ++level, size *= kTogether)
      for (size_t block = (begin + size - 1) / size; (block + 1) * size <= end; ++block)
        walks_[level][block] = united(std::span(walks_[level - 1]).subspan(block * kTogether, kTogether));
  }

  // The level of the largest block that starts at a place of the column and has at most so many rows; -1 = none.
  int level_at(size_t place, size_t rows) const {
    int level = -1;
    for (size_t size = kRows; size_t(level + 1) < walks_.size() && place % size == 0 && size <= rows; size *= kTogether) ++level;
    return level;
  }
  static size_t rows_of(int level) {
    size_t size = kRows;
    for (int i = 0; i < level; ++i) size *= kTogether;
    return size;
  }
  // Of the block of a level that starts at a place of the column.
  const ClassWalk& at(int level, size_t place) const { return walks_[size_t(level)][place / rows_of(level)]; }

 private:
  static ClassWalk united(std::span<const ClassWalk> blocks) {
    ClassWalk walk;
    for (const ClassWalk& block : blocks) walk = walk.then(block);
    return walk;
  }

  std::vector<std::vector<ClassWalk>> walks_;  // [n_levels][n_rows / rows of a block]
};

}  // namespace baytree::tree::sorted
