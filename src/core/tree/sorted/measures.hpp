// Measures: how a row changes the statistic of a side, and the score of a split from the statistics; for classes and
// for numeric targets.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "tree/criteria.hpp"
#include "tree/sorted/class_criterion.hpp"
#include "tree/sorted/target.hpp"

namespace baytree::tree::sorted {

// A score, and the same as a fraction of integers if criterion and weights allow it.
struct Score {
  double value = 0;
  unsigned __int128 over = 0;
  uint64_t under = 0;  // 0: no fraction
};

// Whether a is better than b by more than rounding errors; within these, the exact fractions decide.
inline bool is_better(const Score& a, const Score& b, double slack) {
  if (a.value > b.value + slack) return true;
  if (a.value < b.value - slack || !a.under || !b.under) return false;
  return a.over * b.under > b.over * a.under;
}

// Sum of squares / size over two sides, as a fraction; exact for sizes below 2^25.
inline Score gini_fraction(double value, unsigned __int128 squares_left, uint64_t left, unsigned __int128 squares_right,
                           uint64_t right) {
  return {value, squares_left * right + squares_right * left, left * right};
}
constexpr double kExactSize = 33554432;  // 2^25: for larger sizes the cross product of fractions exceeds 128 bits

// A measure adds rows into a short vector whose last entry is the size; a score is computed from (left, total).
template <typename M>
concept Measure = requires(M measure, double* statistic, uint32_t tag, std::span<const double> left) {
  { measure.width() } -> std::same_as<size_t>;
  measure.add(statistic, tag);
  measure.enter(std::span<const int32_t>());  // the classes that occur in the node
  measure.focus(0.0, 0.0);                    // mean and risk of the node
  { measure.value(left) } -> std::same_as<double>;
  { measure.score(left, 0.0) } -> std::same_as<Score>;
  { measure.slack() } -> std::same_as<double>;
  { measure.nothing() } -> std::same_as<std::vector<double>>;  // of a side without rows
  { measure.order_key(left) } -> std::same_as<double>;
  { measure.mean(left) } -> std::same_as<double>;
  { measure.is_plain_count() } -> std::same_as<bool>;  // a statistic is class counts and their sum
};

// Class weights under a criterion.
class ClassMeasure {
 public:
  ClassMeasure(const Target& target, std::string_view criterion)
      : target_(target), rule_(class_rule(criterion)), present_(target), children_(3 * target.classes) {}
  void enter(std::span<const int32_t> classes) { present_.enter(classes); }
  void focus(double, double) {}
  double impurity(std::span<const double> total) const { return rule_.impurity(total.first(total.size() - 1)); }
  bool is_gini() const { return rule_.is_gini; }
  size_t width() const { return classes() + 1; }
  size_t classes() const { return present_.size(); }
  const PresentClasses& present() const { return present_; }
  void add(double* statistic, uint32_t tag) const {
    statistic[place_of(tag)] += mass_of(tag);
    statistic[classes()] += size_of(tag);
  }
  size_t place_of(uint32_t tag) const { return present_.place_of(tag); }
  double mass_of(uint32_t tag) const { return target_.weight_of(target_.row(tag)) * target_.scale[target_.class_of(tag)]; }
  double size_of(uint32_t tag) const { return target_.size_of(target_.row(tag)); }
  static double mass_in(std::span<const double> statistic, size_t place) { return statistic[place]; }
  double parent_mass(size_t place) const { return extra_.empty() ? total_[place] : parent_[place]; }
  AnyTerms terms() const { return rule_.terms(node_masses()); }
  void begin(std::span<const double> total_of_all) {
    total_.assign(total_of_all.begin(), total_of_all.end());
    whole_ = total(masses());
    criterion_.emplace(rule_.made(masses()));
    extra_.clear();
  }
  // A third child that is the same for every split: the rows with a missing value, if they have their own branch.
  void begin_with(std::span<const double> total_of_known, std::span<const double> own_branch) {
    total_.assign(total_of_known.begin(), total_of_known.end());
    extra_.assign(own_branch.begin(), own_branch.end());
    parent_.assign(total_.begin(), total_.end());
    for (size_t k = 0; k < parent_.size(); ++k) parent_[k] += extra_[k];
    whole_ = total({parent_.data(), classes()});
    criterion_.emplace(rule_.made({parent_.data(), classes()}));
  }
  double value(std::span<const double> left) {
    const size_t n = classes();
    for (size_t k = 0; k < n; ++k) {
      children_[k] = left[k];
      children_[n + k] = std::max(0.0, total_[k] - left[k]);
    }
    if (!extra_.empty()) std::copy_n(extra_.begin(), n, children_.begin() + std::ptrdiff_t(2 * n));
    const Children children{{children_.data(), (extra_.empty() ? 2 : 3) * n}, n};
    return std::visit([&](const auto& criterion) { return criterion(children); }, *criterion_);
  }
  Score score(std::span<const double> left, double value) const {
    return has_fractions() ? exact(left, value) : Score{value, 0, 0};
  }
  Score none() const {
    if (!has_fractions()) return {0, 0, 0};
    unsigned __int128 squares = 0;
    for (size_t k = 0; k < classes(); ++k) squares += uint64_t(total_[k]) * uint64_t(total_[k]);
    return {0, squares, uint64_t(whole_)};
  }
  bool has_fractions() const { return rule_.is_gini && target_.is_counted && whole_ < kExactSize && extra_.empty(); }
  double slack() const { return 1e-12 * whole_; }
  std::vector<double> nothing() const { return std::vector<double>(width(), 0.0); }
  // Two classes: the proportion of the first one. Ordering the levels by it contains the best two groups (Breiman et
  // al. 1984).
  double order_key(std::span<const double> statistic) const {
    const double mass = total(statistic.first(classes()));
    return mass > 0 ? statistic[0] / mass : 0.0;
  }
  double mean(std::span<const double> statistic) const {
    double sum = 0, mass = 0;
    for (size_t k = 0; k < classes(); ++k) sum += double(present_[k]) * statistic[k], mass += statistic[k];
    return mass > 0 ? sum / mass : 0.0;
  }
  bool is_ordered() const { return target_.classes <= 2; }
  bool is_plain_count() const { return target_.is_counted && !target_.weight; }
  // Whether every row has weight 1: then statistics are class counts followed by their sum.
  bool adds_counts() const { return is_plain_count(); }
  static void complete(std::span<double> statistic, size_t classes) { statistic[classes] = total(statistic.first(classes)); }

