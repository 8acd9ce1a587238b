// Eight numbers side by side, the unit of every vector loop: the same for all instruction sets, so that sums are taken in the
// same order and give the same bits.
//
// They lie where their size says, wherever they are. At any double they would do for GCC; Clang lets them lie there and in arrays
// reads them as if they did not. Numbers of others' are read by `load`.
#pragma once
#include <cstddef>
#include <cstdint>

namespace baytree::simd {

inline constexpr std::size_t lanes = 8;

typedef double Lanes __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));  // eight columns side by side
typedef std::int64_t LaneBits __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));
typedef std::uint64_t LaneSums __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));  // modulo 2^64

}  // namespace baytree::simd
