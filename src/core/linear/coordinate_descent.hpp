// Coordinate descent on a quadratic with an elastic-net penalty: the inner problem of proximal Newton.
//
// Minimises over the step d:  g'd + d'Hd / 2 + sum_j ridge_j t_j^2 / 2 + lasso_j |t_j|  with  t = theta + d.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/cholesky.hpp"
#include "linear/sparse_rows.hpp"

namespace baytree::linear {

inline double soft(double value, double threshold) {
  return value > threshold ? value - threshold : value < -threshold ? value + threshold : 0.0;
}

// Result of some sweeps: their number, and the largest change in the last one, in units of the curvature.
struct Sweeps {
  std::int64_t count;
  double change;
};

// The optimal value of one coordinate with the others fixed; slope and curvature are those of the smooth part. Without
// curvature (all rows fitted with certainty, or nearly no weight) a penalty that outweighs the slope still leads to 0.
inline double best_value(double t, double slope, double curvature, double ridge, double lasso) {
  if (curvature + ridge > 0) return soft(curvature * t - slope, lasso) / (curvature + ridge);
  return std::abs(slope) < lasso ? 0.0 : t;
}

// Quadratic given by its matrix (covariance updates): `slope` holds g + Hd and is updated with `theta`.
class GramDescent {
 public:
  GramDescent(std::span<const double> matrix, std::span<const double> ridge, std::span<const double> lasso,
              std::span<double> theta, std::span<double> slope)
      : matrix_(matrix), ridge_(ridge), lasso_(lasso), theta_(theta), slope_(slope) {}

  // Alternates sweeps over all coordinates with sweeps over the non-zero ones until these have converged.
  Sweeps run(std::int64_t most, double tolerance) {
    Sweeps done{0, 0.0};
    while (done.count < most) {
      done.change = sweep(all());
      ++done.count;
      if (done.change <= tolerance) return done;
      settle(nonzero(), done, most, tolerance);
    }
    return done;
  }

 private:
  std::vector<std::size_t> all() const {
    std::vector<std::size_t> found(theta_.size());
    for (std::size_t j = 0; j < found.size(); ++j) found[j] = j;
    return found;
  }

  std::vector<std::size_t> nonzero() const {
    auto found = all();
    std::erase_if(found, [&](std::size_t j) { return theta_[j] == 0 && lasso_[j] > 0; });
    return found;
  }

  // Sweeps over a few coordinates until they converge, using only their part of the matrix; the gradient of the others
  // is updated at the end.
  void settle(const std::vector<std::size_t>& active, Sweeps& done, std::int64_t most, double tolerance) {
    const std::size_t m = theta_.size(), k = active.size();
    std::vector<double> matrix(k * k), ridge(k), lasso(k), theta(k), slope(k);
    for (std::size_t a = 0; a < k; ++a) {
      const std::size_t j = active[a];
      for (std::size_t b = 0; b < k; ++b) matrix[a * k + b] = matrix_[j * m + active[b]];
      ridge[a] = ridge_[j], lasso[a] = lasso_[j], theta[a] = theta_[j], slope[a] = slope_[j];
    }
    GramDescent own(matrix, ridge, lasso, theta, slope);
    const auto each = own.all();
    for (double change = done.change; change > tolerance && done.count < most; ++done.count) change = own.sweep(each);
    for (std::size_t a = 0; a < k; ++a) {
      const double change = theta[a] - theta_[active[a]], *const row = matrix_.data() + active[a] * m;
      if (change == 0) continue;
      theta_[active[a]] = theta[a];
      cholesky_loops().add(row, change, m, slope_.data());
    }
  }

  double sweep(const std::vector<std::size_t>& coordinates) {
    const std::size_t m = theta_.size();
    double largest = 0;
    for (const std::size_t j : coordinates) {
      const double* const row = matrix_.data() + j * m;
      const double change = best_value(theta_[j], slope_[j], row[j], ridge_[j], lasso_[j]) - theta_[j];
      if (change == 0) continue;
      theta_[j] += change;
      cholesky_loops().add(row, change, m, slope_.data());
      largest = std::max(largest, change * change * (row[j] + ridge_[j]));
    }
    return largest;
  }

  std::span<const double> matrix_, ridge_, lasso_;
  std::span<double> theta_, slope_;
};

// Quadratic model of a multinomial problem given by its rows (residual updates); the Hessian is never formed. For a
// step with scores u [n_rows, k], the derivative at (feature j, class c) is
// g_jc + sum_i x_ij w_i (p_ic u_ic - p_ic s_i),  s_i = sum_l p_il u_il.
class SparseDescent {
 public:
  // With a single score, `share` is p (1 - p) and `mix` stays 0.
  SparseDescent(const SparseRows& columns, std::span<const double> share, std::span<const double> weight,
                std::span<const double> gradient, std::span<const double> ridge, std::span<const double> lasso,
                std::size_t classes, std::span<double> theta, std::span<double> score, std::span<double> mix)
      : x_(columns), share_(share), weight_(weight), gradient_(gradient), ridge_(ridge), lasso_(lasso), k_(classes),
        theta_(theta), score_(score), mix_(mix) {}

  // One sweep over these coordinates (feature * k + class); returns the largest change in units of the curvature.
  double sweep(std::span<const std::int64_t> coordinates) {
    double largest = 0;
    for (const auto at : coordinates) largest = std::max(largest, move(static_cast<std::size_t>(at)));
    return largest;
  }

 private:
  double move(std::size_t at) {
    const std::size_t j = at / k_, c = at % k_;
    double slope = gradient_[at], curvature = 0;
    each_entry(j, [&](std::size_t i, double v) {
      const double p = share_[i * k_ + c], w = v * weight_[i] * p;
      slope += w * (score_[i * k_ + c] - mix_[i]);
      curvature += w * v * (k_ == 1 ? 1.0 : 1.0 - p);
    });
    const double change = best_value(theta_[at], slope, curvature, ridge_[j], lasso_[j]) - theta_[at];
    if (change == 0) return 0;
    theta_[at] += change;
    each_entry(j, [&](std::size_t i, double v) {
      score_[i * k_ + c] += change * v;
      if (k_ > 1) mix_[i] += change * v * share_[i * k_ + c];
    });
    return change * change * (curvature + ridge_[j]);
  }

  template <std::invocable<std::size_t, double> F> void each_entry(std::size_t j, const F& f) const {
    for (auto e = x_.start[j]; e < x_.start[j + 1]; ++e)
      f(static_cast<std::size_t>(x_.code[static_cast<std::size_t>(e)]), x_.value[static_cast<std::size_t>(e)]);
  }

  const SparseRows x_;  // transposed: "rows" are features
  std::span<const double> share_, weight_, gradient_, ridge_, lasso_;
  std::size_t k_;
  std::span<double> theta_, score_, mix_;
};

}  // namespace baytree::linear
