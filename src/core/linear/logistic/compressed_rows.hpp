// Rows of a logistic regression that are mostly 0, such as one-hot features or words, in compressed form.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/logistic/logistic_loops.hpp"
#include "linear/logistic/rows.hpp"
#include "numeric/matrix.hpp"

namespace baytree::linear {

// Probabilities are [rows, width]: the scores of a row side by side, padded to whole registers. Entries of a row ascend by feature.
class CompressedRows {
 public:
  CompressedRows(const numeric::SparseRows& x, std::size_t q, std::span<const std::int32_t> label, std::span<const double> weight,
                 std::size_t n_scores)
      : x_(x), label_(label), weight_(weight), k_(n_scores), width_(padded(n_scores)), q_(q), start_(q + 1), row_(x.value.size()), place_(x.value.size()) {
    for (const std::int32_t j : x.code) ++start_[static_cast<std::size_t>(j) + 1];
    for (std::size_t j = 0; j < q; ++j) start_[j + 1] += start_[j];
    auto next = start_;
    for (std::size_t i = 0; i < n_rows(); ++i)
      for (auto e = begin(i); e < begin(i + 1); ++e) {
        const auto at = static_cast<std::size_t>(next[feature(e)]++);
        row_[at] = static_cast<std::int32_t>(i), place_[at] = static_cast<std::int64_t>(e);
      }
  }

  std::size_t n_scores() const { return k_; }
  std::size_t q() const { return q_; }
  std::size_t n_rows() const { return x_.rows(); }
  std::size_t buffer_size() const { return n_rows() * width_ + 2 * q_ * width_; }
  double products_per_block() const {
    return static_cast<double>(x_.value.size()) / static_cast<double>(std::max<std::size_t>(n_rows(), 1)) / 2;
  }

  Evaluation evaluate(std::span<const double> theta) const {
    const std::size_t n = n_rows();
    Evaluation at{0, std::vector<double>(k_ * q_), std::vector<double>(n * width_)};
    std::vector<double> by_feature(q_ * width_), residual(n * width_), summed(q_ * width_);
    to_features(theta, by_feature);
    logistic_loops().scores(entries(), by_feature.data(), width_, at.probability.data());
    at.loss = logistic_loops().judge_rows(labelled(), width_, at.probability.data(), residual.data());
    logistic_loops().sums(entries(), residual.data(), width_, summed.data());
    from_features(summed, at.gradient);
    return at;
  }

  void hessian_product(std::span<const double> probability, std::span<const double> direction, std::span<double> buffer,
                       std::span<double> out) const {
    const std::size_t n = n_rows();
    const auto score = buffer.subspan(0, n * width_), by_feature = buffer.subspan(n * width_, q_ * width_),
               summed = buffer.subspan((n + q_) * width_, q_ * width_);
    to_features(direction, by_feature);
    logistic_loops().scores(entries(), by_feature.data(), width_, score.data());
    logistic_loops().bend_rows(labelled(), width_, probability.data(), score.data());
    std::ranges::fill(summed, 0.0);
    logistic_loops().sums(entries(), score.data(), width_, summed.data());
    from_features(summed, out);
  }

  // Σ w p (1 − p) x x' of each score: all of them in one pass over the pairs of entries.
  std::vector<double> diagonal_blocks(std::span<const double> probability) const {
    std::vector<double> together(q_ * q_ * width_), blocks(k_ * q_ * q_);
    logistic_loops().squares(entries(), by_feature(), variances(probability).data(), width_, together.data());
    for (std::size_t c = 0; c < k_; ++c)
      for (std::size_t j = 0; j < q_; ++j)
        for (std::size_t l = 0; l <= j; ++l) blocks[(c * q_ + j) * q_ + l] = together[(j * q_ + l) * width_ + c];
    return blocks;
  }

  std::vector<double> hessian_diagonal(std::span<const double> probability) const {
    const auto variance = variances(probability);
    std::vector<double> summed(q_ * width_), diagonal(k_ * q_);
    for (std::size_t i = 0; i < n_rows(); ++i)
      for (auto e = begin(i); e < begin(i + 1); ++e) {
        double* const to = summed.data() + feature(e) * width_;
        for (std::size_t c = 0; c < width_; ++c) to[c] += x_.value[e] * x_.value[e] * variance[i * width_ + c];
      }
    from_features(summed, diagonal);
    return diagonal;
  }

