// Means and deviations of many exact sums at once, where their rounding can be told from two doubles.
//
// A number of many limbs is read as the sum of two doubles, good to a hundred bits; so is what follows from it. A quotient is given only
// where both ends of what it can be round to the same double, which is then the correctly rounded one, whatever the machine.
// The others are NaN, for whole numbers to decide: exact ties, and variances of which rows cancel nearly all.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/dispatch.hpp"

namespace baytree::numbers {

// Cells of limbs, [n_layers, n_cells, width], the last limb signed; a cell is the sum of its layers.
struct LimbLayers {
  const std::int64_t* first;
  std::size_t n_layers, n_cells, width;
};

inline constexpr std::size_t widest_read = 12;     // limbs of a number that is read as doubles: its square stays far from the subnormals
inline constexpr std::size_t most_layers = 1024;   // so that limbs of all layers add up to less than 2^51
inline constexpr int farthest_power = 400;         // of two, that a result is scaled by: it stays a normal double

// The same loops compiled for one instruction set. Weights have one limb; `first` and `last` are cells, of which those beyond the last
// whole register stay undecided.
struct QuotientLoops {
  // total / weight * 2^power, where the highest limb of a total weighs 1.
  void (*means)(const LimbLayers& weight, const LimbLayers& total, int power, std::size_t first, std::size_t last, double* mean);
  // The root of (weight * square * 2^square_power - total^2) / weight^2 * 2^power; the highest limbs weigh 1.
  void (*deviations)(const LimbLayers& weight, const LimbLayers& total, const LimbLayers& square, int square_power, int power,
                     std::size_t first, std::size_t last, double* deviation);
};

// The loops for this machine.
extern const QuotientLoops quotient_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const QuotientLoops quotient_loops_v3, quotient_loops_v4;
inline const QuotientLoops& quotient_loops() {
  static const QuotientLoops& chosen = simd::loops_in_use(quotient_loops_baseline, quotient_loops_v3, quotient_loops_v4);
  return chosen;
}
#else
inline const QuotientLoops& quotient_loops() { return quotient_loops_baseline; }
#endif

}  // namespace baytree::numbers
