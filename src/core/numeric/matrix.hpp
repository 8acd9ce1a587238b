// Views of dense and sparse matrices; they own nothing.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace baytree::numeric {

// Dense matrices.

// Value (i, j) lies at data[i * row_step + j * column_step].
struct Matrix {
  const double* data;
  std::size_t n_rows, n_columns;
  std::ptrdiff_t row_step, column_step;

  const double* at(std::size_t row, std::size_t column) const {
    return data + static_cast<std::ptrdiff_t>(row) * row_step + static_cast<std::ptrdiff_t>(column) * column_step;
  }
};

// Columns at arbitrary addresses, each contiguous.
struct Columns {
  std::span<const double* const> first;
  std::size_t n_rows, n_columns = first.size();
  static constexpr std::ptrdiff_t row_step = 1, column_step = 0;  // no step leads from one column to the next

  const double* at(std::size_t row, std::size_t column) const { return first[column] + row; }
};

template <typename Values>
concept Numbers = requires(const Values& values, std::size_t place) {
  { values.at(place, place) } -> std::same_as<const double*>;
  { values.n_rows + values.n_columns } -> std::same_as<std::size_t>;
  { values.row_step + values.column_step } -> std::same_as<std::ptrdiff_t>;
};

// Sparse matrices in compressed row form (CSR).

// Row i has value[e] in column code[e] for entries e = start[i] … start[i + 1] - 1; every other value is 0.
struct SparseRows {
  std::span<const std::int64_t> start;  // [n_rows + 1]
  std::span<const std::int32_t> code;
  std::span<const double> value;

  std::size_t rows() const { return start.size() - 1; }
};

}  // namespace baytree::numeric
