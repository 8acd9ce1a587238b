// Split criteria. Each is a class and an entry of the list at the end. It scores the children of a node (higher is
// better) and states what it applies to. The searches, the bindings and Python read both from here.
#pragma once
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "numeric/distributions.hpp"
#include "numeric/impurity.hpp"
#include "util/options.hpp"

namespace baytree::tree {

// Class weights of the children of a node, one child after the other.
struct Children {
  std::span<const double> mass;  // [n_children * n_classes]
  size_t classes;

  size_t size() const { return mass.size() / classes; }
  std::span<const double> operator[](size_t child) const { return mass.subspan(child * classes, classes); }
};

using numeric::total;

// What a criterion applies to.
struct Suits {
  bool numbers = false;        // numeric target instead of classes
  bool binary = true;          // binary splits
  bool multiway = false;       // multiway splits, with fractional cases
  bool merged = false;         // groups of levels that do not differ (CHAID)
  bool by_ratio = false;       // gain ratio: divided by the split information
  bool rpart = false;          // also available with rpart's arithmetic
  std::string_view impurity;   // impurity of a node: gini, entropy, error, or the variance for sse
  std::string_view test = "";  // name of the test for CHAID's merging, if the criterion is itself a test
};

template <typename C>
concept Criterion = requires(const C criterion, Children children, std::span<const double> parent) {
  { C::name } -> std::convertible_to<std::string_view>;
  { C::suits } -> std::convertible_to<Suits>;
};

// A criterion for classes: constructed from the weights of the parent, it scores those of the children. `Impurity` is
// the impurity of nodes; `is_decrease` means that the score is the decrease of that impurity.
template <typename C>
concept ClassCriterion = Criterion<C> && requires(const C criterion, Children children, std::span<const double> parent) {
  C(parent);
  { criterion(children) } -> std::same_as<double>;
  { C::Impurity::of(parent) } -> std::same_as<double>;
  { C::is_decrease } -> std::convertible_to<bool>;
};

// Decrease of an impurity that is additive over children.
template <typename I> struct Decrease {
  using Impurity = I;
  static constexpr bool is_decrease = true;
  double parent;
  explicit Decrease(std::span<const double> mass) : parent(I::of(mass)) {}
  double operator()(Children children) const {
    double left = parent;
    for (size_t child = 0; child < children.size(); ++child) left -= I::of(children[child]);
    return left;
  }
};

struct Error : Decrease<numeric::Error> {
  static constexpr std::string_view name = "error";
  static constexpr Suits suits{.multiway = true, .merged = true, .impurity = "error"};
  using Decrease::Decrease;
};
struct Entropy : Decrease<numeric::Entropy> {
  static constexpr std::string_view name = "entropy";
  static constexpr Suits suits{.multiway = true, .merged = true, .rpart = true, .impurity = "entropy"};
  using Rpart = numeric::RpartInformation;
  using Decrease::Decrease;
};
struct Gini : Decrease<numeric::Gini> {
  static constexpr std::string_view name = "gini";
  static constexpr Suits suits{.multiway = true, .merged = true, .rpart = true, .impurity = "gini"};
  using Rpart = numeric::RpartGini;
  using Decrease::Decrease;
};

// Gain ratio (Quinlan 1986): information gain over split information, in units of weight.
struct GainRatio {
  static constexpr std::string_view name = "gain_ratio";
  static constexpr Suits suits{.multiway = true, .merged = true, .by_ratio = true, .impurity = "entropy"};
  using Impurity = numeric::Entropy;
  static constexpr bool is_decrease = true;  // the fractional search divides by the split information itself
  Entropy entropy;
  double whole;
  explicit GainRatio(std::span<const double> mass) : entropy(mass), whole(total(mass)) {}
  double operator()(Children children) const {
    constexpr numeric::XLog2X x_log2_x;
    double split = x_log2_x(whole);
    for (size_t child = 0; child < children.size(); ++child) split -= x_log2_x(total(children[child]));
    const double gain = entropy(children);
    return split > 1e-12 * whole ? whole * gain / split : 0.0;
  }
};

// Twoing (Breiman et al. 1984): p_L p_R / 4 (sum_k |p(k|L) - p(k|R)|)^2, over all pairs of children, in units of
// weight.
struct Twoing {
  static constexpr std::string_view name = "twoing";
  static constexpr Suits suits{.impurity = "gini"};
  using Impurity = numeric::Gini;
  static constexpr bool is_decrease = false;
  double whole;
  explicit Twoing(std::span<const double> mass) : whole(total(mass)) {}
  double operator()(Children children) const {
    double worth = 0;
    for (size_t a = 0; a < children.size(); ++a)
      for (size_t b = a + 1; b < children.size(); ++b) worth += pair(children[a], children[b]);
    return worth;
  }

