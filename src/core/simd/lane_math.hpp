// exp, log1p, logarithms of products and exact products on eight lanes, with the same bits for every instruction set.
//
// Everything here has internal linkage, because copies compiled for different instruction sets must not be merged by
// the linker. A cast between vectors of the same size keeps the bits.
#pragma once
#include <bit>
#include <cstdint>
#include <numbers>

#include "simd/lanes.hpp"

namespace baytree::simd {

namespace {

// Selection by bit masks: where registers hold four doubles, a comparison of eight lanes is compiled lane by lane.
[[maybe_unused, gnu::always_inline]] inline LaneBits where_negative(const LaneBits& bits) { return bits >> 63; }
[[maybe_unused, gnu::always_inline]] inline LaneBits where_not_zero(const LaneBits& bits) { return (bits | -bits) >> 63; }
[[maybe_unused, gnu::always_inline]] inline Lanes chosen(const LaneBits& mask, const Lanes& yes, const Lanes& no) {
  return (Lanes)(((LaneBits)yes & mask) | ((LaneBits)no & ~mask));
}
[[maybe_unused, gnu::always_inline]] inline Lanes kept(const LaneBits& mask, const Lanes& x) { return (Lanes)((LaneBits)x & mask); }

// 2^52 + 2^51: adding it to a double rounds it to an integer, which is then in the low bits.
constexpr double rounding_offset = 6755399441055744.0;

// log(2^k (1 + f)) for 1 + f between √½ and √2: 2 artanh(f / (2 + f)) by its series.
[[maybe_unused, gnu::always_inline]] inline Lanes log_of_parts(const LaneBits& k, const Lanes& f) {
  const LaneBits shifted = k + std::bit_cast<std::int64_t>(rounding_offset);
  const Lanes exponent = (Lanes)shifted - rounding_offset;
  const Lanes s = f / (2.0 + f), z = s * s;
  // grouped in twos and fours to shorten the chain of dependent operations
  const Lanes z2 = z * z, z4 = z2 * z2;
  const Lanes high = (z * (1.0 / 21) + 1.0 / 19) * z4 + (z * (1.0 / 17) + 1.0 / 15) * z2 + (z * (1.0 / 13) + 1.0 / 11);
  const Lanes series = high * z4 + (z * (1.0 / 9) + 1.0 / 7) * z2 + (z * (1.0 / 5) + 1.0 / 3);
  return exponent * std::numbers::ln2 + (2.0 * s + 2.0 * s * (z * series));
}

constexpr std::int64_t root_half_bits = 0x3fe6a09e667f3bcd;  // bits of √½

// The logarithm of a product of positive normal numbers; only `log` evaluates a logarithm.
struct LogOfProduct {
  Lanes fractions = Lanes{} + 1.0;  // product of numbers in [1, 2); call `shorten` before a thousand factors overflow it
  LaneBits exponents{};

  void multiply(const Lanes& x) {
    const LaneBits bits = (LaneBits)x;
    exponents += (bits >> 52) - 1023;
    fractions *= (Lanes)((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  }
  void shorten() {
    const Lanes whole = fractions;
    fractions = Lanes{} + 1.0;
    multiply(whole);
  }
  Lanes log() const {
    const LaneBits bits = (LaneBits)fractions, k = (bits - root_half_bits) >> 52;
    return log_of_parts(k + exponents, (Lanes)(bits - (k << 52)) - 1.0);
  }
};

// log(1 + u) for 0 <= u < 2^1000. For k = 0, f is u itself, so small u keep their precision.
[[maybe_unused, gnu::always_inline]] inline Lanes log_one_plus(const Lanes& u) {
  const Lanes x = 1.0 + u;
  const LaneBits bits = (LaneBits)x;
  const LaneBits k = (bits - root_half_bits) >> 52, rest = bits - (k << 52);
  return log_of_parts(k, chosen(where_not_zero(k), (Lanes)rest - 1.0, u));
}

[[maybe_unused]] double summed(const Lanes& a) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }

// exp(x) for -708 <= x <= 0: x = k log 2 + r with |r| <= log(2) / 2, then the series of exp(r).
[[maybe_unused, gnu::always_inline]] inline Lanes exp_of_negative(const Lanes& x) {
  const Lanes shifted = x * std::numbers::log2e + rounding_offset, k = shifted - rounding_offset;
  const Lanes r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;  // log 2 in two parts
  Lanes series = r * (1.0 / 6227020800) + 1.0 / 479001600;
  series = series * r + 1.0 / 39916800;
  series = series * r + 1.0 / 3628800;
  series = series * r + 1.0 / 362880;
  series = series * r + 1.0 / 40320;
  series = series * r + 1.0 / 5040;
  series = series * r + 1.0 / 720;
  series = series * r + 1.0 / 120;
  series = series * r + 1.0 / 24;
  series = series * r + 1.0 / 6;
  series = series * r + 0.5;
  const Lanes power = 1.0 + (r + r * r * series);
  const LaneBits bits = (LaneBits)power + ((LaneBits)shifted << 52);
  return (Lanes)bits;
}

}  // namespace

// Rounding error of a product: one fused multiply-add where the instruction set has it, else Dekker's algorithm (1971)
// in 17 operations.

namespace {

// x * y minus its rounded value, exactly.
[[gnu::always_inline]] inline Run product_error(const Run& x, const Run& y, const Run& product) {
#if defined(__FMA__) || defined(__aarch64__)
  Run error;  // compiled to one instruction; avoids the intrinsics header, which takes a second to parse
  for (std::size_t lane = 0; lane < width; ++lane) error[lane] = __builtin_fma(x[lane], y[lane], -product[lane]);
  return error;
#else
  // Dekker's product: each factor = high + low, halves of 26 bits
  const Run x_spread = x * 134217729.0, x_high = x_spread - (x_spread - x), x_low = x - x_high;
  const Run y_spread = y * 134217729.0, y_high = y_spread - (y_spread - y), y_low = y - y_high;
  return ((x_high * y_high - product) + (x_high * y_low + x_low * y_high)) + x_low * y_low;
#endif
}

}  // namespace

}  // namespace baytree::simd
