// Slicing of values into integer parts.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "numeric/exact_sum.hpp"
#include "simd/dispatch.hpp"
#include "simd/lanes.hpp"

namespace baytree::numeric {

// Rows of eight columns cut into slices that add up in integers without rounding.
//
// Added to one and a half times a large power of two, a value is rounded to a multiple of a fixed grid, and the bits of the
// sum, taken as an integer, count these multiples. A value and its square are cut in this way into slices of 50 bits below
// the chunk's largest magnitude; slices of one height add up as integers. Two heights hold every bit of values and three
// every bit of squares that lie within 22 powers of two of each other. Where values lie farther apart, squares take a
// fourth, and what is finer than the last slice is reported.

using simd::LaneBits, simd::Lanes, simd::lanes, simd::LaneSums;

inline constexpr std::size_t chunk_rows = 2048;        // at most
inline constexpr std::size_t chunk_bytes = 192 * 1024;  // of the rows of a chunk where classes are few: two fit into the second cache
inline constexpr std::size_t survey_rows = 32;  // how many rows are sliced before asking whether all was caught
inline constexpr int slice_bits = 50;           // 63 bits, less 11 for the rows of a chunk, 1 for the carry and 1 for two slices of a row
inline constexpr int shallow_range = 22;        // powers of two between magnitudes that need no fourth height

// The slices of one class in a chunk: two heights for values, four for squares; and how many values were known. None
// lies across two lines of the cache.
struct alignas(sizeof(Lanes)) Slices {
  LaneSums total[2], square[4];
  Lanes count;
};

// The large numbers that cut at each height.
struct Slicers {
  Lanes total[2], square[4];
};

// The same for rows with weights: two heights for weights, three for values and five for squares, each times the weight.
struct alignas(sizeof(Lanes)) WeightedSlices {
  LaneSums weight[2], total[3], square[5];
};
struct WeightedSlicers {
  Lanes weight[2], total[3], square[5];
};

// What one look at a chunk tells: each column's largest and smallest magnitudes but 0, and whether any value is NaN.
struct Survey {
  Lanes largest, smallest;  // smallest is infinite where there is none
  LaneBits is_missing;      // not 0 where some value is
  bool has_missing() const {
    bool any = false;
    for (std::size_t j = 0; j < lanes; ++j) any |= is_missing[j] != 0;
    return any;
  }
};

// Rows of eight numbers, wherever they lie in memory.
struct LaneRows {
  const double* first;
  std::ptrdiff_t step;  // from a row to the next, in numbers
  LaneRows from(std::size_t row) const { return {first + static_cast<std::ptrdiff_t>(row) * step, step}; }
};

// Some rows of a chunk, those of one class, by their places in it; and as many rows that are needed soon, which are fetched
// from memory meanwhile: memory is slow enough for that to take as long as the slicing.
struct ChosenRows {
  LaneRows rows;
  const std::uint16_t* place;
  std::size_t n_rows;
  LaneRows soon;
};

// The same loops compiled for one instruction set.
struct SliceLoops {
  // One look at rows of groups of eight columns; group g begins at column column[g].
  void (*survey)(const LaneRows& rows, std::size_t n_rows, const std::size_t* column, std::size_t n_groups, Survey* surveys);
  // Replaces NaN by 0 and counts the known values of each class.
  void (*count_known)(Lanes* value, std::size_t n_rows, const std::int32_t* label, Slices* slices);
  // Adds rows of unit weight whose magnitudes lie close to each other.
  void (*slice)(const ChosenRows& chosen, const Slicers& slicers, Slices& slices);
  // Adds any rows; lanes of `is_fine` become non-zero where something was finer than the last slice.
  void (*slice_deep)(const ChosenRows& chosen, const Slicers& slicers, Slices& slices, LaneBits& is_fine);
  // Adds rows with weights, those of the whole chunk; a value that is NaN has none.
  void (*slice_weighted)(const ChosenRows& chosen, const double* weight, const WeightedSlicers& slicers, WeightedSlices& slices);
};

// The loops for this machine.
extern const SliceLoops slice_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const SliceLoops slice_loops_v3, slice_loops_v4;
inline const SliceLoops& slice_loops() {
  static const SliceLoops& chosen = simd::loops_in_use(slice_loops_baseline, slice_loops_v3, slice_loops_v4);
  return chosen;
}
#else
inline const SliceLoops& slice_loops() { return slice_loops_baseline; }
#endif

// The grids that values are sliced by: 50 bits apart, and how the sums of slices begin and end.

// The exponent of a grid: what is below 2^top is less than 2^50 units of the first.
inline int grid_unit(int top, int height) { return top - slice_bits * (height + 1); }

// What rounds to the multiples of a unit when it is added: 1.5 * 2^(unit + 52). It is put together from its bits, because tables
// of few rows and many columns make one for every few values; all that is sliced lies far from the subnormals.
inline double slicer(int top, int height) {
  constexpr int bias = 1023, fraction_bits = 52;
  const auto field = static_cast<std::uint64_t>(grid_unit(top, height) + fraction_bits + bias);
  return std::bit_cast<double>(field << fraction_bits | std::uint64_t{1} << (fraction_bits - 1));
}

// The bits of the slicers are added with every slice; the sums begin at what makes up for them.
template <std::size_t n_heights>
void begin_slices(LaneSums (&sum)[n_heights], const Lanes (&slicer)[n_heights], const std::uint64_t (&n_slices)[n_heights], double n_rows) {
  for (std::size_t height = 0; height < n_heights; ++height)
    sum[height] = -(LaneSums)slicer[height] * (n_slices[height] * static_cast<std::uint64_t>(n_rows));
}

template <std::size_t n_heights> void add_slices_to(ExactCell& cell, const LaneSums (&sum)[n_heights], std::size_t j, int top) {
  for (std::size_t height = 0; height < n_heights; ++height)
    cell.add(static_cast<std::int64_t>(sum[height][j]), grid_unit(top, static_cast<int>(height)));
}

}  // namespace baytree::numeric
