// The numbers of a class as naive Bayes takes them.
#pragma once
#include <cmath>

#include "numbers/impurity.hpp"

namespace baytree::tree::streaming {

constexpr double kAnywhere = 1.0 / 12;  // the variance of what lies anywhere between 0 and 1

// The numbers of a class between the first and the last of their column, which lie at 0 and 1: normal, with one row more that
// lies anywhere. A further copy of a number makes it more probable, however far it lies from the others.
class Normal {
 public:
  Normal() : Normal(0, 0.5, 0) {}
  Normal(double weight, double mean, double squares) : weight_(weight), mean_(mean), squares_(squares) {
    precision_ = (weight + 1) / (squares + kAnywhere);
    height_ = 0.5 * numbers::near_log2(precision_);
  }
  // The logarithm of the density, up to what all classes share.
  double bits(double place) const { return height_ - 0.72134752044448170368 * precision_ * (place - mean_) * (place - mean_); }
  // With further rows at one place.
  Normal with(double place, double copies) const {
    const double share = copies / (weight_ + copies), distance = place - mean_;
    return {weight_ + copies, mean_ + share * distance, squares_ + share * weight_ * distance * distance};
  }
  double mean() const { return mean_; }
  double deviation() const { return std::sqrt(1 / precision_); }

 private:
  double weight_, mean_, squares_;  // squares: of the distances from the mean
  double precision_, height_;
};

}  // namespace baytree::tree::streaming
