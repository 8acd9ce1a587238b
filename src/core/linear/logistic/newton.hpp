// Newton's method for penalised logistic regression on the rows of one process.
//
// Minimises  Σ weight · loss + Σ_cj ridge_j θ_cj² / 2 + lasso_j |θ_cj|. `ridge_step.hpp` finds the steps with a smooth penalty,
// `lasso_step.hpp` with an L1 penalty; both are inexact while the optimum is far. `linear/logistic/newton.py` is the same method for rows
// in several partitions.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "linear/logistic/lasso_step.hpp"
#include "linear/logistic/penalty.hpp"
#include "linear/logistic/ridge_step.hpp"
#include "linear/logistic/rows.hpp"

namespace baytree::linear {

// The violation that counts as converged, the smaller one worth reaching, the maximum number of steps, and a function that is called from
// time to time and may throw to stop the search.
struct StoppingRule {
  double tol, target;
  std::int64_t max_steps;
  std::function<void()> poll;
};

struct LogisticFit {
  std::vector<double> theta, objectives;  // [scores, q]; at the start and after each step
  double violation = 0;
  std::int64_t steps = 0;
};

template <typename S>
concept StepFinder = requires(S& steps, const Evaluation& here, std::span<const double> theta, double violation, double target) {
  { steps.from(here, theta, violation, target) } -> std::same_as<std::optional<std::vector<double>>>;
};

struct Move {
  std::vector<double> theta;
  Evaluation at;
};

// First of theta + step, step / 2, step / 4 … that decreases the objective enough (Armijo); empty if none does.
template <LogisticRows Rows>
std::optional<Move> backtrack(const Rows& rows, const Penalty& penalty, const Evaluation& here, std::span<const double> theta,
                              std::span<const double> step) {
  constexpr int kMaxHalvings = 34;
  std::vector<double> at(theta.begin(), theta.end());
  double predicted = -penalty.cost(theta);
  for (std::size_t j = 0; j < at.size(); ++j) predicted += here.gradient[j] * step[j], at[j] += step[j];
  predicted = std::min(predicted + penalty.cost(at), 0.0);
  const double start = here.loss + penalty.cost(theta), rounding = 1e-14 * std::max(1.0, std::abs(start));
  double length = 1;
  for (int halving = 0; halving < kMaxHalvings; ++halving, length /= 2) {
    for (std::size_t j = 0; j < at.size(); ++j) at[j] = theta[j] + length * step[j];
    Evaluation there = rows.evaluate(at);
    if (there.loss + penalty.cost(at) <= start + 1e-4 * length * predicted + rounding) return Move{std::move(at), std::move(there)};
  }
  return std::nullopt;
}

// The one with the lowest objective.
template <LogisticRows Rows>
Move best_start(const Rows& rows, const Penalty& penalty, std::span<const std::vector<double>> starts) {
  std::optional<Move> best;
  double lowest = 0;
  for (const auto& theta : starts) {
    Evaluation at = rows.evaluate(theta);
    const double objective = at.loss + penalty.cost(theta);
    if (!best || objective < lowest) best = Move{theta, std::move(at)}, lowest = objective;
  }
  return std::move(*best);
}

// The optimum; empty if a step is not found or the objective is not finite.
template <LogisticRows Rows, StepFinder Steps>
std::optional<LogisticFit> minimise(const Rows& rows, const Penalty& penalty, Move start, const StoppingRule& stop, Steps& steps) {
  LogisticFit fit{std::move(start.theta), {}, 0, 0};
  Evaluation here = std::move(start.at);
  fit.violation = penalty.largest_violation(here.gradient, fit.theta);
  fit.objectives.push_back(here.loss + penalty.cost(fit.theta));
  while (fit.violation > stop.target && fit.steps < stop.max_steps) {
    ++fit.steps;
    stop.poll();
    const auto step = steps.from(here, fit.theta, fit.violation, stop.target);
    if (!step) return std::nullopt;
    auto moved = backtrack(rows, penalty, here, fit.theta, *step);
    if (!moved) break;
    const double before = fit.violation, after = penalty.largest_violation(moved->at.gradient, moved->theta);
    if (after <= stop.tol && after > before) break;  // only rounding is left
    fit.theta = std::move(moved->theta), here = std::move(moved->at), fit.violation = after;
    fit.objectives.push_back(here.loss + penalty.cost(fit.theta));
    if (after <= stop.tol && after > before / 2) break;
  }
  return std::isfinite(fit.objectives.back()) ? std::optional(std::move(fit)) : std::nullopt;
}

// The optimum from the best of some starts, with the preconditioner of a nearby problem if there is one; empty if it is not found.
template <LogisticRows Rows>
std::optional<LogisticFit> fit_logistic(const Rows& rows, const Penalty& penalty, std::vector<std::vector<double>> starts,
                                        const StoppingRule& stop, std::shared_ptr<const Preconditioner> near = nullptr) {
  if (!penalty.is_smooth()) {
    LassoStep<Rows> steps(rows, penalty, stop.poll);
    return minimise(rows, penalty, best_start(rows, penalty, starts), stop, steps);
  }
  for (auto& theta : starts) centre_classes(theta, rows.q());
  RidgeStep<Rows> steps(rows, penalty, std::move(near));
  return minimise(rows, penalty, best_start(rows, penalty, starts), stop, steps);
}

}  // namespace baytree::linear
