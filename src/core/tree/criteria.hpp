// Split criteria: each is one class, and a line in the list at the end. It says how good a set of children is, higher is
// better, and what it suits; the searches, the bindings and Python read both from here.
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

// The class masses of the children of one node, child after child.
struct Children {
  std::span<const double> mass;  // [n_children * n_classes]
  size_t classes;

  size_t size() const { return mass.size() / classes; }
  std::span<const double> operator[](size_t child) const { return mass.subspan(child * classes, classes); }
};

using numeric::total;

// What a criterion can be asked for.
struct Suits {
  bool numbers = false;        // the target is a number, not a class
  bool binary = true;          // two branches
  bool multiway = false;       // a branch for each level, where cases may be fractions
  bool merged = false;         // groups of levels that do not differ
  bool by_ratio = false;       // over the information of the split itself
  bool rpart = false;          // with rpart's arithmetic too
  std::string_view impurity;   // what a node has of it: gini, entropy, error, or the variance of sse
  std::string_view test = "";  // of CHAID's merging, where the criterion is a test itself
};

template <typename C>
concept Criterion = requires(const C criterion, Children children, std::span<const double> parent) {
  { C::name } -> std::convertible_to<std::string_view>;
  { C::suits } -> std::convertible_to<Suits>;
};

// A criterion of classes: made from the masses of the parent, it judges those of the children. `Impurity` is what nodes have
// of it; one that `is_decrease` is worth just what its impurity falls.
template <typename C>
concept ClassCriterion = Criterion<C> && requires(const C criterion, Children children, std::span<const double> parent) {
  C(parent);
  { criterion(children) } -> std::same_as<double>;
  { C::Impurity::of(parent) } -> std::same_as<double>;
  { C::is_decrease } -> std::convertible_to<bool>;
};

// The decrease of an impurity, which is additive over children.
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

// Information gain over the information of the split itself (Quinlan 1986), in units of mass.
struct GainRatio {
  static constexpr std::string_view name = "gain_ratio";
  static constexpr Suits suits{.multiway = true, .merged = true, .by_ratio = true, .impurity = "entropy"};
  using Impurity = numeric::Entropy;
  static constexpr bool is_decrease = true;  // the fractional search divides by the information itself
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

// Twoing (Breiman et al. 1984): p_L p_R / 4 (sum_k |p(k|L) - p(k|R)|)^2, over all pairs of children, in units of mass.
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

// The likelihood ratio statistic 2 sum n ln(n / expected), which is the information gain in another unit.
struct LikelihoodRatio {
  static constexpr std::string_view name = "likelihood_ratio";
  static constexpr Suits suits{.merged = true, .impurity = "entropy", .test = "likelihood_ratio"};
  using Impurity = numeric::Entropy;
  static constexpr bool is_decrease = false;
  Entropy entropy;
  explicit LikelihoodRatio(std::span<const double> mass) : entropy(mass) {}
  double operator()(Children children) const { return 2 * 0.69314718055994530942 * entropy(children); }
};

// Pearson's test against ordered classes (Goodman's row effects): a test of merging only.
struct RowEffects {
  static constexpr std::string_view name = "row_effects";
  static constexpr Suits suits{.binary = false, .merged = true, .impurity = "gini", .test = "row_effects"};
};

// The sum of squares about the mean, for numbers; its arithmetic is that of the measures of numbers.
struct SumOfSquares {
  static constexpr std::string_view name = "sse";
  static constexpr Suits suits{.numbers = true, .multiway = true, .merged = true, .rpart = true, .impurity = "sse", .test = "mean"};
};

// The list.
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
