// A matrix of doubles wherever it lies.
#pragma once
#include <cstddef>

namespace baytree::numbers {

// Value (i, j) lies at data[i * row_step + j * column_step].
struct Matrix {
  const double* data;
  std::size_t n_rows, n_columns;
  std::ptrdiff_t row_step, column_step;

  const double* at(std::size_t row, std::size_t column) const {
    return data + static_cast<std::ptrdiff_t>(row) * row_step + static_cast<std::ptrdiff_t>(column) * column_step;
  }
};

}  // namespace baytree::numbers
