// Small matrices: products of rows with themselves, and solutions by Cholesky's decomposition.
#pragma once
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "linear/factor_loops.hpp"
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

// Cholesky's decomposition of a symmetric matrix, its rows and columns in units of their diagonal.
class Factor {
 public:
  // Of a matrix [m, m] given by its lower half; nothing where it is not surely regular: a direction has less than a millionth of its own
  // size left beside the others.
  static std::optional<Factor> of(std::span<const double> matrix, std::size_t m) {
    Factor made;
    made.unit_.resize(m), made.upper_.resize(m * m), made.lower_.resize(m * m);
    for (std::size_t j = 0; j < m; ++j) made.unit_[j] = matrix[j * m + j] > 0 ? std::sqrt(matrix[j * m + j]) : 1.0;
    for (std::size_t j = 0; j < m; ++j)
      for (std::size_t l = 0; l <= j; ++l) made.upper_[l * m + j] = matrix[j * m + l] / made.unit_[l] / made.unit_[j];
    const bool is_regular = factor_loops().decompose(made.upper_.data(), made.lower_.data(), m, kLeast * kLeast);
    return is_regular ? std::optional(std::move(made)) : std::nullopt;
  }

  // `right` becomes matrix⁻¹ right.
  void solve(std::span<double> right) const {
    const std::size_t m = unit_.size();
    for (std::size_t j = 0; j < m; ++j) right[j] /= unit_[j];
    factor_loops().solve(upper_.data(), lower_.data(), m, right.data());
    for (std::size_t j = 0; j < m; ++j) right[j] /= unit_[j];
  }

 private:
  static constexpr double kLeast = 1e-6;

  std::vector<double> unit_, upper_, lower_;  // [m]; the factor by rows, and by columns: both solutions add rows
};

// matrix⁻¹ right for a symmetric matrix; nothing where it is not surely regular.
inline std::optional<std::vector<double>> solved(const std::vector<double>& matrix, std::vector<double> right) {
  const auto factor = Factor::of(matrix, right.size());
  if (!factor) return std::nullopt;
  factor->solve(right);
  return right;
}

}  // namespace baytree::linear
