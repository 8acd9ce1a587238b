// Exact moments of tables of so few rows that one chunk holds them: slices go straight to limbs, eight columns at a time.
//
// Where rows are few, cells that could hold any sum cost more than the sums. Here every eight columns share one grid, so that their
// limbs are carried side by side. Columns whose magnitudes lie too far apart for that, or with missing values, are left to the cells.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "numbers/moments.hpp"

namespace baytree::numbers {

// The limbs of the sums of a table, [n_classes, n_groups], and how far they reach.
template <int n_heights> class LaneTableau {
 public:
  LaneTableau(std::size_t n_classes, std::size_t n_groups) : limbs_(n_classes * n_groups), first_(n_groups), n_groups_(n_groups) {}

  // The limb at which the sums of a group begin, whose lowest grid has this exponent; gives where in the limb that is.
  int begin(std::size_t group, int exponent) {
    const int position = exponent + limb_offset, first = position / limb_bits;
    if (group == 0 || first != first_[group - 1]) include_reach(group);
    first_[group] = first;
    return position % limb_bits;
  }

  LimbLanes<n_heights>& limbs(std::size_t c, std::size_t group) { return limbs_[c * n_groups_ + group]; }
  LimbReach<n_heights>& reach() { return here_; }

  // [n_classes, n_columns]; `first_column` of each group.
  ExactTable table(std::size_t n_columns, std::span<const std::size_t> first_column) {
    include_reach(n_groups_);
    const std::size_t n_classes = limbs_.size() / n_groups_;
    ExactTable table = all_.table(n_classes * n_columns);
    for (std::size_t c = 0; all_.high >= 0 && c < n_classes; ++c)
      for (std::size_t group = 0; group < n_groups_; ++group)
        write(limbs(c, group), first_[group] - table.low, table.width, table.cell(c * n_columns + first_column[group]).data());
    return table;
  }

 private:
  static constexpr int n_limbs = limbs_of_heights(n_heights);

  // Adds what the groups since the last change of the first limb reach, and begins anew.
  void include_reach(std::size_t group) {
    for (int k = 0; group > 0 && k < n_limbs; ++k) {
      if (is_any(here_.has[k])) all_.low = std::min(all_.low, first_[group - 1] + k);
      if (is_any(here_.is_more[k])) all_.high = std::max(all_.high, first_[group - 1] + k);
    }
    here_ = {};
  }

  static bool is_any(const LaneBits& bits) {
    std::int64_t any = 0;
    for (std::size_t j = 0; j < lanes; ++j) any |= bits[j];
    return any != 0;
  }

  // The limbs of eight cells, of which the first stands `above` the first of the window.
  static void write(const LimbLanes<n_heights>& from, int above, std::size_t width, std::int64_t* to) {
    for (std::size_t k = 0; k < width; ++k) {
      const int at = static_cast<int>(k) - above;
      LaneBits limb{};
      if (at >= 0) limb = at < n_limbs ? from.limb[at] & 0xffffffff : (from.limb[n_limbs - 1] >> 63) & 0xffffffff;
      if (k + 1 == width) limb = (limb ^ 0x80000000) - 0x80000000;  // the last one is signed
      for (std::size_t j = 0; j < lanes; ++j) to[j * width + k] = limb[j];
    }
  }

  std::vector<LimbLanes<n_heights>, simd::LaneAllocator<LimbLanes<n_heights>>> limbs_;
  std::vector<int> first_;  // [n_groups]
  std::size_t n_groups_;
  LimbReach<n_heights> here_;
  Reach all_;
};

// Moments of rows of unit weight that lie together and are one chunk.
class FewRows {
 public:
  FewRows(const Matrix& matrix, std::span<const std::int32_t> label, std::size_t n_classes)
      : matrix_(matrix), n_groups_((matrix.n_columns + lanes - 1) / lanes), n_classes_(n_classes), first_column_(n_groups_), surveys_(n_groups_),
        order_(n_classes, matrix.n_rows), totals_(n_classes, n_groups_), squares_(n_classes, n_groups_) {
    for (std::size_t group = 0; group < n_groups_; ++group) first_column_[group] = std::min(group * lanes, matrix.n_columns - lanes);
    order_.sort(label);
  }

  static bool can_hold(const Matrix& matrix, std::size_t n_classes) {
    return matrix.column_step == 1 && matrix.n_columns >= lanes && matrix.n_rows > 0 &&
           matrix.n_rows <= rows_of_a_chunk(matrix.n_rows, matrix.n_columns, n_classes);
  }

