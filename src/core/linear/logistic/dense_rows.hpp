// Dense rows of a logistic regression, one feature after another in memory.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/logistic/logistic_loops.hpp"
#include "linear/logistic/rows.hpp"
#include "linear/row_loops.hpp"

namespace baytree::linear {

// Probabilities are [scores, rows].
class DenseRows {
 public:
  // Copies the rows that have weight.
  DenseRows(const RowRun& run, std::size_t n_scores) : k_(n_scores), q_(run.columns + 1) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < run.rows; ++i)
      if (run.weight[i] > 0) used.push_back(i);
    n_ = (used.size() + kLanes - 1) / kLanes * kLanes;
    label_.assign(n_, 0), weight_.assign(n_, 0.0), value_.assign(q_ * n_, 0.0);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const double* const row = run.first + static_cast<std::ptrdiff_t>(used[i]) * run.step;
      for (std::size_t j = 0; j < run.columns; ++j) value_[j * n_ + i] = row[j];
      value_[run.columns * n_ + i] = 1.0;
      label_[i] = run.label[used[i]], weight_[i] = run.weight[used[i]];
    }
    for (std::size_t j = 0; j < q_; ++j) features_.push_back(value_.data() + j * n_);
  }
  DenseRows(const DenseRows&) = delete;  // features_ points into value_
  DenseRows& operator=(const DenseRows&) = delete;

  std::size_t n_scores() const { return k_; }
  std::size_t q() const { return q_; }
  std::size_t n_rows() const { return n_; }
  std::size_t buffer_size() const { return k_ * n_; }
  double products_per_block() const { return static_cast<double>(q_) / 8; }

  Evaluation evaluate(std::span<const double> theta) const {
    Evaluation at{0, std::vector<double>(k_ * q_), std::vector<double>(k_ * n_)};
    std::vector<double> residual(k_ * n_);
    logistic_loops().combine(theta.data(), k_, value_.data(), q_, n_, at.probability.data());
    at.loss = logistic_loops().judge(labelled(), at.probability.data(), residual.data());
    sum_features(residual, at.gradient);
    return at;
  }

  void hessian_product(std::span<const double> probability, std::span<const double> direction, std::span<double> buffer,
                       std::span<double> out) const {
    logistic_loops().combine(direction.data(), k_, value_.data(), q_, n_, buffer.data());
    logistic_loops().bend(labelled(), probability.data(), buffer.data());
    sum_features(buffer, out);
  }

  // Σ w p (1 − p) x x' of each score.
  std::vector<double> diagonal_blocks(std::span<const double> probability) const {
    std::vector<double> blocks(k_ * q_ * q_), factor(n_), scaled(q_ * n_);
    std::vector<const double*> left(q_);
    for (std::size_t j = 0; j < q_; ++j) left[j] = scaled.data() + j * n_;
    for (std::size_t c = 0; c < k_; ++c) {
      for (std::size_t i = 0; i < n_; ++i) factor[i] = variance(probability, c, i);
      for (std::size_t j = 0; j < q_; ++j) logistic_loops().times(features_[j], factor.data(), n_, scaled.data() + j * n_);
      logistic_loops().lower_dots(left.data(), features_.data(), q_, n_, blocks.data() + c * q_ * q_, q_);
    }
    return blocks;
  }

  std::vector<double> hessian_diagonal(std::span<const double> probability) const {
    std::vector<double> diagonal(k_ * q_);
    for (std::size_t c = 0; c < k_; ++c)
      for (std::size_t j = 0; j < q_; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < n_; ++i) sum += variance(probability, c, i) * features_[j][i] * features_[j][i];
        diagonal[c * q_ + j] = sum;
      }
    return diagonal;
  }

  // Scores c and d: Σ w p_c (1 − p_c) x x' if they are the same, else − Σ w p_c p_d x x'.
  std::vector<double> hessian_among(const Coordinates& some, std::span<const double> probability) const {
    const std::size_t m = some.size();
    std::vector<double> matrix(m * m), same(m * n_), other(m * n_), factor(n_), root(n_);
    std::vector<const double*> of_same(m), of_other(m), feature(m);
    for (std::size_t c = 0; c < k_; ++c) {
      for (std::size_t i = 0; i < n_; ++i) {
        factor[i] = variance(probability, c, i);
        root[i] = std::sqrt(weight_[i]) * probability[c * n_ + i];
      }
      for (std::size_t a = some.first[c]; a < some.first[c + 1]; ++a) {
        feature[a] = features_[some.index[a] % q_];
        logistic_loops().times(feature[a], factor.data(), n_, same.data() + a * n_);
        logistic_loops().times(feature[a], root.data(), n_, other.data() + a * n_);
        of_same[a] = same.data() + a * n_, of_other[a] = other.data() + a * n_;
      }
    }
    for (std::size_t c = 0; c < k_; ++c) {
      const std::size_t a = some.first[c], count = some.first[c + 1] - a;
      double* const to = matrix.data() + a * m;
      logistic_loops().dots(of_other.data() + a, count, of_other.data(), a, n_, to, m);
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t b = 0; b < a; ++b) to[r * m + b] = -to[r * m + b];
      logistic_loops().lower_dots(of_same.data() + a, feature.data() + a, count, n_, to + a, m);
    }
    return matrix;
  }

 private:
  static constexpr std::size_t kLanes = 8;

  LabelledWeights labelled() const { return {n_, k_, label_.data(), weight_.data()}; }

  double variance(std::span<const double> probability, std::size_t c, std::size_t i) const {
    const double p = probability[c * n_ + i];
    return weight_[i] * p * (1 - p);
  }

  void sum_features(std::span<const double> of_rows, std::span<double> out) const {
    std::vector<const double*> left(k_);
    for (std::size_t c = 0; c < k_; ++c) left[c] = of_rows.data() + c * n_;
    logistic_loops().dots(left.data(), k_, features_.data(), q_, n_, out.data(), q_);
  }

  std::size_t k_, q_, n_;  // n_ is a multiple of the lanes: rows beyond the last one have weight 0
  std::vector<std::int32_t> label_;
  std::vector<double> weight_, value_;   // [rows], [q, rows]
  std::vector<const double*> features_;  // [q]
};

}  // namespace baytree::linear
