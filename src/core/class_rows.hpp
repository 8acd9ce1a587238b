// Rows about the mean of their class: what a scatter matrix is made of, block by block.
#pragma once
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace baytree {

// A matrix of the caller, read in place: `row` and `column` are steps in elements.
struct Strided {
  const double* first;
  std::ptrdiff_t row, column;
  std::size_t rows, columns;

  const double* at(std::size_t i) const { return first + static_cast<std::ptrdiff_t>(i) * row; }
};

// Calls f(i, x) for each row, where x(j) is its j-th number; a step of 1 is told to the compiler, which vectorises it.
template <std::invocable<std::size_t, const double*, std::ptrdiff_t> F> void each_row(const Strided& x, const F& f) {
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (x.column == 1)
      f(i, x.at(i), 1);
    else
      f(i, x.at(i), x.column);
  }
}

// Weight and weighted mean of each class, about `pivot`, in `total` [n_classes] and `mean` [n_classes, columns].
// Sums are taken about the pivot so that a column at 1e9 loses no digits.
inline void class_means(const Strided& x, std::span<const std::int32_t> label, std::span<const double> weight,
                        std::span<const double> pivot, std::span<double> total, std::span<double> mean) {
  const double* const about = pivot.data();
  each_row(x, [&](std::size_t i, const double* row, std::ptrdiff_t step) {
    const auto k = static_cast<std::size_t>(label[i]);
    const double w = weight[i];
    double* const sum = mean.data() + k * x.columns;
    total[k] += w;
    for (std::size_t j = 0; j < x.columns; ++j) sum[j] += w * (row[static_cast<std::ptrdiff_t>(j) * step] - about[j]);
  });
  for (std::size_t k = 0; k < total.size(); ++k) {
    const double scale = total[k] > 0 ? 1 / total[k] : 0;
    for (std::size_t j = 0; j < x.columns; ++j) mean[k * x.columns + j] *= scale;
  }
}

// Writes sqrt(weight) (row - pivot - mean of its class) to row `place[i]` of `out`.
inline void centred_rows(const Strided& x, std::span<const std::int32_t> label, std::span<const double> weight,
                         std::span<const double> pivot, std::span<const double> mean,
                         std::span<const std::int64_t> place, std::span<double> out) {
  const double* const about = pivot.data();
  each_row(x, [&](std::size_t i, const double* row, std::ptrdiff_t step) {
    const double* const centre = mean.data() + static_cast<std::size_t>(label[i]) * x.columns;
    double* const to = out.data() + static_cast<std::size_t>(place[i]) * x.columns;
    const double root = std::sqrt(weight[i]);
    for (std::size_t j = 0; j < x.columns; ++j)
      to[j] = root * ((row[static_cast<std::ptrdiff_t>(j) * step] - about[j]) - centre[j]);
  });
}

}  // namespace baytree
