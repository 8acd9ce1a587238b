// Exact weight, sum and sum of squares of every column in every class.
//
// The fast path slices a chunk of rows (slices.hpp) with about twenty vector instructions per eight values (seventy for
// weighted rows); only the sums of the slices are added to the exact cells. Values whose magnitudes or weights differ
// too much, or whose products are not normal doubles, are added to the cells one by one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "numeric/exact_sum.hpp"
#include "numeric/matrix.hpp"
#include "numeric/slices.hpp"
#include "simd/lanes.hpp"

namespace baytree::numeric {

// The rows of a chunk sorted by class, as indices within the chunk.

class ClassOrder {
 public:
  ClassOrder(std::size_t n_classes, std::size_t most_rows) : place_(most_rows), end_(n_classes + 1) {}

  void sort(std::span<const std::int32_t> label) {
    std::fill(end_.begin(), end_.end(), 0);
    for (const std::int32_t c : label) ++end_[static_cast<std::size_t>(c) + 1];
    for (std::size_t c = 1; c < end_.size(); ++c) end_[c] += end_[c - 1];
    for (std::size_t i = 0; i < label.size(); ++i) place_[end_[static_cast<std::size_t>(label[i])]++] = static_cast<std::uint16_t>(i);
  }

  std::size_t begin(std::size_t c) const { return c == 0 ? 0 : end_[c - 1]; }
  std::size_t n_rows(std::size_t c) const { return end_[c] - begin(c); }
  const std::uint16_t* places(std::size_t c) const { return place_.data() + begin(c); }

 private:
  std::vector<std::uint16_t> place_;
  std::vector<std::size_t> end_;  // [n_classes + 1], the last one unused
};

struct MomentTables {
  ExactTable weight, total, square;  // [n_classes * n_columns]
};

struct MomentCells {
  std::size_t n_classes, n_columns;
  std::vector<ExactCell> weight, total, square;  // [n_classes * n_columns]
  MomentCells(std::size_t classes, std::size_t columns)
      : n_classes(classes), n_columns(columns), weight(classes * columns), total(classes * columns), square(classes * columns) {}

