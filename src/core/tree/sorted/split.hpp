// Best threshold of a sorted column: one pass over the rows, preceded by approximate scores that exclude most
// thresholds.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "tree/sorted/class_criterion.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/sorting.hpp"
#include "tree/sorted/target.hpp"

namespace baytree::tree::sorted {

// Approximate scores of all thresholds of a column, in a few operations per row, whatever the number of classes.

// A class measure whose scores can be approximated, since the criterion is a sum of terms.
template <typename M>
concept EstimatedMeasure = requires(const M measure, uint32_t tag, size_t place, std::span<const double> statistic) {
  measure.terms();  // a variant
  { measure.place_of(tag) } -> std::same_as<size_t>;
  { measure.mass_of(tag) } -> std::same_as<double>;
  { measure.size_of(tag) } -> std::same_as<double>;
  { measure.mass_in(statistic, place) } -> std::same_as<double>;  // of a class
  { measure.parent_mass(place) } -> std::same_as<double>;
};

// Measures without approximation.
template <typename M> class CutEstimates {
 public:
  static double bar(auto&&...) { return 0; }
  static bool may_be_best(size_t, double) { return true; }
};

template <EstimatedMeasure M> class CutEstimates<M> {
 public:
  // Scores the thresholds with at least `min_leaf` on both sides, with `first` rows already on the first side; returns
  // the lower limit of the scores of candidates.
  double bar(std::span<const Entry> known, const M& measure, std::span<const double> total, std::span<const double> first,
             bool may_take_all, double min_leaf) {
    const auto by = [&]<typename Terms>(const Terms& terms) {
      if constexpr (std::same_as<Terms, NoTerms>) return kNone;
      else return measure.classes() <= Terms::kFew ? kNone : bar_by(terms, known, measure, total, first, may_take_all, min_leaf);
    };
    return std::visit(by, measure.terms());
  }
  bool may_be_best(size_t cut, double bar) const { return bar == kNone || worth_[cut] >= bar; }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  struct Class {
    double mass, term, parent;
  };
  struct Side {
    double sum = 0, mass = 0;
    void add(Class& of, double more, const auto& terms) {
      of.mass += more;
      const double term = terms.term(of.mass, of.parent);
      sum = terms.enter(sum, of.term, term), of.term = term, mass += more;
    }
  };

  double bar_by(const auto& terms, std::span<const Entry> known, const M& measure, std::span<const double> total, std::span<const double> first,
                bool may_take_all, double min_leaf) {
    worth_.assign(known.size(), kNone);
    from_the_left(known, measure, terms, total, first, may_take_all, min_leaf);
    from_the_right(known, measure, terms, total);
    const double rounding = 4 * double(known.size() + classes_.size() + 64) * std::numeric_limits<double>::epsilon() * terms.size;
    return bar_of(measure.slack() + 2 * rounding);
  }

  Side start(const M& measure, const auto& terms, size_t n_classes, const auto& mass_of_class) {
    Side side;
    classes_.assign(n_classes, {0, 0, 0});
    for (size_t k = 0; k < n_classes; ++k) {
      classes_[k].parent = measure.parent_mass(k);
      if (const double mass = mass_of_class(k); mass > 0) side.add(classes_[k], mass, terms);
    }
    return side;
  }

  void from_the_left(std::span<const Entry> known, const M& measure, const auto& terms, std::span<const double> total,
                     std::span<const double> first, bool may_take_all, double min_leaf) {
    Side left = start(measure, terms, measure.classes(), [&](size_t k) { return measure.mass_in(first, k); });
    double size = first.back();
    for (size_t i = 0; i < known.size(); ++i) {
      const uint32_t tag = tag_of(known[i]);
      left.add(classes_[measure.place_of(tag)], measure.mass_of(tag), terms), size += measure.size_of(tag);
      const bool is_last = i + 1 == known.size();
      if (is_last ? !may_take_all : rank_of(known[i]) == rank_of(known[i + 1])) continue;
      if (size < min_leaf || total.back() - size < min_leaf) continue;
      worth_[i] = terms.side(left.sum, left.mass);
    }
    left_ = left.mass;
  }

  // Recomputed from the other end: subtraction from a sum leaves rounding errors that are large relative to a small
  // side.
  void from_the_right(std::span<const Entry> known, const M& measure, const auto& terms, std::span<const double> total) {
    rest_.resize(measure.classes());
    for (size_t k = 0; k < rest_.size(); ++k) rest_[k] = measure.mass_in(total, k) - classes_[k].mass;
    Side right = start(measure, terms, rest_.size(), [&](size_t k) { return rest_[k]; });
    double left = left_;
    for (size_t i = known.size(); i-- > 0;) {
      if (worth_[i] > kNone) worth_[i] = terms.worth(worth_[i] + terms.side(right.sum, right.mass), left, right.mass);
      const uint32_t tag = tag_of(known[i]);
      const double mass = measure.mass_of(tag);
      right.add(classes_[measure.place_of(tag)], mass, terms), left -= mass;
    }
  }

  // A threshold whose approximate score is below the maximum by more than rounding and slack can neither win nor
  // influence the choice.
  double bar_of(double gap) {
    const double highest = worth_.empty() ? kNone : *std::ranges::max_element(worth_);
    if (highest == kNone) return kNone;
    near_.clear();
    for (const double worth : worth_)
      if (worth >= highest - kGaps * gap) near_.push_back(worth);
    std::ranges::sort(near_, std::greater<>());
    for (size_t i = 0; i + 1 < near_.size(); ++i)
      if (near_[i] - near_[i + 1] > gap) return near_[i];
    return near_.back() - gap > highest - kGaps * gap ? near_.back() : kNone;
  }
  static constexpr double kGaps = 1024;

  std::vector<double> worth_;  // [n_known], score of the threshold after each row; kNone if there is none
  std::vector<double> near_, rest_;
  std::vector<Class> classes_;
  double left_ = 0;
};

// One pass with exact scores; the lower threshold wins ties.

// Best split of a column: its score and how it divides the rows.
struct Split {
  Score score;
  int32_t column = -1;           // -1: no split
  double cut = 0;                // numeric: threshold, inclusive upper end of the first branch
  uint32_t last = 0;             // numeric: position of the last entry of the first branch
  int32_t missing = -1;          // branch of missing values, -1 if undecided
  bool has_own_branch = false;   // missing values have a third branch
  bool is_mirrored = false;
  uint32_t known = 0;            // rows with a known value
  std::vector<int32_t> group[2];  // levels of each branch; empty for a threshold

