// Eight numbers side by side, the unit of every vector loop: the same for all instruction sets, so that sums are taken in the
// same order and give the same bits.
//
// They lie where their size says, wherever they are. At any double they would do for GCC; Clang lets them lie there and in arrays
// reads them as if they did not. Numbers of others' are read by `load`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace baytree::simd {

inline constexpr std::size_t lanes = 8;

typedef double Lanes __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));  // eight columns side by side
typedef std::int64_t LaneBits __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));
typedef std::uint64_t LaneSums __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));  // modulo 2^64

// Memory for lanes: GCC forgets in the arguments of templates where a vector lies, and containers with it.
template <typename Vector> struct LaneAllocator {
  using value_type = Vector;
  static constexpr std::align_val_t place{8 * lanes};

  LaneAllocator() = default;
  template <typename Other> LaneAllocator(const LaneAllocator<Other>&) {}
  Vector* allocate(std::size_t n) { return static_cast<Vector*>(::operator new(n * sizeof(Vector), place)); }
  void deallocate(Vector* at, std::size_t) { ::operator delete(at, place); }
  bool operator==(const LaneAllocator&) const = default;
};

using LaneTable = std::vector<Lanes, LaneAllocator<Lanes>>;
using LaneBitsTable = std::vector<LaneBits, LaneAllocator<LaneBits>>;

}  // namespace baytree::simd