 private:
  double pair(std::span<const double> a, std::span<const double> b) const {
    const double in_a = total(a), in_b = total(b);
    if (in_a <= 0 || in_b <= 0) return 0.0;
    double apart = 0;
    for (size_t k = 0; k < a.size(); ++k) apart += std::abs(a[k] / in_a - b[k] / in_b);
    return in_a * in_b / whole / 4 * apart * apart;
  }
};

// Pearson's chi-squared of the table children x classes.
struct ChiSquared {
  static constexpr std::string_view name = "chi2";
  static constexpr Suits suits{.multiway = true, .merged = true, .impurity = "gini", .test = "pearson"};
  using Impurity = numeric::Gini;
  static constexpr bool is_decrease = false;
  std::span<const double> parent;
  double whole;
  explicit ChiSquared(std::span<const double> mass) : parent(mass), whole(total(mass)) {}
  double operator()(Children children) const {
    return numeric::pearson(children.size(), [&](size_t child) { return children[child]; }, parent, whole);
  }
};

// Likelihood-ratio statistic 2 sum n ln(n / expected): the information gain in another unit.
struct LikelihoodRatio {
  static constexpr std::string_view name = "likelihood_ratio";
  static constexpr Suits suits{.merged = true, .impurity = "entropy", .test = "likelihood_ratio"};
  using Impurity = numeric::Entropy;
  static constexpr bool is_decrease = false;
  Entropy entropy;
  explicit LikelihoodRatio(std::span<const double> mass) : entropy(mass) {}
  double operator()(Children children) const { return 2 * 0.69314718055994530942 * entropy(children); }
};

// Pearson's test with ordered classes (Goodman's row effects model); used only for merging.
struct RowEffects {
  static constexpr std::string_view name = "row_effects";
  static constexpr Suits suits{.binary = false, .merged = true, .impurity = "gini", .test = "row_effects"};
};

// Sum of squared errors for numeric targets; the arithmetic is in the regression measures.
struct SumOfSquares {
  static constexpr std::string_view name = "sse";
  static constexpr Suits suits{.numbers = true, .multiway = true, .merged = true, .rpart = true, .impurity = "sse", .test = "mean"};
};

// The list of all criteria.
template <Criterion... C> struct CriterionList {
  static std::vector<std::string_view> names() { return {C::name...}; }
  template <typename Use> static void each(const Use& use) { (use.template operator()<C>(), ...); }

  // Calls `use` with the criterion of this name.
  template <typename Use> static auto with(std::string_view name, const Use& use) {
    using First = std::tuple_element_t<0, std::tuple<C...>>;
    std::optional<decltype(use.template operator()<First>())> made;
    const bool is_known = ((name == C::name && (made.emplace(use.template operator()<C>()), true)) || ...);
    if (!is_known) refuse_choice("criterion", name, names());
    return std::move(*made);
  }
};
using Criteria = CriterionList<Error, Entropy, Gini, GainRatio, Twoing, ChiSquared, LikelihoodRatio, RowEffects, SumOfSquares>;

}  // namespace baytree::tree
