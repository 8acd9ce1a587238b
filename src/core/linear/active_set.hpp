// Minimum of a quadratic with an elastic-net penalty by an active-set method, and the Newton step that uses it.
//
// Coordinate descent finds the support (the non-zero coefficients), a direct solution by Cholesky finds their values. Columns that depend on
// others linearly have a direction along which only the penalty changes: the coefficients follow it until one of them is 0.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "linear/cholesky.hpp"
#include "linear/coordinate_descent.hpp"

namespace baytree::linear {

// The quadratic x'Mx / 2 + Σ ridge x² / 2 + lasso |x| and a linear term. A point is given by `target` and `slope`, the gradient there without
// the penalty.
class ActiveSet {
 public:
  // `poll` is called from time to time and may throw to stop the search.
  ActiveSet(std::span<const double> matrix, std::span<const double> ridge, std::span<const double> lasso, std::function<void()> poll = [] {})
      : matrix_(matrix), ridge_(ridge), lasso_(lasso), m_(ridge.size()), poll_(std::move(poll)) {}

  // Moves the point until every coefficient violates optimality by at most `near`, or the iterations are used up. Returns false if the
  // matrix is not finite.
  bool minimise(std::vector<double>& target, std::vector<double>& slope, double near) const {
    if (is_settled(target, slope, near)) return true;
    for (int round = 0; round < kMaxRounds; ++round) {
      GramDescent(matrix_, ridge_, lasso_, target, slope).run(kMaxSweeps, near * near);
      if (!polish(target, slope)) return false;
      if (violation(target, slope) <= near) break;
    }
    return true;
  }

 private:
  static constexpr int kMaxRounds = 5, kMaxDrops = 50;  // rounds of descent and direct solutions; solutions of a round after sign changes
  static constexpr int kMaxNullMoves = 50;             // moves of a round along which only the penalty changes
  static constexpr std::int64_t kMaxSweeps = 200;
  static constexpr double kFlat = 1e-8;  // relative to the largest penalty: a smaller derivative along a null direction counts as 0

  struct Direction {
    std::vector<double> move;     // of the active coefficients
    bool is_along_null = false;  // only the penalty changes along it, up to the first sign change
  };

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

  // Near an optimum the support rarely changes: checks whether the minimum on the current support is the minimum. Does nothing if a sign
  // would change.
  bool is_settled(std::vector<double>& target, std::vector<double>& slope, double near) const {
    const auto active = support(target);
    const auto direction = to_minimum(active, target, slope);
    if (!direction || direction->is_along_null || until_zero(active, target, direction->move) < 1) return false;
    advance(active, direction->move, 1.0, target, slope);
    return violation(target, slope) <= near;
  }

  // Moves to the minimum on the support, except for coefficients that would change sign; returns false if it cannot be solved.
  bool polish(std::vector<double>& target, std::vector<double>& slope) const {
    for (int drops = 0, null_moves = 0; drops < kMaxDrops && null_moves < kMaxNullMoves;) {
      poll_();
      const auto active = support(target);
      if (active.empty()) return true;
      const auto direction = to_minimum(active, target, slope);
      if (!direction) return false;
      const double length = until_zero(active, target, direction->move);
      if (direction->is_along_null || !clip(active, direction->move, length, target, slope))
        advance(active, direction->move, length, target, slope);
      if (length == 1) return true;
      ++(direction->is_along_null ? null_moves : drops);
    }
    return true;
  }

  // Makes the whole move, setting coefficients that would change sign to 0. Returns false, and does nothing, if the move up to the first
  // sign change reduces the objective more.
  bool clip(const std::vector<std::size_t>& active, std::span<const double> move, double length, std::vector<double>& target,
            std::vector<double>& slope) const {
    if (length == 1) return false;
    std::vector<double> rise(m_, 0.0), change(active.size());
    double predicted = 0, gain = 0;
    for (std::size_t a = 0; a < active.size(); ++a) {
      const std::size_t j = active[a];
      const double gradient = slope[j] + ridge_[j] * target[j] + lasso_[j] * sign(target[j]);
      change[a] = reaches_zero(j, target[j], move[a]) ? -target[j] : move[a];
      predicted += gradient * move[a], gain += (gradient + ridge_[j] * change[a] / 2) * change[a];
      cholesky_loops().add(matrix_.data() + j * m_, change[a], m_, rise.data());
    }
    for (std::size_t a = 0; a < active.size(); ++a) gain += rise[active[a]] * change[a] / 2;
    if (!(gain <= predicted * (length - length * length / 2))) return false;
    for (std::size_t a = 0; a < active.size(); ++a) target[active[a]] += change[a];
    for (std::size_t i = 0; i < m_; ++i) slope[i] += rise[i];
    return true;
  }

