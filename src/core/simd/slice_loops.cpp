// Compiled once per instruction set (CMakeLists.txt); BAYTREE_LEVEL names the table of loops that this copy defines.
// Only plain arithmetic stands here: an inline function of the library compiled for a newer machine could be the copy
// that the linker keeps for all.
#include "numbers/slices.hpp"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace baytree::numbers {
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

// What x * y is more than its rounded product, exactly.
inline Lanes product_error(const Lanes x, const Lanes y, const Lanes product) {
#if defined(__AVX512F__)
  return (Lanes)_mm512_fmsub_pd((__m512d)x, (__m512d)y, (__m512d)product);
#else
  // Dekker's product: each factor = high + low in halves of 26 bits
  const Lanes x_spread = x * 134217729.0, x_high = x_spread - (x_spread - x), x_low = x - x_high;
  const Lanes y_spread = y * 134217729.0, y_high = y_spread - (y_spread - y), y_low = y - y_high;
  return ((x_high * y_high - product) + (x_high * y_low + x_low * y_high)) + x_low * y_low;
#endif
}

// Adds the slices of a value at some heights to their sums, and gives what is left of it.
template <int n_heights> inline Lanes cut(Lanes value, const Lanes* slicer, LaneSums* sum) {
  for (int height = 0; height < n_heights; ++height) {
    const Lanes rounded = value + slicer[height];
    sum[height] += (LaneSums)rounded;
    value -= rounded - slicer[height];
  }
  return value;
}

inline void fetch(const double* row) {
  __builtin_prefetch(row);
  __builtin_prefetch(row + lanes - 1);
}

template <bool is_deep>
inline void slice_rows(const LaneRows& rows, const LaneRows& next, std::size_t n_rows, const std::int32_t* __restrict label,
                       const Slicers& __restrict slicers, Slices* __restrict slices, LaneBits& rest) {
  constexpr int n_heights = is_deep ? 3 : 2;
  const Slicers at = slicers;
  const double *__restrict value = rows.first, *wanted = next.first;
  for (std::size_t i = 0; i < n_rows; ++i, value += rows.step, wanted += next.step) {
    fetch(wanted);
    Slices& cell = slices[label[i]];
    const Lanes x = load(value), product = x * x;
    const Lanes x_rest = cut<2>(x, at.total, cell.total);
    const Lanes product_rest = cut<n_heights>(product, at.square, cell.square);
    const Lanes error_rest = cut<n_heights>(product_error(x, x, product), at.square + 1, cell.square + 1);
    // a difference of equals is +0, whose bits are all 0
    if constexpr (is_deep) rest |= (LaneBits)x_rest | (LaneBits)product_rest | (LaneBits)error_rest;
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

// Products of a weight, a value and its square are sums of doubles: each rounded product, and what that lost.
void slice_weighted(const LaneRows& rows, const LaneRows& next, std::size_t n_rows, const std::int32_t* __restrict label,
                    const double* __restrict weight, const WeightedSlicers& __restrict slicers, WeightedSlices* __restrict slices) {
  const WeightedSlicers at = slicers;
  const double *__restrict value = rows.first, *wanted = next.first;
  for (std::size_t i = 0; i < n_rows; ++i, value += rows.step, wanted += next.step) {
    fetch(wanted);
    WeightedSlices& cell = slices[label[i]];
    const Lanes given = load(value);
    const LaneBits known = given == given;
    const Lanes x = known ? given : Lanes{}, w = known ? Lanes{} + weight[i] : Lanes{};
    cut<2>(w, at.weight, cell.weight);

    const Lanes moved = w * x;
    cut<2>(moved, at.total, cell.total);
    cut<2>(product_error(w, x, moved), at.total + 1, cell.total + 1);

    const Lanes product = x * x, error = product_error(x, x, product);
    const Lanes large = w * product, small = w * error;
    cut<3>(large, at.square, cell.square);
    cut<3>(product_error(w, product, large), at.square + 1, cell.square + 1);
    cut<4>(small, at.square + 1, cell.square + 1);
    cut<3>(product_error(w, error, small), at.square + 2, cell.square + 2);
  }
}

}  // namespace

const SliceLoops BAYTREE_LEVEL{survey, count_known, slice, slice_deep, slice_weighted};

}  // namespace baytree::numbers
