// Sums of slices, compiled once per instruction set (CMakeLists.txt); BAYTREE_LEVEL names the table of loops that this
// copy defines.
//
// Only plain arithmetic here: the linker could keep the copy of an inline library function that was compiled for a
// newer machine and use it everywhere.
//
// Sums stay in registers over the rows of a class. They are integers, so the register width does not change the bits.
#include "numeric/slices.hpp"
#include "simd/lane_math.hpp"

namespace baytree::numeric {
namespace {

using namespace simd;

constexpr std::size_t line = 64 / sizeof(double);  // cache line

[[gnu::always_inline]] inline Run magnitude_of(const Run& x) { return (Run)((RunBits)x & 0x7fffffffffffffff); }
[[gnu::always_inline]] inline Run larger(const Run& a, const Run& b) { return a > b ? a : b; }  // b where a is NaN
[[gnu::always_inline]] inline Run smaller(const Run& a, const Run& b) { return a < b ? a : b; }

// Four rows per step, so that the statistics of a group are loaded and stored once for all four.
template <std::size_t n_rows>
[[gnu::always_inline]] inline void look_at(const double* row, std::ptrdiff_t step, const std::size_t* column, std::size_t n_groups,
                                           Survey* surveys) {
  for (std::size_t g = 0; g < n_groups; ++g)
    for (std::size_t lane = 0; lane < lanes; lane += width) {
      Run largest = part_of<Run>(&surveys[g].largest, lane), smallest = part_of<Run>(&surveys[g].smallest, lane);
      RunBits missing = part_of<RunBits>(&surveys[g].is_missing, lane);
      for (std::size_t i = 0; i < n_rows; ++i) {
        const Run x = load<Run>(row + static_cast<std::ptrdiff_t>(i) * step + column[g] + lane), magnitude = magnitude_of(x);
        largest = larger(magnitude, largest);
        smallest = smaller((Run)((RunBits)magnitude | (magnitude == 0.0)), smallest);  // 0 becomes NaN, which is never smaller
        missing |= x != x;
      }
      put_part(&surveys[g].largest, lane, largest);
      put_part(&surveys[g].smallest, lane, smallest);
      put_part(&surveys[g].is_missing, lane, missing);
    }
}

void survey(const LaneRows& rows, std::size_t n_rows, const std::size_t* column, std::size_t n_groups, Survey* surveys) {
  for (std::size_t g = 0; g < n_groups; ++g) surveys[g] = {Lanes{}, Lanes{} + __builtin_inf(), LaneBits{}};
  const double* row = rows.first;
  std::size_t i = 0;
  for (; i + 4 <= n_rows; i += 4, row += 4 * rows.step) look_at<4>(row, rows.step, column, n_groups, surveys);
  for (; i < n_rows; ++i, row += rows.step) look_at<1>(row, rows.step, column, n_groups, surveys);
}

void count_known(Lanes* value, std::size_t n_rows, const std::int32_t* label, Slices* slices) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    const LaneBits known = value[i] == value[i];
    slices[label[i]].count += known ? Lanes{} + 1.0 : Lanes{};
    value[i] = known ? value[i] : Lanes{};
  }
}

// The slicers and sums of some heights, in registers.
template <int n_heights> struct Heights {
  Run slicer[n_heights];
  RunSums sum[n_heights];

  [[gnu::always_inline]] Heights(const Lanes* slicers, const LaneSums* sums, std::size_t lane) {
    for (int height = 0; height < n_heights; ++height) {
      slicer[height] = part_of<Run>(&slicers[height], lane);
      sum[height] = part_of<RunSums>(&sums[height], lane);
    }
  }

  // Adds the slices of a value at some heights to their sums; returns the remainder.
  template <int first, int last> [[gnu::always_inline]] Run cut(Run value) {
    for (int height = first; height < last; ++height) {
      const Run rounded = value + slicer[height];
      sum[height] += (RunSums)rounded;
      value -= rounded - slicer[height];
    }
    return value;
  }

  [[gnu::always_inline]] void put(LaneSums* sums, std::size_t lane) const {
    for (int height = 0; height < n_heights; ++height) put_part(&sums[height], lane, sum[height]);
  }
};

