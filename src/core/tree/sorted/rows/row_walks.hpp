// How the classes of counted rows stray from their shares along the blocks of a column.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/rows/class_walks.hpp"
#include "tree/sorted/splits/present_classes.hpp"
#include "tree/sorted/splits/target.hpp"

namespace baytree::tree::sorted {

class RowWalks {
 public:
  RowWalks(const Target& target, size_t rows) : target_(target), shares_(target.classes <= kFewClasses ? target.classes : 0, 0.0) {
    for (size_t row = 0; row < rows && !shares_.empty(); ++row) shares_[size_t(target.label[row])] += target.weight_of(uint32_t(row));
    double all = 0;
    for (const double share : shares_) all += share;
    for (double& share : shares_) share /= all;
  }

  std::span<const double> shares() const { return shares_; }  // of the classes among all rows; none where classes are too many

  void count(std::span<const Entry> entries, size_t begin, ClassWalks& walks) const {
    if (target_.weight) return count_by([&](Entry e) { return target_.weight_of(target_.row(tag_of(e))); }, entries, begin, walks);
    if (target_.class_bits != 1) return count_by([](Entry) { return 1.0; }, entries, begin, walks);
    walks.count(entries, begin, [&](std::span<const Entry> rows, double* masses, ClassStray* strays) { walk_two(rows, masses, strays); });
  }
  // Two classes, and nothing of the order of rows within the smallest blocks: a class strays farthest there if its rows come first, or last.
  void count_two(std::span<const Entry> entries, size_t begin, ClassWalks& walks) const {
    walks.count(entries, begin, [&](std::span<const Entry> rows, double* masses, ClassStray* strays) {
      const auto one = double(count_ones(rows)), zero = double(rows.size()) - one;
      masses[0] = zero, masses[1] = one;
      strays[0] = {-one * shares_[0], zero * shares_[1]}, strays[1] = {-zero * shares_[1], one * shares_[0]};
    });
  }

 private:
  void count_by(const auto& mass_of, std::span<const Entry> entries, size_t begin, ClassWalks& walks) const {
    walks.count(entries, begin, [&](std::span<const Entry> rows, double* masses, ClassStray* strays) { walk(rows, mass_of, masses, strays); });
  }

  // A row moves its own class up and all others down.
  void walk(std::span<const Entry> rows, const auto& mass_of, double* masses, ClassStray* strays) const {
    std::fill_n(masses, shares_.size(), 0.0), std::fill_n(strays, shares_.size(), ClassStray());
    double passed = 0;
    for (const Entry e : rows) {
      const size_t k = target_.class_of(tag_of(e));
      const double mass = mass_of(e), before = masses[k] - shares_[k] * passed;
      masses[k] += mass, passed += mass;
      strays[k].low = std::min(strays[k].low, before), strays[k].high = std::max(strays[k].high, before + mass * (1 - shares_[k]));
    }
    for (size_t k = 0; k < shares_.size(); ++k) strays[k].low = std::min(strays[k].low, masses[k] - shares_[k] * passed);
  }
  // What one class gains the other loses. In whole steps of 2^-40, which are added up faster, and a little farther than it is.
  void walk_two(std::span<const Entry> rows, double* masses, ClassStray* strays) const {
    constexpr double kStep = 0x1p-40;
    const auto down = int64_t(shares_[1] / kStep), whole = int64_t(1 / kStep);
    int64_t at = 0, low = 0, high = 0, ones = 0;
    for (const Entry e : rows) {
      const auto one = int64_t(e & 1);
      ones += one, at += (-one & whole) - down;
      low = std::min(low, at), high = std::max(high, at);
    }
    const double rounding = kStep * double(rows.size());
    masses[0] = double(int64_t(rows.size()) - ones), masses[1] = double(ones);
    strays[1] = {double(low) * kStep - rounding, double(high) * kStep + rounding};
    strays[0] = {-strays[1].high, -strays[1].low};
  }

  const Target& target_;
  std::vector<double> shares_;  // [n_classes]
};

}  // namespace baytree::tree::sorted