  explicit operator bool() const { return column >= 0; }
};

struct Limits {
  double min_leaf = 1;  // in sizes
};

// A number between two neighbours a < b, with a <= cut < b (a < cut <= b if strict); also for adjacent doubles,
// infinities, and values whose sum overflows.
inline double between(double a, double b, bool is_strict) {
  constexpr double kMost = std::numeric_limits<double>::max();
  if (std::isinf(a)) a = -kMost;
  if (std::isinf(b)) b = kMost;
  const double sum = a + b, middle = std::isfinite(sum) ? sum / 2 : a / 2 + b / 2;
  if (is_strict) return middle > a && middle <= b ? middle : b;
  return middle >= a && middle < b ? middle : a;
}

// Buffers for a scan.
template <Measure M> struct ScanRoom {
  std::vector<double> left;
  CutEstimates<M> estimates;
};

// Scans thresholds in ascending order with `first` rows already on the first side; `best` only improves. Returns
// whether a threshold here became the best.
template <Measure M>
bool scan(std::span<const Entry> known, M& measure, std::span<const double> total, std::span<const double> first,
          bool may_take_all, Limits limits, ScanRoom<M>& room, Split& best) {
  const double bar = room.estimates.bar(known, measure, total, first, may_take_all, limits.min_leaf);
  auto& left = room.left;
  left.assign(first.begin(), first.end());
  const size_t size = left.size() - 1;
  const double slack = measure.slack();
  bool is_improved = false;
  for (size_t i = 0; i < known.size(); ++i) {
    measure.add(left.data(), tag_of(known[i]));
    if (!room.estimates.may_be_best(i, bar)) continue;
    const bool is_last = i + 1 == known.size();
    if (is_last ? !may_take_all : rank_of(known[i]) == rank_of(known[i + 1])) continue;
    if (left[size] < limits.min_leaf) continue;
    if (total[size] - left[size] < limits.min_leaf) break;
    const double value = measure.value(left);
    if (value < best.score.value - slack || !(value == value)) continue;
    const Score score = measure.score(left, value);
    if (!is_better(score, best.score, slack)) continue;
    best.score = score, best.last = uint32_t(i), is_improved = true;
  }
  return is_improved;
}

}  // namespace baytree::tree::sorted
