// Eight numbers side by side, the unit of every vector loop: the same for all instruction sets, so that sums are taken in the
// same order and give the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace baytree::simd {

inline constexpr std::size_t lanes = 8;

typedef double Lanes __attribute__((vector_size(8 * lanes), aligned(8)));  // eight columns side by side
typedef std::int64_t LaneBits __attribute__((vector_size(8 * lanes), aligned(8)));
typedef std::uint64_t LaneSums __attribute__((vector_size(8 * lanes), aligned(8)));  // modulo 2^64

}  // namespace baytree::simd
