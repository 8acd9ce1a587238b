// The grids that values are sliced by: 50 bits apart, and how the sums of slices begin and end.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "numbers/exact.hpp"
#include "numbers/slices.hpp"

namespace baytree::numbers {

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

}  // namespace baytree::numbers
