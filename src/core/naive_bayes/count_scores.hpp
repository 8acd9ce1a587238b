// Scores of Bernoulli, Poisson, multinomial and Dirichlet–multinomial columns, dense or sparse.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "numeric/distributions.hpp"
#include "numeric/matrix.hpp"
#include "util/options.hpp"

namespace baytree::naive_bayes {

using numeric::log_rising, numeric::Matrix, numeric::SparseRows;

// Transformation of values: binary columns are compared with the threshold; counts may not be negative; `is_poisson`
// subtracts log x!.
struct AmountRule {
  bool is_binary = false, is_count = false, is_poisson = false;
};

inline AmountRule amount_rule(std::string_view name) {
  static constexpr Choice<AmountRule> choices[] = {{"binary", {.is_binary = true}},
                                                   {"count", {.is_count = true}},
                                                   {"poisson", {.is_count = true, .is_poisson = true}},
                                                   {"amount", {}}};
  return chosen("rule", name, choices);
}

// Parameters of column j in class c at [j * n_classes + c]. A value of 0 contributes `zero`, another value base + x
// slope + log Γ(shape + x) - log Γ(shape), the last two terms only where the shape is finite.
struct Amounts {
  std::span<const double> zero, base, slope, shape;
  std::size_t n_columns, n_classes;
  double threshold;
  AmountRule rule;

  void refuse(double x) const {
    if (std::isinf(x)) throw std::domain_error("a value is infinite");
    if (rule.is_count && x < 0) throw std::domain_error("a count is negative");
  }
  double common(double x) const { return rule.is_poisson ? -log_rising(1, x) : 0; }
  bool is_zero(double x) const { return rule.is_binary ? !(x > threshold) : x == 0; }
  double other(double x, std::size_t cell, double shared) const {
    if (rule.is_binary) return base[cell];
    double score = base[cell] + x * slope[cell] + shared;
    if (std::isfinite(shape[cell])) score += log_rising(shape[cell], x);
    return score;
  }
};

inline void add_amounts(const Matrix& matrix, const Amounts& amounts, std::span<double> scores) {
  const std::size_t n_classes = amounts.n_classes;
  for (std::size_t i = 0; i < matrix.n_rows; ++i)
    for (std::size_t j = 0; j < matrix.n_columns; ++j) {
      const double x = *matrix.at(i, j);
      if (x != x) continue;
      amounts.refuse(x);
      const bool is_zero = amounts.is_zero(x);
      const double shared = is_zero ? 0 : amounts.common(x);
      for (std::size_t c = 0; c < n_classes; ++c) {
        const std::size_t cell = j * n_classes + c;
        scores[i * n_classes + c] += is_zero ? amounts.zero[cell] : amounts.other(x, cell, shared);
      }
    }
}

// Contribution of all-zero rows; infinite terms are counted separately so that they can be subtracted again.
class ZeroScores {
 public:
  explicit ZeroScores(const Amounts& amounts) : finite_(amounts.n_classes), impossible_(amounts.n_classes) {
    for (std::size_t j = 0; j < amounts.n_columns; ++j)
      for (std::size_t c = 0; c < amounts.n_classes; ++c) add(c, amounts.zero[j * amounts.n_classes + c], 1);
  }
  void add(std::size_t c, double score, int sign) {
    if (std::isinf(score)) impossible_[c] += sign;
    else finite_[c] += sign * score;
  }
  double total(std::size_t c) const { return impossible_[c] > 0 ? -std::numeric_limits<double>::infinity() : finite_[c]; }

 private:
  std::vector<double> finite_;
  std::vector<std::int64_t> impossible_;
};

// `missing` flags whole rows, or is empty.
inline void add_sparse_amounts(const SparseRows& rows, std::span<const bool> missing, const Amounts& amounts, std::span<double> scores) {
  const std::size_t n_classes = amounts.n_classes;
  const ZeroScores all_zero(amounts);
  ZeroScores here = all_zero;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (!missing.empty() && missing[i]) continue;
    here = all_zero;
    for (auto e = static_cast<std::size_t>(rows.start[i]); e < static_cast<std::size_t>(rows.start[i + 1]); ++e) {
      const double x = rows.value[e];
      const std::size_t first = static_cast<std::size_t>(rows.code[e]) * n_classes;
      const bool is_known = x == x;
      if (is_known) amounts.refuse(x);
      if (is_known && amounts.is_zero(x)) continue;
      const double shared = is_known ? amounts.common(x) : 0;
      for (std::size_t c = 0; c < n_classes; ++c) {
        here.add(c, amounts.zero[first + c], -1);
        if (is_known) here.add(c, amounts.other(x, first + c, shared), 1);
      }
    }
    for (std::size_t c = 0; c < n_classes; ++c) scores[i * n_classes + c] += here.total(c);
  }
}

// Dirichlet–multinomial documents: Σ_w log Γ(a_w + x_w) - log Γ(a_w), minus log Γ(A + n) - log Γ(A); a [n_columns,
// n_classes].
struct Urns {
  std::span<const double> concentration, total;
  std::size_t n_classes;
};

// Adds one row, whose values visit(entry) enumerates; a column with a missing value is left out of the sum A.
template <typename Visit>
void add_urn_row(const Urns& urns, const Visit& visit, std::vector<double>& total, std::span<double> scores) {
  double drawn = 0;
  total.assign(urns.total.begin(), urns.total.end());
  visit([&](std::size_t column, double x) {
    const double* a = urns.concentration.data() + column * urns.n_classes;
    if (x != x) {
      for (std::size_t c = 0; c < urns.n_classes; ++c) total[c] -= a[c];
      return;
    }
    if (std::isinf(x)) throw std::domain_error("a value is infinite");
    if (x < 0) throw std::domain_error("a count is negative");
    drawn += x;
    for (std::size_t c = 0; c < urns.n_classes; ++c) scores[c] += log_rising(a[c], x);
  });
  for (std::size_t c = 0; c < urns.n_classes; ++c)
    if (drawn > 0 && total[c] > 0) scores[c] -= log_rising(total[c], drawn);
}

inline void add_urns(const Matrix& matrix, const Urns& urns, std::span<double> scores) {
  std::vector<double> total;
  for (std::size_t i = 0; i < matrix.n_rows; ++i)
    add_urn_row(urns, [&](const auto& add) {
      for (std::size_t j = 0; j < matrix.n_columns; ++j)
        add(j, *matrix.at(i, j));
    }, total, scores.subspan(i * urns.n_classes, urns.n_classes));
}

inline void add_sparse_urns(const SparseRows& rows, std::span<const bool> missing, const Urns& urns, std::span<double> scores) {
  std::vector<double> total;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (!missing.empty() && missing[i]) continue;
    add_urn_row(urns, [&](const auto& add) {
      for (auto e = static_cast<std::size_t>(rows.start[i]); e < static_cast<std::size_t>(rows.start[i + 1]); ++e)
        add(static_cast<std::size_t>(rows.code[e]), rows.value[e]);
    }, total, scores.subspan(i * urns.n_classes, urns.n_classes));
  }
}

}  // namespace baytree::naive_bayes
