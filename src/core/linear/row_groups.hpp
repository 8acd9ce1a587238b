// Groups of eight rows, their scores, and loss and probability: shared by the loops over rows of two classes.
//
// Everything here has internal linkage, because copies compiled for different instruction sets must not be merged by
// the linker.
#pragma once
#include "linear/row_loops.hpp"
#include "simd/lane_math.hpp"

namespace baytree::linear {
namespace {

using namespace simd;

// Direct loads and stores: memcpy would be compiled to 16-byte moves that stall on store forwarding.
typedef double LanesThere __attribute__((vector_size(8 * lanes), aligned(8), may_alias));
[[maybe_unused, gnu::always_inline]] inline Lanes load(const double* from) { return *reinterpret_cast<const LanesThere*>(from); }
[[maybe_unused, gnu::always_inline]] inline void store(double* to, const Lanes& x) { *reinterpret_cast<LanesThere*>(to) = x; }

// Accumulators are split in halves: where registers hold four doubles, a vector of eight would be kept in memory.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

struct Halves {
  Four low{}, high{};

  [[gnu::always_inline]] static Halves at(const double* from) {
    return {*reinterpret_cast<const Four*>(from), *reinterpret_cast<const Four*>(from + 4)};
  }
  [[gnu::always_inline]] void store(double* to) const {
    *reinterpret_cast<Four*>(to) = low, *reinterpret_cast<Four*>(to + 4) = high;
  }
  [[gnu::always_inline]] void add(const Halves& x, double factor) { low += factor * x.low, high += factor * x.high; }
  [[gnu::always_inline]] void add(const Halves& x, const Halves& factor) { low += x.low * factor.low, high += x.high * factor.high; }
  [[gnu::always_inline]] double summed() const {
    const Four sum = low + high;
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
};

[[maybe_unused]] double dot(const double* row, const double* coefficient, std::size_t n) {
  Halves sum;
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) sum.add(Halves::at(row + j), Halves::at(coefficient + j));
  double rest = 0;
  for (; j < n; ++j) rest += row[j] * coefficient[j];
  return sum.summed() + rest;
}

// Probability of the second class and loss, of eight scores.
struct Judged {
  Lanes share, loss;
};

// Labels are 0 and 1: shifting the bits of 1.0 left by two sets the sign bit.
[[maybe_unused, gnu::always_inline]] inline Judged judge(const Lanes& z, const Lanes& label) {
  constexpr std::int64_t sign = INT64_MIN;
  const Lanes size = (Lanes)((LaneBits)z & ~sign), most = Lanes{} + 708.0;
  const Lanes near = chosen(where_negative((LaneBits)(size - most)), size, most);
  const Lanes small = exp_of_negative(-near), whole = 1.0 + small;
  const Lanes wrong = (Lanes)((LaneBits)z ^ (((LaneBits)label << 2) & sign));  // distance on the wrong side of 0
  const Lanes share = chosen(where_negative((LaneBits)z), small, Lanes{} + 1.0) / whole;
  return {share, kept(~where_negative((LaneBits)wrong), wrong) + log_one_plus(small)};
}

// Eight rows; missing ones at the end repeat the last row with weight 0.
struct Group {
  const double* row[lanes];
  Lanes label, weight;
};

[[maybe_unused]] Group group_at(const RowRun& run, std::size_t first) {
  Group group{};
  for (std::size_t i = 0; i < lanes; ++i) {
    const bool is_row = first + i < run.rows;
    const std::size_t at = is_row ? first + i : run.rows - 1;
    group.row[i] = run.first + static_cast<std::ptrdiff_t>(at) * run.step;
    group.label[i] = run.label[at];
    group.weight[i] = is_row ? run.weight[at] : 0.0;
  }
  return group;
}

[[maybe_unused]] void add_rows(const Group& group, const Lanes& factor, std::size_t n, double* gradient) {
  double own[lanes];
  store(own, factor);
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    Halves sum = Halves::at(gradient + j);
    for (std::size_t i = 0; i < lanes; ++i) sum.add(Halves::at(group.row[i] + j), own[i]);
    sum.store(gradient + j);
  }
  for (; j < n; ++j)
    for (std::size_t i = 0; i < lanes; ++i) gradient[j] += own[i] * group.row[i][j];
}

[[maybe_unused]] Lanes scores(const Group& group, const double* coefficient, double start, std::size_t n) {
  double z[lanes];
  for (std::size_t i = 0; i < lanes; ++i) z[i] = dot(group.row[i], coefficient, n) + start;
  return load(z);
}

}  // namespace
}  // namespace baytree::linear
