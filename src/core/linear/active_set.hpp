// Minimum of a quadratic with an elastic-net penalty by an active-set method, and the Newton step that uses it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linear/cholesky.hpp"
#include "linear/coordinate_descent.hpp"

namespace baytree::linear {

// Coordinate descent finds the support (the non-zero coefficients), a direct solution by Cholesky finds their values.

// What to do with collinear columns: refuse a direct solution (the caller then uses eigenvectors), or add a small
// ridge.
enum class Alike { refused, ridged };

class Support {
 public:
  Support(std::span<const double> matrix, std::span<const double> ridge, std::span<const double> lasso, Alike alike)
      : matrix_(matrix), ridge_(ridge), lasso_(lasso), m_(ridge.size()), alike_(alike) {}

  // Moves `target`, where the quadratic has gradient `slope`, until every coefficient violates optimality by at most
  // `near`, or the iterations are used up. Returns false if a direct solution is refused.
  bool minimise(std::vector<double>& target, std::vector<double>& slope, double near) const {
    if (is_settled(target, slope, near)) return true;
    for (int round = 0; round < kRounds; ++round) {
      GramDescent(matrix_, ridge_, lasso_, target, slope).run(kSweeps, near * near);
      if (!polish(target, slope)) return false;
      if (violation(target, slope) <= near) break;
    }
    return true;
  }

 private:
  static constexpr int kRounds = 3, kDrops = 4;
  static constexpr std::int64_t kSweeps = 40;
  static constexpr double kLittle = 1e-5;
  static constexpr int kRefined = 4;

  double violation(std::span<const double> target, std::span<const double> slope) const {
    double worst = 0;
    for (std::size_t j = 0; j < m_; ++j) {
      const double smooth = slope[j] + ridge_[j] * target[j];
      const bool is_out = target[j] == 0 && lasso_[j] > 0;
      worst = std::max(worst, is_out ? std::abs(smooth) - lasso_[j] : std::abs(smooth + lasso_[j] * sign(target[j])));
    }
    return worst;
  }

  static double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

  // Near an optimum the support rarely changes: checks whether the minimum on the current support is the minimum. Does
  // nothing if a sign would change.
  bool is_settled(std::vector<double>& target, std::vector<double>& slope, double near) const {
    const auto active = support(target);
    const auto move = to_minimum(active, target, slope);
    if (!move || until_zero(active, target, *move) < 1) return false;
    advance(active, *move, 1.0, target, slope);
    return violation(target, slope) <= near;
  }

  // Moves to the minimum on the support, except for coefficients that would change sign; returns false if it cannot be
  // solved.
  bool polish(std::vector<double>& target, std::vector<double>& slope) const {
    for (int drop = 0; drop < kDrops; ++drop) {
      const auto active = support(target);
      if (active.empty()) return true;
      const auto move = to_minimum(active, target, slope);
      if (!move) return false;
      const double share = until_zero(active, target, *move);
      if (!clip(active, *move, share, target, slope)) advance(active, *move, share, target, slope);
      if (share == 1) return true;
    }
    return true;
  }

  // Makes the whole move, setting coefficients that would change sign to 0. Returns false, and does nothing, if the
  // move up to the first sign change reduces the objective more.
  bool clip(const std::vector<std::size_t>& active, std::span<const double> move, double share, std::vector<double>& target,
            std::vector<double>& slope) const {
    if (share == 1) return false;
    std::vector<double> rise(m_, 0.0), change(active.size());
    double promise = 0, gain = 0;
    for (std::size_t a = 0; a < active.size(); ++a) {
      const std::size_t j = active[a];
      const double right = slope[j] + ridge_[j] * target[j] + lasso_[j] * sign(target[j]);
      change[a] = reaches_zero(j, target[j], move[a]) ? -target[j] : move[a];
      promise += right * move[a], gain += (right + ridge_[j] * change[a] / 2) * change[a];
      cholesky_loops().add(matrix_.data() + j * m_, change[a], m_, rise.data());
    }
    for (std::size_t a = 0; a < active.size(); ++a) gain += rise[active[a]] * change[a] / 2;
    if (!(gain <= promise * (share - share * share / 2))) return false;
    for (std::size_t a = 0; a < active.size(); ++a) target[active[a]] += change[a];
    for (std::size_t i = 0; i < m_; ++i) slope[i] += rise[i];
    return true;
  }

