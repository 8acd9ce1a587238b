// View of a column of the table, as the searches and the router read it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

namespace baytree::tree {

// Numeric columns may be strided; levels are codes with -1 for missing.
struct ColumnView {
  const double* x = nullptr;
  const int32_t* code = nullptr;
  std::ptrdiff_t stride = 1;
  int32_t levels = 0;

  bool is_nominal() const { return levels > 0; }
  // The value of a numeric or ordinal column; ordinal columns are split at their codes.
  double operator[](size_t row) const {
    if (x) return x[std::ptrdiff_t(row) * stride];
    const int32_t c = code[std::ptrdiff_t(row) * stride];
    return c < 0 ? std::numeric_limits<double>::quiet_NaN() : double(c);
  }
  int32_t level(size_t row) const { return code[std::ptrdiff_t(row) * stride]; }
};

}  // namespace baytree::tree
