// Newton steps with an L1 penalty (proximal Newton; Friedman, Hastie and Tibshirani 2010): only coordinates that matter, by their own
// part of the Hessian.
//
// Coefficients that are 0 and would stay 0 are left out. Coordinate descent on the quadratic of the others finds which are not 0, a direct
// solution their values. Most are 0, so most of the Hessian is never formed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "linear/active_set.hpp"
#include "linear/logistic/penalty.hpp"
#include "linear/logistic/rows.hpp"

namespace baytree::linear {

template <LogisticRows Rows> class LassoStep {
 public:
  LassoStep(const Rows& rows, const Penalty& penalty, std::function<void()> poll)
      : rows_(rows), penalty_(penalty), poll_(std::move(poll)) {}

  // Step from theta, where the largest violation is `violation`.
  std::optional<std::vector<double>> from(const Evaluation& here, std::span<const double> theta, double violation, double) {
    const Coordinates some = relevant(here, theta);
    const std::size_t m = some.size();
    auto matrix = rows_.hessian_among(some, here.probability);
    make_regular(some, matrix);
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t b = 0; b < a; ++b) matrix[b * m + a] = matrix[a * m + b];
    std::vector<double> ridge(m), lasso(m), target(m), slope(m);
    for (std::size_t a = 0; a < m; ++a) {
      const std::size_t at = some.index[a], j = at % rows_.q();
      ridge[a] = penalty_.ridge[j], lasso[a] = penalty_.lasso[j], target[a] = theta[at], slope[a] = here.gradient[at];
    }
    if (!ActiveSet(matrix, ridge, lasso, poll_).minimise(target, slope, kForcing * violation)) return std::nullopt;
    std::vector<double> step(theta.size(), 0.0);
    for (std::size_t a = 0; a < m; ++a) step[some.index[a]] = target[a] - theta[some.index[a]];
    return step;
  }

 private:
  static constexpr double kForcing = 0.1;         // how much of the violation the quadratic may leave
  static constexpr std::size_t kMinEntrants = 30;  // coordinates that may enter at a time, however few are not 0

  // Coordinates that are not 0, those without a penalty, and of those that would not stay 0 about as many: the ones with the largest
  // violation.
  Coordinates relevant(const Evaluation& here, std::span<const double> theta) const {
    const std::size_t q = rows_.q();
    const auto is_used = [&](std::size_t at) { return theta[at] != 0 || penalty_.lasso[at % q] == 0; };
    const auto violation = [&](std::size_t at) { return is_used(at) ? 0.0 : penalty_.violation(at % q, here.gradient[at], 0.0); };
    std::vector<double> entrants;
    std::size_t n_used = 0;
    for (std::size_t at = 0; at < theta.size(); ++at) {
      n_used += is_used(at);
      if (violation(at) > 0) entrants.push_back(violation(at));
    }
    const double bound = bound_of(std::move(entrants), std::max(kMinEntrants, n_used));
    Coordinates some;
    for (std::size_t at = 0; at < theta.size(); ++at) {
      if (at % q == 0) some.first.push_back(some.size());
      if (is_used(at) || violation(at) > bound) some.index.push_back(at);
    }
    some.first.push_back(some.size());
    return some;
  }

  // Bound that only the `count` largest numbers exceed; 0 if there are no more than `count`.
  static double bound_of(std::vector<double> numbers, std::size_t count) {
    if (numbers.size() <= count) return 0.0;
    const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(count);
    std::ranges::nth_element(numbers, at, std::greater());
    return *at;
  }

  // Adding a number to a feature's coefficients in all classes changes no probability: without a penalty the matrix is made regular.
  void make_regular(const Coordinates& some, std::vector<double>& matrix) const {
    const std::size_t m = some.size(), q = rows_.q();
    if (rows_.n_scores() == 1) return;
    double size = 0;
    for (std::size_t a = 0; a < m; ++a) size += matrix[a * m + a] / static_cast<double>(m);
    size = std::max(size, 1e-12);
    std::vector<std::size_t> free;
    for (std::size_t a = 0; a < m; ++a)
      if (penalty_.lasso[some.index[a] % q] == 0 && penalty_.ridge[some.index[a] % q] == 0) free.push_back(a);
    for (const std::size_t a : free)
      for (const std::size_t b : free)
        if (b <= a && some.index[a] % q == some.index[b] % q) matrix[a * m + b] += size;
  }

  const Rows& rows_;
  const Penalty penalty_;
  const std::function<void()> poll_;
};

}  // namespace baytree::linear
