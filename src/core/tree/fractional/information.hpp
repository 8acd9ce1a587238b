// How mixed a bag of classes is: weighted impurities of class weights, in the precision that a convention asks for.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::fractional {

enum class Measure : int { entropy, gini, error, chi2, id3 };

// x·log2(x), 0 at 0. Class weights are whole numbers until a value is missing, so those come from a table.
class XLog {
 public:
  explicit XLog(double largest) : table_(1 + static_cast<size_t>(std::clamp(largest, 0.0, kLimit))) {
    for (size_t x = 1; x < table_.size(); ++x) table_[x] = static_cast<double>(x) * std::log2(static_cast<double>(x));
  }
  double operator()(double x) const {
    if (!(x > 0)) return 0;
    if (x < static_cast<double>(table_.size())) {
      const auto whole = static_cast<size_t>(x);
      if (static_cast<double>(whole) == x) return table_[whole];
    }
    return x * std::log2(x);
  }

 private:
  static constexpr double kLimit = 1 << 22;
  std::vector<double> table_;
};

// weight·entropy in bits of these parts: n·log2 n − Σ c·log2 c. The logarithms are doubles, the sums are `Real`.
template <std::floating_point Real>
Real information(std::span<const Real> parts, const XLog& xlog) {
  Real sum = 0, total = 0;
  for (const Real part : parts) {
    sum = static_cast<Real>(sum + xlog(part));
    total += part;
  }
  return static_cast<Real>(xlog(total) - sum);
}

// weight·impurity of these class weights.
template <std::floating_point Real>
Real impurity(Measure measure, std::span<const Real> parts, const XLog& xlog) {
  if (measure == Measure::entropy) return information(parts, xlog);
  double total = 0, squares = 0, largest = 0;
  for (const double part : parts) {
    total += part;
    squares += part * part;
    largest = std::max(largest, part);
  }
  if (measure == Measure::error) return static_cast<Real>(total - largest);
  return static_cast<Real>(total > 0 ? total - squares / total : 0);
}

// Entropy in bits as Weka's Id3 adds it up: its ties are decided by the rounding of exactly this expression.
inline double id3_entropy(std::span<const double> parts) {
  const auto log2 = [](double x) { return std::log(x) / std::log(2.0); };
  double sum = 0, total = 0;
  for (const double part : parts) {
    if (part > 0) sum -= part * log2(part);
    total += part;
  }
  return total > 0 ? sum / total + log2(total) : 0;
}

// ln Γ(x) for x > 0 by Stirling's series; std::lgamma writes to a global, which threads would share.
inline double log_gamma(double x) {
  double shift = 0;
  for (; x < 12; ++x) shift -= std::log(x);
  const double y = 1 / (x * x);
  const double series = (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
  return shift + (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + series;
}

// −ln P(chi² with these degrees of freedom >= statistic): the regularised upper incomplete gamma function.
inline double log_significance(double statistic, double freedom) {
  const double a = freedom / 2, x = statistic / 2;
  if (!(x > 0) || !(a > 0)) return 0;
  const double front = a * std::log(x) - x - log_gamma(a);
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-17; ++n) sum += term *= x / n;
    return -std::log1p(-std::min(1.0, std::exp(front) * sum));
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;  // Lentz's continued fraction
  for (int i = 1; i < 10000; ++i) {
    const double step = -i * (i - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return -(front + std::log(fraction));
}

}  // namespace baytree::tree::fractional
