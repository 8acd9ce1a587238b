// Newton's method for penalised multinomial regression on few rows: the outer loop, whatever finds the steps.
//
// Minimises  Σ weight · loss + Σ_cj ridge_j θ_cj² / 2 + lasso_j |θ_cj|. Steps are found roughly while the optimum is far: another look at
// the rows costs no more than a round of what finds them.
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linear/classes/class_penalty.hpp"
#include "linear/classes/class_rows.hpp"
#include "linear/newton.hpp"

namespace baytree::linear {

struct ClassFit {
  std::vector<double> theta, values;  // [classes, q]; the objective at the start and after each step
  double violation = 0;
  std::int64_t steps = 0;
};

// What finds the step from some coefficients, at which the rows say so and so much is left to gain.
template <typename S>
concept ClassSteps = requires(S& steps, const ClassSlope& here, std::span<const double> theta, double violation, double ideal) {
  { steps.from(here, theta, violation, ideal) } -> std::same_as<std::optional<std::vector<double>>>;
};

struct ClassMove {
  std::vector<double> theta;
  ClassSlope slope;
};

// The first of step, step / 2, step / 4 … that lowers the objective enough; nothing where none does.
inline std::optional<ClassMove> backtracked(const ClassRows& rows, const ClassPenalty& penalty, const ClassSlope& here,
                                            std::span<const double> theta, std::span<const double> step) {
  constexpr int kHalvings = 34;
  std::vector<double> at(theta.begin(), theta.end());
  double promise = -penalty.cost(theta);
  for (std::size_t j = 0; j < at.size(); ++j) promise += here.gradient[j] * step[j], at[j] += step[j];
  promise = std::min(promise + penalty.cost(at), 0.0);
  const double start = here.loss + penalty.cost(theta), rounding = 1e-14 * std::max(1.0, std::abs(start));
  double share = 1;
  for (int halving = 0; halving < kHalvings; ++halving, share /= 2) {
    for (std::size_t j = 0; j < at.size(); ++j) at[j] = theta[j] + share * step[j];
    ClassSlope there = rows.slope(at);
    if (there.loss + penalty.cost(at) <= start + 1e-4 * share * promise + rounding) return ClassMove{std::move(at), std::move(there)};
  }
  return std::nullopt;
}

// The optimum; nothing where a step is not found, or the violation stays above the one worth trying for and above rounding.
template <ClassSteps Steps>
std::optional<ClassFit> class_optimum(const ClassRows& rows, const ClassPenalty& penalty, std::vector<double> start, const NewtonAim& aim,
                                      Steps& steps) {
  constexpr double kRounding = 1e-15;
  ClassFit fit{std::move(start), {}, 0, 0};
  ClassSlope here = rows.slope(fit.theta);
  fit.violation = penalty.largest_violation(here.gradient, fit.theta);
  fit.values.push_back(here.loss + penalty.cost(fit.theta));
  while (fit.violation > aim.ideal && fit.steps < aim.most) {
    ++fit.steps;
    const auto step = steps.from(here, fit.theta, fit.violation, aim.ideal);
    if (!step) return std::nullopt;
    auto moved = backtracked(rows, penalty, here, fit.theta, *step);
    if (!moved) break;
    const double before = fit.violation, after = penalty.largest_violation(moved->slope.gradient, moved->theta);
    if (after <= aim.tol && after > before) break;  // rounding is all that is left
    fit.theta = std::move(moved->theta), here = std::move(moved->slope), fit.violation = after;
    fit.values.push_back(here.loss + penalty.cost(fit.theta));
    if (after <= aim.tol && after > before / 2) break;
  }
  return fit.violation <= std::max(aim.ideal, kRounding) ? std::optional(std::move(fit)) : std::nullopt;
}

}  // namespace baytree::linear