  void advance(const std::vector<std::size_t>& active, std::span<const double> move, double share, std::vector<double>& target,
               std::vector<double>& slope) const {
    for (std::size_t a = 0; a < active.size(); ++a) {
      const std::size_t j = active[a];
      const double change = share * move[a];
      cholesky_loops().add(matrix_.data() + j * m_, change, m_, slope.data());
      const bool ends = reaches_zero(j, target[j], move[a]) && -target[j] / move[a] == share;
      target[j] = ends ? 0.0 : target[j] + change;
    }
  }

  std::vector<std::size_t> support(std::span<const double> target) const {
    std::vector<std::size_t> found;
    for (std::size_t j = 0; j < m_; ++j)
      if (target[j] != 0 || lasso_[j] == 0) found.push_back(j);
    return found;
  }

  std::optional<std::vector<double>> to_minimum(const std::vector<std::size_t>& active, std::span<const double> target,
                                                std::span<const double> slope) const {
    const std::size_t m = active.size();
    std::vector<double> part(m * m), right(m);
    for (std::size_t a = 0; a < m; ++a) {
      const std::size_t j = active[a];
      for (std::size_t b = 0; b <= a; ++b) part[a * m + b] = matrix_[j * m_ + active[b]];
      part[a * m + a] += ridge_[j];
      right[a] = -(slope[j] + ridge_[j] * target[j] + lasso_[j] * sign(target[j]));
    }
    auto move = solved(part, right);
    if (move || alike_ == Alike::refused) return move;
    return with_a_little_ridge(std::move(part), std::move(right));
  }

  // Collinear columns: the shortest move, and, along directions in which only the penalty decreases, one long enough to
  // reach a 0. The ridge is small but large compared with rounding; its bias is removed by iterative refinement.
  static std::optional<std::vector<double>> with_a_little_ridge(std::vector<double> matrix, std::vector<double> left) {
    const std::size_t m = left.size();
    std::vector<double> ridge(m), move(m, 0.0);
    for (std::size_t a = 0; a < m; ++a) ridge[a] = kLittle * matrix[a * m + a], matrix[a * m + a] += ridge[a];
    const auto factor = Factor::of(matrix, m);
    if (!factor) return std::nullopt;
    for (int round = 0; round < kRefined; ++round) {
      factor->solve(left);
      for (std::size_t a = 0; a < m; ++a) move[a] += left[a], left[a] *= ridge[a];
    }
    return move;
  }

  bool reaches_zero(std::size_t j, double at, double move) const { return lasso_[j] > 0 && at * (at + move) <= 0 && move != 0; }

  // Fraction of the move that is possible before a penalised coefficient changes sign.
  double until_zero(const std::vector<std::size_t>& active, std::span<const double> target, std::span<const double> move) const {
    double share = 1;
    for (std::size_t a = 0; a < active.size(); ++a)
      if (reaches_zero(active[a], target[active[a]], move[a])) share = std::min(share, -target[active[a]] / move[a]);
    return share;
  }

  std::span<const double> matrix_, ridge_, lasso_;
  std::size_t m_;
  Alike alike_;
};

// Newton step of a penalised problem: the minimum of its quadratic model; the Hessian may come from a nearby point.

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

  // Largest violation of the optimality conditions: the minimal subgradient.
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

// Current point: coefficients and gradient of the loss. [q] each
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

// The step to a point where every coefficient of the quadratic violates optimality by at most `near`; empty if a matrix
// is so close to singular that its eigenvectors are needed.
inline std::optional<std::vector<double>> net_step(std::span<const double> curvature, const NetPenalty& penalty, const NetPlace& at,
                                                   double near) {
  return penalty.is_smooth() ? smooth_step(curvature, penalty, at) : lasso_step(curvature, penalty, at, near);
}

}  // namespace baytree::linear
