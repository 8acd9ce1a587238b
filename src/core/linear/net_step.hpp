// A Newton step of a penalised problem: the minimum of its quadratic, given by a curvature from nearby.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "linear/factor.hpp"
#include "linear/support.hpp"

namespace baytree::linear {

struct NetPenalty {
  std::span<const double> ridge, lasso;

  bool is_smooth() const {
    return std::ranges::all_of(lasso, [](double each) { return each == 0; });
  }

  double cost(std::span<const double> theta) const {
    double squares = 0, sizes = 0;
    for (std::size_t j = 0; j < theta.size(); ++j) {
      squares += ridge[j] * theta[j] * theta[j];
      sizes += lasso[j] * std::abs(theta[j]);
    }
    return squares / 2 + sizes;
  }

  // The largest distance of a coefficient from optimality: the smallest subgradient.
  double violation(std::span<const double> gradient, std::span<const double> theta) const {
    double worst = 0;
    for (std::size_t j = 0; j < theta.size(); ++j) {
      const double smooth = gradient[j] + ridge[j] * theta[j];
      const double sign = theta[j] > 0 ? 1.0 : theta[j] < 0 ? -1.0 : 0.0;
      const bool is_out = theta[j] == 0 && lasso[j] > 0;
      worst = std::max(worst, is_out ? std::abs(smooth) - lasso[j] : std::abs(smooth + lasso[j] * sign));
    }
    return worst;
  }
};

// Where a problem is: coefficients, and the gradient of its loss there. [q] each
struct NetPlace {
  std::span<const double> theta, gradient;
};

inline std::optional<std::vector<double>> smooth_step(std::span<const double> curvature, const NetPenalty& penalty, const NetPlace& at) {
  const std::size_t q = at.theta.size();
  std::vector<double> matrix(curvature.begin(), curvature.end()), right(q);
  for (std::size_t j = 0; j < q; ++j) {
    matrix[j * q + j] += penalty.ridge[j];
    right[j] = -(at.gradient[j] + penalty.ridge[j] * at.theta[j]);
  }
  return solved(matrix, std::move(right));
}

inline std::optional<std::vector<double>> lasso_step(std::span<const double> curvature, const NetPenalty& penalty, const NetPlace& at,
                                                     double near) {
  std::vector<double> target(at.theta.begin(), at.theta.end()), slope(at.gradient.begin(), at.gradient.end());
  if (!Support(curvature, penalty.ridge, penalty.lasso, Alike::refused).minimise(target, slope, near)) return std::nullopt;
  for (std::size_t j = 0; j < target.size(); ++j) target[j] -= at.theta[j];
  return target;
}

// The step to where no coefficient of the quadratic is further than `near` from optimal; nothing where a matrix is so near to singular that
// its eigenvectors have to be looked at.
inline std::optional<std::vector<double>> net_step(std::span<const double> curvature, const NetPenalty& penalty, const NetPlace& at,
                                                   double near) {
  return penalty.is_smooth() ? smooth_step(curvature, penalty, at) : lasso_step(curvature, penalty, at, near);
}

}  // namespace baytree::linear
