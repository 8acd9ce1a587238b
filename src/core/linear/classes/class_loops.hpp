// Rows of several classes with a feature's numbers side by side: scores, shares, and products of features over all rows.
//
// The lanes and the order of every sum are the same for every instruction set, so the bits are too. The number of rows is a
// multiple of eight: what lies past the last one weighs nothing.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/dispatch.hpp"

namespace baytree::linear {

struct LabelledWeights {
  std::size_t rows, classes;
  const std::int32_t* label;
  const double* weight;
};

struct ClassLoops {
  // out [count, rows] = coefficient [count, features] times feature [features, rows].
  void (*combine)(const double* coefficient, std::size_t count, const double* feature, std::size_t features, std::size_t rows, double* out);
  // out[a * step + b] = Σ_i left[a][i] right[b][i].
  void (*dots)(const double* const* left, std::size_t lefts, const double* const* right, std::size_t rights, std::size_t rows,
               double* out, std::size_t step);
  // The same where left and right are the same features, for b up to a (and some beyond).
  void (*lower_dots)(const double* const* left, const double* const* right, std::size_t count, std::size_t rows, double* out,
                     std::size_t step);
  // Σ weight · loss of scores [classes, rows], which become the shares of the classes; writes weight (share − truth) to residual.
  double (*judge)(const LabelledWeights& rows, double* score, double* residual);
  // Scores u [classes, rows] of a step become weight · share (u − Σ share u): what it adds to the residuals.
  void (*bend)(const LabelledWeights& rows, const double* share, double* score);
  // out[i] = a[i] b[i].
  void (*times)(const double* a, const double* b, std::size_t rows, double* out);
};

// The loops for this machine.
extern const ClassLoops class_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const ClassLoops class_loops_v3, class_loops_v4;
inline const ClassLoops& class_loops() {
  static const ClassLoops& chosen = simd::loops_in_use(class_loops_baseline, class_loops_v3, class_loops_v4);
  return chosen;
}
#else
inline const ClassLoops& class_loops() { return class_loops_baseline; }
#endif

}  // namespace baytree::linear
