// Rows to weights per level and class. Code -1 (missing) is counted in the level before the first.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "exact.hpp"

namespace baytree {

// Counts of unit-weight rows: [n_levels + 1, n_classes], missing first.
inline std::vector<std::int64_t> count_rows(std::span<const std::int32_t> code, std::span<const std::int32_t> label,
                                            std::size_t n_levels, std::size_t n_classes) {
  std::vector<std::int64_t> counts((n_levels + 1) * n_classes);
  for (std::size_t i = 0; i < code.size(); ++i)
    ++counts[static_cast<std::size_t>(code[i] + 1) * n_classes + static_cast<std::size_t>(label[i])];
  return counts;
}

// The window of limbs that holds any sum of these weights: from their lowest bit to their largest magnitude times n.
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

// Weights per level and class, exactly: [n_levels + 1, n_classes, width] limbs, missing first, not yet carried.
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

}  // namespace baytree
