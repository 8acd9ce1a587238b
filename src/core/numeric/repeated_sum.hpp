// Rounded repeated addition: the result of adding one number many times, rounding each sum, in few steps.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace baytree::numeric {

// sum + term + term + …, from the left; both are finite and not negative.
//
// Between two powers of two doubles are evenly spaced, so every addition increases the sum by the same amount. The
// first addition may differ: a tie between two neighbours is rounded to even, and so are all later ones.
inline double add_repeatedly(double sum, double term, std::uint64_t times) {
  for (; times > 1; times -= 2) {
    const double first = sum + term;
    sum = first + term;
    if (sum == first) return sum;
    const double step = (sum + term) - sum, end = std::ldexp(1.0, std::ilogb(first) + 1);  // spacing is constant up to here
    if (!(sum + step < end) || !(step > 0)) continue;
    auto steps = std::min(times - 2, static_cast<std::uint64_t>((end - sum) / step));
    if (!(sum + static_cast<double>(steps) * step < end)) --steps;
    sum += static_cast<double>(steps) * step;
    times -= steps;
  }
  return times ? sum + term : sum;
}

}  // namespace baytree::numeric
