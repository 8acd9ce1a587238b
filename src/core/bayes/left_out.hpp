// What each class says of a row of numbers once the row itself is taken away, eight columns at a time.
#pragma once
#include "simd/dispatch.hpp"
#include "simd/lanes.hpp"

namespace baytree::bayes {

using simd::LaneBits, simd::Lanes, simd::lanes;

enum class NormalRule { plain, mode, predictive, raised };


struct NormalSetting {
  NormalRule rule;
  double alpha;  // pseudo-observations of the prior
  double floor;  // of the variance (plain), or what is added to it (raised)
  double one;    // the weight of one row
};

// Of groups of eight columns, in units in which the column as a whole has centre 0 and variance 1; padding is never known.
struct ColumnLanes {
  const Lanes *whole, *centre, *inverse_unit;  // the column's weight, and how its values come into these units
  const Lanes *squares, *n_classes;  // the sum of squares within classes, and how many classes have values
};

// A class: weight, mean, variance, and what its degrees of freedom add to a predictive density.
struct MomentLanes {
  const Lanes *weight, *mean, *spread, *step;
};

// The same without the row, to be written.
struct RestLanes {
  Lanes *weight, *mean, *spread;
};

// A row: its values, and what the columns have without it: their centre and variance, the variance within classes that a
// class is believed to have beforehand, and how many rows the belief is worth that a class's mean is the centre.
struct RowLanes {
  Lanes *x, *centre, *variance, *within, *pull;
  LaneBits* is_known;
};

struct LeftOutLoops {
  // False where nearly all of a column's spread was this row's: rounding would have its say. `own` is the row's class.
  bool (*prepare)(const Lanes* value, std::size_t n_groups, const ColumnLanes& columns, const MomentLanes& own, double weight,
                  const NormalSetting& setting, const RowLanes& row);
  // The moments of a class without the row.
  void (*take_away)(const RowLanes& row, std::size_t n_groups, const MomentLanes& all, double weight, const RestLanes& rest);
  // The log-density of the row, up to a number that all classes share.
  double (*score)(const RowLanes& row, std::size_t n_groups, const MomentLanes& seen, const NormalSetting& setting);
};

// The loops for this machine.
extern const LeftOutLoops left_out_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const LeftOutLoops left_out_loops_v3, left_out_loops_v4;
inline const LeftOutLoops& left_out_loops() {
  static const LeftOutLoops& chosen = simd::loops_in_use(left_out_loops_baseline, left_out_loops_v3, left_out_loops_v4);
  return chosen;
}
#else
inline const LeftOutLoops& left_out_loops() { return left_out_loops_baseline; }
#endif

}  // namespace baytree::bayes
