// Log-scores of Gaussian kernel densities, and of Weka's probabilities of intervals around a value.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "naive_bayes/densities.hpp"

namespace baytree::naive_bayes {

inline constexpr double smallest_factor = 1e-75;  // lower bound of a probability, as in Weka

// Kernels of class c are start[c] … start[c + 1] - 1, with ascending centres.
struct KernelClasses {
  std::span<const std::int64_t> start;
  std::span<const double> centre, weight, width;
  std::size_t n_classes() const { return width.size(); }
};

inline void refuse_infinite(double x) {
  if (std::isinf(x)) throw std::domain_error("a value is infinite");
}

inline double lower_tail(double z) { return 0.5 * std::erfc(-z * M_SQRT1_2); }

// log Σ w φ((x - v) / h) / (W h), relative to the nearest centre so that nothing underflows; terms below e^-60 of it
// are skipped.
inline double log_kernel_density(double x, std::span<const double> centre, std::span<const double> weight, double width) {
  const auto above = static_cast<std::size_t>(std::lower_bound(centre.begin(), centre.end(), x) - centre.begin());
  std::size_t nearest = above;
  if (above == centre.size() || (above > 0 && x / 2 - centre[above - 1] / 2 < centre[above] / 2 - x / 2)) nearest = above - 1;
  const auto distance = [&](std::size_t k) { return 2 * std::fabs(x / (2 * width) - centre[k] / (2 * width)); };
  const double least = distance(nearest);
  if (!(least < far_away)) return -0x1p990 * (1 + std::log(std::min(least, 0x1.fffffep1023)) / 2048);
  double sum = 0, total = 0;
  const auto add = [&](std::size_t k) {
    const double z = distance(k), exponent = 0.5 * (z - least) * (z + least);
    if (exponent > 60) return false;
    sum += weight[k] * std::exp(-exponent);
    return true;
  };
  for (std::size_t k = above; k < centre.size() && add(k); ++k) {}
  for (std::size_t k = above; k > 0 && add(k - 1); --k) {}
  for (const double w : weight) total += w;
  return std::log(sum) - std::log(total) - std::log(width) - 0.5 * std::log(2 * M_PI) - 0.5 * least * least;
}

// Probability of the interval x ± precision / 2 under the kernels: sums upwards from x, then downwards, each until the
// remaining kernels cannot add one percent.
inline double interval_share(double x, double precision, std::span<const double> centre, std::span<const double> weight, double width) {
  double whole = 0, sum = 0, visited = 0;
  for (const double w : weight) whole += w;
  const auto above = static_cast<std::size_t>(std::lower_bound(centre.begin(), centre.end(), x) - centre.begin());
  const auto add = [&](std::size_t k) {
    const double gap = centre[k] - x;
    const double term = lower_tail((gap + precision / 2) / width) - lower_tail((gap - precision / 2) / width);
    sum += weight[k] * term;
    visited += weight[k];
    return !(term * (whole - visited) < sum * 0.01);
  };
  for (std::size_t k = above; k < centre.size() && add(k); ++k) {}
  for (std::size_t k = above; k > 0 && add(k - 1); --k) {}
  return sum / whole;
}

template <typename Score>
concept ClassScore = requires(const Score& score, double x, std::size_t c) { { score(x, c) } -> std::convertible_to<double>; };

// Adds score(x, c) to scores[i * n_classes + c] for every known value.
template <ClassScore Score>
void add_class_scores(std::span<const double> value, std::size_t n_classes, std::span<double> scores, const Score& score) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != value[i]) continue;
    refuse_infinite(value[i]);
    for (std::size_t c = 0; c < n_classes; ++c) scores[i * n_classes + c] += score(value[i], c);
  }
}

}  // namespace baytree::naive_bayes
