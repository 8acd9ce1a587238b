// Class criteria of the sorted search: the criterion itself, and approximate scores as sums over classes.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "numeric/impurity.hpp"
#include "tree/criteria.hpp"

namespace baytree::tree::sorted {

// Approximate scores of thresholds as sums over classes, of which each row changes one term.
//
// For each criterion: the term of a class of some weight, the update of the sum, the score of a side of weight n, and
// the joint score of two sides up to a constant. The scores equal those of the criterion except for rounding, so they
// only serve to exclude thresholds that cannot be the best.

// Weights of a node: of all its rows and of those with a branch of their own; the impurity that a split can remove; and
// whether weights are integers.
struct NodeMasses {
  double whole = 0, apart = 0, impurity = 0;
  bool is_counted = false;
};

constexpr double kNaturalPerBit = 0.69314718055994530942;

struct AddedTerms {
  static constexpr size_t kFew = 4;  // number of classes for which the criterion itself is as fast
  static double enter(double sum, double before, double after) { return sum + (after - before); }
};

// Σ m² / n
struct SquareTerms : AddedTerms {
  explicit SquareTerms(const NodeMasses& node) : size(node.whole) {}
  static double term(double mass, double) { return mass * mass; }
  static double side(double sum, double n) { return n > 0 ? sum / n : 0.0; }
  static double worth(double sides, double, double) { return sides; }
  double size;  // of the summands; rounding errors are proportional to it
};

// Σ m² / (n · proportion of the class)
struct ShareTerms : AddedTerms {
  explicit ShareTerms(const NodeMasses& node) : whole(node.whole), size(node.whole) {}
  static double term(double mass, double of_class) { return of_class > 0 ? mass * mass / of_class : 0.0; }
  static double side(double sum, double n) { return n > 0 ? sum / n : 0.0; }
  double worth(double sides, double, double) const { return whole * sides; }
  double whole, size;
};

// Σ m log2 m − n log2 n, in another unit.
struct LogTerms : AddedTerms {
  static constexpr size_t kFew = 0;
  // A weight of 0 after rounding may be slightly above 0, and has a logarithm, too.
  explicit LogTerms(const NodeMasses& node, double unit = 1)
      : unit_(unit), size((node.is_counted ? 1 : 64) * (node.whole * (1 + std::abs(std::log2(std::max(node.whole, 1e-300)))) + 1)) {}
  double term(double mass, double) const { return x_log2_x_.nearly(mass); }
  double side(double sum, double n) const { return sum - x_log2_x_.nearly(n); }
  double worth(double sides, double, double) const { return unit_ * sides; }

 protected:
  static const numeric::XLog2XTable& table() {
    static const numeric::XLog2XTable shared(1 << 14);
    return shared;
  }
  const numeric::XLog2XTable& x_log2_x_ = table();
  double unit_;

 public:
  double size;
};

struct LargestTerms {
  static constexpr size_t kFew = 4;
  explicit LargestTerms(const NodeMasses& node) : size(node.whole) {}
  static double term(double mass, double) { return mass; }
  static double enter(double largest, double, double after) { return std::max(largest, after); }
  static double side(double largest, double) { return largest; }
  static double worth(double sides, double, double) { return sides; }
  double size;
};

// Gain ratio: the gain is divided by the split information, which is at least one bit for integer weights.
struct RatioTerms : LogTerms {
  explicit RatioTerms(const NodeMasses& node)
      : LogTerms(node), whole_(node.whole), impurity_(node.impurity), split_(x_log2_x_.nearly(node.whole) - x_log2_x_.nearly(node.apart)) {
    size *= node.is_counted ? whole_ / std::max(1.0, std::log2(whole_)) : std::numeric_limits<double>::infinity();
  }
  double worth(double sides, double left, double right) const {
    const double split = split_ - x_log2_x_.nearly(left) - x_log2_x_.nearly(right);
    return split > 1e-12 * whole_ ? whole_ * (impurity_ + sides) / split : 0.0;
  }

 private:
  double whole_, impurity_, split_;
};

// Twoing: a row changes the proportions of all classes.
struct NoTerms {};

using AnyTerms = std::variant<NoTerms, SquareTerms, ShareTerms, LogTerms, RatioTerms, LargestTerms>;

template <typename C> struct CutTerms {
  static NoTerms of(const NodeMasses&) { return {}; }
};
template <> struct CutTerms<Gini> {
  static SquareTerms of(const NodeMasses& node) { return SquareTerms(node); }
};
template <> struct CutTerms<ChiSquared> {
  static ShareTerms of(const NodeMasses& node) { return ShareTerms(node); }
};
template <> struct CutTerms<Error> {
  static LargestTerms of(const NodeMasses& node) { return LargestTerms(node); }
};
template <> struct CutTerms<Entropy> {
  static LogTerms of(const NodeMasses& node) { return LogTerms(node); }
};
template <> struct CutTerms<LikelihoodRatio> {
  static LogTerms of(const NodeMasses& node) { return LogTerms(node, 2 * kNaturalPerBit); }
};
template <> struct CutTerms<GainRatio> {
  static RatioTerms of(const NodeMasses& node) { return RatioTerms(node); }
};

// The class criterion of a search. It is selected once and called through a variant, so that the search is compiled
// once for all criteria; few cuts need the criterion itself.

template <typename C> using IfTwoBranches = std::conditional_t<ClassCriterion<C> && C::suits.binary, std::tuple<C>, std::tuple<>>;
template <typename> struct VariantOf;
template <typename... C> struct VariantOf<std::tuple<C...>> {
  using type = std::variant<C...>;
};
template <typename> struct OfTwoBranches;
template <typename... C> struct OfTwoBranches<CriterionList<C...>> {
  using type = typename VariantOf<decltype(std::tuple_cat(std::declval<IfTwoBranches<C>>()...))>::type;
};
using AnyCriterion = OfTwoBranches<Criteria>::type;

struct ClassRule {
  AnyCriterion (*made)(std::span<const double> masses) = nullptr;
  double (*impurity)(std::span<const double> masses) = nullptr;
  AnyTerms (*terms)(const NodeMasses& node) = nullptr;
  bool is_gini = false;
};

inline ClassRule class_rule(std::string_view criterion) {
  return Criteria::with(criterion, []<Criterion C>() -> ClassRule {
    if constexpr (ClassCriterion<C> && C::suits.binary)
      return {[](std::span<const double> masses) { return AnyCriterion(C(masses)); },
              [](std::span<const double> masses) { return C::Impurity::of(masses); },
              [](const NodeMasses& node) { return AnyTerms(CutTerms<C>::of(node)); }, std::same_as<C, Gini>};
    return {};
  });
}

}  // namespace baytree::tree::sorted
