// Weight per level and class, exactly. Code -1 (missing) is counted in row 0, before the first level.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "numeric/exact_sum.hpp"

namespace baytree::numeric {

// Counts of rows of unit weight: [n_levels + 1, n_classes], missing first. Consecutive rows use different copies of a
// small table, so that equal codes do not wait for each other's stores. An out-of-range code or label is an error.
inline std::vector<std::int64_t> count_rows(std::span<const std::int32_t> code, std::span<const std::int32_t> label,
                                            std::size_t n_levels, std::size_t n_classes) {
  const std::size_t n_cells = (n_levels + 1) * n_classes, n_copies = n_cells <= 1 << 12 ? 4 : 1;
  std::vector<std::int64_t> counts(n_cells * n_copies + 1);
  std::int64_t* const copy[4] = {counts.data(), counts.data() + (n_copies > 1) * n_cells, counts.data() + (n_copies > 1) * 2 * n_cells,
                                 counts.data() + (n_copies > 1) * 3 * n_cells};
  bool is_wrong = false;
  const auto cell = [&](std::size_t i) {
    const auto level = static_cast<std::size_t>(static_cast<std::int64_t>(code[i]) + 1), c = static_cast<std::size_t>(label[i]);
    const bool fits = level <= n_levels && c < n_classes;
    is_wrong |= !fits;
    return fits ? level * n_classes + c : 0;
  };
  std::size_t i = 0;
  for (; i + 4 <= code.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) ++copy[k][cell(i + k)];
  for (; i < code.size(); ++i) ++copy[0][cell(i)];
  if (is_wrong) throw std::invalid_argument("a code or a label is out of range");
  for (std::size_t k = n_cells; k < n_cells * n_copies; ++k) counts[k % n_cells] += counts[k];
  counts.resize(n_cells);
  return counts;
}

// The window of limbs that holds any sum of these weights: from their lowest bit to n times the largest magnitude.
struct Window {
  int low, width;
  static Window of(std::span<const double> weight) {
    int lowest = 1024, highest = -1074;
    for (const double w : weight) {
      if (w == 0) continue;
      const int exponent = std::ilogb(w);
      lowest = std::min(lowest, std::max(exponent - 52, -1074));
      highest = std::max(highest, exponent);
    }
    if (highest < lowest) return {limb_offset / limb_bits, 1};
    const int rows = std::bit_width(weight.size());
    const int low = (lowest + limb_offset) / limb_bits;
    return {low, (highest + rows + 2 + limb_offset) / limb_bits - low + 3};
  }
};

// Exact weight per level and class: [n_levels + 1, n_classes, width] limbs, missing first, not yet carried.
inline ExactTable count_weights(std::span<const std::int32_t> code, std::span<const std::int32_t> label,
                                std::span<const double> weight, std::size_t n_levels, std::size_t n_classes) {
  const Window window = Window::of(weight);
  const auto width = static_cast<std::size_t>(window.width);
  ExactTable table{std::vector<std::int64_t>((n_levels + 1) * n_classes * width), width, window.low};
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (weight[i] == 0) continue;
    int exponent = 0;
    const auto integer = static_cast<std::int64_t>(std::ldexp(std::frexp(weight[i], &exponent), 53));
    int position = exponent - 53 + limb_offset - window.low * limb_bits;
    std::int64_t value = integer;
    if (position < 0) {  // a subnormal weight: its low bits are zero
      value >>= -position;
      position = 0;
    }
    const __int128 wide = static_cast<__int128>(value) << (position % limb_bits);
    std::int64_t* cell = table.limbs.data() +
                         (static_cast<std::size_t>(code[i] + 1) * n_classes + static_cast<std::size_t>(label[i])) * width +
                         position / limb_bits;
    cell[0] += static_cast<std::int64_t>(wide & 0xffffffff);
    cell[1] += static_cast<std::int64_t>((wide >> 32) & 0xffffffff);
    cell[2] += static_cast<std::int64_t>(wide >> 64);
  }
  return table;
}

}  // namespace baytree::numeric
