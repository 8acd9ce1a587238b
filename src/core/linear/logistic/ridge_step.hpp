// Newton steps with a smooth penalty: conjugate gradients on the Hessian, which is never formed for several classes.
//
// The preconditioner is the Cholesky factor of each score's own block of the Hessian (Hastie, Tibshirani and Friedman 2009, section 4.4.2,
// use the same weights w p (1 − p)). With two classes the block is the Hessian, and one iteration suffices. A factor from a nearby problem,
// such as that of all rows for a fold, serves as well; it is replaced when the iterations with it cost more than a new one. Above
// `kMaxBlock` features only the diagonal is used.
//
// A ridge makes the coefficients of a feature sum to 0 over the classes, so all steps do.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "linear/cholesky.hpp"
#include "linear/logistic/penalty.hpp"
#include "linear/logistic/rows.hpp"

namespace baytree::linear {

// Subtracts from each feature's coefficients [scores, q] their mean over the classes. One score has nothing to centre.
inline void centre_classes(std::span<double> theta, std::size_t q) {
  const std::size_t n_scores = theta.size() / q;
  if (n_scores == 1) return;
  for (std::size_t j = 0; j < q; ++j) {
    double sum = 0;
    for (std::size_t c = 0; c < n_scores; ++c) sum += theta[c * q + j];
    for (std::size_t c = 0; c < n_scores; ++c) theta[c * q + j] -= sum / static_cast<double>(n_scores);
  }
}

class Preconditioner {
 public:
  // Empty if a block is close to singular.
  template <LogisticRows Rows>
  static std::shared_ptr<Preconditioner> at(const Rows& rows, std::span<const double> probability, const Penalty& penalty) {
    auto made = std::make_shared<Preconditioner>();
    const std::size_t q = rows.q(), k = rows.n_scores();
    if (q > kMaxBlock) {
      made->diagonal_ = rows.hessian_diagonal(probability);
      for (std::size_t at = 0; at < made->diagonal_.size(); ++at)
        made->diagonal_[at] = std::max(made->diagonal_[at] + penalty.ridge[at % q], kMinDiagonal);
      return made;
    }
    auto blocks = rows.diagonal_blocks(probability);
    for (std::size_t c = 0; c < k; ++c) {
      const std::span<double> block(blocks.data() + c * q * q, q * q);
      double trace = 0;
      for (std::size_t j = 0; j < q; ++j) trace += block[j * q + j] += penalty.ridge[j];
      block[q * q - 1] += kConstantRidge * trace / static_cast<double>(q);
      auto factor = Factor::of(block, q);
      if (!factor) return nullptr;
      made->factors_.push_back(std::move(*factor));
    }
    return made;
  }

  // Whether it fits coefficients [n_scores, q].
  bool fits(std::size_t n_scores, std::size_t q) const {
    return factors_.empty() ? diagonal_.size() == n_scores * q : factors_.size() == n_scores && factors_.front().size() == q;
  }

  void apply(std::span<double> gradient) const {
    if (factors_.empty()) {
      for (std::size_t at = 0; at < gradient.size(); ++at) gradient[at] /= diagonal_[at];
      return;
    }
    const std::size_t q = gradient.size() / factors_.size();
    for (std::size_t c = 0; c < factors_.size(); ++c) factors_[c].solve(gradient.subspan(c * q, q));
  }

 private:
  static constexpr std::size_t kMaxBlock = 1000;     // features; a block of more takes longer to factor than it saves
  static constexpr double kConstantRidge = 1e-6;     // of the mean diagonal: rows that are all certain determine no constant
  static constexpr double kMinDiagonal = 1e-300;

  std::vector<Factor> factors_;   // one per score, or none
  std::vector<double> diagonal_;  // [scores, q] if there are no factors
};

template <LogisticRows Rows> class RidgeStep {
 public:
  RidgeStep(const Rows& rows, const Penalty& penalty, std::shared_ptr<const Preconditioner> near)
      : rows_(rows), penalty_(penalty), preconditioner_(near && near->fits(rows.n_scores(), rows.q()) ? std::move(near) : nullptr) {
    for (std::size_t c = 0; c < rows.n_scores(); ++c) ridge_.insert(ridge_.end(), penalty.ridge.begin(), penalty.ridge.end());
  }

  // Newton step from theta, where the largest violation is `violation` and `target` is worth reaching.
  std::optional<std::vector<double>> from(const Evaluation& here, std::span<const double> theta, double violation, double target) {
    if (!preconditioner_) {
      preconditioner_ = Preconditioner::at(rows_, here.probability, penalty_);
      if (!preconditioner_) return std::nullopt;
    }
    std::vector<double> residual(theta.size());
    for (std::size_t at = 0; at < residual.size(); ++at) residual[at] = -(here.gradient[at] + ridge_[at] * theta[at]);
    return conjugate_gradients(here, std::move(residual), std::max(kForcing * violation, kLastForcing * target));
  }

 private:
  static constexpr double kForcing = 0.05;     // an evaluation costs about as much as an iteration, so steps are inexact
  static constexpr double kLastForcing = 0.5;  // of the target: the last step may be as inexact as that
  static constexpr int kMaxIterations = 200;
  static constexpr double kMinPatience = 3;

  std::optional<std::vector<double>> conjugate_gradients(const Evaluation& here, std::vector<double> residual, double enough) {
    const std::size_t m = residual.size(), q = rows_.q();
    std::vector<double> step(m, 0.0), direction, scaled(m), product(m), buffer(rows_.buffer_size());
    double last = 0;
    int iteration = 0;
    for (; iteration < kMaxIterations && largest(residual) > enough; ++iteration) {
      std::ranges::copy(residual, scaled.begin());
      preconditioner_->apply(scaled);
      centre_classes(scaled, q);
      const double now = inner(scaled, residual);
      if (direction.empty()) direction = scaled;
      else
        for (std::size_t at = 0; at < m; ++at) direction[at] = scaled[at] + now / last * direction[at];
      last = now;
      rows_.hessian_product(here.probability, direction, buffer, product);
      for (std::size_t at = 0; at < m; ++at) product[at] += ridge_[at] * direction[at];
      const double curvature = inner(direction, product), length = now / curvature;
      if (!(curvature > 0) || !std::isfinite(length)) break;
      for (std::size_t at = 0; at < m; ++at) step[at] += length * direction[at], residual[at] -= length * product[at];
    }
    if (iteration > std::max(kMinPatience, rows_.products_per_block())) preconditioner_ = nullptr;
    return iteration ? std::optional(std::move(step)) : std::nullopt;
  }

  static double largest(std::span<const double> x) {
    double most = 0;
    for (const double each : x) most = std::max(most, std::abs(each));
    return most;
  }

  static double inner(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t at = 0; at < a.size(); ++at) sum += a[at] * b[at];
    return sum;
  }

  const Rows& rows_;
  const Penalty penalty_;
  std::shared_ptr<const Preconditioner> preconditioner_;
  std::vector<double> ridge_;  // [scores, q]
};

}  // namespace baytree::linear
