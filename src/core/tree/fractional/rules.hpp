// Options in which the tree algorithms of the C4.5 family differ.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "util/options.hpp"

namespace baytree::tree::fractional {

enum class MissingValues { spread, largest, category, learned };

inline constexpr Choice<MissingValues> kMissingValues[] = {{"fractional", MissingValues::spread},
                                                           {"largest", MissingValues::largest},
                                                           {"category", MissingValues::category},
                                                           {"learned", MissingValues::learned}};

struct Rules {
  std::string measure = "entropy";  // a criterion of criteria.hpp, or "id3": entropy with the arithmetic of Weka's Id3
  MissingValues missing = MissingValues::spread;
  bool by_ratio = true;         // gain ratio among tests of at least average gain; otherwise the largest gain
  bool binary = false;          // nominal tests: one level against the rest
  bool grouped = false;         // nominal tests: levels merged into groups
  bool mdl = true;              // subtract log2(number of thresholds) / weight from the gain of a numeric test
  bool midpoint = false;        // threshold half-way between neighbours instead of at a training value
  bool quinlan_sides = true;    // minimum weight of each side: 10 % of the average class, at least min_side, at most 25;
                                // neighbouring values are 1e-5 apart
  bool gated = true;            // gain ratio: only tests of at least average gain
  bool zero_ratio_wins = true;  // a test of ratio 0 may be chosen
  bool takes_no_gain = false;   // an impure node is split by the first column that can, if no test has a gain
  double min_side = 2;
  double tolerance = 0;  // a > b means a - b > tolerance
  double min_info = 0;
  double zero_gain = 0;  // gains up to this are 0
  double min_gain = 0;   // minimum gain per unit of total weight; for a chi-squared test, minimum −ln p
  double min_split = 0, min_impurity = 0;
  double total = 0;                         // weight of all rows, for the rule on columns of many levels
  int64_t max_depth = -1, max_leaves = -1;  // -1 = no limit
  int32_t first_column = -1;                // column that the root must test; -1: any

  bool greater(double a, double b) const { return tolerance > 0 ? a - b > tolerance : a > b; }
  bool reaches(double a, double b) const { return tolerance > 0 ? b - a < tolerance : a >= b; }
};

}  // namespace baytree::tree::fractional
