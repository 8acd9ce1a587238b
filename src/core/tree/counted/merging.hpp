// CHAID's merging: the levels of a column become groups, by joining again and again the two that differ least (Kass 1980).
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "numbers/chi_squared.hpp"
#include "numbers/tails.hpp"

namespace baytree::tree::counted {

using Groups = std::vector<std::span<const double>>;  // the statistics of each group, all of one length

// How much groups differ. Of two with the same degrees of freedom, the larger statistic has the smaller p.
struct Contrast {
  double statistic = 0, freedom = 0, rest = 0;  // rest: degrees of freedom within the groups, where the test has some
  bool is_comparable(const Contrast& other) const { return freedom == other.freedom && rest == other.rest; }
};

// The contrast of groups, and log p that they do not differ.
template <typename T>
concept GroupTest = requires(T& test, const Groups& groups, const Contrast& contrast) {
  { test.contrast(groups) } -> std::convertible_to<Contrast>;
  { T::log_p(contrast) } -> std::convertible_to<double>;
};

// χ² of the groups' weights per class, by Pearson's statistic or by the likelihood ratio; empty rows and columns are left out.
// Keeps its working space from call to call.
template <bool is_pearson> class ClassTest {
 public:
  Contrast contrast(const Groups& groups) {
    if (groups.size() == 2) return of_two(groups[0], groups[1]);
    const size_t n_classes = groups.empty() ? 0 : groups[0].size();
    label.assign(n_classes, 0.0), size.assign(groups.size(), 0.0);
    double total = 0, rows = -1, columns = -1;
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t c = 0; c < n_classes; ++c) size[g] += groups[g][c], label[c] += groups[g][c];
      total += size[g], rows += size[g] > 0;
    }
    for (const double each : label) columns += each > 0;
    if (rows <= 0 || columns <= 0) return {};
    double statistic = 0;
    for (size_t g = 0; g < groups.size(); ++g)
      for (size_t c = 0; c < n_classes; ++c) statistic += cell(groups[g][c], size[g] * (label[c] / total));
    return {statistic <= rounding * total ? 0 : statistic, rows * columns};
  }
  static double log_p(const Contrast& found) { return found.freedom > 0 ? numbers::chi2_log_tail(found.statistic, found.freedom) : 0; }

 private:
  static constexpr double rounding = 1e-28;  // of the weight: what rounding alone adds to the statistic
  static double cell(double seen, double expected) {
    if constexpr (is_pearson) return numbers::pearson_cell(seen, expected);
    return seen > 0 ? 2 * seen * std::log(seen / expected) : 0;
  }

  // What most contrasts are of; the same sums in the same order.
  Contrast of_two(std::span<const double> left, std::span<const double> right) {
    const size_t n_classes = left.size();
    double n_left = 0, n_right = 0, columns = -1, statistic = 0;
    for (size_t c = 0; c < n_classes; ++c) n_left += left[c], n_right += right[c];
    const double total = n_left + n_right;
    label.resize(n_classes);
    for (size_t c = 0; c < n_classes; ++c) label[c] = left[c] + right[c], columns += label[c] > 0, label[c] /= total;
    if (!(n_left > 0 && n_right > 0) || columns <= 0) return {};
    for (size_t c = 0; c < n_classes; ++c) statistic += cell(left[c], n_left * label[c]);
    for (size_t c = 0; c < n_classes; ++c) statistic += cell(right[c], n_right * label[c]);
    return {statistic <= rounding * total ? 0 : statistic, columns};
  }
  std::vector<double> label, size;  // [n_classes], [n_groups]
};

// F test of the groups' means; the statistics are weight, Σ y and Σ y² about a centre.
struct MeanTest {
  Contrast contrast(const Groups& groups) const {
    double weight = 0, sum = 0, square = 0, explained = 0, n = 0;
    for (const auto& group : groups) {
      if (!(group[0] > 0)) continue;
      weight += group[0], sum += group[1], square += group[2], explained += group[1] * group[1] / group[0], ++n;
    }
    if (n < 2) return {};
    const double between = explained - sum * sum / weight, within = square - explained;
    if (between <= rounding * square) return {};
    const double noise = within <= rounding * square ? 0 : within / (weight - n);
    return {between / (n - 1) / noise, n - 1, weight - n};
  }
  static double log_p(const Contrast& found) {
    return found.freedom > 0 ? numbers::f_log_tail(found.statistic, found.freedom, found.rest) : 0;
  }

 private:
  static constexpr double rounding = 1e-14;  // of the sum of squares
};

struct MergeRules {
  double log_alpha = 0;    // two groups merge while log p is above
  double least = 0;        // a group of less weight must merge
  bool is_ordered = false; // only neighbours merge
  bool is_exhaustive = false;  // merge down to two groups and keep the step with the smallest p (Biggs et al. 1991)
};

