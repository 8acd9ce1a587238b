// The two smallest and the two largest distinct values with their counts, and the number of NaN.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace baytree::numeric {

// Ordered from the extreme inwards; `is_outside(a, b)`: a is more extreme than b.
template <typename IsOutside> class End {
 public:
  bool is_inside(double value) const { return n_[1] && IsOutside()(value_[1], value); }
  void take(double value) {
    if (n_[0] && value == value_[0]) ++n_[0];
    else if (n_[1] && value == value_[1]) ++n_[1];
    else if (!n_[0] || IsOutside()(value, value_[0])) put(1, value_[0], n_[0]), put(0, value, 1);
    else if (!n_[1] || IsOutside()(value, value_[1])) put(1, value, 1);
  }
  std::vector<std::pair<double, int64_t>> found() const {
    std::vector<std::pair<double, int64_t>> found;
    for (size_t k = 0; k < 2 && n_[k]; ++k) found.emplace_back(value_[k], n_[k]);
    return found;
  }

 private:
  void put(size_t k, double value, int64_t n) { value_[k] = value, n_[k] = n; }
  double value_[2] = {0, 0};
  int64_t n_[2] = {0, 0};
};

using Counts = std::vector<std::pair<double, int64_t>>;

struct Ends {
  Counts lowest, highest;
  int64_t n_missing = 0;
};

// Minimum and maximum of values, and whether any is NaN, in groups of eight that compile to vector instructions.
struct Range {
  double low, high;
  bool has_missing;

  static Range of(std::span<const double> values) {
    double low[8], high[8];
    std::fill_n(low, 8, std::numeric_limits<double>::infinity()), std::fill_n(high, 8, -std::numeric_limits<double>::infinity());
    int n_missing[8] = {};
    const auto take = [&](std::size_t i, std::size_t j) {
      low[j] = values[i] < low[j] ? values[i] : low[j];
      high[j] = values[i] > high[j] ? values[i] : high[j];
      n_missing[j] += values[i] != values[i];
    };
    std::size_t i = 0;
    for (; i + 8 <= values.size(); i += 8)
      for (std::size_t j = 0; j < 8; ++j) take(i + j, j);
    for (; i < values.size(); ++i) take(i, 0);
    return {*std::min_element(low, low + 8), *std::max_element(high, high + 8), std::accumulate(n_missing, n_missing + 8, 0) > 0};
  }
};

inline Ends ends(std::span<const double> values) {
  struct Less {
    bool operator()(double a, double b) const { return a < b; }
  };
  struct More {
    bool operator()(double a, double b) const { return a > b; }
  };
  constexpr std::size_t block_values = 64;  // values whose range is compared first: most blocks contain no new extreme
  End<Less> lowest;
  End<More> highest;
  int64_t n_missing = 0;
  for (std::size_t first = 0; first < values.size(); first += block_values) {
    const auto block = values.subspan(first, std::min(block_values, values.size() - first));
    const Range range = Range::of(block);
    if (!range.has_missing && lowest.is_inside(range.low) && highest.is_inside(range.high)) continue;
    for (const double value : block) {
      if (value != value) ++n_missing;
      else lowest.take(value), highest.take(value);
    }
  }
  return {lowest.found(), highest.found(), n_missing};
}

}  // namespace baytree::numeric
