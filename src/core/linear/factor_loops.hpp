// Sums of rows of a small matrix, its decomposition by Cholesky and the solutions that it gives. No sum is taken across lanes: the bits are the same for
// every instruction set.
#pragma once
#include <cstddef>

#include "simd/dispatch.hpp"

namespace baytree::linear {

struct FactorLoops {
  // The upper half of `upper` [m, m] becomes the factor, which is written to `lower` by columns, its diagonal inverted; false where a pivot is not above `least`.
  bool (*decompose)(double* upper, double* lower, std::size_t m, double least);
  // `right` becomes the solution for the matrix that was decomposed.
  void (*solve)(const double* upper, const double* lower, std::size_t m, double* right);
  // to += factor · row.
  void (*add)(const double* row, double factor, std::size_t m, double* to);
};

// The loops for this machine.
extern const FactorLoops factor_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const FactorLoops factor_loops_v3, factor_loops_v4;
inline const FactorLoops& factor_loops() {
  static const FactorLoops& chosen = simd::loops_in_use(factor_loops_baseline, factor_loops_v3, factor_loops_v4);
  return chosen;
}
#else
inline const FactorLoops& factor_loops() { return factor_loops_baseline; }
#endif

}  // namespace baytree::linear
