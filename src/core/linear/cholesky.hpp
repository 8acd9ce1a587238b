// Small dense matrices: cross products of rows, Cholesky decomposition and solution of linear systems.
#pragma once
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "linear/row_loops.hpp"
#include "simd/dispatch.hpp"

namespace baytree::linear {

// Inner loops. No sum runs across lanes, so the bits are the same for every instruction set.

struct CholeskyLoops {
  // The upper half of `upper` [m, m] becomes the factor, which is also written to `lower` by columns, with inverted
  // diagonal. Returns false if a pivot is not above `least`.
  bool (*decompose)(double* upper, double* lower, std::size_t m, double least);
  // `right` becomes the solution for the decomposed matrix.
  void (*solve)(const double* upper, const double* lower, std::size_t m, double* right);
  // to += factor · row.
  void (*add)(const double* row, double factor, std::size_t m, double* to);
};

// The loops for this machine.
extern const CholeskyLoops cholesky_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const CholeskyLoops cholesky_loops_v3, cholesky_loops_v4;
inline const CholeskyLoops& cholesky_loops() {
  static const CholeskyLoops& chosen = simd::loops_in_use(cholesky_loops_baseline, cholesky_loops_v3, cholesky_loops_v4);
  return chosen;
}
#else
inline const CholeskyLoops& cholesky_loops() { return cholesky_loops_baseline; }
#endif

// rows' rows for rows [n, q]; both halves of the symmetric result [q, q].
inline std::vector<double> products(std::span<const double> rows, std::size_t q) {
  std::vector<double> sum(q * q, 0.0);
  row_loops().products(rows.data(), rows.size() / q, q, sum.data());
  for (std::size_t j = 0; j < q; ++j)
    for (std::size_t l = 0; l < j; ++l) sum[l * q + j] = sum[j * q + l];
  return sum;
}

// Cholesky decomposition of a symmetric matrix that is scaled to unit diagonal.
class Factor {
 public:
  // Decomposes a matrix [m, m] given by its lower half; empty if it is close to singular: after elimination, a column
  // has less than a millionth of its length left.
  static std::optional<Factor> of(std::span<const double> matrix, std::size_t m) {
    Factor made;
    made.unit_.resize(m), made.upper_.resize(m * m), made.lower_.resize(m * m);
    for (std::size_t j = 0; j < m; ++j) made.unit_[j] = matrix[j * m + j] > 0 ? std::sqrt(matrix[j * m + j]) : 1.0;
    for (std::size_t j = 0; j < m; ++j)
      for (std::size_t l = 0; l <= j; ++l) made.upper_[l * m + j] = matrix[j * m + l] / made.unit_[l] / made.unit_[j];
    const bool is_regular = cholesky_loops().decompose(made.upper_.data(), made.lower_.data(), m, kLeast * kLeast);
    return is_regular ? std::optional(std::move(made)) : std::nullopt;
  }

  // `right` becomes matrix⁻¹ right.
  void solve(std::span<double> right) const {
    const std::size_t m = unit_.size();
    for (std::size_t j = 0; j < m; ++j) right[j] /= unit_[j];
    cholesky_loops().solve(upper_.data(), lower_.data(), m, right.data());
    for (std::size_t j = 0; j < m; ++j) right[j] /= unit_[j];
  }

 private:
  static constexpr double kLeast = 1e-6;

  std::vector<double> unit_, upper_, lower_;  // [m]; the factor by rows and by columns, so that both substitutions add rows
};

// matrix⁻¹ right for a symmetric matrix; empty if it is close to singular.
inline std::optional<std::vector<double>> solved(const std::vector<double>& matrix, std::vector<double> right) {
  const auto factor = Factor::of(matrix, right.size());
  if (!factor) return std::nullopt;
  factor->solve(right);
  return right;
}

}  // namespace baytree::linear
