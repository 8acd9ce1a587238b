// What the solvers of logistic regression need of the rows: the concept `LogisticRows` and the records it exchanges.
//
// Two classes have one score, three or more have one score each. Coefficients are [scores, q]; the constant 1 is the last feature.
// The layout of the probabilities is the rows' own.
#pragma once
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace baytree::linear {

// Mean loss at some coefficients, its gradient [scores, q], and the probability of each score's class in each row.
struct Evaluation {
  double loss = 0;
  std::vector<double> gradient, probability;
};

// Some of the coefficients: their indices in [scores, q], ascending, and where those of each score begin among them.
struct Coordinates {
  std::vector<std::size_t> index, first;

  std::size_t size() const { return index.size(); }
};

template <typename R>
concept LogisticRows = requires(const R& rows, std::span<const double> in, std::span<double> out, const Coordinates& some) {
  { rows.n_scores() } -> std::same_as<std::size_t>;
  { rows.q() } -> std::same_as<std::size_t>;
  { rows.n_rows() } -> std::same_as<std::size_t>;
  { rows.evaluate(in) } -> std::same_as<Evaluation>;
  rows.hessian_product(in, in, out, out);                                    // probability, direction; buffer, product
  { rows.diagonal_blocks(in) } -> std::same_as<std::vector<double>>;         // lower halves [scores, q, q]
  { rows.hessian_diagonal(in) } -> std::same_as<std::vector<double>>;        // [scores, q]
  { rows.hessian_among(some, in) } -> std::same_as<std::vector<double>>;     // lower half [m, m]
  { rows.buffer_size() } -> std::same_as<std::size_t>;
  { rows.products_per_block() } -> std::same_as<double>;                     // cost of the blocks, in products with the Hessian
};

}  // namespace baytree::linear