template <GroupTest Test> class Merger {
 public:
  // statistics: [n_levels, width]; weight: [n_levels]
  Merger(std::span<const double> statistics, std::span<const double> weight, const MergeRules& rules)
      : n_(weight.size()), width_(n_ ? statistics.size() / n_ : 0), rules_(rules), statistics_(statistics.begin(), statistics.end()),
        weight_(weight.begin(), weight.end()), group_of_(n_), pairs_(rules.is_ordered ? n_ : n_ * n_), nearest_(n_) {
    for (size_t k = 0; k < n_; ++k) group_of_[k] = int32_t(k), alive_.push_back(k);
  }

  // The group of each level, named by its first level.
  std::vector<int32_t> merge() {
    for (size_t i = 0; i < alive_.size(); ++i)
      for (size_t j = i + 1; j < (rules_.is_ordered ? std::min(i + 2, alive_.size()) : alive_.size()); ++j) measure(i, j);
    return rules_.is_exhaustive ? merge_exhaustively() : merge_similar();
  }

 private:
  std::vector<int32_t> merge_similar() {
    while (alive_.size() > 1) {
      const Pair pair = closest();
      const bool is_alike = alive_.size() > 2 && pair.log_p > rules_.log_alpha;
      if (!is_alike && are_large()) break;
      join(pair);
    }
    return group_of_;
  }

  std::vector<int32_t> merge_exhaustively() {
    std::vector<int32_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (;;) {
      if (are_large() || alive_.size() == 1) {
        const double log_p = Test::log_p(test_.contrast(all()));
        if (best.empty() || log_p < least) least = log_p, best = group_of_;
      }
      if (alive_.size() == 1 || (alive_.size() == 2 && !best.empty())) return best;
      join(closest());
    }
  }

  // What is known of two groups; log p costs far more than the statistic, and most pairs never need it.
  struct Known {
    Contrast contrast;
    double log_p = unknown;
  };
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  struct Pair {
    size_t left = 0, right = 0;  // places in alive_
    double log_p = -std::numeric_limits<double>::max();
    Contrast contrast = {.statistic = std::numeric_limits<double>::infinity(), .freedom = 0, .rest = 0};

    bool is_nearer_than(const Contrast& other) const {
      return contrast.is_comparable(other) && other.statistic > contrast.statistic * beyond_doubt;
    }
    static constexpr double beyond_doubt = 1 + 1e-6;  // a statistic so much larger has the smaller p, however both are rounded
  };

  // The pair that differs least; of several the first in the order of levels. What rounding can feign is no difference.
  Pair closest() {
    Pair best;
    best.right = 1;
    for (size_t i = 0; i + 1 < alive_.size() && best.log_p < 0; ++i)  // what does not differ at all cannot be outdone
      if (const Nearest& row = nearest_[alive_[i]]; !row.is_uniform || !best.is_nearer_than(row.contrast)) look_along(i, best);
    return best;
  }
  static constexpr double tie = 1e-11;  // of log p, which is never positive

  void look_along(size_t i, Pair& best) {
    Nearest row;
    for (size_t j = i + 1; j < (rules_.is_ordered ? i + 2 : alive_.size()); ++j) {
      Known& pair = at(i, j);
      row.count(pair.contrast);
      if (best.is_nearer_than(pair.contrast)) continue;
      if (std::isnan(pair.log_p)) pair.log_p = Test::log_p(pair.contrast);
      if (pair.log_p > best.log_p - tie * best.log_p) best = {i, j, pair.log_p, pair.contrast};
    }
    nearest_[alive_[i]] = row;
  }

  // At most as large as the least statistic of a group with the groups after it, where all these have the same degrees of freedom.
  struct Nearest {
    Contrast contrast = {.statistic = std::numeric_limits<double>::infinity(), .freedom = unknown, .rest = 0};
    bool is_uniform = true;

    void count(const Contrast& pair) {
      if (std::isnan(contrast.freedom)) contrast = pair;
      is_uniform = is_uniform && contrast.is_comparable(pair);
      contrast.statistic = std::min(contrast.statistic, pair.statistic);
    }
  };

  void join(const Pair& pair) {
    const size_t into = alive_[pair.left], from = alive_[pair.right];
    for (size_t s = 0; s < width_; ++s) statistics_[into * width_ + s] += statistics_[from * width_ + s];
    weight_[into] += weight_[from];
    for (int32_t& group : group_of_)
      if (group == int32_t(from)) group = int32_t(into);
    alive_.erase(alive_.begin() + std::ptrdiff_t(pair.right));
    for (size_t i = 0; i < alive_.size(); ++i)
      if (i != pair.left && (!rules_.is_ordered || i + 1 == pair.left || i == pair.left + 1))
        measure(std::min(i, pair.left), std::max(i, pair.left));
  }

  void measure(size_t i, size_t j) {
    pair_[0] = row(alive_[i]), pair_[1] = row(alive_[j]);
    at(i, j) = {test_.contrast(pair_), unknown};
    nearest_[alive_[i]].count(at(i, j).contrast);
  }

  std::span<const double> row(size_t k) const { return {statistics_.data() + k * width_, width_}; }
  Known& at(size_t i, size_t j) { return pairs_[rules_.is_ordered ? alive_[i] : alive_[i] * n_ + alive_[j]]; }
  Groups all() const {
    Groups groups;
    for (const size_t k : alive_) groups.push_back(row(k));
    return groups;
  }
  bool are_large() const {
    for (const size_t k : alive_)
      if (weight_[k] < rules_.least) return false;
    return true;
  }

  size_t n_, width_;
  MergeRules rules_;
  Test test_;
  Groups pair_ = Groups(2);
  std::vector<double> statistics_, weight_;
  std::vector<int32_t> group_of_;
  std::vector<Known> pairs_;
  std::vector<Nearest> nearest_;  // [n_levels], by the groups' first levels
  std::vector<size_t> alive_;  // the groups' first levels, in order
};

}  // namespace baytree::tree::counted
