// The masses of the classes along each block of a sorted column, of 64 rows, of eight such blocks, of eight of these, and so on, and
// how far each class strays on the way from its share of all rows. Blocks lie at fixed places of the column, so that a node whose rows
// did not move keeps those of its parent.
#pragma once
#include <algorithm>
#include <bit>
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

// How far the mass of a class is from its share of what has passed, along some rows: at least and at most.
struct ClassStray {
  double low = 0, high = 0;
};

class ClassWalks {
 public:
  static constexpr size_t kRows = 64;     // in the smallest blocks
  static constexpr size_t kTogether = 8;  // blocks of one size in one of the next
  static constexpr size_t kLeastPerClass = 128;

  // `shares` are those of the classes among all rows, or none where no walks are needed.
  ClassWalks(size_t rows, std::span<const double> shares) : shares_(shares) {
    if (shares.empty()) return;
    for (size_t size = kRows; size <= rows; size *= kTogether) {
      masses_.emplace_back(rows / size * shares.size());
      strays_.emplace_back(rows / size * shares.size());
    }
  }

  // Whether a node of so many rows is worth it: of fewer, each cut is judged in no more time.
  bool are_kept(size_t rows) const { return !shares_.empty() && rows > kLeastPerClass * shares_.size(); }

  // Walks the blocks that lie wholly within entries [begin, begin + size) of the column; the others may have rows of
  // a neighbour, whose thread must not meet this one. `walk` gives the masses of some entries, and how far they stray.
  void count(std::span<const Entry> entries, size_t begin, const auto& walk) {
    const size_t end = begin + entries.size(), classes = shares_.size();
    for (size_t block = (begin + kRows - 1) / kRows; (block + 1) * kRows <= end; ++block)
      walk(entries.subspan(block * kRows - begin, kRows), masses_[0].data() + block * classes, strays_[0].data() + block * classes);
    size_t level = 1;
    for (size_t size = kRows * kTogether; level < masses_.size(); ++level, size *= kTogether)
      for (size_t block = (begin + size - 1) / size; (block + 1) * size <= end; ++block) unite(int(level), block);
  }

  // The level of the largest block that starts at a place of the column and has at most so many rows; -1 = none.
  int level_at(size_t place, size_t rows) const {
    int level = -1;
    for (size_t size = kRows; size_t(level + 1) < masses_.size() && place % size == 0 && size <= rows; size *= kTogether) ++level;
    return level;
  }
  static constexpr size_t rows_of(int level) { return kRows << (std::countr_zero(kTogether) * level); }

  double share(size_t of_class) const { return shares_[of_class]; }
  // [n_classes], of the block of a level that starts at a place of the column.
  const double* masses(int level, size_t place) const { return masses_[size_t(level)].data() + first_of(level, place); }
  const ClassStray* strays(int level, size_t place) const { return strays_[size_t(level)].data() + first_of(level, place); }

 private:
  size_t first_of(int level, size_t place) const { return place / rows_of(level) * shares_.size(); }

  void unite(int level, size_t block) {
    const size_t rows = rows_of(level - 1), place = block * rows_of(level);
    double* const mass = masses_[size_t(level)].data() + first_of(level, place);
    ClassStray* const stray = strays_[size_t(level)].data() + first_of(level, place);
    std::fill_n(mass, shares_.size(), 0.0), std::fill_n(stray, shares_.size(), ClassStray());
    double passed = 0;
    for (size_t part = place; part < place + rows_of(level); part += rows) passed = add_part(level - 1, part, passed, mass, stray);
  }
  double add_part(int level, size_t place, double passed, double* mass, ClassStray* stray) const {
    const double* own = masses(level, place);
    const ClassStray* within = strays(level, place);
    double all = 0;
    for (size_t k = 0; k < shares_.size(); ++k) {
      const double before = mass[k] - shares_[k] * passed;
      stray[k].low = std::min(stray[k].low, before + within[k].low), stray[k].high = std::max(stray[k].high, before + within[k].high);
      mass[k] += own[k], all += own[k];
    }
    return passed + all;
  }

  std::span<const double> shares_;               // [n_classes]
  std::vector<std::vector<double>> masses_;      // [n_levels][n_rows / rows of a block * n_classes]
  std::vector<std::vector<ClassStray>> strays_;  // the same
};

}  // namespace baytree::tree::sorted
