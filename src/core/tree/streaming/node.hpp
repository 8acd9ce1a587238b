// Nodes of a streaming tree; codes in order of arrival; and normal densities of numeric columns.
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

// Levels and classes in order of arrival: independent of later ones and of batches.

struct Arrivals {
  std::vector<int32_t> place;  // [n_codes], index of each code in order of arrival, -1 if it has not arrived
  int32_t count = 0;

  static Arrivals of(std::span<const int32_t> places) {
    Arrivals known{{places.begin(), places.end()}, 0};
    for (const int32_t place : places) known.count = std::max(known.count, place + 1);
    return known;
  }
  // Index of a code; a new one is appended.
  int32_t arrive(int32_t code) {
    int32_t& at = place[size_t(code)];
    return at >= 0 ? at : at = count++;
  }
  // Indices in order of the codes.
  std::vector<int32_t> in_order() const {
    std::vector<int32_t> places;
    for (const int32_t at : place) if (at >= 0) places.push_back(at);
    return places;
  }
};

// Normal density of a class for naive Bayes.

constexpr double kAnywhere = 1.0 / 12;  // variance of the uniform distribution on [0, 1]

// Numbers of a class, scaled so that the first and last bin of the column are at 0 and 1: a normal density with one
// pseudo-observation that is uniform on [0, 1]. Another copy of a value always increases its density, however far it is
// from the others.
class Normal {
 public:
  Normal() : Normal(0, 0.5, 0) {}
  Normal(double weight, double mean, double squares) : weight_(weight), mean_(mean), squares_(squares) {
    precision_ = (weight + 1) / (squares + kAnywhere);
    height_ = 0.5 * numeric::near_log2(precision_);
  }
  // Log-density in bits, up to a constant that all classes share.
  double bits(double place) const { return height_ - 0.72134752044448170368 * precision_ * (place - mean_) * (place - mean_); }
  // After adding `copies` rows at one position.
  Normal with(double place, double copies) const {
    const double share = copies / (weight_ + copies), distance = place - mean_;
    return {weight_ + copies, mean_ + share * distance, squares_ + share * weight_ * distance * distance};
  }
  double mean() const { return mean_; }
  double deviation() const { return std::sqrt(1 / precision_); }

 private:
  double weight_, mean_, squares_;  // sum of squared deviations
  double precision_, height_;
};

// Statistics of a node: class weights, class weights per column, and its test.

enum class Kind : int32_t { kNumber, kName, kRank };

// Class weights per column: numbers by bins, categories and ranks by level; missing values separately.
struct Told {
  Bins bins;
  Masses levels;            // [n_levels, n_classes], levels in order of arrival
  std::vector<double> gap;  // [n_classes]
  // Derived values for naive Bayes: fewer bins, densities, and the number of levels that occurred.
  Bins few;
  std::vector<Normal> normal;  // [n_classes]
  size_t present = 0;
};

// Weight of rows whose class was predicted correctly before they were learnt, since the last split of the node.
struct Named {
  double by_counts = 0, by_bayes = 0;
  double before = 0;  // earlier, by the better method
};
inline void add_to(Named& sum, const Named& more) {
  sum.by_counts += more.by_counts, sum.by_bayes += more.by_bayes, sum.before += more.before;
}

// Numbers up to the threshold, and levels of branch 0, go to the first child; a new level is treated as missing. No
// value is above an infinite threshold.
struct Test {
  int32_t column = -1;
  double cut = std::numeric_limits<double>::quiet_NaN();
  std::vector<int32_t> branch_of;  // levels in order of arrival; -1: the level did not exist
  int32_t missing = 0;

  bool is_above(double number) const { return number >= cut && cut < std::numeric_limits<double>::infinity(); }
  // A total order of tests; a leaf comes first.
  auto key() const { return std::tuple(column, cut == cut ? cut : 0.0, branch_of, missing); }
  bool operator==(const Test& other) const { return key() == other.key(); }
};

struct Node {
  std::vector<double> start, own;  // [n_classes]: weights inherited from the parent at the split, and of later rows
  std::vector<Told> told;          // [n_columns], of later rows; empty if the node no longer learns
  double seen = 0, next = 0;       // weight of later rows, and weight at the next evaluation
  int32_t depth = 0;
  bool listens = true;             // whether it learns from the rows that pass
  int32_t first = -1;              // of two children; -1: a leaf
  Test test;
  Named named;

  bool is_leaf() const { return first < 0; }
};

struct Settings {
  bool revises = true, by_gini = false;
  bool asks_bayes = false;  // whether class counts and naive Bayes are evaluated before learning
  double bits = 0;    // log2 of 1 / confidence
  double grace = 200, tie = 0;
  int32_t max_depth = std::numeric_limits<int32_t>::max();
  size_t most_bins = 64;
};

}  // namespace baytree::tree::streaming
