// Newton steps of a multinomial lasso or elastic net: only the coefficients that matter, by their own part of the curvature.
//
// Those that are 0 and would stay so are left out; of the others the curvature is made, coordinate descent finds which are not 0, and a
// direct solution their values. Most are 0, so most of the curvature is never made. No step is found where many more are not 0 than
// there are rows: many of them say the same, and eigenvectors tell sooner which.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "linear/active_set.hpp"
#include "linear/cholesky.hpp"
#include "linear/classes/class_penalty.hpp"
#include "linear/classes/class_rows.hpp"
#include "linear/coordinate_descent.hpp"

namespace baytree::linear {

// Coefficients by class, ascending: `at` is their place in [classes, q], `first` where each class begins among them,
// `used` how many of them were not 0.
struct Chosen {
  std::vector<std::size_t> at, first;
  std::size_t used;
};

class ClassLasso {
 public:
  ClassLasso(const ClassRows& rows, const ClassPenalty& penalty) : rows_(rows), penalty_(penalty) {}

  std::optional<std::vector<double>> from(const ClassSlope& here, std::span<const double> theta, double violation, double) {
    const Chosen own = that_matter(here, theta);
    const std::size_t m = own.at.size();
    if (4 * own.used > 5 * rows_.rows()) return std::nullopt;
    const auto matrix = curvature(own, here.share);
    std::vector<double> ridge(m), lasso(m), target(m), slope(m);
    for (std::size_t a = 0; a < m; ++a) {
      const std::size_t at = own.at[a], j = at % rows_.q();
      ridge[a] = penalty_.ridge[j], lasso[a] = penalty_.lasso[j], target[a] = theta[at], slope[a] = here.gradient[at];
    }
    if (!Support(matrix, ridge, lasso, Alike::ridged).minimise(target, slope, 0.1 * violation)) return std::nullopt;
    std::vector<double> step(theta.size(), 0.0);
    for (std::size_t a = 0; a < m; ++a) step[own.at[a]] = target[a] - theta[own.at[a]];
    return step;
  }

 private:
  static constexpr std::size_t kFew = 30;

  // Those that are not 0, those without a penalty, and of those that would not stay 0 about as many: the ones that are furthest from it.
  Chosen that_matter(const ClassSlope& here, std::span<const double> theta) const {
    const std::size_t q = rows_.q();
    const auto is_used = [&](std::size_t at) { return theta[at] != 0 || penalty_.lasso[at % q] == 0; };
    const auto beyond = [&](std::size_t at) { return is_used(at) ? 0.0 : penalty_.violation(at % q, here.gradient[at], 0.0); };
    std::vector<double> entrants;
    std::size_t used = 0;
    for (std::size_t at = 0; at < theta.size(); ++at) {
      used += is_used(at);
      if (beyond(at) > 0) entrants.push_back(beyond(at));
    }
    const double least = bound_of(std::move(entrants), std::max(kFew, used));
    Chosen own{{}, {}, used};
    for (std::size_t at = 0; at < theta.size(); ++at) {
      if (at % q == 0) own.first.push_back(own.at.size());
      if (is_used(at) || beyond(at) > least) own.at.push_back(at);
    }
    own.first.push_back(own.at.size());
    return own;
  }

  // What all but the largest `count` numbers do not exceed; 0 where there are no more.
  static double bound_of(std::vector<double> numbers, std::size_t count) {
    if (numbers.size() <= count) return 0.0;
    const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(count);
    std::ranges::nth_element(numbers, at, std::greater());
    return *at;
  }

  // Of classes c and d: Σ w p_c (1 − p_c) x x' where they are one, else − Σ w p_c p_d x x'. [m, m]
  std::vector<double> curvature(const Chosen& own, std::span<const double> share) const {
    const std::size_t m = own.at.size(), n = rows_.rows();
    std::vector<double> matrix(m * m), alone(m * n), beside(m * n), factor(n), root(n);
    std::vector<const double*> of_alone(m), of_beside(m), feature(m);
    for (std::size_t c = 0; c < rows_.classes(); ++c) {
      for (std::size_t i = 0; i < n; ++i) {
        const double p = share[c * n + i], w = rows_.weight()[i];
        factor[i] = w * p * (1 - p), root[i] = std::sqrt(w) * p;
      }
      for (std::size_t a = own.first[c]; a < own.first[c + 1]; ++a) {
        feature[a] = rows_.feature(own.at[a] % rows_.q());
        class_loops().times(feature[a], factor.data(), n, alone.data() + a * n);
        class_loops().times(feature[a], root.data(), n, beside.data() + a * n);
        of_alone[a] = alone.data() + a * n, of_beside[a] = beside.data() + a * n;
      }
    }
    for (std::size_t c = 0; c < rows_.classes(); ++c) {
      const std::size_t a = own.first[c], count = own.first[c + 1] - a;
      double* const to = matrix.data() + a * m;
      class_loops().dots(of_beside.data() + a, count, of_beside.data(), a, n, to, m);
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t b = 0; b < a; ++b) to[r * m + b] = -to[r * m + b];
      class_loops().lower_dots(of_alone.data() + a, feature.data() + a, count, n, to + a, m);
    }
    pin(own, matrix);
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t b = 0; b < a; ++b) matrix[b * m + a] = matrix[a * m + b];
    return matrix;
  }

  // Shifting the coefficients of a feature without a penalty in all classes alike matters to nothing: made regular.
  void pin(const Chosen& own, std::vector<double>& matrix) const {
    const std::size_t m = own.at.size(), q = rows_.q();
    double size = 0;
    for (std::size_t a = 0; a < m; ++a) size += matrix[a * m + a] / static_cast<double>(m);
    size = std::max(size, 1e-12);
    std::vector<std::size_t> free;
    for (std::size_t a = 0; a < m; ++a)
      if (penalty_.lasso[own.at[a] % q] == 0 && penalty_.ridge[own.at[a] % q] == 0) free.push_back(a);
    for (const std::size_t a : free)
      for (const std::size_t b : free)
        if (b <= a && own.at[a] % q == own.at[b] % q) matrix[a * m + b] += size;
  }

  const ClassRows& rows_;
  const ClassPenalty penalty_;
};

}  // namespace baytree::linear
