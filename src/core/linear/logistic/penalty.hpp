// Elastic-net penalty of coefficients [classes, q]: a feature has the same penalty in every class.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace baytree::linear {

struct Penalty {
  std::span<const double> ridge, lasso;  // [q]

  bool is_smooth() const {
    return std::ranges::all_of(lasso, [](double each) { return each == 0; });
  }

  double cost(std::span<const double> theta) const {
    double squares = 0, sizes = 0;
    for (std::size_t at = 0; at < theta.size(); at += ridge.size())
      for (std::size_t j = 0; j < ridge.size(); ++j) {
        squares += ridge[j] * theta[at + j] * theta[at + j];
        sizes += lasso[j] * std::abs(theta[at + j]);
      }
    return squares / 2 + sizes;
  }

  // Violation of the optimality condition of one coefficient of feature j: its smallest subgradient.
  double violation(std::size_t j, double gradient, double theta) const {
    const double smooth = gradient + ridge[j] * theta;
    if (theta == 0 && lasso[j] > 0) return std::max(std::abs(smooth) - lasso[j], 0.0);
    return std::abs(smooth + (theta > 0 ? lasso[j] : theta < 0 ? -lasso[j] : 0.0));
  }

  double largest_violation(std::span<const double> gradient, std::span<const double> theta) const {
    double worst = 0;
    for (std::size_t at = 0; at < theta.size(); at += ridge.size())
      for (std::size_t j = 0; j < ridge.size(); ++j) worst = std::max(worst, violation(j, gradient[at + j], theta[at + j]));
    return worst;
  }
};

}  // namespace baytree::linear
