// Loops over dense rows: class means and centred rows, column moments, and loss, gradient and Hessian of logistic
// regression.
//
// Lanes and order of every sum are the same for every instruction set, and so are the bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/dispatch.hpp"

namespace baytree::linear {

// Rows of the caller's matrix: `columns` contiguous numbers each, `step` numbers apart.
struct RowRun {
  const double* first;
  std::ptrdiff_t step;
  std::size_t rows, columns;
  const std::int32_t* label;
  const double* weight;
};

// Weight and weighted mean of each class relative to a pivot; added to.
struct ClassMeans {
  const double* pivot;  // [columns]
  std::size_t count;
  double *total, *mean;  // [count], [count, columns]
};

struct RowLoops {
  // Computes weight and mean of each class, then writes √weight (row − pivot − mean of its class) to row `place[i]` of
  // `out`.
  void (*centre)(const RowRun& run, const ClassMeans& classes, const std::int64_t* place, double* out);
  // Returns Σ weight · loss at score = coefficient · row + start; adds Σ weight (probability − label) (row, 1) to
  // gradient [columns + 1].
  double (*slope)(const RowRun& run, const double* coefficient, double start, double* gradient);
  // Writes √(weight · p (1 − p)) (row, 1) to out [rows, columns + 1]; the Hessian of the loss is out' out.
  void (*curvature_rows)(const RowRun& run, const double* coefficient, double start, double* out);
  // Adds Σ weight (x − pivot) to sum and Σ weight (x − pivot)² to square, per column.
  void (*moments)(const RowRun& run, const double* pivot, double* sum, double* square);
  // Adds rows' rows, for rows [n, q], to the lower half of out [q, q]; values in the upper half are undefined.
  void (*products)(const double* rows, std::size_t n, std::size_t q, double* out);
};

// The loops for this machine.
extern const RowLoops row_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const RowLoops row_loops_v3, row_loops_v4;
inline const RowLoops& row_loops() {
  static const RowLoops& chosen = simd::loops_in_use(row_loops_baseline, row_loops_v3, row_loops_v4);
  return chosen;
}
#else
inline const RowLoops& row_loops() { return row_loops_baseline; }
#endif

}  // namespace baytree::linear
