// What a rounded product lost, exactly: one fused multiplication where there is one, else Dekker's seventeen steps.
//
// Everything here is local to the file that includes it, as in runs.hpp.
#pragma once
#include "simd/runs.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace baytree::simd {
namespace {

// What x * y is more than its rounded product.
[[gnu::always_inline]] inline Run product_error(const Run& x, const Run& y, const Run& product) {
#if defined(__AVX512F__)
  return (Run)_mm512_fmsub_pd((__m512d)x, (__m512d)y, (__m512d)product);
#elif defined(__AVX2__) && defined(__FMA__)
  return (Run)_mm256_fmsub_pd((__m256d)x, (__m256d)y, (__m256d)product);
#elif defined(__aarch64__)
  return (Run)vfmaq_f64((float64x2_t)-product, (float64x2_t)x, (float64x2_t)y);
#else
  // Dekker's product: each factor = high + low in halves of 26 bits
  const Run x_spread = x * 134217729.0, x_high = x_spread - (x_spread - x), x_low = x - x_high;
  const Run y_spread = y * 134217729.0, y_high = y_spread - (y_spread - y), y_low = y - y_high;
  return ((x_high * y_high - product) + (x_high * y_low + x_low * y_high)) + x_low * y_low;
#endif
}

}  // namespace
}  // namespace baytree::simd
