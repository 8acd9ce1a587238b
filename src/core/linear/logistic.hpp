// Loss and gradient of logistic and multinomial regression over rows in compressed form.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/sparse_products.hpp"

namespace baytree::linear {

// Turns scores into shares of the classes (or of the second class, where there is one score); gives -log share of the label.
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

// Rows with labels and weights, and coefficients theta [n_features, k]: the classes of a feature lie together.
struct Problem {
  SparseRows x;
  std::span<const std::int32_t> label;
  std::span<const double> weight, theta;
};

// For rows [first, last): gives Σ weight · loss, writes the shares to `share` [n_rows, k] and adds the gradient to
// `gradient` [n_features, k].
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
