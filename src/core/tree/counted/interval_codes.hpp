// Which of the intervals between ascending numbers a value lies in.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace baytree::tree::counted {

// code: 0 where a value is missing, else one more than the number of ends below it.
// The search has no branches that depend on values: each would be guessed wrong half of the time.
inline void interval_codes(std::span<const double> values, std::span<const double> ends, std::span<int64_t> code) {
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    const double* first = ends.data();
    for (size_t left = ends.size(); left > 1;) {
      const size_t half = left / 2;
      first += (first[half - 1] < value) * half;
      left -= half;
    }
    const auto below = int64_t(first - ends.data()) + (!ends.empty() && *first < value);
    code[i] = std::isnan(value) ? 0 : below + 1;
  }
}

}  // namespace baytree::tree::counted
