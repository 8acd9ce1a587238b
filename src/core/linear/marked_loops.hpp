// Rows of few numbers and many marks (a level, a gap), of which each row has a few: two classes, as in row_loops.hpp.
//
// Features are the numbers, then the marks, then the constant 1. A mark that a row does not have costs nothing.
#pragma once
#include "linear/row_loops.hpp"

namespace baytree::linear {

// The marks of rows [rows, slots]: those that a row has in ascending order, then `none`, the number of marks.
struct Marks {
  const std::int32_t* first;
  std::size_t slots;
  std::int32_t none;
};

// Coefficients [columns + none] and the start.
struct Scorer {
  const double* coefficient;
  double start;
};

struct MarkedLoops {
  // Σ weight · loss; adds Σ weight (share − label) · feature to gradient [columns + none + 1].
  double (*slope)(const RowRun& run, const Marks& marks, const Scorer& scorer, double* gradient);
  // Adds Σ weight · share (1 − share) · feature · feature to the lower half of out [folds, columns + none + 1, the same],
  // for each row to that of its fold.
  void (*curvature)(const RowRun& run, const Marks& marks, const Scorer& scorer, const std::int64_t* fold, double* out);
  // Of several problems at once, coefficient [columns + none + 1, count]: losses, and gradient of the same shape, added to.
  void (*problems)(const RowRun& run, const Marks& marks, const std::int64_t* fold, const Problems& problems,
                   const double* coefficient, double* gradient);
};

// The loops for this machine.
extern const MarkedLoops marked_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const MarkedLoops marked_loops_v3, marked_loops_v4;
inline const MarkedLoops& marked_loops() {
  static const MarkedLoops& best = simd::best_for_this_machine(marked_loops_baseline, marked_loops_v3, marked_loops_v4);
  return best;
}
#else
inline const MarkedLoops& marked_loops() { return marked_loops_baseline; }
#endif

}  // namespace baytree::linear
