// Best test of a node of a streaming tree from its statistics, and the evidence for it.
//
// The score of a test is its decrease of impurity minus the bits that encode which of the column's tests it is, since
// among very many tests one looks good by chance. n times the gain in bits is a log-likelihood ratio.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "numeric/impurity.hpp"
#include "tree/streaming/node.hpp"

namespace baytree::tree::streaming {

struct NearXLog2X {
  double operator()(double x) const { return x > std::numeric_limits<double>::min() ? x * numeric::near_log2(x) : 0.0; }
};

struct Found {
  Test test;
  double worth = 0;     // of the criterion per unit of weight, after the penalty
  double evidence = 0;  // bits in favour of the test

  bool is_there() const { return test.column >= 0; }
};

class Search {
 public:
  Search(const Node& node, std::span<const Kind> kinds, std::span<const std::vector<int32_t>> order, size_t classes, bool by_gini)
      : node_(node), kinds_(kinds), order_(order), classes_(classes), by_gini_(by_gini), weight_(sum_of(node.own)),
        entropy_(side(node.own).bits), gini_(by_gini ? numeric::gini<double>(node.own) : 0.0), left_(classes), right_(classes), other_(classes) {}

  // Best test of each column; the earlier column wins ties.
  Found best_of(size_t column) {
    Found best;
    kinds_[column] == Kind::kNumber ? cuts(column, best) : groups(column, best);
    return best;
  }

  // Score of an existing test with the current statistics.
  Found standing(const Test& test) {
    Found found;
    part(test);
    judge(ways(size_t(test.column)), found, [&] { return test; });
    return found;
  }

  // Class weights of the first and the second branch of a test.
  std::pair<std::vector<double>, std::vector<double>> branches(const Test& test) {
    part(test);
    return {left_, right_};
  }

 private:
  const Node& node_;
  std::span<const Kind> kinds_;
  std::span<const std::vector<int32_t>> order_;
  size_t classes_;
  bool by_gini_;
  double weight_, entropy_, gini_;
  std::vector<double> left_, right_, other_;

  void part(const Test& test) {
    const Told& told = node_.told[size_t(test.column)];
    std::ranges::fill(left_, 0.0);
    const bool is_number = kinds_[size_t(test.column)] == Kind::kNumber;
    const size_t rows = is_number ? told.bins.size() : told.levels.size(classes_);
    for (size_t i = 0; i < rows; ++i) {
      const int32_t known = is_number ? test.is_above(told.bins.low[i]) : i < test.branch_of.size() ? test.branch_of[i] : -1;
      if ((known < 0 ? test.missing : known) == 0) add_to(left_, is_number ? told.bins.mass.of(i, classes_) : told.levels.of(i, classes_));
    }
    if (test.missing == 0) add_to(left_, told.gap);
    rest();
  }

  struct Side {
    double weight = 0, bits = 0;  // entropy times weight
  };
  static Side side(std::span<const double> masses) {
    constexpr NearXLog2X x_log2_x;
    double weight = 0, sum = 0;
    for (const double mass : masses) weight += mass, sum += x_log2_x(mass);
    return {weight, x_log2_x(weight) - sum};
  }

  bool has_gap(size_t column) const { return sum_of(node_.told[column].gap) > 0; }

  // log2 of the number of tests of a column.
  double ways(size_t column) const {
    const Told& told = node_.told[column];
    const double gap = has_gap(column) ? 1 : 0;
    if (kinds_[column] == Kind::kNumber) return std::log2(std::max(1.0, double(told.bins.size()) - 1)) + gap;
    size_t present = 0;
    for (size_t i = 0; i < told.levels.size(classes_); ++i) present += sum_of(told.levels.of(i, classes_)) > 0;
    const double others = std::max(1.0, double(present) - 1);  // one of the two branches contains the first level
    return (kinds_[column] == Kind::kRank ? std::log2(others) : others < 50 ? std::log2(std::exp2(others) - 1) : others) + gap;
  }

  void rest() {
    for (size_t k = 0; k < classes_; ++k) right_[k] = std::max(0.0, node_.own[k] - left_[k]);
  }

  // Compares the branches left_ and right_ with the best so far.
  template <std::invocable Make> void judge(double price, Found& best, const Make& test) {
    const Side left = side(left_), right = side(right_);
    const double gained = entropy_ - left.bits - right.bits, evidence = gained - price;
    if (!(evidence > 0) || !(left.weight > 0) || !(right.weight > 0)) return;
    const double by_criterion = by_gini_ ? gini_ - numeric::gini<double>(left_) - numeric::gini<double>(right_) : gained;
    const double worth = by_criterion * (evidence / gained) / weight_;
    if (best.is_there() && !(worth > best.worth)) return;
    best = {test(), worth, evidence};
  }

