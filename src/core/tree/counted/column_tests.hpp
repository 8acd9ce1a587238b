// CHAID test of a column at a node, from its counts: the codes merged into groups, and the significance of the groups.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "tree/counted/group_tests.hpp"
#include "tree/counted/level_groups.hpp"
#include "tree/counted/merging.hpp"

namespace baytree::tree::counted {

struct TrialRules {
  double log_alpha = 0;
  double min_leaf = 0, min_prob = 0;  // a group of less weight, or of a smaller proportion of the node, must be merged
  bool is_exhaustive = false;
  size_t max_levels = 0;  // more levels are first combined into so many runs of similar outcome

  double least_size(double weight) const { return std::min(std::ceil(min_prob * weight * (1 - 1e-12)), min_leaf); }
};

// The codes of a column that occur at a node, in order.
struct CodeSums {
  std::span<const double> sums;    // [n_present, width]
  std::span<const double> weight;  // [n_present]
  std::span<const int32_t> run;    // [n_levels], for very many unordered levels: those of one run are treated as one level
  bool is_ordered = false;
  bool has_missing = false;  // the first entry stands for missing values

  size_t size() const { return weight.size(); }
  size_t width() const { return weight.empty() ? 0 : sums.size() / weight.size(); }
  bool is_floating() const { return has_missing && is_ordered; }
  // Missing values are the last level of a nominal column; in an ordered column they are a floating category.
  size_t n_levels() const { return size() - is_floating(); }
  size_t place(size_t level) const { return is_floating() ? level + 1 : has_missing ? (level + 1) % size() : level; }
  std::span<const double> row(size_t place) const { return sums.subspan(place * width(), width()); }
};

struct Grouped {
  int32_t n_groups = 0;
  double log_p = 0;
};

// group: [n_present], output: the group of each code, numbered in order of their first levels.
template <GroupTest Test> class ColumnTrial {
 public:
  ColumnTrial(const CodeSums& codes, const TrialRules& rules, std::span<int32_t> group) : codes_(codes), rules_(rules), group_(group) {
    for (size_t level = 0; level < codes.n_levels(); ++level) known_weight_ += codes.weight[codes.place(level)];
  }

  Grouped grouped() {
    const std::vector<int32_t> merged = merged_levels();
    for (size_t level = 0; level < merged.size(); ++level) {
      group_[codes_.place(level)] = merged[level];
      n_groups_ = std::max(n_groups_, merged[level] + 1);
    }
    if (codes_.is_floating()) {
      group_[0] = place_of_floating();
      n_groups_ = std::max(n_groups_, group_[0] + 1);
    }
    return {n_groups_, log_p(codes_.is_floating() ? group_[0] : kApart)};
  }

 private:
  std::vector<int32_t> merged_levels() const {
    std::vector<double> sums, weight;
    const size_t n = codes_.n_levels();
    const std::vector<int32_t> own = runs_on_a_line();
    const std::span<const int32_t> run = own.empty() ? codes_.run : own;
    sums.reserve(n * codes_.width()), weight.reserve(n);
    for (size_t level = 0; level < n; ++level) append(level, run.empty() ? level : size_t(run[level]), sums, weight);
    const size_t n_runs = weight.size();
    std::vector<int32_t> group(n);
    if (n_runs >= 2) {
      const MergeRules rules{rules_.log_alpha, least_size(), codes_.is_ordered, rules_.is_exhaustive};
      const std::vector<int32_t> of_run = merge_levels<Test>(sums, weight, rules);
      for (size_t level = 0; level < n; ++level) group[level] = of_run[run.empty() ? level : size_t(run[level])];
    }
    return group;
  }

  // Empty if every level is its own run.
  std::vector<int32_t> runs_on_a_line() const {
    const size_t n = codes_.n_levels();
    if (n <= rules_.max_levels || !(codes_.is_ordered || Test::is_line(codes_.width()))) return {};
    std::vector<double> outcome(n), weight(n);
    for (size_t level = 0; level < n; ++level) {
      const size_t place = codes_.place(level);
      outcome[level] = codes_.is_ordered ? 0 : Test::outcome(codes_.row(place)), weight[level] = codes_.weight[place];
    }
    return level_runs(outcome, weight, rules_.max_levels);
  }

  // Runs are numbered in order of their first levels.
  void append(size_t level, size_t run, std::vector<double>& sums, std::vector<double>& weight) const {
    const size_t width = codes_.width(), place = codes_.place(level);
    if (run == weight.size()) sums.resize(sums.size() + width), weight.push_back(0);
    for (size_t s = 0; s < width; ++s) sums[run * width + s] += codes_.row(place)[s];
    weight[run] += codes_.weight[place];
  }

  double least_size() const { return rules_.least_size(known_weight_ + (codes_.is_floating() ? codes_.weight[0] : 0)); }

  // The group of the missing values: their own, or the most similar one if that gives the smaller p-value.
  int32_t place_of_floating() {
    if (n_groups_ == 0) return 0;
    const std::vector<double> known = totals(kApart);
    int32_t nearest = 0;
    double most = -std::numeric_limits<double>::infinity();
    Groups pair(2);
    for (int32_t g = 0; g < n_groups_; ++g) {
      pair[0] = std::span(known).subspan(size_t(g) * codes_.width(), codes_.width()), pair[1] = codes_.row(0);
      if (const double own = Test::log_p(test_.contrast(pair)); own > most) most = own, nearest = g;
    }
    if (codes_.weight[0] < least_size()) return nearest;
    const double apart = log_p(n_groups_), joined = log_p(nearest);
    return joined < apart ? nearest : n_groups_;
  }

  // Statistics of each group, including the missing values.
  std::vector<double> totals(int32_t floating) const {
    const size_t width = codes_.width();
    std::vector<double> sums(size_t(std::max(n_groups_, floating + 1)) * width);
    const auto add = [&](size_t place, int32_t group) {
      for (size_t s = 0; s < width; ++s) sums[size_t(group) * width + s] += codes_.row(place)[s];
    };
    for (size_t level = 0; level < codes_.n_levels(); ++level) add(codes_.place(level), group_[codes_.place(level)]);
    if (floating != kApart) add(0, floating);
    return sums;
  }

  double log_p(int32_t floating) {
    const std::vector<double> sums = totals(floating);
    const size_t width = codes_.width();
    Groups groups;
    for (size_t at = 0; at < sums.size(); at += width) groups.push_back(std::span(sums).subspan(at, width));
    return Test::log_p(test_.contrast(groups));
  }

  static constexpr int32_t kApart = -1;
  const CodeSums& codes_;
  const TrialRules& rules_;
  std::span<int32_t> group_;
  Test test_;
  int32_t n_groups_ = 0;
  double known_weight_ = 0;
};

}  // namespace baytree::tree::counted
