// Logistic and multinomial regression on sparse rows: matrix products, loss and gradient.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "numeric/matrix.hpp"

namespace baytree::linear {

using numeric::SparseRows;

// Calls f with the number of scores as a compile-time constant if it is small, so that loops over scores are unrolled
// and vectorised.
template <std::invocable<std::size_t> F> decltype(auto) with_width(std::size_t width, const F& f) {
  switch (width) {
    case 1: return f(std::integral_constant<std::size_t, 1>{});
    case 2: return f(std::integral_constant<std::size_t, 2>{});
    case 3: return f(std::integral_constant<std::size_t, 3>{});
    case 4: return f(std::integral_constant<std::size_t, 4>{});
    case 8: return f(std::integral_constant<std::size_t, 8>{});
    default: return f(width);
  }
}

// A number of scores, constant or not.
template <typename W>
concept Width = std::convertible_to<W, std::size_t>;

// sum += a row times weight [n_features, width].
template <Width W>
void add_product(const SparseRows& x, std::size_t row, const double* weight, W width, double* sum) {
  for (auto e = x.start[row]; e < x.start[row + 1]; ++e) {
    const auto at = static_cast<std::size_t>(e);
    const double v = x.value[at];
    const double* const w = weight + static_cast<std::size_t>(x.code[at]) * width;
    for (std::size_t k = 0; k < width; ++k) sum[k] += v * w[k];
  }
}

// out[i, :] += row i times weight, for all rows.
inline void sparse_product(const SparseRows& x, std::span<const double> weight, std::size_t width,
                           std::span<double> out) {
  with_width(width, [&](auto w) {
    for (std::size_t i = 0; i < x.rows(); ++i) add_product(x, i, weight.data(), w, out.data() + i * width);
  });
}

// Turns scores into class probabilities (with one score: the probability of the second class); returns -log p of the
// label.
inline double shares(std::span<double> score, std::int32_t label) {
  if (score.size() == 1) {
    const double z = score[0], small = std::exp(-std::abs(z));
    score[0] = z >= 0 ? 1 / (1 + small) : small / (1 + small);
    return std::max(label == 1 ? -z : z, 0.0) + std::log1p(small);
  }
  const double top = *std::max_element(score.begin(), score.end());
  const double own = score[static_cast<std::size_t>(label)] - top;
  double sum = 0;
  for (double& z : score) sum += z = std::exp(z - top);
  for (double& z : score) z /= sum;
  return std::log(sum) - own;
}

// Rows with labels and weights, and coefficients theta [n_features, k]: the classes of a feature are contiguous.
struct Problem {
  SparseRows x;
  std::span<const std::int32_t> label;
  std::span<const double> weight, theta;
};

// For rows [first, last): returns Σ weight · loss, writes the probabilities to `share` [n_rows, k] and adds the
// gradient to `gradient` [n_features, k].
template <Width W>
double sparse_slope(const Problem& p, W k, std::size_t first, std::size_t last, std::span<double> share,
                    std::span<double> gradient) {
  double loss = 0;
  std::vector<double> residual(k);
  for (std::size_t i = first; i < last; ++i) {
    const auto row = share.subspan(i * k, k);
    std::fill(row.begin(), row.end(), 0.0);
    add_product(p.x, i, p.theta.data(), k, row.data());
    loss += p.weight[i] * shares(row, p.label[i]);
    for (std::size_t c = 0; c < k; ++c) {
      const double truth = k == 1 ? p.label[i] : static_cast<std::size_t>(p.label[i]) == c;
      residual[c] = p.weight[i] * (row[c] - truth);
    }
    for (auto e = p.x.start[i]; e < p.x.start[i + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const double v = p.x.value[at];
      double* const to = gradient.data() + static_cast<std::size_t>(p.x.code[at]) * k;
      for (std::size_t c = 0; c < k; ++c) to[c] += v * residual[c];
    }
  }
  return loss;
}

}  // namespace baytree::linear
