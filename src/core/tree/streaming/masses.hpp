// Weights by class, a row of them for each bin or level.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace baytree::tree::streaming {

inline void add_to(std::span<double> sum, std::span<const double> more) {
  for (size_t k = 0; k < sum.size(); ++k) sum[k] += more[k];
}

inline double sum_of(std::span<const double> masses) {
  double sum = 0;
  for (const double mass : masses) sum += mass;
  return sum;
}

// Deals what a node had at its start to two branches as the rows since were dealt, in whole numbers where they are whole: of
// each class by its own shares, of one that did not come since by those of all.
inline void share_out(std::span<const double> start, std::span<double> low, std::span<double> high) {
  const double in_low = sum_of(low), in_both = in_low + sum_of(high);
  for (size_t k = 0; k < start.size(); ++k) {
    const double came = low[k] + high[k];
    const double exact = start[k] * (came > 0 ? low[k] / came : in_low / in_both);
    const double to_low = std::floor(start[k]) == start[k] ? std::min(start[k], std::floor(exact + 0.5)) : exact;
    low[k] += to_low;
    high[k] += start[k] - to_low;
  }
}

struct Masses {
  std::vector<double> all;  // [n_rows, n_classes]

  std::span<double> of(size_t row, size_t classes) { return {all.data() + row * classes, classes}; }
  std::span<const double> of(size_t row, size_t classes) const { return {all.data() + row * classes, classes}; }

  size_t size(size_t classes) const { return classes ? all.size() / classes : 0; }
  void resize(size_t rows, size_t classes) { all.resize(rows * classes); }
  void insert(size_t row, size_t classes) { all.insert(all.begin() + std::ptrdiff_t(row * classes), classes, 0.0); }
  void move(size_t from, size_t to, size_t classes) {
    if (from != to) std::ranges::copy(of(from, classes), of(to, classes).begin());
  }
  // Room for a class that no row had before.
  void widen(size_t classes, size_t more) {
    const size_t rows = size(classes);
    std::vector<double> wide(rows * more);
    for (size_t row = 0; row < rows; ++row) std::ranges::copy(of(row, classes), wide.begin() + std::ptrdiff_t(row * more));
    all = std::move(wide);
  }
};

}  // namespace baytree::tree::streaming
