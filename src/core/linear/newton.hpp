// Penalised logistic regression of two classes on few rows: all Newton steps in one call, without a matrix that leaves the cache.
//
// Minimises  Σ weight · loss + Σ_j ridge_j θ_j² / 2 + lasso_j |θ_j|,  the constant last. The steps are those of
// linear/logistic/solvers/newton.py, which takes large tables; sums have a fixed order, so the bits are the same on every machine.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linear/active_set.hpp"
#include "linear/cholesky.hpp"
#include "linear/row_loops.hpp"

namespace baytree::linear {

// The violation that counts as converged, the one worth trying for, and the most steps.
struct NewtonAim {
  double tol, ideal;
  std::int64_t most;
};

struct NewtonFit {
  std::vector<double> theta, curvature;  // [q], [q, q]: the latter near the end
  std::vector<double> values;            // the objective at the start and after each step
  double violation = 0;
  std::int64_t steps = 0;
};

class FewRows {
 public:
  FewRows(const RowRun& run, const NetPenalty& penalty) : run_(run), penalty_(penalty), q_(run.columns + 1) {}

  // The optimum; nothing where a matrix is so near to singular that its eigenvectors have to be looked at.
  std::optional<NewtonFit> optimum(std::span<const double> start, std::span<const double> curvature, const NewtonAim& aim) {
    NewtonFit fit{{start.begin(), start.end()}, {curvature.begin(), curvature.end()}, {}, 0, 0};
    Slope here = slope(fit.theta);
    if (fit.curvature.empty()) fit.curvature = curvature_at(fit.theta);
    fit.violation = penalty_.violation(here.gradient, fit.theta);
    fit.values.push_back(here.value);
    while (fit.violation > aim.ideal && fit.steps < aim.most) {
      ++fit.steps;
      const auto step = net_step(fit.curvature, penalty_, {fit.theta, here.gradient}, kNear * fit.violation);
      if (!step) return std::nullopt;
      auto moved = backtrack(here, fit.theta, *step);
      if (!moved) break;
      const double before = fit.violation, after = penalty_.violation(moved->slope.gradient, moved->theta);
      if (after <= aim.tol && after > before) break;  // rounding is all that is left
      fit.theta = std::move(moved->theta), here = std::move(moved->slope), fit.violation = after;
      fit.values.push_back(here.value);
      if (after <= aim.tol && after > before / 2) break;
      if (after > kGood * before) fit.curvature = curvature_at(fit.theta);
    }
    return std::isfinite(here.value) ? std::optional(std::move(fit)) : std::nullopt;
  }

 private:
  static constexpr double kGood = 0.1;  // a step that leaves more of the violation than this calls for a new curvature
  static constexpr double kNear = 0.01;  // of the violation: what the minimum of a quadratic may have left
  static constexpr int kHalvings = 34;

  struct Slope {
    double value;                  // the objective
    std::vector<double> gradient;  // of the loss alone
  };

  struct Moved {
    std::vector<double> theta;
    Slope slope;
  };

  Slope slope(std::span<const double> theta) const {
    std::vector<double> gradient(q_, 0.0);
    const double loss = row_loops().slope(run_, theta.data(), theta.back(), gradient.data());
    return {loss + penalty_.cost(theta), std::move(gradient)};
  }

  std::vector<double> curvature_at(std::span<const double> theta) {
    scaled_.resize(run_.rows * q_);
    row_loops().curvature_rows(run_, theta.data(), theta.back(), scaled_.data());
    return products(scaled_, q_);
  }

  // The first of step, step / 2, step / 4 … that lowers the objective enough; nothing where none does.
  std::optional<Moved> backtrack(const Slope& here, std::span<const double> theta, std::span<const double> step) const {
    std::vector<double> at(theta.begin(), theta.end());
    double promise = -penalty_.cost(theta);
    for (std::size_t j = 0; j < q_; ++j) promise += here.gradient[j] * step[j], at[j] += step[j];
    promise = std::min(promise + penalty_.cost(at), 0.0);
    const double rounding = 1e-14 * std::max(1.0, std::abs(here.value));
    double share = 1;
    for (int halving = 0; halving < kHalvings; ++halving, share /= 2) {
      for (std::size_t j = 0; j < q_; ++j) at[j] = theta[j] + share * step[j];
      Slope there = slope(at);
      if (there.value <= here.value + 1e-4 * share * promise + rounding) return Moved{std::move(at), std::move(there)};
    }
    return std::nullopt;
  }

  const RowRun run_;
  const NetPenalty penalty_;
  const std::size_t q_;  // the constant included
  std::vector<double> scaled_;
};

}  // namespace baytree::linear
