// Optimal tree of depth two from the counts of pairs of tests (MurTree, Demirović et al. 2022).
//
// For each first test, the best second test of either branch is a minimum over the other tests; no row is read.
#pragma once
#include <optional>

#include "tree/optimal/row_bits.hpp"

namespace baytree::tree::optimal {

// Cost of an error of one unit of weight, and of a leaf.
struct Prices {
  std::int64_t mistake, leaf;
};

// A node of a tree: index of its test in the list of tests, -1 for a leaf.
struct Shape {
  std::int32_t test = -1;
  std::int32_t low = -1, high = -1;  // indices of the children, where the test does not hold and where it does; -1: a leaf
};

template <std::signed_integral Count> class TwoLevels {
 public:
  TwoLevels(std::size_t tests, std::size_t classes, Prices prices, Count least)
      : tests_(tests), classes_(classes), prices_(prices), least_(least), stride_(padded(tests)),
        single_(classes * stride_), total_(classes), room_(classes * stride_), low_(stride_), high_(stride_), cost_(tests) {}

  // Evaluates the rows of `all`, without those of `minus` if given.
  void judge(const PairTable<Count>& all, const PairTable<Count>* minus) {
    read(all, minus);
    test_pair_loops().of<Count>().judge(pairs_, {single_.data(), total_.data(), least_, room_.data(), low_.data(), high_.data()});
    for (std::size_t i = 0; i < tests_; ++i) cost_[i] = cost_of(i);
  }
  // The same for trees with a single test.
  void judge_one_level(const PairTable<Count>& all) {
    read(all, nullptr);
    std::fill(low_.begin(), low_.end(), never<Count>), std::fill(high_.begin(), high_.end(), never<Count>);
    for (std::size_t i = 0; i < tests_; ++i) cost_[i] = cost_of(i);
  }

  // First test of the best tree, -1 for a leaf; the earliest on ties.
  std::int32_t test() const {
    std::int64_t best = leaf_cost();
    std::int32_t found = -1;
    for (std::size_t i = 0; i < tests_; ++i) if (cost_[i] < best) best = cost_[i], found = std::int32_t(i);
    return found;
  }
  std::int64_t cost() const {
    const std::int32_t found = test();
    return found < 0 ? leaf_cost() : cost_[std::size_t(found)];
  }
  // Cost of the best tree with this first test; `unreached` if a branch would be too small.
  std::int64_t cost(std::size_t first) const { return cost_[first]; }
  static constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max() / 4;

  // Appends the best tree to shapes; returns its index, -1 for a leaf.
  std::int32_t shape(std::vector<Shape>& shapes) const {
    const std::int32_t first = test();
    if (first < 0) return -1;
    const std::int32_t low = second(std::size_t(first), false, shapes), high = second(std::size_t(first), true, shapes);
    shapes.push_back({first, low, high});
    return std::int32_t(shapes.size()) - 1;
  }

 private:
  void read(const PairTable<Count>& all, const PairTable<Count>* minus) {
    pairs_ = {all.data(), minus ? minus->data() : nullptr, tests_, stride_, classes_};
    for (std::size_t c = 0; c < classes_; ++c) {
      total_[c] = all.total()[c] - (minus ? minus->total()[c] : Count(0));
      for (std::size_t i = 0; i < tests_; ++i) single_[c * stride_ + i] = pairs_.at(c, i, i);
    }
  }
  std::int64_t leaf_cost() const {
    Count all = 0, most = 0;
    for (const Count n : total_) all += n, most = std::max(most, n);
    return price(all - most, 1);
  }
  std::int64_t price(Count error, std::int64_t leaves) const { return prices_.mistake * std::int64_t(error) + prices_.leaf * leaves; }

  // Error of the rows where test i holds (or does not) as a single leaf; empty if their weight is too small.
  std::optional<Count> leaf_error(std::size_t i, bool holds) const {
    Count all = 0, most = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      const Count here = single_[c * stride_ + i], n = holds ? here : total_[c] - here;
      all += n, most = std::max(most, n);
    }
    return all < least_ ? std::nullopt : std::optional(all - most);
  }
  std::int64_t branch_cost(std::size_t i, bool holds, Count error) const {
    const std::int64_t leaf = price(error, 1);
    return is_split(i, holds) ? std::min(price(holds ? high_[i] : low_[i], 2), leaf) : leaf;
  }
  bool is_split(std::size_t i, bool holds) const { return (holds ? high_[i] : low_[i]) < never<Count> / 2; }
  std::int64_t cost_of(std::size_t i) const {
    const auto low = leaf_error(i, false), high = leaf_error(i, true);
    return low && high ? branch_cost(i, false, *low) + branch_cost(i, true, *high) : unreached;
  }

  // Second test of a branch of the first, appended to shapes; -1 if a leaf costs no more.
  std::int32_t second(std::size_t i, bool holds, std::vector<Shape>& shapes) const {
    const Count error = *leaf_error(i, holds), least = holds ? high_[i] : low_[i];
    if (!is_split(i, holds) || price(error, 1) <= price(least, 2)) return -1;
    std::size_t j = 0;
    while (j == i || pair_error(i, holds, j) != least) ++j;
    shapes.push_back({std::int32_t(j), -1, -1});
    return std::int32_t(shapes.size()) - 1;
  }
  Count pair_error(std::size_t i, bool holds, std::size_t j) const {
    Count all[2] = {}, most[2] = {};
    for (std::size_t c = 0; c < classes_; ++c) {
      const Count both = pairs_.at(c, i, j), one = single_[c * stride_ + j];
      const Count in = holds ? single_[c * stride_ + i] : total_[c] - single_[c * stride_ + i];
      const Count n[2] = {in - (holds ? both : one - both), holds ? both : one - both};
      for (int k = 0; k < 2; ++k) all[k] += n[k], most[k] = std::max(most[k], n[k]);
    }
    return all[0] < least_ || all[1] < least_ ? never<Count> : all[0] - most[0] + all[1] - most[1];
  }

  std::size_t tests_, classes_;
  Prices prices_;
  Count least_;
  std::size_t stride_;
  Pairs<Count> pairs_{};
  std::vector<Count> single_, total_, room_, low_, high_;
  std::vector<std::int64_t> cost_;  // [tests]
};

}  // namespace baytree::tree::optimal
