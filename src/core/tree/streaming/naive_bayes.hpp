// Naive Bayes at a node of a stream: what it says of a row, and on how many rows it was right before it had learnt them.
//
// Numbers are normal in each class, every level that has come counts one more than it occurs, a value that is missing or a level
// that never came adds nothing, and a class that never came is not named.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "tree/streaming/node.hpp"

namespace baytree::tree::streaming {

constexpr double kHalfOfLargest = std::numeric_limits<double>::max() / 2;
constexpr size_t kFewBins = 16;  // mean and spread of a class hardly need more

struct Cell {
  double number;
  int32_t level;
};

inline size_t few_bins(const Settings& settings) { return std::min(kFewBins, settings.most_bins); }

// Where numbers lie between the first and the last bin of a column, which are 0 and 1.
class Span {
 public:
  explicit Span(const Bins& bins) : bins_(bins) {
    if (bins.size()) half_ = bins.low.back() / 2 - bins.low.front() / 2, per_half_ = 1 / half_;
  }
  // Not where there is one bin, nor where the doubles end.
  bool tells() const { return per_half_ > 0 && per_half_ < std::numeric_limits<double>::infinity(); }
  double place(double begin) const { return (begin / 2 - bins_.low.front() / 2) * per_half_; }
  double place_of(double x) const { return place(bins_.grid(x)); }
  // The number at a place: the middle of its bin.
  double number(double place) const {
    const double middle = bins_.grid.exponent() == kExact ? 0.0 : std::ldexp(0.5, bins_.grid.exponent());
    const double low = bins_.low.front(), value = low + middle + 2 * (half_ * place);
    // next to the largest double the distance of two numbers is none itself
    return std::isfinite(value) ? value : 2 * std::clamp(low / 2 + middle / 2 + half_ * place, -kHalfOfLargest, kHalfOfLargest);
  }
  double length(double share) const { return 2 * (half_ * share); }

 private:
  const Bins& bins_;
  double half_ = 0, per_half_ = 0;
};

// The numbers of a class by the few bins of its column: made anew when one comes, so that it is a function of the bins alone.
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

// What naive Bayes keeps beside what is stored: a function of it.
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

// The scores of the classes of a node for a row, in bits.
class NaiveBayes {
 public:
  NaiveBayes(const Node& node, std::span<const Cell> cells, std::span<const Kind> kinds, std::vector<double>& score)
      : node_(node), cells_(cells), kinds_(kinds), score_(score) {
    score_.resize(node.own.size());
    fill(0, score_.size(), 0);
  }

  // Whether it names a class of the row, if so many of it had been learnt before.
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
    if (!(std::abs(place) < 0x1p500)) return;  // missing, infinite, or too far away to be told
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

// Whether the counts of a node name a class, if so many rows of it more had been learnt before.
inline bool counts_name(const Node& node, size_t label, double copies) {
  const double mass = node.start[label] + node.own[label] + copies;
  for (size_t k = 0; k < node.own.size(); ++k)
    if (const double other = node.start[k] + node.own[k]; k != label && (other > mass || (other == mass && k < label))) return false;
  return mass > 0;
}

// The weight on which an answer is right, when a row of some weight is so many rows, each asked before it is learnt. A row that
// was learnt speaks for its class wherever its values were there before, so once the answer is right, it stays so: the first
// that is right is looked for, if the last one is, from the first on in steps that double.
template <std::predicate<double> Names> double weight_named(double weight, const Names& names) {
  if (names(0)) return weight;
  double wrong = 0, right = std::ceil(weight);  // how many copies are not enough, and how many may be
  if (right <= 1 || !names(right - 1)) return 0;
  for (double step = 1; step < right; step *= 2) {
    if (names(step)) right = step;
    else wrong = step;
  }
  while (right - wrong > 1) {
    const double middle = std::floor(wrong + (right - wrong) / 2);
    if (!(middle > wrong && middle < right)) break;  // doubles lie further apart
    (names(middle) ? right : wrong) = middle;
  }
  return std::max(0.0, weight - right);
}

}  // namespace baytree::tree::streaming
