// Error-free slicing of eight columns of rows into integers that can be summed without rounding.
//
// Adding 1.5 * 2^k to a value rounds it to a multiple of a fixed grid; the bits of the sum, read as an integer, count
// these multiples. Values and squares are cut in this way into slices of 50 bits below the chunk's largest magnitude;
// slices of one height add up as integers. Two heights hold every bit of values, and three every bit of squares, whose
// magnitudes lie within 22 powers of two. If the range is larger, squares take a fourth height, and anything finer than
// the last slice is reported.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "numeric/exact_sum.hpp"
#include "simd/dispatch.hpp"
#include "simd/lanes.hpp"

namespace baytree::numeric {

using simd::LaneBits, simd::Lanes, simd::lanes, simd::LaneSums;

inline constexpr std::size_t chunk_rows = 2048;        // maximum
inline constexpr std::size_t chunk_bytes = 192 * 1024;  // of a chunk with few classes: two chunks fit the second-level cache
inline constexpr std::size_t survey_rows = 32;  // rows that are sliced before checking whether the slices were deep enough
inline constexpr int slice_bits = 50;           // 63 bits, minus 11 (rows of a chunk), 1 (carry) and 1 (two slices of a row)
inline constexpr int shallow_range = 22;        // powers of two between magnitudes that need no fourth height

// The slices of one class in a chunk: two heights for values, four for squares, and the number of known values. Aligned
// so that no member crosses a cache line.
struct alignas(sizeof(Lanes)) Slices {
  LaneSums total[2], square[4];
  Lanes count;
};

// The constants that slice at each height.
struct Slicers {
  Lanes total[2], square[4];
};

// The same for weighted rows: two heights for weights, three for weight * value and five for weight * value².
struct alignas(sizeof(Lanes)) WeightedSlices {
  LaneSums weight[2], total[3], square[5];
};
struct WeightedSlicers {
  Lanes weight[2], total[3], square[5];
};

// Survey of a chunk: each column's largest and smallest non-zero magnitude, and whether any value is NaN.
struct Survey {
  Lanes largest, smallest;  // smallest is infinite if there is none
  LaneBits is_missing;      // non-zero if some value is missing
  bool has_missing() const {
    bool any = false;
    for (std::size_t j = 0; j < lanes; ++j) any |= is_missing[j] != 0;
    return any;
  }
};

// Rows of eight values, anywhere in memory.
struct LaneRows {
  const double* first;
  std::ptrdiff_t step;  // from one row to the next, in doubles
  LaneRows from(std::size_t row) const { return {first + static_cast<std::ptrdiff_t>(row) * step, step}; }
};

// The rows of one class in a chunk, by index; and as many rows that are needed next, which are prefetched meanwhile:
// waiting for memory would take as long as the slicing.
struct ChosenRows {
  LaneRows rows;
  const std::uint16_t* place;
  std::size_t n_rows;
  LaneRows soon;
};

// The table of loops of one instruction set.
struct SliceLoops {
  // Surveys rows of groups of eight columns; group g starts at column column[g].
  void (*survey)(const LaneRows& rows, std::size_t n_rows, const std::size_t* column, std::size_t n_groups, Survey* surveys);
  // Replaces NaN by 0 and counts the known values of each class.
  void (*count_known)(Lanes* value, std::size_t n_rows, const std::int32_t* label, Slices* slices);
  // Adds rows of unit weight with similar magnitudes (`shallow_range`).
  void (*slice)(const ChosenRows& chosen, const Slicers& slicers, Slices& slices);
  // Adds any rows; lanes of `is_fine` become non-zero where a value was finer than the last slice.
  void (*slice_deep)(const ChosenRows& chosen, const Slicers& slicers, Slices& slices, LaneBits& is_fine);
  // Adds the weighted rows of a whole chunk; a NaN has weight 0.
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

// Slicing grids: 50 bits apart; start and end of the sums of slices.

// Exponent of a grid: a value below 2^top is less than 2^50 units of the first grid.
inline int grid_unit(int top, int height) { return top - slice_bits * (height + 1); }

// 1.5 * 2^(unit + 52): adding it rounds to a multiple of the unit. Built from its bits, which is faster, as tables of
// few rows and many columns need one for every few values; sliced values are never close to the subnormals.
inline double slicer(int top, int height) {
  constexpr int bias = 1023, fraction_bits = 52;
  const auto field = static_cast<std::uint64_t>(grid_unit(top, height) + fraction_bits + bias);
  return std::bit_cast<double>(field << fraction_bits | std::uint64_t{1} << (fraction_bits - 1));
}

// Initial value of the sums: cancels the bits of the slicers, which are added with every slice.
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