  // Scores c and d: Σ w p_c (1 − p_c) x x' if they are the same, else − Σ w p_c p_d x x'.
  std::vector<double> hessian_among(const Coordinates& some, std::span<const double> probability) const {
    const std::size_t m = some.size();
    constexpr std::int32_t kNone = -1;
    std::vector<std::int32_t> place(k_ * q_, kNone);
    for (std::size_t a = 0; a < m; ++a) place[some.index[a]] = static_cast<std::int32_t>(a);
    std::vector<double> matrix(m * m);
    std::vector<std::size_t> at;      // coordinates of this row's entries, ascending
    std::vector<double> value, other;  // of each: x, and p x
    for (std::size_t i = 0; i < n_rows(); ++i) {
      at.clear(), value.clear(), other.clear();
      for (std::size_t c = 0; c < k_; ++c) {
        const double p = probability[i * width_ + c];
        const std::size_t first = at.size();
        for (auto e = begin(i); e < begin(i + 1); ++e) {
          const std::int32_t a = place[c * q_ + feature(e)];
          if (a == kNone) continue;
          at.push_back(static_cast<std::size_t>(a)), value.push_back(x_.value[e]), other.push_back(p * x_.value[e]);
        }
        for (std::size_t s = first; s < at.size(); ++s) {
          double* const to = matrix.data() + at[s] * m;
          const double across = weight_[i] * other[s], within = weight_[i] * (1 - p) * value[s];
          for (std::size_t t = 0; t < first; ++t) to[at[t]] -= across * other[t];
          for (std::size_t t = first; t <= s; ++t) to[at[t]] += within * other[t];
        }
      }
    }
    return matrix;
  }

 private:
  static constexpr std::size_t kRegister = 4;

  static std::size_t padded(std::size_t n_scores) {
    return n_scores == 1 ? 1 : (n_scores + kRegister - 1) / kRegister * kRegister;
  }

  std::size_t begin(std::size_t row) const { return static_cast<std::size_t>(x_.start[row]); }
  std::size_t feature(std::size_t entry) const { return static_cast<std::size_t>(x_.code[entry]); }
  LabelledWeights labelled() const { return {n_rows(), k_, label_.data(), weight_.data()}; }
  FeatureEntries by_feature() const { return {q_, start_.data(), row_.data(), place_.data()}; }
  CompressedEntries entries() const { return {n_rows(), x_.start.data(), x_.code.data(), x_.value.data()}; }

  std::vector<double> variances(std::span<const double> probability) const {
    std::vector<double> variance(probability.size());
    for (std::size_t i = 0; i < n_rows(); ++i)
      for (std::size_t c = 0; c < k_; ++c) {
        const double p = probability[i * width_ + c];
        variance[i * width_ + c] = weight_[i] * p * (1 - p);
      }
    return variance;
  }

  void to_features(std::span<const double> theta, std::span<double> by_feature) const {
    for (std::size_t j = 0; j < q_; ++j) {
      for (std::size_t c = 0; c < k_; ++c) by_feature[j * width_ + c] = theta[c * q_ + j];
      for (std::size_t c = k_; c < width_; ++c) by_feature[j * width_ + c] = 0.0;
    }
  }

  void from_features(std::span<const double> by_feature, std::span<double> out) const {
    for (std::size_t c = 0; c < k_; ++c)
      for (std::size_t j = 0; j < q_; ++j) out[c * q_ + j] = by_feature[j * width_ + c];
  }

  const numeric::SparseRows x_;
  const std::span<const std::int32_t> label_;
  const std::span<const double> weight_;
  const std::size_t k_, width_, q_;
  std::vector<std::int64_t> start_;  // [q + 1], entries by feature
  std::vector<std::int32_t> row_;
  std::vector<std::int64_t> place_;
};

}  // namespace baytree::linear
