// What a node of a growing tree keeps: the classes of its rows, what each column tells of them, and its test.
#pragma once
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "tree/streaming/bins.hpp"
#include "tree/streaming/normal.hpp"

namespace baytree::tree::streaming {

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
