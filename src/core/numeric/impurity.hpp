// Impurities of class weights: entropy, Gini index, classification error, each defined once.
//
// All are in units of weight (weight times the impurity of the proportions), so that impurities of the parts of a node
// add up. Variants of one formula exist on purpose: the order of operations decides ties, and must be that of the
// program that is reproduced.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

namespace baytree::numeric {

inline double total(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  return sum;
}

// x log2 x, 0 at 0.
template <typename F>
concept EntropyTerm = requires(const F& term, double weight) {
  { term(weight) } -> std::convertible_to<double>;
};

struct XLog2X {
  double operator()(double x) const { return x > 0 ? x * std::log2(x) : 0.0; }
};

// log2 of a positive normal number to 15 digits, inlined: for loops that only look for the largest of many sums.
inline double near_log2(double x) {
  struct Piece {
    double inverse, log;  // at the middle of one of 2048 intervals of [1, 2)
  };
  static const std::array<Piece, 2048> pieces = [] {
    std::array<Piece, 2048> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double middle = 1 + (static_cast<double>(i) + 0.5) / 2048;
      all[i] = {1 / middle, std::log2(middle)};
    }
    return all;
  }();
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const Piece& piece = pieces[(bits >> 41) & 2047];
  const double mantissa = std::bit_cast<double>((bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1023} << 52));
  const double r = mantissa * piece.inverse - 1;
  return static_cast<double>(static_cast<int>(bits >> 52) - 1023) + piece.log + std::numbers::log2e * r * (1 - r * (0.5 - r / 3));
}

// x log2 x from a table: class weights are integers unless values are missing.
class XLog2XTable {
 public:
  explicit XLog2XTable(double largest) : table_(1 + static_cast<std::size_t>(std::clamp(largest, 0.0, kLimit))) {
    for (std::size_t x = 1; x < table_.size(); ++x) table_[x] = static_cast<double>(x) * std::log2(static_cast<double>(x));
  }
  double operator()(double x) const {
    if (!(x > 0)) return 0;
    if (x < static_cast<double>(table_.size())) {
      const auto whole = static_cast<std::size_t>(x);
      if (static_cast<double>(whole) == x) return table_[whole];
    }
    return x * std::log2(x);
  }
  // The same up to the last digits.
  double nearly(double x) const {
    if (!(x > std::numeric_limits<double>::min())) return 0;
    if (x < static_cast<double>(table_.size())) {
      const auto whole = static_cast<std::size_t>(x);
      if (static_cast<double>(whole) == x) return table_[whole];
    }
    return x * near_log2(x);
  }

 private:
  static constexpr double kLimit = 1 << 22;  // entries of the table: 32 MB, enough for the counts of most tables
  std::vector<double> table_;
};

// Entropy in bits times weight: n log2 n − Σ c log2 c. Terms are doubles, sums are `Real`: C4.5 uses float32.
template <std::floating_point Real, EntropyTerm Term>
Real entropy(std::span<const Real> weights, const Term& x_log2_x) {
  Real sum = 0, whole = 0;
  for (const Real weight : weights) {
    sum = static_cast<Real>(sum + x_log2_x(weight));
    whole += weight;
  }
  return static_cast<Real>(x_log2_x(whole) - sum);
}

// Gini index 1 − Σ p². Sums are doubles, whatever the weights are.
template <std::floating_point Real> Real gini(std::span<const Real> weights) {
  double whole = 0, squares = 0;
  for (const double weight : weights) whole += weight, squares += weight * weight;
  return static_cast<Real>(whole > 0 ? whole - squares / whole : 0);
}

// Classification error 1 − max p.
template <std::floating_point Real> Real error(std::span<const Real> weights) {
  double whole = 0, largest = 0;
  for (const double weight : weights) whole += weight, largest = std::max(largest, weight);
  return static_cast<Real>(whole - largest);
}

// Entropy in bits per unit of weight, in the order of operations of Weka's Id3, whose rounding decides its ties.
inline double id3_entropy(std::span<const double> weights) {
  const auto log2 = [](double x) { return std::log(x) / std::log(2.0); };
  double sum = 0, whole = 0;
  for (const double weight : weights) {
    if (weight > 0) sum -= weight * log2(weight);
    whole += weight;
  }
  return whole > 0 ? sum / whole + log2(whole) : 0;
}

// The same as types, for class weights of any precision.
struct Entropy {
  template <std::floating_point Real, EntropyTerm Term = XLog2X> static Real of(std::span<const Real> weights, const Term& x_log2_x = {}) {
    return entropy(weights, x_log2_x);
  }
};
struct Gini {
  template <std::floating_point Real, EntropyTerm Term = XLog2X> static Real of(std::span<const Real> weights, const Term& = {}) {
    return gini(weights);
  }
};
struct Error {
  template <std::floating_point Real, EntropyTerm Term = XLog2X> static Real of(std::span<const Real> weights, const Term& = {}) {
    return error(weights);
  }
};

// Contribution of a class of proportion p to rpart's impurities per unit of weight; rpart's information uses natural
// logarithms.
struct RpartGini {
  static double of_share(double p) { return p * (1 - p); }
};
struct RpartInformation {
  static double of_share(double p) { return p > 0 ? -p * std::log(p) : 0.0; }
};

}  // namespace baytree::numeric
