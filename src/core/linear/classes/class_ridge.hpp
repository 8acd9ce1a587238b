// Newton steps of a multinomial ridge regression without its curvature: conjugate gradients, each class by its own curvature first.
//
// The curvature has k q rows and columns, but its product with a step costs no more than a gradient. What one class's share says of its
// own coefficients, X' diag(w p (1 − p)) X, is q by q and close enough for a few rounds to do, at a neighbouring optimum, too: the folds of
// a cross-validation share that of all rows. A ridge makes the coefficients of a feature sum to 0 over the classes, so all happens there:
// along the sums, where only the ridge is left, rounds would be many.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "linear/cholesky.hpp"
#include "linear/classes/class_penalty.hpp"
#include "linear/classes/class_rows.hpp"

namespace baytree::linear {

// Takes from each feature's coefficients [classes, q] their mean over the classes.
inline void centre_classes(std::span<double> theta, std::size_t q) {
  const std::size_t classes = theta.size() / q;
  for (std::size_t j = 0; j < q; ++j) {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += theta[c * q + j];
    for (std::size_t c = 0; c < classes; ++c) theta[c * q + j] -= sum / static_cast<double>(classes);
  }
}

// For each class, the inverse of its own curvature and ridge.
class ClassBlocks {
 public:
  static std::optional<ClassBlocks> at(const ClassRows& rows, std::span<const double> share, const ClassPenalty& penalty) {
    const std::size_t n = rows.rows(), q = rows.q();
    ClassBlocks made;
    std::vector<double> factor(n), scaled(q * n), matrix(q * q);
    std::vector<const double*> left(q);
    for (std::size_t j = 0; j < q; ++j) left[j] = scaled.data() + j * n;
    for (std::size_t c = 0; c < rows.classes(); ++c) {
      for (std::size_t i = 0; i < n; ++i) factor[i] = rows.weight()[i] * share[c * n + i] * (1 - share[c * n + i]);
      for (std::size_t j = 0; j < q; ++j) class_loops().times(rows.feature(j), factor.data(), n, scaled.data() + j * n);
      class_loops().lower_dots(left.data(), rows.features().data(), q, n, matrix.data(), q);
      double size = 0;
      for (std::size_t j = 0; j < q; ++j) size += matrix[j * q + j] += penalty.ridge[j];
      matrix[q * q - 1] += kFaint * size / static_cast<double>(q);  // a class that is sure of all rows says nothing of its constant
      auto own = Factor::of(matrix, q);
      if (!own) return std::nullopt;
      made.factors_.push_back(std::move(*own));
    }
    return made;
  }

  // Each class's slopes [q] become its own Newton step.
  void apply(std::span<double> slope) const {
    const std::size_t q = slope.size() / factors_.size();
    for (std::size_t c = 0; c < factors_.size(); ++c) factors_[c].solve(slope.subspan(c * q, q));
  }

 private:
  static constexpr double kFaint = 1e-6;
  std::vector<Factor> factors_;
};

class ClassRidge {
 public:
  ClassRidge(const ClassRows& rows, const ClassPenalty& penalty, const ClassBlocks* near) : rows_(rows), penalty_(penalty), near_(near) {
    for (std::size_t c = 0; c < rows.classes(); ++c) ridge_.insert(ridge_.end(), penalty.ridge.begin(), penalty.ridge.end());
  }

  std::optional<std::vector<double>> from(const ClassSlope& here, std::span<const double> theta, double violation, double ideal) {
    if (!near_) {
      own_ = ClassBlocks::at(rows_, here.share, penalty_);
      if (!own_) return std::nullopt;
      near_ = &*own_;
    }
    std::vector<double> left(theta.size());
    for (std::size_t at = 0; at < left.size(); ++at) left[at] = -(here.gradient[at] + ridge_[at] * theta[at]);
    return descended(here, std::move(left), std::max(kRough * violation, kLast * ideal));
  }

 private:
  static constexpr double kRough = 0.05, kLast = 0.5;
  static constexpr int kRounds = 200, kPatience = 20;  // rounds that call for curvatures from here

  std::optional<std::vector<double>> descended(const ClassSlope& here, std::vector<double> left, double enough) {
    const std::size_t m = left.size(), q = rows_.q();
    std::vector<double> step(m, 0.0), way, first(m), image(m), score(rows_.classes() * rows_.rows());
    double promised = 0;
    int round = 0;
    for (; round < kRounds && largest(left) > enough; ++round) {
      std::ranges::copy(left, first.begin());
      near_->apply(first);
      centre_classes(first, q);
      const double promise = product(first, left);
      if (way.empty()) way = first;
      else
        for (std::size_t at = 0; at < m; ++at) way[at] = first[at] + promise / promised * way[at];
      promised = promise;
      rows_.image(here.share, way, score, image);
      for (std::size_t at = 0; at < m; ++at) image[at] += ridge_[at] * way[at];
      const double bend = product(way, image), share = promise / bend;
      if (!(bend > 0) || !std::isfinite(share)) break;
      for (std::size_t at = 0; at < m; ++at) step[at] += share * way[at], left[at] -= share * image[at];
    }
    if (round > kPatience) near_ = nullptr;
    return round ? std::optional(std::move(step)) : std::nullopt;
  }

  static double largest(std::span<const double> x) {
    double most = 0;
    for (const double each : x) most = std::max(most, std::abs(each));
    return most;
  }

  static double product(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t at = 0; at < a.size(); ++at) sum += a[at] * b[at];
    return sum;
  }

  const ClassRows& rows_;
  const ClassPenalty penalty_;
  const ClassBlocks* near_;
  std::vector<double> ridge_;  // [classes, q]
  std::optional<ClassBlocks> own_;
};

}  // namespace baytree::linear