// Prefetches a row that is needed soon: the cache lines at both ends.
[[gnu::always_inline]] inline void fetch(const LaneRows& soon, std::size_t i, std::size_t lane) {
  if (lane != 0) return;
  const double* const row = soon.first + static_cast<std::ptrdiff_t>(i) * soon.step;
  __builtin_prefetch(row, 0, 2);
  __builtin_prefetch(row + line - 1, 0, 2);
}

[[gnu::always_inline]] inline Run value_at(const ChosenRows& chosen, std::size_t i, std::size_t lane) {
  return load<Run>(chosen.rows.first + static_cast<std::ptrdiff_t>(chosen.place[i]) * chosen.rows.step + lane);
}

template <bool is_deep>
[[gnu::always_inline]] inline RunBits slice_part(const ChosenRows& chosen, const Slicers& slicers, Slices& slices, std::size_t lane) {
  constexpr int n_heights = is_deep ? 3 : 2;
  Heights<2> total(slicers.total, slices.total, lane);
  Heights<n_heights + 1> square(slicers.square, slices.square, lane);
  RunBits rest{};
  for (std::size_t i = 0; i < chosen.n_rows; ++i) {
    fetch(chosen.soon, i, lane);
    const Run x = value_at(chosen, i, lane), product = x * x;
    const Run x_rest = total.template cut<0, 2>(x);
    const Run product_rest = square.template cut<0, n_heights>(product);
    const Run error_rest = square.template cut<1, n_heights + 1>(product_error(x, x, product));
    // equal numbers differ by +0, whose bits are all 0
    if constexpr (is_deep) rest |= (RunBits)x_rest | (RunBits)product_rest | (RunBits)error_rest;
  }
  total.put(slices.total, lane);
  square.put(slices.square, lane);
  return rest;
}

void slice(const ChosenRows& chosen, const Slicers& slicers, Slices& slices) {
  for (std::size_t lane = 0; lane < lanes; lane += width) slice_part<false>(chosen, slicers, slices, lane);
}

void slice_deep(const ChosenRows& chosen, const Slicers& slicers, Slices& slices, LaneBits& is_fine) {
  for (std::size_t lane = 0; lane < lanes; lane += width) put_part(&is_fine, lane, slice_part<true>(chosen, slicers, slices, lane));
}

// Products of a weight, a value and its square as sums of doubles: each rounded product and its rounding error.
[[gnu::always_inline]] inline void slice_weighted_part(const ChosenRows& chosen, const double* weight, const WeightedSlicers& slicers,
                                                       WeightedSlices& slices, std::size_t lane) {
  Heights<2> weights(slicers.weight, slices.weight, lane);
  Heights<3> total(slicers.total, slices.total, lane);
  Heights<5> square(slicers.square, slices.square, lane);
  for (std::size_t i = 0; i < chosen.n_rows; ++i) {
    fetch(chosen.soon, i, lane);
    const Run given = value_at(chosen, i, lane);
    const RunBits known = given == given;
    const Run x = known ? given : Run{}, w = known ? Run{} + weight[chosen.place[i]] : Run{};
    weights.template cut<0, 2>(w);

    const Run moved = w * x;
    total.template cut<0, 2>(moved);
    total.template cut<1, 3>(product_error(w, x, moved));

    const Run product = x * x, error = product_error(x, x, product);
    const Run large = w * product, small = w * error;
    square.template cut<0, 3>(large);
    square.template cut<1, 4>(product_error(w, product, large));
    square.template cut<1, 5>(small);
    square.template cut<2, 5>(product_error(w, error, small));
  }
  weights.put(slices.weight, lane);
  total.put(slices.total, lane);
  square.put(slices.square, lane);
}

void slice_weighted(const ChosenRows& chosen, const double* weight, const WeightedSlicers& slicers, WeightedSlices& slices) {
  for (std::size_t lane = 0; lane < lanes; lane += width) slice_weighted_part(chosen, weight, slicers, slices, lane);
}

}  // namespace

const SliceLoops BAYTREE_LEVEL{survey, count_known, slice, slice_deep, slice_weighted};

}  // namespace baytree::numeric
