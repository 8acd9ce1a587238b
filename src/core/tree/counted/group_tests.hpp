// Tests of the hypothesis that groups of levels do not differ in the target, as functions of additive statistics of the
// groups.
#pragma once
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "numeric/distributions.hpp"

namespace baytree::tree::counted {

using Groups = std::vector<std::span<const double>>;  // statistics of each group, all of one length

// Difference of groups. For equal degrees of freedom, a larger statistic means a smaller p-value.
struct Contrast {
  double statistic = 0, freedom = 0, rest = 0;  // rest: degrees of freedom within the groups, if the test has any
  bool is_comparable(const Contrast& other) const { return freedom == other.freedom && rest == other.rest; }
};

// A test computes the contrast of groups and its log p. If statistics of this width are one-dimensional, `outcome` is
// the position.
template <typename T>
concept GroupTest = requires(T& test, const Groups& groups, const Contrast& contrast, std::span<const double> sums) {
  { test.contrast(groups) } -> std::convertible_to<Contrast>;
  { T::log_p(contrast) } -> std::convertible_to<double>;
  { T::is_line(sums.size()) } -> std::convertible_to<bool>;
  { T::outcome(sums) } -> std::convertible_to<double>;
};

// Chi-squared test of the groups' weights per class, by Pearson's statistic or the likelihood ratio; empty rows and
// columns are ignored. Reuses its buffers between calls.
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
  static double log_p(const Contrast& found) { return found.freedom > 0 ? numeric::chi2_log_tail(found.statistic, found.freedom) : 0; }
  static bool is_line(size_t n_classes) { return n_classes == 2; }
  // Proportion of the second class, rounded to 12 digits: equal proportions of fractional weights may differ by
  // rounding.
  static double outcome(std::span<const double> two) { return std::nearbyint(two[1] / (two[0] + two[1]) * 1e12); }

 private:
  static constexpr double rounding = 1e-28;  // relative to the weight: contribution of rounding errors to the statistic
  static double cell(double seen, double expected) {
    if constexpr (is_pearson) return numeric::pearson_cell(seen, expected);
    return seen > 0 ? 2 * seen * std::log(seen / expected) : 0;
  }

  // The most common case of two groups; the same sums in the same order.
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

// F test of the means of groups; statistics are weight, Σ y and Σ y², relative to a centre.
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
    return found.freedom > 0 ? numeric::f_log_tail(found.statistic, found.freedom, found.rest) : 0;
  }
  static bool is_line(size_t) { return true; }
  static double outcome(std::span<const double> sums) { return sums[1] / sums[0]; }

 private:
  static constexpr double rounding = 1e-14;  // relative to the sum of squares
};

}  // namespace baytree::tree::counted
