// The minimum of a quadratic with an elastic-net penalty: coordinate descent finds which coefficients are not 0, and a direct solution
// their values.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linear/descent.hpp"
#include "linear/factor.hpp"

namespace baytree::linear {

class Support {
 public:
  Support(std::span<const double> matrix, std::span<const double> ridge, std::span<const double> lasso)
      : matrix_(matrix), ridge_(ridge), lasso_(lasso), m_(ridge.size()) {}

  // Moves `target`, at which the quadratic has this slope, until no coefficient is further than `near` from optimal, or for a few rounds;
  // false where a matrix is so near to singular that its eigenvectors have to be looked at.
  bool minimise(std::vector<double>& target, std::vector<double>& slope, double near) const {
    for (int round = 0; round < kRounds; ++round) {
      GramDescent(matrix_, ridge_, lasso_, target, slope).run(kSweeps, near * near);
      if (!polish(target, slope)) return false;
      if (violation(target, slope) <= near) break;
    }
    return true;
  }

 private:
  static constexpr int kRounds = 5, kDrops = 20;
  static constexpr std::int64_t kSweeps = 200;

  double violation(std::span<const double> target, std::span<const double> slope) const {
    double worst = 0;
    for (std::size_t j = 0; j < m_; ++j) {
      const double smooth = slope[j] + ridge_[j] * target[j];
      const bool is_out = target[j] == 0 && lasso_[j] > 0;
      worst = std::max(worst, is_out ? std::abs(smooth) - lasso_[j] : std::abs(smooth + lasso_[j] * sign(target[j])));
    }
    return worst;
  }

  static double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

  // The minimum on the support, less those that would change their sign on the way; false where it is not to be solved for.
  bool polish(std::vector<double>& target, std::vector<double>& slope) const {
    for (int drop = 0; drop < kDrops; ++drop) {
      const auto active = support(target);
      if (active.empty()) return true;
      auto move = to_minimum(active, target, slope);
      if (!move) return false;
      const double share = until_zero(active, target, *move);
      bool crosses = false;
      for (std::size_t a = 0; a < active.size(); ++a) {
        const std::size_t j = active[a];
        const double change = share * (*move)[a], *const row = matrix_.data() + j * m_;
        for (std::size_t i = 0; i < m_; ++i) slope[i] += change * row[i];
        const bool ends = reaches_zero(j, target[j], (*move)[a]) && -target[j] / (*move)[a] == share;
        target[j] = ends ? 0.0 : target[j] + change;
        crosses = crosses || ends;
      }
      if (!crosses) return true;
    }
    return true;
  }

  std::vector<std::size_t> support(std::span<const double> target) const {
    std::vector<std::size_t> found;
    for (std::size_t j = 0; j < m_; ++j)
      if (target[j] != 0 || lasso_[j] == 0) found.push_back(j);
    return found;
  }

  std::optional<std::vector<double>> to_minimum(const std::vector<std::size_t>& active, std::span<const double> target,
                                                std::span<const double> slope) const {
    const std::size_t m = active.size();
    std::vector<double> part(m * m), right(m);
    for (std::size_t a = 0; a < m; ++a) {
      const std::size_t j = active[a];
      for (std::size_t b = 0; b <= a; ++b) part[a * m + b] = matrix_[j * m_ + active[b]];
      part[a * m + a] += ridge_[j];
      right[a] = -(slope[j] + ridge_[j] * target[j] + lasso_[j] * sign(target[j]));
    }
    return solved(part, std::move(right));
  }

  bool reaches_zero(std::size_t j, double at, double move) const { return lasso_[j] > 0 && at * (at + move) <= 0 && move != 0; }

  // How much of the move can be made before a penalised coefficient would change its sign.
  double until_zero(const std::vector<std::size_t>& active, std::span<const double> target, std::span<const double> move) const {
    double share = 1;
    for (std::size_t a = 0; a < active.size(); ++a)
      if (reaches_zero(active[a], target[active[a]], move[a])) share = std::min(share, -target[active[a]] / move[a]);
    return share;
  }

  std::span<const double> matrix_, ridge_, lasso_;
  std::size_t m_;
};

}  // namespace baytree::linear
