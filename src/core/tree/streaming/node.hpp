// Node, arrival codes, normal columns.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "numeric/impurity.hpp"
#include "tree/streaming/bins.hpp"

namespace baytree::tree::streaming {

// Levels and classes in the order in which they came: it does not depend on those that come later, or on batches.

struct Arrivals {
  std::vector<int32_t> place;  // [n_codes], the place of each code in the order of arrival, -1 before it came
  int32_t count = 0;

  static Arrivals of(std::span<const int32_t> places) {
    Arrivals known{{places.begin(), places.end()}, 0};
    for (const int32_t place : places) known.count = std::max(known.count, place + 1);
    return known;
  }
  // The place of a code; a new one comes last.
  int32_t arrive(int32_t code) {
    int32_t& at = place[size_t(code)];
    return at >= 0 ? at : at = count++;
  }
  // The places in the order of their codes.
  std::vector<int32_t> in_order() const {
    std::vector<int32_t> places;
    for (const int32_t at : place) if (at >= 0) places.push_back(at);
    return places;
  }
};

// The numbers of a class as naive Bayes takes them.

constexpr double kAnywhere = 1.0 / 12;  // the variance of what lies anywhere between 0 and 1

// The numbers of a class between the first and the last of their column, which lie at 0 and 1: normal, with one row more that
// lies anywhere. A further copy of a number makes it more probable, however far it lies from the others.
class Normal {
 public:
  Normal() : Normal(0, 0.5, 0) {}
  Normal(double weight, double mean, double squares) : weight_(weight), mean_(mean), squares_(squares) {
    precision_ = (weight + 1) / (squares + kAnywhere);
    height_ = 0.5 * numeric::near_log2(precision_);
  }
  // The logarithm of the density, up to what all classes share.
  double bits(double place) const { return height_ - 0.72134752044448170368 * precision_ * (place - mean_) * (place - mean_); }
  // With further rows at one place.
  Normal with(double place, double copies) const {
    const double share = copies / (weight_ + copies), distance = place - mean_;
    return {weight_ + copies, mean_ + share * distance, squares_ + share * weight_ * distance * distance};
  }
  double mean() const { return mean_; }
  double deviation() const { return std::sqrt(1 / precision_); }

 private:
  double weight_, mean_, squares_;  // squares: of the distances from the mean
  double precision_, height_;
};

// What a node of a growing tree keeps: the classes of its rows, what each column tells of them, and its test.

enum class Kind : int32_t { kNumber, kName, kRank };

// What one column tells of the classes: numbers by bins, names and ranks by level, and rows without a value apart.
struct Told {
  Bins bins;
  Masses levels;            // [n_levels, n_classes], by the order in which levels came
  std::vector<double> gap;  // [n_classes]
  // For naive Bayes, functions of the above: the numbers in fewer bins, what follows of them, and how many levels have come.
  Bins few;
  std::vector<Normal> normal;  // [n_classes]
  size_t present = 0;
};

// The weight of the rows whose class was named before they were learnt, since the node was split last, or began.
struct Named {
  double by_counts = 0, by_bayes = 0;
  double before = 0;  // until then, by what answered best
};
inline void add_to(Named& sum, const Named& more) {
  sum.by_counts += more.by_counts, sum.by_bayes += more.by_bayes, sum.before += more.before;
}

// Sends numbers below the cut and levels of branch 0 to the first child; a level that was not known takes the way of a gap.
// Nothing is above a cut at infinity.
struct Test {
  int32_t column = -1;
  double cut = std::numeric_limits<double>::quiet_NaN();
  std::vector<int32_t> branch_of;  // by the order in which levels came, -1 where the level was not there
  int32_t missing = 0;

  bool is_above(double number) const { return number >= cut && cut < std::numeric_limits<double>::infinity(); }
  // An order of tests, in which a leaf's comes first.
  auto key() const { return std::tuple(column, cut == cut ? cut : 0.0, branch_of, missing); }
  bool operator==(const Test& other) const { return key() == other.key(); }
};

struct Node {
  std::vector<double> start, own;  // [n_classes]: rows that the parent handed on with the split, and those since
  std::vector<Told> told;          // [n_columns], of the rows since; none where it no longer listens
  double seen = 0, next = 0;       // the weight since, and at which it is judged next
  int32_t depth = 0;
  bool listens = true;             // whether it learns of the rows that pass
  int32_t first = -1;              // of two children, -1 at a leaf
  Test test;
  Named named;

  bool is_leaf() const { return first < 0; }
};

struct Settings {
  bool revises = true, by_gini = false;
  bool asks_bayes = false;  // whether nodes are asked, by counts and by naive Bayes, before they learn
  double bits = 0;    // log2 of 1 / confidence
  double grace = 200, tie = 0;
  int32_t max_depth = std::numeric_limits<int32_t>::max();
  size_t most_bins = 64;
};

}  // namespace baytree::tree::streaming
