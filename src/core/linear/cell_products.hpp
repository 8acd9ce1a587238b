// Weighted counts of pairs of cells: Σ weight · x x' of rows x that have a one in one cell of each term and zeros elsewhere.
//
// A pair of terms is counted at a time, so that its cells stay in the cache; up to four weights, such as those of the
// scores of several classes, share one pass over the cells.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::linear {

// Cells of a design: [n_terms, n_rows], each below the size of its term.
struct TermRows {
  const std::int32_t* cell;
  std::size_t n_rows;
  std::span<const std::int64_t> size;

  const std::int32_t* of(std::size_t term) const { return cell + term * n_rows; }
};

namespace detail {

template <std::size_t Width>
void add_cells(const TermRows& rows, std::size_t j, std::size_t k, const double* weight, std::array<double, Width>* total) {
  const std::int32_t *first = rows.of(j), *second = rows.of(k);
  const auto columns = static_cast<std::size_t>(rows.size[k]);
  for (std::size_t i = 0; i < rows.n_rows; ++i) {
    auto& cell = total[static_cast<std::size_t>(first[i]) * columns + static_cast<std::size_t>(second[i])];
    for (std::size_t c = 0; c < Width; ++c) cell[c] += weight[Width * i + c];
  }
}

template <std::size_t Width>
void cell_products(const TermRows& rows, const double* weight, std::size_t n_scores, std::size_t q, double* out) {
  std::vector<std::array<double, Width>> total;
  std::size_t row = 0;
  for (std::size_t j = 0; j < rows.size.size(); row += static_cast<std::size_t>(rows.size[j++])) {
    std::size_t column = 0;
    for (std::size_t k = 0; k <= j; column += static_cast<std::size_t>(rows.size[k++])) {
      const auto height = static_cast<std::size_t>(rows.size[j]), width = static_cast<std::size_t>(rows.size[k]);
      total.assign(height * width, {});
      add_cells<Width>(rows, j, k, weight, total.data());
      for (std::size_t c = 0; c < n_scores; ++c)
        for (std::size_t a = 0; a < height; ++a)
          for (std::size_t b = 0; b < width; ++b) out[(c * q + row + a) * q + column + b] = total[a * width + b][c];
    }
  }
}

}  // namespace detail

// Fills the lower triangle, by terms, of out [n_scores, q, q]; weight [n_scores, n_rows], n_scores from 1 to 4.
inline void cell_products(const TermRows& rows, const double* weight, std::size_t n_scores, std::size_t q, double* out) {
  if (n_scores == 1) return detail::cell_products<1>(rows, weight, 1, q, out);
  std::vector<double> interleaved(4 * rows.n_rows);
  for (std::size_t c = 0; c < n_scores; ++c)
    for (std::size_t i = 0; i < rows.n_rows; ++i) interleaved[4 * i + c] = weight[c * rows.n_rows + i];
  detail::cell_products<4>(rows, interleaved.data(), n_scores, q, out);
}

}  // namespace baytree::linear
