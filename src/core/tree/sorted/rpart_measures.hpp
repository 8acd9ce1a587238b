// Measures with the arithmetic of rpart, operation by operation, so that ties are decided in the same way.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "numeric/impurity.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/sorting.hpp"
#include "tree/sorted/split.hpp"

namespace baytree::tree::sorted {

// Class weights, scaled by the altered priors: I(S) = U sum phi(a_k w_k / U), U = sum a_k w_k. U is a running sum on
// both sides, because the scales are 1 only up to the last bit, and ties depend on that. A statistic is [weight per
// class, U, -U, rows]; the third entry of `nothing` is the total U, so that it ends as that of the other side.
class RpartClassMeasure {
 public:
  RpartClassMeasure(const Target& target, std::string_view criterion)
      : target_(target), is_information_(criterion == Entropy::name), present_(target) {}
  void enter(std::span<const int32_t> classes) { present_.enter(classes); }
  void focus(double, double) {}
  size_t width() const { return classes() + 3; }
  size_t classes() const { return present_.size(); }
  const PresentClasses& present() const { return present_; }
  void add(double* statistic, uint32_t tag) const {
    const size_t n = classes();
    const uint32_t row = target_.row(tag);
    const double scale = target_.scale[target_.class_of(tag)];
    statistic[place_of(tag)] += target_.weight_of(row);
    target_.add_weighted(statistic[n], scale, row);
    target_.add_weighted(statistic[n + 1], -scale, row);
    statistic[n + 2] += size_of(tag);
  }
  size_t place_of(uint32_t tag) const { return present_.place_of(tag); }
  double mass_of(uint32_t tag) const { return target_.weight_of(target_.row(tag)) * target_.scale[target_.class_of(tag)]; }
  double size_of(uint32_t tag) const { return target_.size_of(target_.row(tag)); }
  double mass_in(std::span<const double> statistic, size_t place) const { return scale(place) * statistic[place]; }
  double parent_mass(size_t place) const { return mass_in(total_, place); }
  std::variant<SquareTerms, LogTerms> terms() const {
    const NodeMasses node{.whole = total_[classes()]};
    if (is_information_) return LogTerms(node, kNaturalPerBit);
    return SquareTerms(node);
  }
  void begin(std::span<const double> total) {
    total_.assign(total.begin(), total.end());
    parent_ = impurity(total_);
  }
  void begin_with(std::span<const double> total, std::span<const double>) { begin(total); }
  std::vector<double> nothing() const {
    std::vector<double> statistic(width(), 0.0);
    statistic[classes() + 1] = total_[classes()];
    return statistic;
  }
  double value(std::span<const double> left) const {
    const double on_left = left[classes()], on_right = left[classes() + 1];
    double rest = 0;
    for (size_t k = 0; k < classes(); ++k) {
      rest += on_left * phi(scale(k) * left[k] / on_left);
      rest += on_right * phi(scale(k) * (total_[k] - left[k]) / on_right);
    }
    return parent_ - rest;
  }
  // Whether two sides are certainly worse than `least`, by products alone: for Gini the score is the parent's impurity
  // minus U, plus the sum of squared weights of each side over its U.
  bool is_below(std::span<const double> left, double least) const {
    const double on_left = left[classes()], on_right = left[classes() + 1], all = on_left + on_right;
    if (is_information_ || !(on_left > 0) || !(on_right > 0)) return false;
    double squares_left = 0, squares_right = 0;
    for (size_t k = 0; k < classes(); ++k) {
      const double mass = scale(k) * left[k], rest = scale(k) * (total_[k] - left[k]);
      squares_left += mass * mass, squares_right += rest * rest;
    }
    return squares_left * on_right + squares_right * on_left < (least - parent_ + all * (1 - kRounding)) * on_left * on_right;
  }
  Score score(std::span<const double>, double value) const { return {value, 0, 0}; }
  Score none() const { return {0, 0, 0}; }
  double slack() const { return 0; }
  double order_key(std::span<const double> statistic) const {
    const double first = scale(0) * statistic[0];
    return first / (first + scale(1) * statistic[1]);
  }
  double mean(std::span<const double> statistic) const {
    double sum = 0, mass = 0;
    for (size_t k = 0; k < classes(); ++k) {
      sum += double(present_[k]) * statistic[k] * scale(k);
      mass += statistic[k] * scale(k);
    }
    return sum / mass;
  }
  bool is_ordered() const { return target_.classes <= 2; }
  static bool is_plain_count() { return false; }
  bool adds_counts() const { return target_.is_counted && !target_.weight; }
  static void complete(std::span<double> statistic, size_t classes) {
    const double size = total(statistic.first(classes));
    statistic[classes] = size, statistic[classes + 1] = 0.0 - size, statistic[classes + 2] = size;
  }
  double impurity(std::span<const double> statistic) const {
    const double mass = statistic[classes()];
    double index = 0;
    for (size_t k = 0; k < classes() && mass > 0; ++k) index += phi(scale(k) * statistic[k] / mass);
    return mass * index;
  }

