// Naive Bayes at the nodes of a stream, with prequential evaluation: on how much weight it was correct before learning
// the rows.
//
// Numbers are normal within each class; levels have a pseudo-count of one; missing values and new levels are ignored;
// classes that have not occurred are never predicted.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "tree/streaming/node.hpp"

namespace baytree::tree::streaming {

constexpr double kHalfOfLargest = std::numeric_limits<double>::max() / 2;
constexpr size_t kFewBins = 16;  // enough for mean and variance of a class

struct Cell {
  double number;
  int32_t level;
};

inline size_t few_bins(const Settings& settings) { return std::min(kFewBins, settings.most_bins); }

// Linear map of a column's values: first bin to 0, last bin to 1.
class Span {
 public:
  explicit Span(const Bins& bins) : bins_(bins) {
    if (bins.size()) half_ = bins.low.back() / 2 - bins.low.front() / 2, per_half_ = 1 / half_;
  }
  // False for a single bin, and if differences overflow.
  bool tells() const { return per_half_ > 0 && per_half_ < std::numeric_limits<double>::infinity(); }
  double place(double begin) const { return (begin / 2 - bins_.low.front() / 2) * per_half_; }
  double place_of(double x) const { return place(bins_.grid(x)); }
  // The value at a position: the middle of its bin.
  double number(double place) const {
    const double middle = bins_.grid.exponent() == kExact ? 0.0 : std::ldexp(0.5, bins_.grid.exponent());
    const double low = bins_.low.front(), value = low + middle + 2 * (half_ * place);
    // near the largest double the difference of two values overflows
    return std::isfinite(value) ? value : 2 * std::clamp(low / 2 + middle / 2 + half_ * place, -kHalfOfLargest, kHalfOfLargest);
  }
  double length(double share) const { return 2 * (half_ * share); }

 private:
  const Bins& bins_;
  double half_ = 0, per_half_ = 0;
};

// Normal density of a class from the few bins of its column; recomputed after each change, so that it depends on the
// bins alone.
inline Normal normal_of(const Bins& bins, const Span& span, size_t label, size_t classes) {
  double weight = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    const double mass = bins.mass.of(i, classes)[label], place = span.place(bins.low[i]);
    weight += mass, sum += mass * place, squares += mass * place * place;
  }
  if (!(weight > 0)) return Normal();
  return Normal(weight, sum / weight, std::max(0.0, squares - sum / weight * sum));
}

inline void make_normals(Told& told, size_t classes) {
  told.normal.assign(classes, Normal());
  const Span span(told.few);
  for (size_t k = 0; span.tells() && k < classes; ++k) told.normal[k] = normal_of(told.few, span, k, classes);
}

// Updates what naive Bayes derives from the stored statistics.
inline void prepare(Told& told, size_t classes, size_t most) {
  told.few = Bins();
  told.few.add(told.bins, classes, most);
  make_normals(told, classes);
  told.present = 0;
  for (size_t i = 0; i < told.levels.size(classes); ++i) told.present += sum_of(told.levels.of(i, classes)) > 0;
}

inline void learn_number(Told& told, double x, size_t label, double weight, size_t classes, size_t most) {
  Bins& few = told.few;
  const bool is_first = !few.size();
  const double from = is_first ? 0 : few.low.front(), to = is_first ? 0 : few.low.back();
  const int32_t exponent = few.grid.exponent();
  few.add(x, label, weight, classes, most);
  if (is_first || from != few.low.front() || to != few.low.back() || exponent != few.grid.exponent()) return make_normals(told, classes);
  if (const Span span(few); span.tells()) told.normal[label] = normal_of(few, span, label, classes);
}

// Scores of the classes at a node for a row, in bits.
class NaiveBayes {
 public:
  NaiveBayes(const Node& node, std::span<const Cell> cells, std::span<const Kind> kinds, std::vector<double>& score)
      : node_(node), cells_(cells), kinds_(kinds), score_(score) {
    score_.resize(node.own.size());
    fill(0, score_.size(), 0);
  }

  // Whether it predicts the class of the row after `copies` further copies of the row.
  bool names(size_t label, double copies) {
    if (copies > 0) fill(label, label + 1, copies);
    return size_t(std::ranges::max_element(score_) - score_.begin()) == label;
  }

 private:
  const Node& node_;
  std::span<const Cell> cells_;
  std::span<const Kind> kinds_;
  std::vector<double>& score_;  // [n_classes]

  void fill(size_t from, size_t to, double copies) {
    for (size_t k = from; k < to; ++k) {
      const double mass = node_.start[k] + node_.own[k] + copies;
      score_[k] = mass > std::numeric_limits<double>::min() ? numeric::near_log2(mass) : -std::numeric_limits<double>::infinity();
    }
    for (size_t j = 0; j < cells_.size(); ++j) kinds_[j] == Kind::kNumber ? number(j, from, to, copies) : level(j, from, to, copies);
  }

  void number(size_t j, size_t from, size_t to, double copies) {
    const Told& told = node_.told[j];
    const Span span(told.few);
    if (!span.tells()) return;
    const double place = span.place_of(cells_[j].number);
    if (!(std::abs(place) < 0x1p500)) return;  // missing, infinite, or extremely far away
    for (size_t k = from; k < to; ++k) score_[k] += (copies > 0 ? told.normal[k].with(place, copies) : told.normal[k]).bits(place);
  }

  void level(size_t j, size_t from, size_t to, double copies) {
    const Told& told = node_.told[j];
    const int32_t code = cells_[j].level;
    if (told.present < 2 || code < 0 || size_t(code) >= told.levels.size(score_.size())) return;
    const auto here = told.levels.of(size_t(code), score_.size());
    if (!(sum_of(here) > 0)) return;
    for (size_t k = from; k < to; ++k) {
      const double known = std::max(0.0, node_.own[k] - told.gap[k]);
      score_[k] += numeric::near_log2((here[k] + copies + 1) / (known + copies + double(told.present)));
    }
  }
};

// Whether the class counts of a node predict a class after `copies` further rows of it.
inline bool counts_name(const Node& node, size_t label, double copies) {
  const double mass = node.start[label] + node.own[label] + copies;
  for (size_t k = 0; k < node.own.size(); ++k)
    if (const double other = node.start[k] + node.own[k]; k != label && (other > mass || (other == mass && k < label))) return false;
  return mass > 0;
}

// Weight of correct predictions when a row of weight w counts as w rows, each predicted before it is learnt. Every copy
// increases the score of its class, so predictions stay correct from some copy on: the first correct one is found by
// doubling steps and bisection.
template <std::predicate<double> Names> double weight_named(double weight, const Names& names) {
  if (names(0)) return weight;
  double wrong = 0, right = std::ceil(weight);  // number of copies that is too small, and one that may suffice
  if (right <= 1 || !names(right - 1)) return 0;
  for (double step = 1; step < right; step *= 2) {
    if (names(step)) right = step;
    else wrong = step;
  }
  while (right - wrong > 1) {
    const double middle = std::floor(wrong + (right - wrong) / 2);
    if (!(middle > wrong && middle < right)) break;  // adjacent doubles
    (names(middle) ? right : wrong) = middle;
  }
  return std::max(0.0, weight - right);
}

}  // namespace baytree::tree::streaming
