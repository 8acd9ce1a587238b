// The logarithm of the gamma function, without std::lgamma, which writes to a global that threads would share.
#pragma once
#include <cmath>
#include <limits>

namespace baytree::numbers {

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

// log Γ(a + x) - log Γ(a) for a > 0, x >= 0, without cancelling: log a for x = 1.
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

}  // namespace baytree::numbers