 private:
  static constexpr double kRounding = 1e-9;  // far above the rounding errors
  double phi(double p) const { return is_information_ ? Entropy::Rpart::of_share(p) : Gini::Rpart::of_share(p); }
  double scale(size_t place) const { return target_.scale[present_[place]]; }
  const Target& target_;
  const bool is_information_;
  PresentClasses present_;
  std::vector<double> total_;
  double parent_ = 0;
};

// Regression: (S^2 / W_l + S^2 / W_r) / R, where S is the left sum relative to the mean of the known rows, so that the
// right sum is -S; R is the risk of all rows. A statistic is [S, W, rows].
class RpartSquareMeasure {
 public:
  RpartSquareMeasure(const Target& target, std::string_view) : target_(target) {}
  void enter(std::span<const int32_t>) {}
  void focus(double mean, double risk) { mean_ = mean, risk_ = risk; }
  size_t width() const { return 3; }
  size_t classes() const { return 0; }
  void add(double* statistic, uint32_t tag) const {
    const double w = target_.weight_of(tag);
    target_.add_weighted(statistic[0], target_.y[tag] - mean_, tag);
    statistic[1] += w;
    statistic[2] += target_.counts_rows ? 1.0 : w;
  }
  void begin(std::span<const double> total) { whole_ = total[1]; }
  void begin_with(std::span<const double> total, std::span<const double>) { begin(total); }
  std::vector<double> nothing() const { return std::vector<double>(width(), 0.0); }
  double value(std::span<const double> left) const {
    const double square = left[0] * left[0], rest = whole_ - left[1];
    return left[1] > 0 && rest > 0 ? (square / left[1] + square / rest) / risk_ : 0.0;
  }
  Score score(std::span<const double>, double value) const { return {value, 0, 0}; }
  Score none() const { return {0, 0, 0}; }
  double slack() const { return 1e-12; }  // of the risk; closer scores are decided by the order of the rows alone
  double order_key(std::span<const double> statistic) const { return mean(statistic); }
  double mean(std::span<const double> statistic) const { return statistic[1] > 0 ? statistic[0] / statistic[1] : 0.0; }
  bool is_ordered() const { return true; }
  static bool is_plain_count() { return false; }
  static constexpr bool is_centred() { return true; }  // relative to the mean of the known rows, not of the node

 private:
  const Target& target_;
  double mean_ = 0, risk_ = 0, whole_ = 0;
};

// Best threshold of a sorted column for two classes of unit weights, as rpart scores it: integer bounds exclude most
// thresholds.

// Like `scan` for rows of weight 1, where `measure` has started with `total`: sides are counted in integers, and a
// threshold that is certainly worse than the best is not scored.
inline bool scan_counts(std::span<const Entry> known, const RpartClassMeasure& measure, std::span<const double> total, Limits limits,
                        Split& best) {
  const double n = total[0] + total[1];
  uint32_t ones = 0;
  bool is_improved = false;
  for (size_t i = 0; i + 1 < known.size(); ++i) {
    ones += uint32_t(known[i] & 1);
    if (rank_of(known[i]) == rank_of(known[i + 1])) continue;
    const double l = double(i + 1), one = ones, left[5] = {l - one, one, l, n - l, l};
    if (l < limits.min_leaf) continue;
    if (n - l < limits.min_leaf) break;
    if (measure.is_below(left, best.score.value)) continue;
    const double value = measure.value(left);
    if (!(value > best.score.value)) continue;
    best.score = measure.score(left, value), best.last = uint32_t(i), is_improved = true;
  }
  return is_improved;
}

}  // namespace baytree::tree::sorted
