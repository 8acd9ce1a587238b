// Vectors of eight lanes, containers of them, and their parts that fit a register.
//
// Every vector loop works on eight lanes, whatever the instruction set, so sums are taken in the same order and have
// the same bits.
//
// The vectors are aligned to their size. GCC would accept the alignment of a double, but Clang then miscompiles arrays
// of them. Unaligned memory is read by `load`.
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

// Containers of lanes. The vector loops themselves do not use them (see the note on library code in the *_loops.cpp
// files).

// Allocator with the alignment of the vector: GCC drops alignment attributes of template arguments.
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

// Registers: the part of eight lanes that fits one register. Loops that treat all lanes alike process one register at a
// time, because compilers spill a vector of eight lanes where registers are narrower.
//
// Everything below has internal linkage, because copies compiled for different instruction sets must not be merged by
// the linker.

namespace {

#if defined(__AVX512F__)
constexpr std::size_t width = 8;
#elif defined(__AVX2__)
constexpr std::size_t width = 4;
#else
constexpr std::size_t width = 2;
#endif
constexpr std::size_t n_runs = lanes / width;

typedef double Run __attribute__((vector_size(8 * width)));
typedef std::int64_t RunBits __attribute__((vector_size(8 * width)));
typedef std::uint64_t RunSums __attribute__((vector_size(8 * width)));

template <typename Vector> [[gnu::always_inline]] inline Vector load(const void* from) {
  Vector x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

// The register-sized part of eight lanes that starts at `lane`.
template <typename Vector> [[gnu::always_inline]] inline Vector part_of(const void* whole, std::size_t lane) {
  return load<Vector>(static_cast<const char*>(whole) + 8 * lane);
}

template <typename Vector> [[gnu::always_inline]] inline void put_part(void* whole, std::size_t lane, Vector part) {
  __builtin_memcpy(static_cast<char*>(whole) + 8 * lane, &part, sizeof part);
}

// The sum of eight lanes in a fixed order (upper half onto lower half), whatever the register width.
[[maybe_unused, gnu::always_inline]] inline double sum_of_runs(const Run (&given)[n_runs]) {
  Run run[n_runs];
  for (std::size_t k = 0; k < n_runs; ++k) run[k] = given[k];
  for (std::size_t half = n_runs / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) run[k] += run[k + half];
  double lane[width];
  __builtin_memcpy(lane, &run[0], sizeof lane);
  for (std::size_t half = width / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) lane[k] += lane[k + half];
  return lane[0];
}

}  // namespace

}  // namespace baytree::simd
