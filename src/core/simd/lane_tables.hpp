// Containers of lanes, apart from the lanes themselves: loops that are compiled once per instruction set do without the library.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

#include "simd/lanes.hpp"

namespace baytree::simd {

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
