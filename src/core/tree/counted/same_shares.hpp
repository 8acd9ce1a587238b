// Levels whose classes have the same shares, which become one before anything else merges.
//
// Pearson's statistic of two of them counts as 0, so that their p is 1, and no pair differs less. Whole weights add up exactly, in any
// order: as long as two kinds of shares are left, the groups are those of a merge after the other.
#pragma once
#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::counted {

struct SameShares {
  std::vector<int32_t> kind_of;  // [n_levels], numbered in the order of their first levels; empty: not to be told, or of no use
  size_t n_kinds = 0;

  explicit operator bool() const { return !kind_of.empty(); }
  std::vector<double> sums_of(std::span<const double> values, size_t width) const {  // [n_levels, width] to [n_kinds, width]
    std::vector<double> sums(n_kinds * width);
    for (size_t level = 0; level < kind_of.size(); ++level)
      for (size_t s = 0; s < width; ++s) sums[size_t(kind_of[level]) * width + s] += values[level * width + s];
    return sums;
  }
};

// Below, shares that differ are different numbers, and the statistic of their levels is above what rounding can feign:
// with weights n and m it is at least 1 / (n + m)³.
constexpr double kMostOfShares = 1 << 22;

// `are_alike`: of levels with several classes, too; of the likelihood ratio only levels of one class have p = 1 beyond rounding.
// statistics: [n_levels, n_classes]
inline SameShares same_shares(std::span<const double> statistics, std::span<const double> weight, bool are_alike) {
  const size_t n = weight.size(), width = n ? statistics.size() / n : 0;
  double total = 0;
  for (const double each : statistics) {
    if (each != std::floor(each)) return {};
    total += each;
  }
  if (!(total < kMostOfShares)) return {};
  std::vector<double> share(statistics.begin(), statistics.end());
  std::vector<bool> is_pure(n);
  for (size_t level = 0; level < n; ++level) {
    const std::span<double> own(share.data() + level * width, width);
    if (!(weight[level] > 0)) return {};
    for (double& each : own) each /= weight[level];
    is_pure[level] = std::ranges::find(own, 1.0) != own.end();
  }
  const auto row = [&](size_t level) { return std::span<const double>(share.data() + level * width, width); };
  const auto before = [&](size_t a, size_t b) {
    const auto order = std::lexicographical_compare_three_way(row(a).begin(), row(a).end(), row(b).begin(), row(b).end());
    return order < 0 || (order == 0 && a < b);
  };
  std::vector<size_t> by_share(n);
  for (size_t level = 0; level < n; ++level) by_share[level] = level;
  std::ranges::sort(by_share, before);
  std::vector<size_t> first(n);  // the first level of the same shares
  for (size_t i = 0; i < n; ++i) {
    const size_t level = by_share[i];
    const bool is_same = i > 0 && (are_alike || is_pure[level]) && std::ranges::equal(row(level), row(by_share[i - 1]));
    first[level] = is_same ? first[by_share[i - 1]] : level;
  }
  SameShares same{.kind_of = std::vector<int32_t>(n)};
  for (size_t level = 0; level < n; ++level) same.kind_of[level] = first[level] == level ? int32_t(same.n_kinds++) : same.kind_of[first[level]];
  return same.n_kinds < 2 || same.n_kinds == n ? SameShares{} : same;
}

}  // namespace baytree::tree::counted
