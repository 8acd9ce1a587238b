// CHAID's merging: the levels of a column become groups, by joining again and again the two that differ least (Kass 1980).
#pragma once
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

// log p that the groups do not differ.
template <typename T>
concept GroupTest = requires(T& test, const Groups& groups) {
  { test(groups) } -> std::convertible_to<double>;
};

// χ² of the groups' weights per class, by Pearson's statistic or by the likelihood ratio; empty rows and columns are left out.
// Keeps its working space from call to call.
template <bool is_pearson> class ClassTest {
 public:
  double operator()(const Groups& groups) {
    const size_t n_classes = groups.empty() ? 0 : groups[0].size();
    label.assign(n_classes, 0.0), size.assign(groups.size(), 0.0);
    double total = 0, rows = -1, columns = -1;
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t c = 0; c < n_classes; ++c) size[g] += groups[g][c], label[c] += groups[g][c];
      total += size[g], rows += size[g] > 0;
    }
    for (const double each : label) columns += each > 0;
    if (rows <= 0 || columns <= 0) return 0;
    double statistic = 0;
    for (size_t g = 0; g < groups.size(); ++g)
      for (size_t c = 0; c < n_classes; ++c) statistic += cell(groups[g][c], size[g] * (label[c] / total));
    return numbers::chi2_log_tail(statistic <= rounding * total ? 0 : statistic, rows * columns);
  }

 private:
  static constexpr double rounding = 1e-28;  // of the weight: what rounding alone adds to the statistic
  static double cell(double seen, double expected) {
    if constexpr (is_pearson) return numbers::pearson_cell(seen, expected);
    return seen > 0 ? 2 * seen * std::log(seen / expected) : 0;
  }
  std::vector<double> label, size;  // [n_classes], [n_groups]
};

// F test of the groups' means; the statistics are weight, Σ y and Σ y² about a centre.
struct MeanTest {
  double operator()(const Groups& groups) const {
    double weight = 0, sum = 0, square = 0, explained = 0, n = 0;
    for (const auto& group : groups) {
      if (!(group[0] > 0)) continue;
      weight += group[0], sum += group[1], square += group[2], explained += group[1] * group[1] / group[0], ++n;
    }
    if (n < 2) return 0;
    const double between = explained - sum * sum / weight, within = square - explained;
    if (between <= rounding * square) return 0;
    const double noise = within <= rounding * square ? 0 : within / (weight - n);
    return numbers::f_log_tail(between / (n - 1) / noise, n - 1, weight - n);
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
        weight_(weight.begin(), weight.end()), group_of_(n_), log_p_(rules.is_ordered ? n_ : n_ * n_, 0.0) {
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
        const double log_p = test_(all());
        if (best.empty() || log_p < least) least = log_p, best = group_of_;
      }
      if (alive_.size() == 1 || (alive_.size() == 2 && !best.empty())) return best;
      join(closest());
    }
  }

  struct Pair {
    size_t left = 0, right = 0;  // places in alive_
    double log_p = -std::numeric_limits<double>::max();
  };

  // The pair that differs least; of several the first in the order of levels. What rounding can feign is no difference.
  Pair closest() const {
    Pair best;
    best.right = 1;
    for (size_t i = 0; i + 1 < alive_.size(); ++i)
      for (size_t j = i + 1; j < (rules_.is_ordered ? i + 2 : alive_.size()); ++j)
        if (const double log_p = at(i, j); log_p > best.log_p - tie * best.log_p) best = {i, j, log_p};
    return best;
  }
  static constexpr double tie = 1e-11;  // of log p, which is never positive

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
    at(i, j) = test_(pair_);
  }

  std::span<const double> row(size_t k) const { return {statistics_.data() + k * width_, width_}; }
  double& at(size_t i, size_t j) { return log_p_[rules_.is_ordered ? alive_[i] : alive_[i] * n_ + alive_[j]]; }
  double at(size_t i, size_t j) const { return log_p_[rules_.is_ordered ? alive_[i] : alive_[i] * n_ + alive_[j]]; }
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
  std::vector<double> log_p_;
  std::vector<size_t> alive_;  // the groups' first levels, in order
};

}  // namespace baytree::tree::counted