  void advance(const std::vector<std::size_t>& active, std::span<const double> move, double length, std::vector<double>& target,
               std::vector<double>& slope) const {
    for (std::size_t a = 0; a < active.size(); ++a) {
      const std::size_t j = active[a];
      const double change = length * move[a];
      cholesky_loops().add(matrix_.data() + j * m_, change, m_, slope.data());
      const bool ends = reaches_zero(j, target[j], move[a]) && -target[j] / move[a] == length;
      target[j] = ends ? 0.0 : target[j] + change;
    }
  }

  std::vector<std::size_t> support(std::span<const double> target) const {
    std::vector<std::size_t> found;
    for (std::size_t j = 0; j < m_; ++j)
      if (target[j] != 0 || lasso_[j] == 0) found.push_back(j);
    return found;
  }

  // Direction to the minimum for fixed signs; empty if the matrix is not finite.
  std::optional<Direction> to_minimum(const std::vector<std::size_t>& active, std::span<const double> target,
                                      std::span<const double> slope) const {
    const std::size_t m = active.size();
    std::vector<double> part(m * m), right(m);
    for (std::size_t a = 0; a < m; ++a) {
      const std::size_t j = active[a];
      for (std::size_t b = 0; b <= a; ++b) part[a * m + b] = matrix_[j * m_ + active[b]];
      part[a * m + a] += ridge_[j];
      right[a] = -(slope[j] + ridge_[j] * target[j] + lasso_[j] * sign(target[j]));
    }
    if (auto move = solved(part, right)) return Direction{std::move(*move)};
    for (const double each : right)
      if (!std::isfinite(each)) return std::nullopt;
    return along_dependent_columns(active, target, part, right);
  }

  // Some columns depend on others. If the objective falls along one of the null directions, that direction, twice as far as the first sign
  // change; else the step to the minimum that leaves the dependent columns where they are.
  std::optional<Direction> along_dependent_columns(const std::vector<std::size_t>& active, std::span<const double> target,
                                                   std::span<const double> part, const std::vector<double>& right) const {
    const auto factor = PivotedFactor::of(part, active.size());
    if (!factor) return std::nullopt;
    double largest_lasso = 0, largest = 0;
    for (const std::size_t j : active) largest_lasso = std::max(largest_lasso, lasso_[j]);
    std::vector<double> steepest;
    for (std::size_t dependent = 0; dependent < factor->n_dependent(); ++dependent) {
      poll_();
      auto null = factor->null_direction(dependent);
      double decrease = 0;
      for (std::size_t a = 0; a < null.size(); ++a) decrease += right[a] * null[a];
      if (std::abs(decrease) <= std::max(largest, kFlat * largest_lasso * factor->unit(dependent))) continue;
      largest = std::abs(decrease);
      for (double& each : null) each *= sign(decrease);
      steepest = std::move(null);
    }
    if (!steepest.empty()) {
      double first = std::numeric_limits<double>::infinity();
      for (std::size_t a = 0; a < active.size(); ++a)
        if (lasso_[active[a]] > 0 && target[active[a]] * steepest[a] < 0) first = std::min(first, -target[active[a]] / steepest[a]);
      if (std::isfinite(first)) {
        for (double& each : steepest) each *= 2 * first;
        return Direction{std::move(steepest), true};
      }
    }
    return Direction{factor->solve(right)};
  }

  bool reaches_zero(std::size_t j, double at, double move) const { return lasso_[j] > 0 && at * (at + move) <= 0 && move != 0; }

  // Fraction of the move that is possible before a penalised coefficient changes sign.
  double until_zero(const std::vector<std::size_t>& active, std::span<const double> target, std::span<const double> move) const {
    double length = 1;
    for (std::size_t a = 0; a < active.size(); ++a)
      if (reaches_zero(active[a], target[active[a]], move[a])) length = std::min(length, -target[active[a]] / move[a]);
    return length;
  }

  std::span<const double> matrix_, ridge_, lasso_;
  std::size_t m_;
  std::function<void()> poll_;
};

// Step from theta to where every coefficient of the quadratic with this Hessian violates optimality by at most `near`; empty if the
// Hessian is not finite. It may come from a nearby point.
inline std::optional<std::vector<double>> lasso_step(std::span<const double> hessian, std::span<const double> ridge,
                                                     std::span<const double> lasso, std::span<const double> theta,
                                                     std::span<const double> gradient, double near) {
  std::vector<double> target(theta.begin(), theta.end()), slope(gradient.begin(), gradient.end());
  if (!ActiveSet(hessian, ridge, lasso).minimise(target, slope, near)) return std::nullopt;
  for (std::size_t j = 0; j < target.size(); ++j) target[j] -= theta[j];
  return target;
}

}  // namespace baytree::linear
