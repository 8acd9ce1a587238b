// A hash of each row that is the same for equal rows, whatever the order of rows and columns.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "linear/row_loops.hpp"

namespace baytree::linear {

inline std::uint64_t mixed(std::uint64_t bits) {
  bits *= 0x9E3779B97F4A7C15u;
  bits ^= bits >> 29;
  bits *= 0xBF58476D1CE4E5B9u;
  return bits ^ (bits >> 32);
}

// Values are standardised and rounded to nine decimals, since means over repeated rows differ in their last bits.
inline void row_hashes(const RowRun& run, std::span<const double> centre, std::span<const double> scale,
                       std::span<std::uint64_t> out) {
  for (std::size_t i = 0; i < run.rows; ++i) {
    const double* const row = run.first + static_cast<std::ptrdiff_t>(i) * run.step;
    out[i] = 0;
    for (std::size_t j = 0; j < run.columns; ++j) {
      const double apart = std::clamp((row[j] - centre[j]) / scale[j], -9e9, 9e9);
      out[i] += mixed(static_cast<std::uint64_t>(static_cast<std::int64_t>(std::nearbyint(apart * 1e9))));
    }
  }
}

}  // namespace baytree::linear