  // The branch left_ and its complement, with missing values on either side.
  template <std::invocable<int32_t> Make> void both_ways(size_t column, bool lacks, double price, Found& best, const Make& test) {
    rest();
    const auto& gap = node_.told[column].gap;
    if (!lacks) return judge(price, best, [&] { return test(sum_of(right_) > sum_of(left_)); });  // the heavier one
    judge(price, best, [&] { return test(1); });
    other_ = left_;
    add_to(left_, gap);
    rest();
    judge(price, best, [&] { return test(0); });
    left_ = other_;
  }

  void cuts(size_t column, Found& best) {
    const Bins& bins = node_.told[column].bins;
    const double price = ways(column);
    const bool lacks = has_gap(column);
    std::ranges::fill(left_, 0.0);
    for (size_t i = 0; i + 1 < bins.size(); ++i) {
      add_to(left_, bins.mass.of(i, classes_));
      both_ways(column, lacks, price, best, [&](int32_t missing) { return Test{int32_t(column), cut_between(bins, i), {}, missing}; });
    }
    if (bins.size() && lacks) {  // only missing values separated
      add_to(left_, bins.mass.of(bins.size() - 1, classes_));
      rest();
      judge(price, best, [&] { return Test{int32_t(column), std::numeric_limits<double>::infinity(), {}, 1}; });
    }
  }

  // Midpoint of two numbers, or lower edge of a bin.
  static double cut_between(const Bins& bins, size_t i) {
    constexpr double largest = std::numeric_limits<double>::max();
    const double low = std::max(bins.low[i], -largest), high = std::min(bins.low[i + 1], largest), middle = std::midpoint(low, high);
    return bins.grid.exponent() == kExact && low < middle && middle < high ? middle : high;
  }

  void groups(size_t column, Found& best) {
    const Masses& levels = node_.told[column].levels;
    std::vector<int32_t> present;
    for (const int32_t i : order_[column])
      if (size_t(i) < levels.size(classes_) && sum_of(levels.of(size_t(i), classes_)) > 0) present.push_back(i);
    if (present.empty()) return;
    const double price = ways(column);
    if (kinds_[column] == Kind::kRank) return parted(column, price, present, best);
    for (const size_t label : heaviest()) {
      auto by_share = present;
      std::ranges::stable_sort(by_share, std::less{}, [&](int32_t i) {
        const auto masses = levels.of(size_t(i), classes_);
        return masses[label] / sum_of(masses);
      });
      parted(column, price, by_share, best);
    }
  }

  // Classes by whose proportion levels are ordered: for two classes one is enough; for many, the eight heaviest.
  std::vector<size_t> heaviest() const {
    std::vector<size_t> labels;
    for (size_t k = 0; k < classes_; ++k) if (node_.own[k] > 0) labels.push_back(k);
    std::ranges::stable_sort(labels, std::greater{}, [&](size_t k) { return node_.own[k]; });
    if (labels.size() == 2) labels.pop_back();
    if (labels.size() > 8) labels.resize(8);
    return labels;
  }

  // Binary splits of ordered levels.
  void parted(size_t column, double price, const std::vector<int32_t>& levels, Found& best) {
    const Masses& masses = node_.told[column].levels;
    const bool lacks = has_gap(column);
    std::ranges::fill(left_, 0.0);
    const auto test = [&](size_t end, int32_t missing) {
      Test made{int32_t(column), std::numeric_limits<double>::quiet_NaN(), std::vector<int32_t>(masses.size(classes_), -1), missing};
      for (size_t at = 0; at < levels.size(); ++at) made.branch_of[size_t(levels[at])] = at >= end;
      return made;
    };
    for (size_t at = 0; at + 1 < levels.size(); ++at) {
      add_to(left_, masses.of(size_t(levels[at]), classes_));
      both_ways(column, lacks, price, best, [&](int32_t missing) { return test(at + 1, missing); });
    }
    if (lacks) {
      add_to(left_, masses.of(size_t(levels.back()), classes_));
      rest();
      judge(price, best, [&] { return test(levels.size(), 1); });
    }
  }
};

}  // namespace baytree::tree::streaming
