// The loops over densities, compiled once for each instruction set (BAYTREE_LEVEL names the table that is made here).
#include "densities.hpp"

namespace baytree {
namespace {

double summed(const Lanes& a) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }

double squares(const Lanes* __restrict value, std::size_t n_groups, const ClassLanes& density) {
  const Lanes *__restrict mean = density.mean, *__restrict inverse = density.inverse;
  Lanes sum{};
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes z = (value[g] - mean[g]) * inverse[g];
    sum += z * z;
  }
  return summed(sum);
}

// log(1 + u) for 0 <= u < 2^1000: 1 + u = 2^k (1 + f) with 1 + f between √½ and √2, then 2 artanh(f / (2 + f)) by its series.
// Where k = 0, f is u itself, so small u lose nothing.
Lanes log_one_plus(const Lanes& u) {
  constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd, magic_bits = 0x4338000000000000;  // √½; 2^52 + 2^51
  const Lanes x = 1.0 + u;
  const LaneBits bits = reinterpret_cast<const LaneBits&>(x);
  const LaneBits k = (bits - root_half) >> 52, rest = bits - (k << 52), shifted = k + magic_bits;
  const Lanes f = k == 0 ? u : reinterpret_cast<const Lanes&>(rest) - 1.0;
  const Lanes exponent = reinterpret_cast<const Lanes&>(shifted) - 6755399441055744.0;
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

RowSums logs(const Lanes* __restrict value, std::size_t n_groups, const ClassLanes& density) {
  const Lanes *__restrict mean = density.mean, *__restrict inverse = density.inverse;
  Lanes sum{}, far{};
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes z = (value[g] - mean[g]) * inverse[g], square = z * z;
    far += square;
    sum += density.half[g] * log_one_plus(square * density.inverse_degrees[g]);
  }
  return {summed(far), summed(sum)};
}

}  // namespace

const DensityLoops BAYTREE_LEVEL{squares, logs};

}  // namespace baytree
