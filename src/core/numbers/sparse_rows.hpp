// Rows of a sparse matrix in compressed form.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace baytree::numbers {

// Row i has value[e] in column code[e] for entries e = start[i] … start[i + 1] - 1; every other value is 0.
struct SparseRows {
  std::span<const std::int64_t> start;  // [n_rows + 1]
  std::span<const std::int32_t> code;
  std::span<const double> value;

  std::size_t rows() const { return start.size() - 1; }
};

}  // namespace baytree::numbers
