// What adding one number many times gives, each sum rounded, in far fewer steps than additions.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace baytree::numeric {

// sum + term + term + …, from the left; both are 0 or more and finite.
//
// Between two powers of two numbers lie one distance apart, so that sums grow by the same amount each time. Only the first may not:
// what lies just between two neighbours goes to the even one, and from there on stays with such.
inline double add_repeatedly(double sum, double term, std::uint64_t times) {
  for (; times > 1; times -= 2) {
    const double first = sum + term;
    sum = first + term;
    if (sum == first) return sum;
    const double step = (sum + term) - sum, end = std::ldexp(1.0, std::ilogb(first) + 1);  // up to here the distance stays
    if (!(sum + step < end) || !(step > 0)) continue;
    auto steps = std::min(times - 2, static_cast<std::uint64_t>((end - sum) / step));
    if (!(sum + static_cast<double>(steps) * step < end)) --steps;
    sum += static_cast<double>(steps) * step;
    times -= steps;
  }
  return times ? sum + term : sum;
}

}  // namespace baytree::numeric
