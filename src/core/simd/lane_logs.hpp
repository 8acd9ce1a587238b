// Logarithms of eight numbers at once; a cast between vectors of one size keeps the bits. Everything has internal linkage: each instruction set keeps its own copy.
#pragma once
#include "slices.hpp"

namespace baytree {
namespace {

// log(2^k (1 + f)) for 1 + f between √½ and √2: 2 artanh(f / (2 + f)) by its series.
inline Lanes log_of_parts(const LaneBits& k, const Lanes& f) {
  constexpr std::int64_t magic_bits = 0x4338000000000000;  // 2^52 + 2^51: the exponent becomes a double by its low bits
  const LaneBits shifted = k + magic_bits;
  const Lanes exponent = (Lanes)shifted - 6755399441055744.0;
  const Lanes s = f / (2.0 + f), z = s * s;
  Lanes series = z * (1.0 / 21) + 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  return exponent * 0.6931471805599453 + (2.0 * s + 2.0 * s * (z * series));
}

constexpr std::int64_t root_half_bits = 0x3fe6a09e667f3bcd;

// log x for normal x > 0.
inline Lanes log_of(const Lanes& x) {
  const LaneBits bits = (LaneBits)x;
  const LaneBits k = (bits - root_half_bits) >> 52, rest = bits - (k << 52);
  return log_of_parts(k, (Lanes)rest - 1.0);
}

// log(1 + u) for 0 <= u < 2^1000. Where k = 0, f is u itself, so small u lose nothing.
inline Lanes log_one_plus(const Lanes& u) {
  const Lanes x = 1.0 + u;
  const LaneBits bits = (LaneBits)x;
  const LaneBits k = (bits - root_half_bits) >> 52, rest = bits - (k << 52);
  return log_of_parts(k, k == 0 ? u : (Lanes)rest - 1.0);
}

inline double summed(const Lanes& a) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }

}  // namespace
}  // namespace baytree
