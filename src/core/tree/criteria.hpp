// Split criteria. Each says how good a set of children is: higher is better, and `none()` is the worth of no split.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

namespace baytree::tree {

// The class masses of the children of one node, child after child.
struct Children {
  std::span<const double> mass;  // [n_children * n_classes]
  size_t classes;

  size_t size() const { return mass.size() / classes; }
  std::span<const double> operator[](size_t child) const { return mass.subspan(child * classes, classes); }
};

inline double total(std::span<const double> mass) {
  double sum = 0;
  for (const double m : mass) sum += m;
  return sum;
}

inline double x_log_x(double x) { return x > 0 ? x * std::log2(x) : 0.0; }

// Impurities in units of mass: additive over children, so a gain is parent minus the sum of the children.
inline double gini_impurity(std::span<const double> mass) {
  const double sum = total(mass);
  double squares = 0;
  for (const double m : mass) squares += m * m;
  return sum > 0 ? sum - squares / sum : 0.0;
}
inline double entropy_impurity(std::span<const double> mass) {  // bits
  double parts = 0;
  for (const double m : mass) parts += x_log_x(m);
  return x_log_x(total(mass)) - parts;
}
inline double error_impurity(std::span<const double> mass) { return total(mass) - *std::ranges::max_element(mass); }

template <typename C>
concept Criterion = requires(const C criterion, Children children, std::span<const double> parent) {
  { C::name } -> std::convertible_to<std::string_view>;
  C(parent);
  { criterion(children) } -> std::same_as<double>;
  { C::impurity(parent) } -> std::same_as<double>;
};

// A criterion that is the decrease of an additive impurity.
template <double (*Impurity)(std::span<const double>)> struct Decrease {
  double parent;
  explicit Decrease(std::span<const double> mass) : parent(Impurity(mass)) {}
  double operator()(Children children) const {
    double left = parent;
    for (size_t child = 0; child < children.size(); ++child) left -= Impurity(children[child]);
    return left;
  }
  static double impurity(std::span<const double> mass) { return Impurity(mass); }
};

struct Gini : Decrease<gini_impurity> {
  static constexpr std::string_view name = "gini";
  using Decrease::Decrease;
};
struct Entropy : Decrease<entropy_impurity> {
  static constexpr std::string_view name = "entropy";
  using Decrease::Decrease;
};
struct Error : Decrease<error_impurity> {
  static constexpr std::string_view name = "error";
  using Decrease::Decrease;
};

// Information gain over the information of the split itself (Quinlan 1986), in units of mass.
struct GainRatio {
  static constexpr std::string_view name = "gain_ratio";
  Entropy entropy;
  double whole;
  explicit GainRatio(std::span<const double> mass) : entropy(mass), whole(total(mass)) {}
  double operator()(Children children) const {
    double split = x_log_x(whole);
    for (size_t child = 0; child < children.size(); ++child) split -= x_log_x(total(children[child]));
    const double gain = entropy(children);
    return split > 1e-12 * whole ? whole * gain / split : 0.0;
  }
  static double impurity(std::span<const double> mass) { return entropy_impurity(mass); }
};

// Twoing (Breiman et al. 1984): p_L p_R / 4 (sum_k |p(k|L) - p(k|R)|)^2, over all pairs of children, in units of mass.
struct Twoing {
  static constexpr std::string_view name = "twoing";
  double whole;
  explicit Twoing(std::span<const double> mass) : whole(total(mass)) {}
  double operator()(Children children) const {
    double worth = 0;
    for (size_t a = 0; a < children.size(); ++a)
      for (size_t b = a + 1; b < children.size(); ++b) worth += pair(children[a], children[b]);
    return worth;
  }
  static double impurity(std::span<const double> mass) { return gini_impurity(mass); }

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
  std::span<const double> parent;
  double whole;
  explicit ChiSquared(std::span<const double> mass) : parent(mass), whole(total(mass)) {}
  double operator()(Children children) const {
    double statistic = 0;
    for (size_t child = 0; child < children.size(); ++child) {
      const double in_child = total(children[child]);
      for (size_t k = 0; k < parent.size(); ++k) {
        const double expected = in_child * parent[k] / whole, apart = children[child][k] - expected;
        if (expected > 0) statistic += apart * apart / expected;
      }
    }
    return statistic;
  }
  static double impurity(std::span<const double> mass) { return gini_impurity(mass); }
};

// The likelihood ratio statistic 2 sum n ln(n / expected), which is the information gain in another unit.
struct LikelihoodRatio {
  static constexpr std::string_view name = "likelihood_ratio";
  Entropy entropy;
  explicit LikelihoodRatio(std::span<const double> mass) : entropy(mass) {}
  double operator()(Children children) const { return 2 * 0.69314718055994530942 * entropy(children); }
  static double impurity(std::span<const double> mass) { return entropy_impurity(mass); }
};

static_assert(Criterion<Gini> && Criterion<Entropy> && Criterion<Error> && Criterion<GainRatio>);
static_assert(Criterion<Twoing> && Criterion<ChiSquared> && Criterion<LikelihoodRatio>);

// The list: one line per criterion, in the order of their codes.
template <typename Use> auto with_criterion(std::string_view name, const Use& use) {
  if (name == Entropy::name) return use.template operator()<Entropy>();
  if (name == Error::name) return use.template operator()<Error>();
  if (name == GainRatio::name) return use.template operator()<GainRatio>();
  if (name == Twoing::name) return use.template operator()<Twoing>();
  if (name == ChiSquared::name) return use.template operator()<ChiSquared>();
  if (name == LikelihoodRatio::name) return use.template operator()<LikelihoodRatio>();
  return use.template operator()<Gini>();
}

}  // namespace baytree::tree
