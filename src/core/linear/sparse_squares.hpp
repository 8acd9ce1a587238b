// Cross products of rows that are mostly 0, for example one-hot features.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace baytree::linear {

// Adds rows' rows, for rows [n, q], to out [q, q], both halves. A row with s numbers other than 0 takes s² steps.
inline void add_sparse_squares(std::span<const double> rows, std::size_t q, double* out) {
  std::vector<std::size_t> place(q);
  for (std::size_t first = 0; first < rows.size(); first += q) {
    const double* const row = rows.data() + first;
    std::size_t count = 0;
    for (std::size_t j = 0; j < q; ++j) {
      place[count] = j;
      count += row[j] != 0;
    }
    for (std::size_t a = 0; a < count; ++a) {
      double* const to = out + place[a] * q;
      for (std::size_t b = 0; b <= a; ++b) to[place[b]] += row[place[a]] * row[place[b]];
    }
  }
  for (std::size_t j = 0; j < q; ++j)
    for (std::size_t l = 0; l < j; ++l) out[l * q + j] = out[j * q + l];
}

}  // namespace baytree::linear
