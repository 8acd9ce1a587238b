// Few rows of several classes, and what they say about coefficients [classes, q], of which the last is that of the constant 1.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/classes/class_loops.hpp"
#include "linear/row_loops.hpp"
#include "linear/sparse_rows.hpp"

namespace baytree::linear {

// At some coefficients: the mean loss, its gradient [classes, q], and the share of each class in each row [classes, rows].
struct ClassSlope {
  double loss = 0;
  std::vector<double> gradient, share;
};

class ClassRows {
 public:
  // The rows of the run that weigh anything, in units in which weights sum to what they did.
  ClassRows(const RowRun& run, std::size_t classes) : classes_(classes), q_(run.columns + 1) {
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < run.rows; ++i)
      if (run.weight[i] > 0) own.push_back(i);
    rows_ = (own.size() + kLanes - 1) / kLanes * kLanes;
    label_.assign(rows_, 0), weight_.assign(rows_, 0.0), feature_.assign(q_ * rows_, 0.0);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const double* const row = run.first + static_cast<std::ptrdiff_t>(own[i]) * run.step;
      for (std::size_t j = 0; j < run.columns; ++j) feature_[j * rows_ + i] = row[j];
      feature_[run.columns * rows_ + i] = 1.0;
      label_[i] = run.label[own[i]], weight_[i] = run.weight[own[i]];
    }
    for (std::size_t j = 0; j < q_; ++j) features_.push_back(feature_.data() + j * rows_);
  }
  ClassRows(const ClassRows&) = delete;  // features_ points into feature_
  ClassRows& operator=(const ClassRows&) = delete;

  std::size_t classes() const { return classes_; }
  std::size_t rows() const { return rows_; }
  std::size_t q() const { return q_; }
  const double* feature(std::size_t j) const { return features_[j]; }
  std::span<const double> weight() const { return weight_; }
  std::span<const double* const> features() const { return features_; }

  ClassSlope slope(std::span<const double> theta) const {
    ClassSlope here{0, std::vector<double>(classes_ * q_), std::vector<double>(classes_ * rows_)};
    std::vector<double> residual(classes_ * rows_);
    class_loops().combine(theta.data(), classes_, feature_.data(), q_, rows_, here.share.data());
    here.loss = class_loops().judge(labelled(), here.share.data(), residual.data());
    sum_features(residual, here.gradient);
    return here;
  }

  // The curvature at these shares times a step. [classes, q]
  void image(std::span<const double> share, std::span<const double> step, std::span<double> score, std::span<double> out) const {
    class_loops().combine(step.data(), classes_, feature_.data(), q_, rows_, score.data());
    class_loops().bend(labelled(), share.data(), score.data());
    sum_features(score, out);
  }

 private:
  static constexpr std::size_t kLanes = 8;

  LabelledWeights labelled() const { return {rows_, classes_, label_.data(), weight_.data()}; }

  void sum_features(std::span<const double> of_rows, std::span<double> out) const {
    std::vector<const double*> each(classes_);
    for (std::size_t c = 0; c < classes_; ++c) each[c] = of_rows.data() + c * rows_;
    class_loops().dots(each.data(), classes_, features_.data(), q_, rows_, out.data(), q_);
  }

  std::size_t classes_, q_, rows_;
  std::vector<std::int32_t> label_;
  std::vector<double> weight_, feature_;  // [rows], [q, rows]
  std::vector<const double*> features_;   // [q]
};

}  // namespace baytree::linear
