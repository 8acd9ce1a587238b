// Compiled once per instruction set (CMakeLists.txt); BAYTREE_LEVEL names the table of loops that this copy defines.
// Only plain arithmetic stands here: an inline function of the library compiled for a newer machine could be the copy
// that the linker keeps for all.
#include "slices.hpp"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace baytree {
namespace {

inline Lanes load(const double* from) {
  Lanes x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

Survey survey(const LaneRows& rows, std::size_t n_rows) {
  // shifted by this, the bits of magnitudes are ordered as the magnitudes are, but for 0, which comes last
  constexpr std::uint64_t shift = 0x7fffffffffffffff;
  Lanes largest{};
  LaneBits smallest = LaneBits{} + static_cast<std::int64_t>(shift), unknown{};
  const double* value = rows.first;
  for (std::size_t i = 0; i < n_rows; ++i, value += rows.step) {
    const Lanes x = load(value), magnitude = x < 0 ? -x : x;
    largest = magnitude > largest ? magnitude : largest;
    const LaneBits order = (LaneBits)(((LaneSums)x & shift) + shift);
    smallest = order < smallest ? order : smallest;
    unknown |= x != x;
  }
  bool has_missing = false;
  for (std::size_t j = 0; j < lanes; ++j) has_missing |= unknown[j] != 0;
  return {largest, (Lanes)((LaneSums)smallest - shift), has_missing};
}

void count_known(Lanes* value, std::size_t n_rows, const std::int32_t* label, Slices* slices) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    const LaneBits known = value[i] == value[i];
    slices[label[i]].count += known ? Lanes{} + 1.0 : Lanes{};
    value[i] = known ? value[i] : Lanes{};
  }
}

// What x * x is more than its rounded product, exactly.
inline Lanes square_error(const Lanes x, const Lanes product) {
#if defined(__AVX512F__)
  return (Lanes)_mm512_fmsub_pd((__m512d)x, (__m512d)x, (__m512d)product);
#else
  // Dekker's product: x = high + low in halves of 26 bits
  const Lanes spread = x * 134217729.0, high = spread - (spread - x), low = x - high;
  return ((high * high - product) + 2.0 * high * low) + low * low;
#endif
}

// What is left of a value once `sum`, it and the slicer together, was rounded.
inline Lanes rest_of(const Lanes value, const Lanes sum, const Lanes slicer) { return value - (sum - slicer); }

template <bool is_deep>
inline void slice_rows(const LaneRows& rows, const LaneRows& next, std::size_t n_rows, const std::int32_t* __restrict label,
                       const Slicers& __restrict slicers, Slices* __restrict slices, LaneBits& rest) {
  const Slicers at = slicers;
  const double *__restrict value = rows.first, *wanted = next.first;
  for (std::size_t i = 0; i < n_rows; ++i, value += rows.step, wanted += next.step) {
    __builtin_prefetch(wanted);
    __builtin_prefetch(wanted + lanes - 1);
    Slices& cell = slices[label[i]];
    const Lanes x = load(value);
    const Lanes x0 = x + at.total[0], x_rest = rest_of(x, x0, at.total[0]), x1 = x_rest + at.total[1];
    cell.total[0] += (LaneSums)x0;
    cell.total[1] += (LaneSums)x1;

    const Lanes product = x * x, error = square_error(x, product);
    const Lanes p0 = product + at.square[0], p0_rest = rest_of(product, p0, at.square[0]), p1 = p0_rest + at.square[1];
    const Lanes e1 = error + at.square[1], e1_rest = rest_of(error, e1, at.square[1]), e2 = e1_rest + at.square[2];
    cell.square[0] += (LaneSums)p0;
    cell.square[1] += (LaneSums)p1 + (LaneSums)e1;
    if constexpr (is_deep) {
      const Lanes p1_rest = rest_of(p0_rest, p1, at.square[1]), p2 = p1_rest + at.square[2];
      const Lanes e2_rest = rest_of(e1_rest, e2, at.square[2]), e3 = e2_rest + at.square[3];
      cell.square[2] += (LaneSums)p2 + (LaneSums)e2;
      cell.square[3] += (LaneSums)e3;
      // a difference of equals is +0, whose bits are all 0
      rest |= (LaneBits)rest_of(x_rest, x1, at.total[1]) | (LaneBits)rest_of(p1_rest, p2, at.square[2]) |
              (LaneBits)rest_of(e2_rest, e3, at.square[3]);
    } else {
      cell.square[2] += (LaneSums)e2;
    }
  }
}

void slice(const LaneRows& rows, const LaneRows& next, std::size_t n_rows, const std::int32_t* label, const Slicers& slicers,
           Slices* slices) {
  LaneBits none;
  slice_rows<false>(rows, next, n_rows, label, slicers, slices, none);
}

void slice_deep(const LaneRows& rows, const LaneRows& next, std::size_t n_rows, const std::int32_t* label,
                const Slicers& slicers, Slices* slices, LaneBits& is_fine) {
  LaneBits rest{};
  slice_rows<true>(rows, next, n_rows, label, slicers, slices, rest);
  is_fine = rest;
}

}  // namespace

const SliceLoops BAYTREE_LEVEL{survey, count_known, slice, slice_deep};

}  // namespace baytree
