// Groups of levels in C5.0: greedy merging of pairs down to two groups; the partition of the best score is used.
#pragma once
#include "tree/c50/column_tests.hpp"
#include "tree/fractional/nominal_test.hpp"

namespace baytree::tree::c50 {

using fractional::LevelGroups;

inline constexpr size_t kMostGroups = 128;  // beyond it, neighbours by class proportion are merged first; not in C5.0, for speed

// log2 of the number of partitions of n values into groups; `otherwise` if it exceeds the range of doubles.
inline double log2_divisions(size_t n, size_t groups, double otherwise) {
  static const std::vector<std::vector<double>> stirling = [] {
    std::vector<std::vector<double>> table(kMostGroups + 1, std::vector<double>(kMostGroups + 1));
    table[0][0] = 1;
    for (size_t row = 1; row <= kMostGroups; ++row)
      for (size_t g = 1; g <= row; ++g) table[row][g] = static_cast<double>(g) * table[row - 1][g] + table[row - 1][g - 1];
    return table;
  }();
  return n <= kMostGroups && std::isfinite(stirling[n][groups]) ? std::log2(stirling[n][groups]) : otherwise;
}

class GroupSearch {
 public:
  GroupSearch(const NodeView& at, const Branches<double>& split, std::span<const int32_t> present, int32_t levels)
      : at_(at), split_(split), levels_(levels), groups_(fractional::single_levels(split, present, kReached)), n_(groups_.size()) {}

  Offer best() {
    if (n_ < 2 || count_large(at_.min_cases()) == 0) return {};
    fractional::unite_neighbours(groups_, kMostGroups);
    for (const auto& counts : groups_.counts) entropy_.push_back(at_.bench.entropy(counts));
    gain_ = gain_of_rest(rest());
    consider(0);
    unite_alike();
    fill_pairs();
    while (groups_.size() > 2 && unite_best_pair()) consider(log2_divisions(n_, groups_.size(), approximate(0)));
    return offer();
  }

 private:
  double approximate(double more) const {
    const auto b = static_cast<double>(groups_.size());
    return (static_cast<double>(n_) - b + more) * std::log2(b);
  }
  double rest() const {
    double sum = 0;
    for (const double each : entropy_) sum += each;
    return sum;
  }
  double known() const { return at_.summed - split_.missing; }
  double gain_of_rest(double rest) const { return gain_of(at_, split_, rest); }
  int64_t count_large(double least) const {
    return std::count_if(groups_.weight.begin(), groups_.weight.end(), [&](double weight) { return weight >= least; });
  }

  // Records the current groups if they have the best score so far.
  void consider(double charge) {
    const float info = at_.bench.info(groups_.weight, split_.missing, at_.weight);
    const double score = info > 0 ? (gain_ - charge / at_.weight) / info : 0.0;
    if (!record_.levels.empty() && !(score >= score_)) return;
    record_.levels = groups_.levels;
    score_ = score;
    record_gain_ = gain_;
    record_charge_ = charge;
    record_info_ = info;
  }

  // Merges groups of nearly equal class proportions first.
  void unite_alike() {
    const size_t before = groups_.size();
    for (size_t a = 0; a < groups_.size(); ++a)
      for (size_t b = a + 1; b < groups_.size();) {
        if (fractional::have_same_shares(groups_, a, b)) unite(a, b);
        else ++b;
      }
    if (groups_.size() == before || groups_.size() < 2 || count_large(at_.min_cases()) < 2) return;
    consider(log2_divisions(n_, groups_.size(), approximate(1)));
  }

  void unite(size_t a, size_t b) {
    groups_.unite(a, b);
    entropy_.erase(entropy_.begin() + static_cast<std::ptrdiff_t>(b));
    entropy_[a] = at_.bench.entropy(groups_.counts[a]);
  }

  double pair_entropy(size_t a, size_t b) {
    joint_.assign(groups_.counts[a].begin(), groups_.counts[a].end());
    for (size_t c = 0; c < joint_.size(); ++c) joint_[c] += groups_.counts[b][c];
    return at_.bench.entropy(joint_);
  }

  void fill_pairs() {
    pair_.assign(groups_.size(), std::vector<double>(groups_.size()));
    for (size_t a = 0; a < groups_.size(); ++a)
      for (size_t b = a + 1; b < groups_.size(); ++b) pair_[a][b] = pair_entropy(a, b);
  }

  bool unite_best_pair() {
    const double least = at_.min_cases() - 1e-4, sum = rest();
    const bool two_large = count_large(least) == 2;
    double best = 0;
    size_t first = 0, second = 0;
    for (size_t a = 0; a < groups_.size(); ++a)
      for (size_t b = a + 1; b < groups_.size(); ++b) {
        if (two_large && groups_.weight[a] >= least && groups_.weight[b] >= least) continue;
        const double gain = gain_of_rest(sum - entropy_[a] - entropy_[b] + pair_[a][b]);
        if (!(gain > (second ? best + 1e-4 : 0.0))) continue;
        best = gain, first = a, second = b;
      }
    if (!second) return false;
    unite(first, second);
    pair_.erase(pair_.begin() + static_cast<std::ptrdiff_t>(second));
    for (auto& row : pair_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(second));
    for (size_t other = 0; other < groups_.size(); ++other)
      if (other != first) pair_[std::min(other, first)][std::max(other, first)] = pair_entropy(std::min(other, first), std::max(other, first));
    gain_ = gain_of_rest(rest());
    return true;
  }

  Offer offer() const {
    Offer offer;
    offer.raw_gain = static_cast<float>(record_gain_);
    offer.gain = static_cast<float>(record_gain_ - record_charge_ / known());
    offer.info = record_info_;
    offer.is_valid = true;
    const auto united = static_cast<int32_t>(record_.levels.size());
    offer.branches = united + (n_ < static_cast<size_t>(levels_) ? 1 : 0);
    offer.group.assign(static_cast<size_t>(levels_), united);
    for (int32_t g = 0; g < united; ++g)
      for (const int32_t level : record_.levels[static_cast<size_t>(g)]) offer.group[level] = g;
    return offer;
  }

  const NodeView& at_;
  const Branches<double>& split_;
  const int32_t levels_;
  LevelGroups groups_, record_;
  const size_t n_;  // levels that take part
  std::vector<double> entropy_, joint_;
  std::vector<std::vector<double>> pair_;  // weight · entropy of the union of two groups
  double gain_ = 0, score_ = 0, record_gain_ = 0, record_charge_ = 0;
  float record_info_ = 0;
};

}  // namespace baytree::tree::c50
