// log-gamma, Pearson's chi-squared statistic, and log upper tails of the chi-squared and F distributions.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>

namespace baytree::numeric {

// Log-gamma. std::lgamma is not used because it writes to a global variable (signgam), a data race between threads.

// Stirling's correction: log Γ(x) - ((x - ½) log x - x + ½ log 2π), for x >= 15 to the last digits.
inline double stirling_correction(double x) {
  const double r = 1 / (x * x);
  return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / x;
}

// log Γ(x) for x > 0.
inline double log_gamma(double x) {
  double shift = 0;
  for (; x < 12; ++x) shift -= std::log(x);
  return shift + (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + stirling_correction(x);
}

// log Γ(a + x) - log Γ(a) for a > 0, x >= 0, without cancellation: log a for x = 1.
inline double log_rising(double a, double x) {
  if (x == 0) return 0;
  if (a == 0) return -std::numeric_limits<double>::infinity();
  if (x == 1) return std::log(a);
  if (x <= 16 && x == std::floor(x)) {
    double sum = 0;
    for (double step = 0; step < x; ++step) sum += std::log(a + step);
    return sum;
  }
  double shift = 0;
  for (; a < 15; ++a) shift += std::log1p(x / a);  // Γ(a + x) / Γ(a) = Γ(a + 1 + x) / Γ(a + 1) · a / (a + x)
  return x * std::log(a + x) + (a - 0.5) * std::log1p(x / a) - x + stirling_correction(a + x) - stirling_correction(a) - shift;
}

// Pearson's chi-squared statistic of a table of weights.

// Contribution of one cell; 0 where the expected weight is 0.
inline double pearson_cell(double seen, double expected) {
  const double apart = seen - expected;
  return expected > 0 ? apart * apart / expected : 0.0;
}

// Σ (observed − expected)² / expected over a table; `row(i)` is a span of weights per class, `of_class` the column
// sums, `whole` their sum.
template <typename Row>
  requires std::invocable<const Row&, std::size_t>
double pearson(std::size_t n_rows, const Row& row, std::span<const double> of_class, double whole) {
  double statistic = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const auto seen = row(i);
    double in_row = 0;
    for (const auto weight : seen) in_row += weight;
    for (std::size_t c = 0; c < of_class.size(); ++c) statistic += pearson_cell(seen[c], in_row * of_class[c] / whole);
  }
  return statistic;
}

// Upper tails of the χ² and F distributions as natural logarithms, so that p = 1e-400 does not underflow.

// log(e^a + e^b)
inline double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return std::isinf(low) ? high : high + std::log1p(std::exp(low - high));
}

// log erfc(√x) for x >= 500, by the asymptotic series of the scaled function.
inline double far_log_erfc(double x) {
  const double u = 1 / (2 * x);
  return -x + std::log1p(u * (-1 + u * (3 + u * (-15 + u * 105)))) - 0.5 * std::log(x * std::numbers::pi);
}

// log Q(a, x) = log(1 − P(a, x)) for x < a, where Q may be close to 1: from the series of P, which keeps the digits.
inline double near_log_tail(double x, double a) {
  double term = 1 / a, sum = term;
  for (double n = a + 1; term > sum * 1e-17; ++n) sum += term *= x / n;
  return std::log1p(-std::min(1.0, std::exp(a * std::log(x) - x - log_gamma(a)) * sum));
}

// log Q(a, x) for a = degrees / 2 and x = statistic / 2 >= a: a finite sum of positive terms e^{-x} x^k / Γ(k + 1), k =
// a - 1, a - 2, ..., plus erfc(√x) for odd degrees. Negligible terms far from the peak at k = x are skipped.
inline double chi2_log_tail(double statistic, double degrees) {
  if (degrees <= 0 || !(statistic > 0)) return 0;
  const double x = statistic / 2, shape = degrees / 2, half = shape - std::floor(shape);
  if (x < shape) return near_log_tail(x, shape);
  if (x < 500) {
    double sum = half > 0 ? std::erfc(std::sqrt(x)) : 0;
    double term = half > 0 ? std::exp(-x) * std::sqrt(x) * std::numbers::inv_sqrtpi * 2 : std::exp(-x);
    for (double k = half; k < shape; ++k, term *= x / k) {
      sum += term;
      if (k > x && term < 1e-18 * sum) break;
    }
    return std::min(0.0, std::log(sum));
  }
  double sum = half > 0 ? far_log_erfc(x) : -std::numeric_limits<double>::infinity();
  double term = -x + half * std::log(x) - std::lgamma(half + 1);
  for (double k = half; k < shape; ++k, term += std::log(x / k)) {
    sum = log_add(sum, term);
    if (k > x && term < sum - 41) break;
  }
  return std::min(0.0, sum);
}

// The continued fraction of the incomplete beta function, by Lentz's method; converges fast for y < (a + 1) / (a + b +
// 2).
inline double beta_fraction(double a, double b, double y) {
  constexpr double tiny = 1e-300, precise = 1e-16;
  const auto safe = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / safe(1 - (a + b) * y / (a + 1)), product = d;
  for (int m = 1; m < 100000; ++m) {
    const double even = m * (b - m) * y / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / safe(1 + even * d), c = safe(1 + even / c), product *= c * d;
    const double odd = -(a + m) * (a + b + m) * y / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / safe(1 + odd * d), c = safe(1 + odd / c), product *= c * d;
    if (std::abs(c * d - 1) < precise) break;
  }
  return product;
}

// log I_y(a, b), given both y and 1 - y, so that either may be small.
inline double log_beta_below(double a, double b, double y, double rest) {
  const double front = a * std::log(y) + b * std::log(rest) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  return front - std::log(a) + std::log(beta_fraction(a, b, y));
}

// log P(F >= statistic)
inline double f_log_tail(double statistic, double between, double within) {
  if (!(between > 0) || !(within > 0) || !(statistic > 0)) return 0;
  if (std::isinf(statistic)) return -std::numeric_limits<double>::infinity();
  const double a = within / 2, b = between / 2, ratio = statistic * between / within;
  const double y = 1 / (1 + ratio), rest = ratio / (1 + ratio);
  if (y < (a + 1) / (a + b + 2)) return std::min(0.0, log_beta_below(a, b, y, rest));
  return std::log1p(-std::min(1.0, std::exp(log_beta_below(b, a, rest, y))));
}

}  // namespace baytree::numeric
