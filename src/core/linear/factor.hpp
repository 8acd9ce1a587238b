// Small matrices: products of rows with themselves, and solutions by Cholesky's decomposition.
#pragma once
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "linear/row_loops.hpp"

namespace baytree::linear {

// rows' rows, for rows [n, q]; both halves. [q, q]
inline std::vector<double> products(std::span<const double> rows, std::size_t q) {
  std::vector<double> sum(q * q, 0.0);
  row_loops().products(rows.data(), rows.size() / q, q, sum.data());
  for (std::size_t j = 0; j < q; ++j)
    for (std::size_t l = 0; l < j; ++l) sum[l * q + j] = sum[j * q + l];
  return sum;
}

// matrix⁻¹ right for a symmetric matrix, its rows and columns in units of their diagonal; nothing where it is not surely regular:
// a direction has less than a millionth of its own size left beside the others.
inline std::optional<std::vector<double>> solved(std::vector<double> matrix, std::vector<double> right) {
  constexpr double kLeast = 1e-6;
  const std::size_t m = right.size();
  std::vector<double> unit(m);
  for (std::size_t j = 0; j < m; ++j) unit[j] = matrix[j * m + j] > 0 ? std::sqrt(matrix[j * m + j]) : 1.0;
  for (std::size_t j = 0; j < m; ++j) {
    right[j] /= unit[j];
    for (std::size_t l = j; l < m; ++l) matrix[j * m + l] = matrix[j * m + l] / unit[j] / unit[l];
  }
  for (std::size_t k = 0; k < m; ++k) {  // the upper half becomes the factor, row by row, and `right` what it leaves
    double* const row = matrix.data() + k * m;
    if (!(row[k] > kLeast * kLeast) || !std::isfinite(row[k])) return std::nullopt;
    const double root = std::sqrt(row[k]);
    for (std::size_t l = k; l < m; ++l) row[l] /= root;
    right[k] /= root;
    for (std::size_t j = k + 1; j < m; ++j) {
      double* const to = matrix.data() + j * m;
      for (std::size_t l = j; l < m; ++l) to[l] -= row[j] * row[l];
      right[j] -= row[j] * right[k];
    }
  }
  for (std::size_t k = m; k-- > 0;) {
    const double* const row = matrix.data() + k * m;
    for (std::size_t l = k + 1; l < m; ++l) right[k] -= row[l] * right[l];
    right[k] /= row[k];
  }
  for (std::size_t j = 0; j < m; ++j) right[j] /= unit[j];
  return right;
}

}  // namespace baytree::linear
