// Measures with the arithmetic of rpart, operation by operation, so that its ties fall the same way.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "measures.hpp"

namespace baytree {

enum class ClassIndex { kGini, kInformation };

// Weights of classes, scaled by the altered priors: I(S) = U sum phi(a_k w_k / U), U = sum a_k w_k.
template <ClassIndex Index> class CartClassMeasure {
 public:
  explicit CartClassMeasure(const Target& target) : target_(target) {}
  void focus(double, double) {}
  size_t width() const { return target_.classes + 1; }
  size_t classes() const { return target_.classes; }
  void add(double* statistic, uint32_t tag) const {
    statistic[target_.class_of(tag)] += target_.weight_of(target_.row(tag));
    statistic[target_.classes] += 1.0;
  }
  void begin(std::span<const double> total) {
    total_.assign(total.begin(), total.end());
    right_.resize(total_.size());
    parent_ = impurity(total_);
  }
  void begin_with(std::span<const double> total, std::span<const double>) { begin(total); }
  double value(std::span<const double> left) {
    for (size_t k = 0; k < classes(); ++k) right_[k] = total_[k] - left[k];
    return parent_ - impurity(left) - impurity(right_);
  }
  Score score(std::span<const double>, double value) const { return {value, 0, 0}; }
  Score none() const { return {0, 0, 0}; }
  double slack() const { return 0; }
  double order_key(std::span<const double> statistic) const {
    const double first = target_.scale[0] * statistic[0];
    return first / (first + target_.scale[1] * statistic[1]);
  }
  double mean(std::span<const double> statistic) const {
    double sum = 0, mass = 0;
    for (size_t k = 0; k < classes(); ++k) {
      sum += double(k) * statistic[k] * target_.scale[k];
      mass += statistic[k] * target_.scale[k];
    }
    return sum / mass;
  }
  bool is_ordered() const { return classes() <= 2; }
  double impurity(std::span<const double> weight) const {
    double mass = 0, index = 0;
    for (size_t k = 0; k < classes(); ++k) mass += target_.scale[k] * weight[k];
    if (mass <= 0) return 0.0;
    for (size_t k = 0; k < classes(); ++k) {
      const double p = target_.scale[k] * weight[k] / mass;
      if constexpr (Index == ClassIndex::kGini) index += p * (1 - p);
      else index += p > 0 ? -p * std::log(p) : 0.0;
    }
    return mass * index;
  }

 private:
  const Target& target_;
  std::vector<double> total_, right_;
  double parent_ = 0;
};

// Numbers: (S_l^2 / W_l + S_r^2 / W_r) / R, about the mean of the rows with a value; R is the risk of all the rows.
class CartSquareMeasure {
 public:
  explicit CartSquareMeasure(const Target& target) : target_(target) {}
  void focus(double mean, double risk) { mean_ = mean, risk_ = risk; }
  size_t width() const { return 3; }
  size_t classes() const { return 0; }
  void add(double* statistic, uint32_t tag) const {
    const double w = target_.weight_of(tag);
    statistic[0] += w * (target_.y[tag] - mean_);
    statistic[1] += w;
    statistic[2] += 1.0;
  }
  void begin(std::span<const double> total) { std::copy_n(total.begin(), 3, total_); }
  void begin_with(std::span<const double> total, std::span<const double>) { begin(total); }
  double value(std::span<const double> left) const {
    const double s = total_[0] - left[0], w = total_[1] - left[1];
    return left[1] > 0 && w > 0 ? (left[0] * left[0] / left[1] + s * s / w) / risk_ : 0.0;
  }
  Score score(std::span<const double>, double value) const { return {value, 0, 0}; }
  Score none() const { return {0, 0, 0}; }
  double slack() const { return 0; }
  double order_key(std::span<const double> statistic) const { return mean(statistic); }
  double mean(std::span<const double> statistic) const { return statistic[1] > 0 ? statistic[0] / statistic[1] : 0.0; }
  bool is_ordered() const { return true; }
  static constexpr bool is_centred() { return true; }  // on the rows with a value, not on the node

 private:
  const Target& target_;
  double mean_ = 0, risk_ = 0;
  double total_[3] = {0, 0, 0};
};

}  // namespace baytree