  // None where some eight columns do not share a grid.
  std::optional<MomentTables> observe() {
    loops_.survey({matrix_.data, matrix_.row_step}, matrix_.n_rows, first_column_.data(), n_groups_, surveys_.data());
    for (std::size_t group = 0; group < n_groups_; ++group)
      if (!add(group)) return std::nullopt;
    return MomentTables{weights(), totals_.table(matrix_.n_columns, first_column_), squares_.table(matrix_.n_columns, first_column_)};
  }

 private:
  // Whether the slices of eight columns hold every bit.
  bool add(std::size_t group) {
    const auto exponent = shared_exponent(surveys_[group]);
    if (!exponent) return false;
    const int total_top = *exponent + 1, square_top = 2 * *exponent + 2;
    for (int height = 0; height < 2; ++height) slicers_.total[height] = Lanes{} + slicer(total_top, height);
    for (int height = 0; height < 3; ++height) slicers_.square[height] = Lanes{} + slicer(square_top, height);
    const int total_shift = totals_.begin(group, grid_unit(total_top, 1)), square_shift = squares_.begin(group, grid_unit(square_top, 2));
    const LaneRows rows{matrix_.at(0, first_column_[group]), matrix_.row_step};
    for (std::size_t c = 0; c < n_classes_; ++c) {
      begin(slices_.total, slicers_.total, {1, 1}, order_.n_rows(c));
      begin(slices_.square, slicers_.square, {1, 2, 1, 0}, order_.n_rows(c));
      loops_.slice({rows, order_.places(c), order_.n_rows(c), rows.from(order_.begin(c))}, slicers_, slices_);
      loops_.carry_total(slices_.total, total_shift, totals_.limbs(c, group), totals_.reach());
      loops_.carry_square(slices_.square, square_shift, squares_.limbs(c, group), squares_.reach());
    }
    return true;
  }

  // As `begin_slices`, of slicers that are the same in every lane.
  template <std::size_t n_heights>
  static void begin(LaneSums (&sum)[n_heights], const Lanes (&slicer)[n_heights], const std::uint64_t (&n_slices)[n_heights], std::size_t n_rows) {
    for (std::size_t height = 0; height < n_heights; ++height)
      sum[height] = LaneSums{} - std::bit_cast<std::uint64_t>(slicer[height][0]) * (n_slices[height] * n_rows);
  }

  // That of the largest magnitude, if all values are known and not too far below it.
  static std::optional<int> shared_exponent(const Survey& survey) {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < lanes; ++j) {
      largest = std::max(largest, survey.largest[j]);
      smallest = std::min(smallest, survey.smallest[j]);
    }
    if (survey.has_missing()) return std::nullopt;
    if (largest == 0) return 0;
    const int exponent = std::ilogb(largest);
    if (exponent < -400 || exponent >= 450 || exponent - std::ilogb(smallest) > shallow_range) return std::nullopt;
    return exponent;
  }

  ExactTable weights() const {
    ExactTable table;
    for (std::size_t c = 0; c < n_classes_; ++c)
      table.limbs.insert(table.limbs.end(), matrix_.n_columns, static_cast<std::int64_t>(order_.n_rows(c)));
    return table;
  }

  const SliceLoops& loops_ = slice_loops();
  Matrix matrix_;
  std::size_t n_groups_, n_classes_;
  std::vector<std::size_t> first_column_;  // [n_groups]: the last group reaches back over columns of the one before
  std::vector<Survey> surveys_;            // [n_groups]
  ClassOrder order_;
  LaneTableau<2> totals_;
  LaneTableau<3> squares_;
  Slicers slicers_{};
  Slices slices_;
};

// The moments of columns in whichever way is the shorter; `weight` is empty where every weight is 1.
template <Numbers Values>
MomentTables moments_of(const Values& values, std::span<const std::int32_t> label, std::span<const double> weight, std::size_t n_classes) {
  if constexpr (std::same_as<Values, Matrix>)
    if (weight.empty() && FewRows::can_hold(values, n_classes))
      if (auto found = FewRows(values, label, n_classes).observe()) return *std::move(found);
  MomentCells cells(n_classes, values.n_columns);
  MomentKernel(values, label, weight, cells).observe();
  return cells.tables();
}

}  // namespace baytree::numbers
