// Small dense matrices: cross products of rows, Cholesky decomposition and solution of linear systems.
#pragma once
#include <algorithm>
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

  std::size_t size() const { return unit_.size(); }

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

// Cholesky decomposition with pivoting of a singular matrix that is scaled to unit diagonal: which columns depend on others, and how.
class PivotedFactor {
 public:
  // Decomposes a matrix [m, m] given by its lower half; empty if it is not finite.
  static std::optional<PivotedFactor> of(std::span<const double> matrix, std::size_t m) {
    PivotedFactor made;
    made.unit_.resize(m), made.order_.resize(m), made.row_.assign(m * m, 0.0);
    std::vector<double> left(m);  // of each column: squared length after elimination
    for (std::size_t j = 0; j < m; ++j) {
      const double square = matrix[j * m + j];
      if (!std::isfinite(square)) return std::nullopt;
      made.unit_[j] = square > 0 ? std::sqrt(square) : 1.0, left[j] = square > 0 ? 1.0 : 0.0, made.order_[j] = j;
    }
    for (; made.rank_ < m; ++made.rank_) {
      const std::size_t r = made.rank_;
      std::size_t best = r;
      for (std::size_t a = r + 1; a < m; ++a)
        if (left[made.order_[a]] > left[made.order_[best]]) best = a;
      std::swap(made.order_[r], made.order_[best]);
      const std::size_t j = made.order_[r];
      if (!(left[j] > kDependent)) break;
      double* const own = made.row_.data() + j * m;  // row j of the factor, [rank]
      own[r] = std::sqrt(left[j]);
      for (std::size_t a = r + 1; a < m; ++a) {
        const std::size_t l = made.order_[a];
        double* const other = made.row_.data() + l * m;
        double sum = matrix[std::max(j, l) * m + std::min(j, l)] / made.unit_[j] / made.unit_[l];
        for (std::size_t t = 0; t < r; ++t) sum -= own[t] * other[t];
        other[r] = sum / own[r];
        left[l] -= other[r] * other[r];
      }
    }
    return made;
  }

  std::size_t n_dependent() const { return unit_.size() - rank_; }

  // Length of a dependent column before scaling.
  double unit(std::size_t dependent) const { return 1 / unit_[order_[rank_ + dependent]]; }

  // The direction [m] along which a dependent column replaces the columns that it depends on.
  std::vector<double> null_direction(std::size_t dependent) const {
    auto direction = scaled_null_direction(dependent);
    for (std::size_t j = 0; j < direction.size(); ++j) direction[j] /= unit_[j];
    return direction;
  }

  // The shortest solution of matrix x = right, in units of the columns' lengths; it does not depend on the choice of pivots.
  std::vector<double> solve(std::span<const double> right) const {
    const std::size_t m = unit_.size();
    std::vector<double> own(rank_), out(m, 0.0);
    for (std::size_t t = 0; t < rank_; ++t) {
      const double* const row = row_.data() + order_[t] * m;
      own[t] = right[order_[t]] / unit_[order_[t]];
      for (std::size_t s = 0; s < t; ++s) own[t] -= row[s] * own[s];
      own[t] /= row[t];
    }
    substitute_back(own);
    for (std::size_t t = 0; t < rank_; ++t) out[order_[t]] = own[t];
    std::vector<std::vector<double>> basis;  // of the null space, orthogonal
    for (std::size_t dependent = 0; dependent < n_dependent(); ++dependent) {
      auto direction = scaled_null_direction(dependent);
      for (const auto& other : basis) subtract_part(other, direction);
      subtract_part(direction, out);
      basis.push_back(std::move(direction));
    }
    for (std::size_t j = 0; j < m; ++j) out[j] /= unit_[j];
    return out;
  }

 private:
  static constexpr double kDependent = 1e-11;  // squared length that is left of a column of length 1 if it depends on others

  std::vector<double> scaled_null_direction(std::size_t dependent) const {
    const std::size_t m = unit_.size(), j = order_[rank_ + dependent];
    const auto row = row_.begin() + static_cast<std::ptrdiff_t>(j * m);
    std::vector<double> right(row, row + static_cast<std::ptrdiff_t>(rank_)), direction(m, 0.0);
    substitute_back(right);
    direction[j] = 1;
    for (std::size_t t = 0; t < rank_; ++t) direction[order_[t]] = -right[t];
    return direction;
  }

  // Makes x orthogonal to a direction.
  static void subtract_part(std::span<const double> direction, std::span<double> x) {
    double product = 0, square = 0;
    for (std::size_t j = 0; j < x.size(); ++j) product += direction[j] * x[j], square += direction[j] * direction[j];
    for (std::size_t j = 0; j < x.size(); ++j) x[j] -= product / square * direction[j];
  }

  // `own` becomes the solution of L' x = own for the factor L of the independent columns.
  void substitute_back(std::vector<double>& own) const {
    const std::size_t m = unit_.size();
    for (std::size_t t = rank_; t-- > 0;) {
      own[t] /= row_[order_[t] * m + t];
      for (std::size_t s = 0; s < t; ++s) own[s] -= row_[order_[t] * m + s] * own[t];
    }
  }

  std::size_t rank_ = 0;
  std::vector<std::size_t> order_;  // [m], the independent columns first
  std::vector<double> unit_, row_;  // [m]; rows of the factor [m, m], of which [m, rank] are used
};

// matrix⁻¹ right for a symmetric matrix; empty if it is close to singular.
inline std::optional<std::vector<double>> solved(const std::vector<double>& matrix, std::vector<double> right) {
  const auto factor = Factor::of(matrix, right.size());
  if (!factor) return std::nullopt;
  factor->solve(right);
  return right;
}

}  // namespace baytree::linear
