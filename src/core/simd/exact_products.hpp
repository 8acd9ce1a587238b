// What a rounded product lost, exactly: one fused multiplication where there is one, else Dekker's seventeen steps.
//
// Everything here is local to the file that includes it, as in runs.hpp.
#pragma once
#include "simd/runs.hpp"

namespace baytree::simd {
namespace {

// What x * y is more than its rounded product.
[[gnu::always_inline]] inline Run product_error(const Run& x, const Run& y, const Run& product) {
#if defined(__FMA__) || defined(__aarch64__)
  Run error;  // compilers make one instruction of it, without a header of intrinsics that takes a second to read
  for (std::size_t lane = 0; lane < width; ++lane) error[lane] = __builtin_fma(x[lane], y[lane], -product[lane]);
  return error;
#else
  // Dekker's product: each factor = high + low in halves of 26 bits
  const Run x_spread = x * 134217729.0, x_high = x_spread - (x_spread - x), x_low = x - x_high;
  const Run y_spread = y * 134217729.0, y_high = y_spread - (y_spread - y), y_low = y - y_high;
  return ((x_high * y_high - product) + (x_high * y_low + x_low * y_high)) + x_low * y_low;
#endif
}

}  // namespace
}  // namespace baytree::simd