 private:
  std::span<const double> own_branch() const { return {extra_.data(), extra_.empty() ? 0 : classes()}; }
  NodeMasses node_masses() const {
    const std::span<const double> all = extra_.empty() ? masses() : std::span<const double>(parent_.data(), classes());
    return {whole_, total(own_branch()), rule_.impurity(all) - rule_.impurity(own_branch()), target_.is_counted};
  }
  std::span<const double> masses() const { return {total_.data(), classes()}; }
  Score exact(std::span<const double> left, double value) const {
    unsigned __int128 of_left = 0, of_right = 0;
    uint64_t in_left = 0, in_right = 0;
    for (size_t k = 0; k < classes(); ++k) {
      const uint64_t l = uint64_t(left[k]), r = uint64_t(total_[k]) - l;
      of_left += l * l, of_right += r * r, in_left += l, in_right += r;
    }
    return gini_fraction(value, of_left, in_left, of_right, in_right);
  }
  const Target& target_;
  const ClassRule rule_;
  PresentClasses present_;
  std::vector<double> total_, extra_, parent_, children_;
  double whole_ = 0;
  std::optional<AnyCriterion> criterion_;
};

// Sums relative to the node's mean: S = sum w (y - m) and W; the score of a split is the decrease of the sum of
// squares.
class SquareMeasure {
 public:
  SquareMeasure(const Target& target, std::string_view) : target_(target) {}
  void enter(std::span<const int32_t>) {}
  void focus(double mean, double squares) { mean_ = mean, squares_ = squares; }
  size_t width() const { return 3; }
  void add(double* statistic, uint32_t tag) const {
    const double w = target_.weight_of(tag);
    statistic[0] += w * (target_.y[tag] - mean_);
    statistic[1] += w;
    statistic[2] += target_.counts_rows ? 1.0 : w;
  }
  void begin(std::span<const double> total) { begin_with(total, {}); }
  void begin_with(std::span<const double> total_of_known, std::span<const double> own_branch) {
    std::copy_n(total_of_known.begin(), 3, total_);
    const double s = total_[0] + (own_branch.empty() ? 0.0 : own_branch[0]);
    const double w = total_[1] + (own_branch.empty() ? 0.0 : own_branch[1]);
    base_ = (own_branch.empty() || own_branch[1] <= 0 ? 0.0 : own_branch[0] * own_branch[0] / own_branch[1]) - s * s / w;
  }
  double value(std::span<const double> left) const {
    const double s = total_[0] - left[0], w = total_[1] - left[1];
    return left[1] > 0 && w > 0 ? left[0] * left[0] / left[1] + s * s / w + base_ : 0.0;
  }
  Score score(std::span<const double>, double value) const { return {value, 0, 0}; }
  Score none() const { return {0, 0, 0}; }
  double slack() const { return 1e-12 * squares_; }
  std::vector<double> nothing() const { return std::vector<double>(width(), 0.0); }
  double order_key(std::span<const double> statistic) const { return mean(statistic); }
  double mean(std::span<const double> statistic) const { return statistic[1] > 0 ? statistic[0] / statistic[1] : 0.0; }
  bool is_ordered() const { return true; }
  static bool is_plain_count() { return false; }
  size_t classes() const { return 0; }

 private:
  const Target& target_;
  double mean_ = 0, squares_ = 0, base_ = 0;
  double total_[3] = {0, 0, 0};
};

}  // namespace baytree::tree::sorted
