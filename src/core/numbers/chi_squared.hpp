// Pearson's statistic: do the rows of a table of weights have the same classes?
#pragma once
#include <concepts>
#include <cstddef>
#include <span>

namespace baytree::numbers {

// What a cell adds; one that nothing is expected in adds nothing.
inline double pearson_cell(double seen, double expected) {
  const double apart = seen - expected;
  return expected > 0 ? apart * apart / expected : 0.0;
}

// Σ (seen − expected)² / expected over a table of rows, `row(i)` being a span of weights per class.
// `of_class` are the sums over all rows, `whole` is the sum of those.
template <typename Row>
  requires std::invocable<const Row&, std::size_t>
double pearson(std::size_t n_rows, const Row& row, std::span<const double> of_class, double whole) {
  double statistic = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const auto seen = row(i);
    double in_row = 0;
    for (const auto weight : seen) in_row += weight;
    for (std::size_t c = 0; c < of_class.size(); ++c) statistic += pearson_cell(seen[c], in_row * of_class[c] / whole);
  }
  return statistic;
}

}  // namespace baytree::numbers
