// Settings of the sorted search, and a node while the tree grows.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tree/sorted/split.hpp"
#include "tree/sorted/surrogates.hpp"
#include "util/options.hpp"

namespace baytree::tree::sorted {

enum class Absent { kLearned, kCategory, kLargest, kSurrogate };  // treatment of rows with a missing value

inline Absent absent(std::string_view name) {
  static constexpr Choice<Absent> choices[] = {{"learned", Absent::kLearned},
                                               {"category", Absent::kCategory},
                                               {"largest", Absent::kLargest},
                                               {"surrogate", Absent::kSurrogate}};
  return chosen("missing", name, choices);
}

struct Settings {
  std::string criterion = "gini";
  bool is_cart = false;  // rpart's arithmetic and conventions
  Absent absent = Absent::kLearned;
  double min_split = 2, min_leaf = 1;
  int max_depth = std::numeric_limits<int>::max();
  double min_impurity = 0;         // per unit of weight
  double min_gain = 0;             // in units of weight
  double min_risk = 0;             // a node with at most this risk is not split
  std::vector<double> critical;    // [df + 1] chi-squared that a split must reach, empty if unused
  std::vector<double> risk_scale;  // [n_classes]
  std::vector<double> loss;        // [true * predicted], empty if every error costs 1
  int max_levels = 12;            // maximum number of levels whose best groups are found, if no ordering is exact
  int max_exhaustive_levels = 12;             // up to so many of them (always without CART) by trying all groupings, else by bounds
  int max_surrogates = 0, use_surrogate = 2, surrogate_style = 0;
  bool takes_no_gain = false;      // whether an impure node is split even if no split has a gain
  int columns_per_node = 0;        // number of columns drawn at random among those that could split a node; 0: all
  uint64_t seed = 0;               // of the random draw
  int first_column = -1;           // column of the root's split; -1: any
  std::vector<int> directions;     // [columns] monotone constraints: 1 increasing, -1 decreasing, 0 none; or empty

  int direction(size_t column) const { return directions.empty() ? 0 : directions[column]; }
  // Whether a column is scored on the rows with a known value in it.
  bool is_known_only() const { return absent == Absent::kLargest || absent == Absent::kSurrogate; }
};

struct Node {
  uint32_t begin = 0, end = 0;  // range of its rows, in every column
  uint32_t left_out = 0, left_out_end = 0;  // range of its held-out rows
  int32_t depth = 0, first = 0, branches = 0, prediction = 0, missing = -1;
  int64_t rows = 0;
  double weight = 0, mean = 0, risk = 0, impurity = 0, gain = 0, most_improved = 0;
  bool is_final = false, is_strict = false;
  uint8_t side = kUnassigned;     // the branch of its parent; its rows still have this branch stored
  std::vector<int32_t> present;  // classes of its rows, ascending
  std::vector<double> counts;    // [present], weight of each
  std::vector<double> total;   // the measure's statistic of all rows
  Split split;
  std::vector<Surrogate> surrogates;
  std::vector<std::vector<uint32_t>> level_counts;  // per column, empty if its levels have not been counted

  bool is_leaf() const { return branches == 0; }
};

}  // namespace baytree::tree::sorted
