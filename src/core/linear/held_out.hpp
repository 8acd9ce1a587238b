// Cross-validation of a penalised logistic regression of two classes on few rows: every fold and strength in one call.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/newton.hpp"
#include "linear/sparse_rows.hpp"

namespace baytree::linear {

// The same strengths for all folds, and the optimum of all rows at each of them.
struct StrengthPath {
  std::size_t folds, count;
  std::span<const double> ridge, lasso;      // [folds, count, q]
  std::span<const double> theta, curvature;  // [count, q], [count, q, q]
  std::span<const double> aim;               // [folds, count], the violation that will do
  std::int64_t most;                         // steps
};

class HeldOut {
 public:
  HeldOut(const RowRun& run, std::span<const std::int64_t> fold, const StrengthPath& path)
      : run_(run), fold_(fold), path_(path), q_(run.columns + 1) {}

  // Writes the mean loss of each fold's rows under the path of all others, and whether it was found. [folds, count]
  void losses(std::span<double> loss, std::span<std::uint8_t> found) const {
    for (std::size_t f = 0; f < path_.folds; ++f) along(f, loss.subspan(f * path_.count), found.subspan(f * path_.count));
  }

 private:
  void along(std::size_t f, std::span<double> loss, std::span<std::uint8_t> found) const {
    const auto weight = without(f);
    RowRun others = run_;
    others.weight = weight.data();
    NewtonFit last;
    for (std::size_t i = 0; i < path_.count; ++i) {
      const std::size_t at = f * path_.count + i;
      const NetPenalty penalty{path_.ridge.subspan(at * q_, q_), path_.lasso.subspan(at * q_, q_)};
      const auto whole = path_.theta.subspan(i * q_, q_), curvature = path_.curvature.subspan(i * q_ * q_, q_ * q_);
      std::vector<double> start(whole.begin(), whole.end());
      if (!last.theta.empty())  // as far from the last one as those of all rows are apart
        for (std::size_t j = 0; j < q_; ++j) start[j] = last.theta[j] + (whole[j] - path_.theta[(i - 1) * q_ + j]);
      auto fit = FewRows(others, penalty)
                     .optimum(start, last.theta.empty() ? curvature : last.curvature, {path_.aim[at], path_.aim[at], path_.most});
      found[i] = fit.has_value();
      last = fit ? std::move(*fit) : NewtonFit{};
      loss[i] = fit ? held_loss(f, last.theta) : 0.0;
    }
  }

  // The weights of all rows but a fold's, which sum to 1.
  std::vector<double> without(std::size_t f) const {
    std::vector<double> weight(run_.rows);
    double total = 0;
    for (std::size_t i = 0; i < run_.rows; ++i) total += weight[i] = is_held(f, i) ? 0.0 : run_.weight[i];
    for (double& each : weight) each /= total;
    return weight;
  }

  bool is_held(std::size_t f, std::size_t i) const { return fold_[i] == static_cast<std::int64_t>(f); }

  double held_loss(std::size_t f, std::span<const double> theta) const {
    double lost = 0, total = 0;
    for (std::size_t i = 0; i < run_.rows; ++i) {
      if (!is_held(f, i)) continue;
      const double* const row = run_.first + static_cast<std::ptrdiff_t>(i) * run_.step;
      double score = theta[q_ - 1];
      for (std::size_t j = 0; j + 1 < q_; ++j) score += theta[j] * row[j];
      lost += run_.weight[i] * shares({&score, 1}, run_.label[i]);
      total += run_.weight[i];
    }
    return lost / total;
  }

  const RowRun run_;
  const std::span<const std::int64_t> fold_;
  const StrengthPath path_;
  const std::size_t q_;
};

}  // namespace baytree::linear
