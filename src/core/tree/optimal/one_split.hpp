// The best single split along one column: sweeps over rows in the order of the column's ranks.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/optimal/pair_sweep.hpp"

namespace baytree::tree::optimal {

// Largest weight that two leaves can classify correctly, and the last rank of the first leaf; -1 if no threshold leaves
// enough weight on both sides.
template <std::signed_integral Count> struct OneSplit {
  Count correct = -1;
  std::int32_t rank = -1;
};

// Labels and weights of all rows.
template <std::signed_integral Count> struct Labels {
  std::vector<std::uint32_t> label;  // [n_rows]
  std::vector<Count> weight;         // [n_rows]
  std::size_t classes = 0;
};

// Finds the best split of each of two parts of the rows at once, or of all rows.
template <std::signed_integral Count> class SplitSweep {
 public:
  SplitSweep(const Labels<Count>& labels, Count least)
      : labels_(labels), least_(std::max<Count>(least, 1)), counts_(2 * labels.classes), most_(2 * labels.label.size()) {}

  // `part[row]` is 0 or 1, `total` the class weights of both parts: [2, classes].
  std::array<OneSplit<Count>, 2> of_parts(std::span<const Ranked> rows, const std::uint8_t* part, std::span<const Count> total) {
    if (labels_.classes == 2) return two_classes<2>(rows, part, total);
    return several_classes<2>(rows, part, total);
  }
  OneSplit<Count> of_all(std::span<const Ranked> rows, std::span<const Count> total) {
    if (labels_.classes == 2) return two_classes<1>(rows, nullptr, total)[0];
    return several_classes<1>(rows, nullptr, total)[0];
  }

 private:
  template <int Parts> std::array<OneSplit<Count>, 2> two_classes(std::span<const Ranked> rows, const std::uint8_t* part, std::span<const Count> total) {
    std::array<OneSplit<Count>, 2> best;
    Count left[2][2] = {};
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      const std::uint32_t row = rows[i].row;
      left[Parts == 2 ? part[row] : 0][labels_.label[row]] += labels_.weight[row];
      if (rows[i].rank == rows[i + 1].rank) continue;
      for (int p = 0; p < Parts; ++p) {
        const Count a = left[p][0], b = left[p][1], c = total[2 * std::size_t(p)] - a, d = total[2 * std::size_t(p) + 1] - b;
        const Count correct = std::max(a, b) + std::max(c, d);
        if (correct > best[std::size_t(p)].correct && a + b >= least_ && c + d >= least_)
          best[std::size_t(p)] = {correct, std::int32_t(rows[i].rank)};
      }
    }
    return best;
  }

  // First the heaviest class of each beginning, then that of each end.
  template <int Parts> std::array<OneSplit<Count>, 2> several_classes(std::span<const Ranked> rows, const std::uint8_t* part, std::span<const Count> total) {
    const std::size_t classes = labels_.classes;
    std::array<OneSplit<Count>, 2> best;
    std::array<Count, 2> most{}, rest{}, whole{};
    for (int p = 0; p < Parts; ++p)
      for (std::size_t c = 0; c < classes; ++c) whole[std::size_t(p)] += total[std::size_t(p) * classes + c];
    std::ranges::fill(counts_, Count(0));
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      const std::uint32_t row = rows[i].row;
      const std::size_t p = Parts == 2 ? part[row] : 0;
      most[p] = std::max(most[p], counts_[p * classes + labels_.label[row]] += labels_.weight[row]);
      for (std::size_t q = 0; q < Parts; ++q) most_[Parts * i + q] = most[q];
    }
    std::ranges::fill(counts_, Count(0));
    most = {};
    for (std::size_t i = rows.size(); i-- > 1;) {
      const std::uint32_t row = rows[i].row;
      const std::size_t p = Parts == 2 ? part[row] : 0;
      most[p] = std::max(most[p], counts_[p * classes + labels_.label[row]] += labels_.weight[row]), rest[p] += labels_.weight[row];
      if (rows[i].rank == rows[i - 1].rank) continue;
      for (std::size_t q = 0; q < Parts; ++q) {
        const Count correct = most[q] + most_[Parts * (i - 1) + q];
        if (correct >= best[q].correct && rest[q] >= least_ && whole[q] - rest[q] >= least_) best[q] = {correct, std::int32_t(rows[i - 1].rank)};
      }
    }
    return best;
  }

  const Labels<Count>& labels_;
  Count least_;
  std::vector<Count> counts_;  // [parts, classes]
  std::vector<Count> most_;    // [rows, parts], weight of the heaviest class of the rows so far
};

}  // namespace baytree::tree::optimal
