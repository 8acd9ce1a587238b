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
  Lanes largest{};
  LaneBits unknown{};
  const double* value = rows.first;
  for (std::size_t i = 0; i < n_rows; ++i, value += rows.step) {
    const Lanes x = load(value), magnitude = x < 0 ? -x : x;
    largest = magnitude > largest ? magnitude : largest;
    unknown |= x != x;
  }
  bool has_missing = false;
  for (std::size_t j = 0; j < lanes; ++j) has_missing |= unknown[j] != 0;
  return {largest, has_missing};
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

void slice(const LaneRows& rows, const LaneRows& next, std::size_t n_rows, const std::int32_t* __restrict label,
           const Slicers& __restrict slicers, Slices* __restrict slices, LaneBits& __restrict is_fine) {
  const Slicers at = slicers;
  LaneBits rest{};
  const double *__restrict value = rows.first, *wanted = next.first;
  for (std::size_t i = 0; i < n_rows; ++i, value += rows.step, wanted += next.step) {
    __builtin_prefetch(wanted);
    __builtin_prefetch(wanted + lanes - 1);
    Slices& cell = slices[label[i]];
    const Lanes x = load(value);
    const Lanes first = (x + at.total[0]) - at.total[0], x_rest = x - first;
    const Lanes second = (x_rest + at.total[1]) - at.total[1];
    cell.total[0] += first;
    cell.total[1] += second;

    const Lanes product = x * x, error = square_error(x, product);
    const Lanes high = (product + at.square[0]) - at.square[0], product_rest = product - high;
    const Lanes middle = (product_rest + at.square[1]) - at.square[1];
    const Lanes low = (error + at.square[1]) - at.square[1], error_rest = error - low;
    const Lanes lower = (error_rest + at.square[2]) - at.square[2], error_end = error_rest - lower;
    const Lanes lowest = (error_end + at.square[3]) - at.square[3];
    cell.square[0] += high;
    cell.square[1] += middle + low;
    cell.square[2] += lower;
    cell.square[3] += lowest;
    // a difference of equals is +0, whose bits are all 0
    rest |= (LaneBits)(x_rest - second) | (LaneBits)(product_rest - middle) | (LaneBits)(error_end - lowest);
  }
  is_fine = rest;
}

}  // namespace

const SliceLoops BAYTREE_LEVEL{survey, count_known, slice};

}  // namespace baytree