  MomentTables tables() { return {export_cells(weight), export_cells(total), export_cells(square)}; }
};

// Rows per chunk: few enough that a chunk and the next one stay in the cache while they are surveyed, sliced and
// prefetched; many enough that each class has some.
inline std::size_t rows_of_a_chunk(std::size_t n_rows, std::size_t n_columns, std::size_t n_classes) {
  const std::size_t that_fit = chunk_bytes / (sizeof(double) * std::max<std::size_t>(n_columns, lanes));
  return std::min({chunk_rows, std::max(that_fit, 128 * n_classes), std::max<std::size_t>(n_rows, 1)});
}

// Adds the rows of a matrix to the cells; `label` holds class codes, an empty `weight` means weight 1.
template <Numbers Values> class MomentKernel {
 public:
  MomentKernel(const Values& matrix, std::span<const std::int32_t> label, std::span<const double> weight, MomentCells& cells)
      : matrix_(matrix), label_(label), weight_(weight), cells_(cells), n_groups_((matrix.n_columns + lanes - 1) / lanes),
        most_rows_(rows_of_a_chunk(matrix.n_rows, matrix.n_columns, cells.n_classes)), surveys_(n_groups_), first_column_(n_groups_),
        slices_(cells.n_classes), order_(cells.n_classes, most_rows_) {
    for (std::size_t group = 0; group < n_groups_; ++group) first_column_[group] = group_at(group).first;
  }

  void observe() {
    for (std::size_t start = 0; start < matrix_.n_rows; start += most_rows_) {
      n_rows_ = std::min(most_rows_, matrix_.n_rows - start);
      label_here_ = label_.data() + start;
      order_.sort({label_here_, n_rows_});
      if (!weight_.empty()) survey_weights(start);
      if (lies_together()) loops_.survey({at(start, 0), matrix_.row_step}, n_rows_, first_column_.data(), n_groups_, surveys_.data());
      for (std::size_t group = 0; group < n_groups_; ++group) add_group(start, group);
    }
  }

 private:
  // Eight columns, of which the lanes [begin, end) belong to this group: an incomplete last group overlaps the previous
  // one, or has empty lanes if rows are not contiguous.
  struct Group {
    std::size_t first, begin, end;
  };

  Group group_at(std::size_t number) const {
    const std::size_t first = number * lanes, n_columns = matrix_.n_columns;
    if (first + lanes <= n_columns) return {first, 0, lanes};
    if (!lies_together()) return {first, 0, n_columns - first};
    return {n_columns - lanes, first + lanes - n_columns, lanes};
  }

  bool lies_together() const { return matrix_.column_step == 1 && matrix_.n_columns >= lanes; }

  // The values of a group: in place if eight values of a row are contiguous, else copied.
  LaneRows rows_of(std::size_t start, const Group& group) {
    return lies_together() ? LaneRows{at(start, group.first), matrix_.row_step} : laid_out(start, group);
  }

  // The rows to prefetch while those of a group are sliced: the same columns of the next complete chunk.
  LaneRows soon_after(std::size_t start, const Group& group) const {
    return {at(start + 2 * most_rows_ <= matrix_.n_rows ? start + most_rows_ : start, group.first), matrix_.row_step};
  }

  LaneRows laid_out(std::size_t start, const Group& group) {
    value_.resize(most_rows_);
    for (std::size_t j = 0; j < lanes; ++j)
      for (std::size_t i = 0; i < n_rows_; ++i) value_[i][j] = j < group.end ? *at(start + i, group.first + j) : 0.0;
    return {reinterpret_cast<const double*>(value_.data()), lanes};
  }

  const double* at(std::size_t row, std::size_t column) const { return matrix_.at(row, column); }

  ChosenRows rows_of(std::size_t c, const LaneRows& rows, const LaneRows& soon) const {
    return {rows, order_.places(c), order_.n_rows(c), soon.from(order_.begin(c))};
  }

  void add_group(std::size_t start, std::size_t number) {
    const Group group = group_at(number);
    Survey& survey = surveys_[number];
    if (is_run(group)) {
      survey_run(start, group, survey);
      find_exponents(survey);
      if (is_alone(survey, group)) return add_alone(start, group);
    }
    const LaneRows rows = rows_of(start, group), soon = soon_after(start, group);
    const std::size_t at_once = 0;
    if (!lies_together()) loops_.survey(rows, n_rows_, &at_once, 1, &survey);
    find_exponents(survey);
    if (is_alone(survey, group)) return add_alone(start, group);
    if (weight_.empty() && are_within(-400, 450))
      add_slices(survey, survey.has_missing() ? laid_out(start, group) : rows, soon, group);
    else if (!weight_.empty() && are_weights_close_ && are_within(-200, 200) && are_products_close(survey))
      add_weighted_slices(rows, soon, start, group);
    else
      add_one_by_one(start, group);
  }

  void find_exponents(const Survey& survey) {
    for (std::size_t j = 0; j < lanes; ++j) exponent_[j] = survey.largest[j] > 0 ? std::ilogb(survey.largest[j]) : 0;
  }

  // Whether a group is a single column whose rows are contiguous.
  bool is_run(const Group& group) const {
    return group.end - group.begin == 1 && !lies_together() && matrix_.row_step == 1 && n_rows_ % lanes == 0;
  }

  // Surveys eight rows of such a column at a time.
  void survey_run(std::size_t start, const Group& group, Survey& survey) {
    const std::size_t at_once = 0;
    loops_.survey({at(start, group.first), lanes}, n_rows_ / lanes, &at_once, 1, &survey);
    for (std::size_t j = 1; j < lanes; ++j) {
      survey.largest[0] = std::max(survey.largest[0], survey.largest[j]);
      survey.smallest[0] = std::min(survey.smallest[0], survey.smallest[j]);
      survey.is_missing[0] |= survey.is_missing[j];
    }
  }

  // Whether slices neither overflow nor become subnormal; the exponent of infinity is the largest integer.
  bool are_within(int lowest, int highest) const {
    return std::all_of(exponent_, exponent_ + lanes, [=](int exponent) { return exponent >= lowest && exponent < highest; });
  }

  // Number of powers of two between the smallest and the largest magnitude of a column.
  int range(const Survey& survey, std::size_t j) const {
    return survey.largest[j] > 0 ? exponent_[j] - std::ilogb(survey.smallest[j]) : 0;
  }

  int total_top(std::size_t j) const { return exponent_[j] + 1; }
  int square_top(std::size_t j) const { return 2 * exponent_[j] + 2; }

  void add_slices(const Survey& survey, const LaneRows& rows, const LaneRows& soon, const Group& group) {
    bool is_deep = false;
    for (std::size_t j = 0; j < lanes; ++j) {
      is_deep |= range(survey, j) > shallow_range;
      for (int height = 0; height < 2; ++height) slicers_.total[height][j] = slicer(total_top(j), height);
      for (int height = 0; height < 4; ++height) slicers_.square[height][j] = slicer(square_top(j), height);
    }
    const std::uint64_t deep = is_deep ? 1 : 0;
    const bool has_missing = survey.has_missing();
    for (std::size_t c = 0; c < slices_.size(); ++c) {
      if (order_.n_rows(c) == 0) continue;
      const auto n_rows = static_cast<double>(order_.n_rows(c));
      begin_slices(slices_[c].total, slicers_.total, {1, 1}, n_rows);
      begin_slices(slices_[c].square, slicers_.square, {1, 2, 1 + deep, deep}, n_rows);
      slices_[c].count = Lanes{} + (has_missing ? 0.0 : n_rows);
    }
    if (has_missing) loops_.count_known(value_.data(), n_rows_, label_here_, slices_.data());
    for (std::size_t c = 0; c < slices_.size(); ++c) {
      if (order_.n_rows(c) == 0) continue;
      if (is_deep) slice_deep(rows_of(c, rows, soon), group, slices_[c]);
      else loops_.slice(rows_of(c, rows, soon), slicers_, slices_[c]);
      for (std::size_t j = group.begin; j < group.end; ++j) {
        const std::size_t cell = c * cells_.n_columns + group.first + j;
        cells_.weight[cell].add(slices_[c].count[j]);
        add_slices_to(cells_.total[cell], slices_[c].total, j, total_top(j));
        add_slices_to(cells_.square[cell], slices_[c].square, j, square_top(j));
      }
    }
  }

  // Whether a group is a single column; then eight rows of a class can take the places of eight columns.
  bool is_alone(const Survey& survey, const Group& group) const {
    const std::size_t j = group.begin;
    return group.end - j == 1 && weight_.empty() && !survey.is_missing[j] && exponent_[j] >= -400 && exponent_[j] < 450 &&
           range(survey, j) <= shallow_range;
  }

  void add_alone(std::size_t start, const Group& group) {
    const std::size_t j = group.begin, column = group.first + j;
    const bool has_next = start + 2 * most_rows_ <= matrix_.n_rows;
    const LaneRows soon{at(has_next ? start + most_rows_ : start, column), static_cast<std::ptrdiff_t>(lanes)};
    value_.resize(most_rows_);
    for (int height = 0; height < 2; ++height) slicers_.total[height] = Lanes{} + slicer(total_top(j), height);
    for (int height = 0; height < 4; ++height) slicers_.square[height] = Lanes{} + slicer(square_top(j), height);
    for (std::size_t c = 0; c < slices_.size(); ++c) {
      if (order_.n_rows(c) == 0) continue;
      const std::size_t n_runs = lay_side_by_side(start, column, c);
      begin_slices(slices_[c].total, slicers_.total, {1, 1}, static_cast<double>(n_runs));
      begin_slices(slices_[c].square, slicers_.square, {1, 2, 1, 0}, static_cast<double>(n_runs));
      loops_.slice({{reinterpret_cast<const double*>(value_.data()), lanes}, in_turn_.data(), n_runs, soon}, slicers_, slices_[c]);
      add_lanes_together(slices_[c].total);
      add_lanes_together(slices_[c].square);
      const std::size_t cell = c * cells_.n_columns + column;
      cells_.weight[cell].add(static_cast<double>(order_.n_rows(c)));
      add_slices_to(cells_.total[cell], slices_[c].total, 0, total_top(j));
      add_slices_to(cells_.square[cell], slices_[c].square, 0, square_top(j));
    }
  }

  // Copies the values of a class into lanes, padded with 0; returns the number of groups of eight.
  std::size_t lay_side_by_side(std::size_t start, std::size_t column, std::size_t c) {
    const std::size_t n_rows = order_.n_rows(c), n_runs = (n_rows + lanes - 1) / lanes;
    const std::uint16_t* const place = order_.places(c);
    value_[n_runs - 1] = Lanes{};
    for (std::size_t i = 0; i < n_rows; ++i) value_[i / lanes][i % lanes] = *at(start + place[i], column);
    for (std::size_t k = in_turn_.size(); k < n_runs; ++k) in_turn_.push_back(static_cast<std::uint16_t>(k));
    return n_runs;
  }

  // Adds all lanes to the first one; the number of rows of a chunk leaves room for the carries.
  template <std::size_t n_heights> static void add_lanes_together(LaneSums (&sum)[n_heights]) {
    for (LaneSums& height : sum)
      for (std::size_t j = 1; j < lanes; ++j) height[0] += height[j];
  }

  void slice_deep(const ChosenRows& all, const Group& group, Slices& slices) {
    for (std::size_t first = 0; first < all.n_rows; first += survey_rows) {
      const std::size_t n_rows = std::min(survey_rows, all.n_rows - first);
      LaneBits is_fine;
      loops_.slice_deep({all.rows, all.place + first, n_rows, all.soon.from(first)}, slicers_, slices, is_fine);
      for (std::size_t j = group.begin; j < group.end; ++j)
        for (std::size_t i = first; is_fine[j] != 0 && i < first + n_rows; ++i)
          add_rest(all.rows.from(all.place[i]).first[j], j, cell_of(all.place[i], group, j));
    }
  }

  std::size_t cell_of(std::size_t i, const Group& group, std::size_t j) const {
    return static_cast<std::size_t>(label_here_[i]) * cells_.n_columns + group.first + j;
  }

  // The part of a value and of its square that the slices did not cover.
  void add_rest(double x, std::size_t j, std::size_t cell) {
    const auto rest = [j](double value, const Lanes* slicer, int first, int last) {
      for (int height = first; height < last; ++height) value -= (value + slicer[height][j]) - slicer[height][j];
      return value;
    };
    cells_.total[cell].add(rest(x, slicers_.total, 0, 2));
    if (std::fabs(x) < 0x1p-485) return cells_.square[cell].add_product(x, x);  // its slices were 0: x * x is not an exact double
    const double product = x * x;
    cells_.square[cell].add(rest(product, slicers_.square, 0, 3));
    cells_.square[cell].add(rest(std::fma(x, x, -product), slicers_.square, 1, 4));
  }

  // Weights of similar magnitude, the usual case, can be sliced like values.
  void survey_weights(std::size_t start) {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (const double weight : weight_.subspan(start, n_rows_)) {
      largest = std::max(largest, weight);
      if (weight > 0) smallest = std::min(smallest, weight);
    }
    weight_exponent_ = largest > 0 ? std::ilogb(largest) : 0;
    weight_range_ = largest > 0 ? weight_exponent_ - std::ilogb(smallest) : 0;
    are_weights_close_ = weight_exponent_ >= -100 && weight_exponent_ <= 100 && weight_range_ <= 47;
  }

  // Whether three heights hold every bit of weight * x, and five every bit of weight * x * x.
  bool are_products_close(const Survey& survey) const {
    for (std::size_t j = 0; j < lanes; ++j)
      if (range(survey, j) + weight_range_ > 44 || 2 * range(survey, j) + weight_range_ > 91) return false;
    return true;
  }

  void add_weighted_slices(const LaneRows& rows, const LaneRows& soon, const std::size_t start, const Group& group) {
    const int top = weight_exponent_ + 1;
    WeightedSlicers slicers;
    for (std::size_t j = 0; j < lanes; ++j) {
      for (int height = 0; height < 2; ++height) slicers.weight[height][j] = slicer(top, height);
      for (int height = 0; height < 3; ++height) slicers.total[height][j] = slicer(top + total_top(j), height);
      for (int height = 0; height < 5; ++height) slicers.square[height][j] = slicer(top + square_top(j), height);
    }
    for (std::size_t c = 0; c < cells_.n_classes; ++c) {
      const auto n_rows = static_cast<double>(order_.n_rows(c));
      if (n_rows == 0) continue;
      WeightedSlices slices;
      begin_slices(slices.weight, slicers.weight, {1, 1}, n_rows);
      begin_slices(slices.total, slicers.total, {1, 2, 1}, n_rows);
      begin_slices(slices.square, slicers.square, {1, 3, 4, 3, 2}, n_rows);
      loops_.slice_weighted(rows_of(c, rows, soon), weight_.data() + start, slicers, slices);
      for (std::size_t j = group.begin; j < group.end; ++j) {
        const std::size_t cell = c * cells_.n_columns + group.first + j;
        add_slices_to(cells_.weight[cell], slices.weight, j, top);
        add_slices_to(cells_.total[cell], slices.total, j, top + total_top(j));
        add_slices_to(cells_.square[cell], slices.square, j, top + square_top(j));
      }
    }
  }

  void add_one_by_one(std::size_t start, const Group& group) {
    for (std::size_t i = 0; i < n_rows_; ++i)
      for (std::size_t j = group.begin; j < group.end; ++j) {
        const double weight = weight_.empty() ? 1.0 : weight_[start + i], x = *at(start + i, group.first + j);
        if (x != x) continue;
        if (std::isinf(x)) throw std::domain_error("a value is infinite");
        const std::size_t cell = cell_of(i, group, j);
        cells_.weight[cell].add(weight);
        cells_.total[cell].add_product(weight, x);
        cells_.square[cell].add_weighted_square(weight, x);
      }
  }

  const SliceLoops& loops_ = slice_loops();
  Values matrix_;
  std::span<const std::int32_t> label_;
  std::span<const double> weight_;
  MomentCells& cells_;
  std::size_t n_groups_, most_rows_, n_rows_ = 0;
  const std::int32_t* label_here_ = nullptr;
  simd::LaneTable value_;  // [most_rows_]: copy of a group that is not contiguous; unused lanes are 0
  std::vector<Survey> surveys_;            // [n_groups]
  std::vector<std::size_t> first_column_;  // [n_groups]
  int exponent_[lanes];                    // exponent of each column's largest magnitude in this chunk
  Slicers slicers_;
  int weight_exponent_ = 0, weight_range_ = 0;  // of the weights of this chunk
  bool are_weights_close_ = false;
  std::vector<Slices> slices_;           // [n_classes]
  ClassOrder order_;
  std::vector<std::uint16_t> in_turn_;   // 0, 1, 2 …
};

}  // namespace baytree::numeric
