// Rows of columns in lanes of eight against the densities of a class: Σ z² of normal columns, Σ h log(1 + z²/ν) of Student-t
// columns. The lanes and the order of their sum are the same for every instruction set, so the bits are too.
#pragma once
#include "simd/dispatch.hpp"
#include "simd/lanes.hpp"

namespace baytree::bayes {

using simd::Lanes, simd::lanes;

// One class: means, inverse scales and, for Student t, 1/ν and h = (ν + 1)/2 of each group of eight columns; padding is 0.
struct ClassLanes {
  const Lanes *mean, *inverse, *inverse_degrees, *half;
};

struct RowSums {
  double squares;  // Σ z²: not below 2^1000 where a value is missing, infinite or very far away
  double logs;     // Σ h log(1 + z²/ν)
};

// Rows of groups of eight values, one after another: [n_rows, n_groups].
struct DensityRows {
  const Lanes* value;
  std::size_t n_rows, n_groups;
};

struct DensityLoops {
  void (*squares)(const DensityRows& rows, const ClassLanes& density, RowSums* sums);
  void (*logs)(const DensityRows& rows, const ClassLanes& density, RowSums* sums);
};

// The loops for this machine.
extern const DensityLoops density_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const DensityLoops density_loops_v3, density_loops_v4;
inline const DensityLoops& density_loops() {
  static const DensityLoops& chosen = simd::loops_in_use(density_loops_baseline, density_loops_v3, density_loops_v4);
  return chosen;
}
#else
inline const DensityLoops& density_loops() { return density_loops_baseline; }
#endif

}  // namespace baytree::bayes
