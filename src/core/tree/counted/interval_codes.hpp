// Which of the intervals between ascending numbers a value lies in.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace baytree::tree::counted {

// code: 0 where a value is missing, else one more than the number of ends below it.
// The search has no branches that depend on values: each would be guessed wrong half of the time. Several values are looked for
// together, since each of them would mostly wait for memory.
template <std::integral Code>
void interval_codes(std::span<const double> values, std::span<const double> ends, std::span<Code> code) {
  constexpr size_t kTogether = 16;
  size_t first[kTogether];
  for (size_t begin = 0; begin < values.size(); begin += kTogether) {
    const size_t n = std::min(kTogether, values.size() - begin);
    const double* value = values.data() + begin;
    std::fill_n(first, n, size_t(0));
    for (size_t left = ends.size(); left > 1; left -= left / 2)
      for (size_t k = 0; k < n; ++k) first[k] += (ends[first[k] + left / 2 - 1] < value[k]) * (left / 2);
    for (size_t k = 0; k < n; ++k) {
      const size_t below = first[k] + (!ends.empty() && ends[first[k]] < value[k]);
      code[begin + k] = std::isnan(value[k]) ? Code(0) : Code(below + 1);
    }
  }
}

}  // namespace baytree::tree::counted
