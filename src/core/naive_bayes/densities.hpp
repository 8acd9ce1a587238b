// Scores of normal and Student-t columns: log-densities summed over the columns, for every class.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "numeric/matrix.hpp"
#include "simd/dispatch.hpp"
#include "simd/lanes.hpp"

namespace baytree::naive_bayes {

// Inner loops on groups of eight columns: Σ z² of normal columns, Σ h log(1 + z²/ν) of Student-t columns. Lanes and
// order of summation are the same for every instruction set, and so are the bits.

using simd::Lanes, simd::lanes;

// One class: means, inverse scales and, for Student t, 1/ν and h = (ν + 1)/2, per group of eight columns; padding is 0.
struct ClassLanes {
  const Lanes *mean, *inverse, *inverse_degrees, *half;
};

struct RowSums {
  double squares;  // Σ z²; at least 2^1000 if a value is missing, infinite or extremely far from the mean
  double logs;     // Σ h log(1 + z²/ν)
};

// Rows as groups of eight values: [n_rows, n_groups].
struct DensityRows {
  const Lanes* value;
  std::size_t n_rows, n_groups;
};

struct DensityLoops {
  void (*squares)(const DensityRows& rows, const ClassLanes& density, RowSums* sums);
  void (*logs)(const DensityRows& rows, const ClassLanes& density, RowSums* sums);
};

// The loops for this machine.
extern const DensityLoops density_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const DensityLoops density_loops_v3, density_loops_v4;
inline const DensityLoops& density_loops() {
  static const DensityLoops& chosen = simd::loops_in_use(density_loops_baseline, density_loops_v3, density_loops_v4);
  return chosen;
}
#else
inline const DensityLoops& density_loops() { return density_loops_baseline; }
#endif

// Log-densities of normal and Student-t columns, summed for every class.

using numeric::Matrix;

// Parameters of column j in class c at [c * n_columns + j]; infinite degrees of freedom mean a normal density.
struct Densities {
  std::span<const double> mean, scale, degrees, constant;
  std::size_t n_classes;
};

// Beyond this distance squares overflow; the score then decreases with the logarithm of the distance, so that the
// nearer class still has the higher score.
inline constexpr double far_away = 0x1p500;

inline double log_distance(double x, double mean, double scale) {
  return std::log(std::fabs(x / 2 - mean / 2)) + std::log(2.0) - std::log(scale);  // x - mean may overflow
}

// (x - mean) / scale; with the same operations as in the vector loops wherever these apply.
inline double standardised(double x, double mean, double scale) {
  const double gap = x - mean;
  if (std::isinf(gap)) return (x / 2 - mean / 2) / (scale / 2);
  return scale < 0x1p-1000 ? gap / scale : gap * (1 / scale);
}

// Log-density of one value of any size.
inline double log_density(double x, double mean, double scale, double degrees, double constant) {
  const double z = standardised(x, mean, scale);
  if (std::fabs(z) <= far_away)
    return std::isinf(degrees) ? constant - 0.5 * z * z : constant + -0.5 * (degrees + 1) * std::log1p(z / degrees * z);
  const double distance = log_distance(x, mean, scale);
  if (std::isinf(degrees)) return -0x1p990 * (1 + distance / 2048);
  return constant - (degrees + 1) * (distance - 0.5 * std::log(degrees));
}

// Scores a stripe of columns: blocks of rows are copied into lanes; rows with missing or extreme values are scored one
// by one.
class DensityKernel {
 public:
  DensityKernel(const Matrix& matrix, const Densities& densities, std::size_t first_column, std::size_t n_columns, std::span<double> scores)
      : matrix_(matrix), densities_(densities), first_(first_column), n_columns_(n_columns), scores_(scores),
        n_groups_((n_columns + lanes - 1) / lanes), value_(block_rows * n_groups_), lane_(4 * densities.n_classes * n_groups_),
        constant_(densities.n_classes) {
    for (std::size_t c = 0; c < densities.n_classes; ++c) lay_out(c);
  }

  void add() {
    for (std::size_t start = 0; start < matrix_.n_rows; start += block_rows) {
      const std::size_t n_rows = std::min(block_rows, matrix_.n_rows - start);
      gather(start, n_rows);
      for (std::size_t c = 0; c < densities_.n_classes; ++c) add_class(start, n_rows, c);
    }
  }

 private:
  static constexpr std::size_t block_rows = 32;

  void lay_out(std::size_t c) {
    Lanes* at = lane_.data() + 4 * c * n_groups_;
    for (std::size_t j = 0; j < n_columns_; ++j) {
      const std::size_t cell = cell_of(c, j), group = j / lanes, lane = j % lanes;
      const double degrees = densities_.degrees[cell];
      at[group][lane] = densities_.mean[cell];
      at[n_groups_ + group][lane] = 1 / densities_.scale[cell];
      at[2 * n_groups_ + group][lane] = 1 / degrees;
      at[3 * n_groups_ + group][lane] = 0.5 * (degrees + 1);
      constant_[c] += densities_.constant[cell];
      n_normal_ += std::isinf(degrees);
    }
  }

  std::size_t cell_of(std::size_t c, std::size_t j) const {
    return c * (densities_.mean.size() / densities_.n_classes) + first_ + j;
  }

  double value_at(std::size_t i, std::size_t j) const { return *matrix_.at(i, first_ + j); }

  void gather(std::size_t start, std::size_t n_rows) {
    if (matrix_.column_step == 1) {
      for (std::size_t i = 0; i < n_rows; ++i)
        std::memcpy(value_.data() + i * n_groups_,
                    matrix_.at(start + i, first_), n_columns_ * sizeof(double));
      return;
    }
    for (std::size_t j = 0; j < n_columns_; ++j)
      for (std::size_t i = 0; i < n_rows; ++i) value_[i * n_groups_ + j / lanes][j % lanes] = value_at(start + i, j);
  }

  void add_class(std::size_t start, std::size_t n_rows, std::size_t c) {
    const Lanes* at = lane_.data() + 4 * c * n_groups_;
    const ClassLanes density{at, at + n_groups_, at + 2 * n_groups_, at + 3 * n_groups_};
    const DensityRows rows{value_.data(), n_rows, n_groups_};
    const bool are_normal = n_normal_ == densities_.n_classes * n_columns_;
    const bool are_student = n_normal_ == 0 && n_columns_ >= lanes;  // narrower tables keep the arithmetic of the first model files
    if (are_normal) loops_.squares(rows, density, sums_);
    else if (are_student) loops_.logs(rows, density, sums_);
    double* const score = scores_.data() + start * densities_.n_classes + c;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const bool is_near = (are_normal || are_student) && sums_[i].squares < far_away * far_away;
      const double fallen = are_normal ? 0.5 * sums_[i].squares : sums_[i].logs;
      score[i * densities_.n_classes] += is_near ? constant_[c] - fallen : one_by_one(start + i, c);
    }
  }

  double one_by_one(std::size_t row, std::size_t c) const {
    double sum = 0;
    for (std::size_t j = 0; j < n_columns_; ++j) {
      const double x = value_at(row, j);
      if (x != x) continue;
      if (std::isinf(x)) throw std::domain_error("a value is infinite");
      const std::size_t cell = cell_of(c, j);
      sum += log_density(x, densities_.mean[cell], densities_.scale[cell], densities_.degrees[cell], densities_.constant[cell]);
    }
    return sum;
  }

  const DensityLoops& loops_ = density_loops();
  Matrix matrix_;
  Densities densities_;
  std::size_t first_, n_columns_;
  std::span<double> scores_;
  std::size_t n_groups_, n_normal_ = 0;
  simd::LaneTable value_;  // [block_rows, n_groups]; unused lanes stay 0
  simd::LaneTable lane_;   // [n_classes, 4, n_groups]
  std::vector<double> constant_;
  RowSums sums_[block_rows];  // of the current class
};

// Adds the scores of rows to scores[i * n_classes + c]; a missing value contributes nothing.
inline void add_scores(const Matrix& matrix, const Densities& densities, std::span<double> scores) {
  constexpr std::size_t stripe = 256;  // columns whose densities stay in the cache
  for (std::size_t first = 0; first < matrix.n_columns; first += stripe)
    DensityKernel(matrix, densities, first, std::min(stripe, matrix.n_columns - first), scores).add();
}

// Index of the highest score in each row; -1 if another score is within a relative 1e-12 of it, or none is finite.
inline void choose(std::span<const double> scores, std::size_t n_classes, std::span<std::int32_t> choice) {
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const double* row = scores.data() + i * n_classes;
    std::size_t best = 0;
    for (std::size_t c = 1; c < n_classes; ++c) best = row[c] > row[best] ? c : best;
    bool is_clear = std::isfinite(row[best]);
    for (std::size_t c = 0; c < n_classes; ++c) is_clear = is_clear && (c == best || row[best] - row[c] > 1e-12);
    choice[i] = is_clear ? static_cast<std::int32_t>(best) : -1;
  }
}

}  // namespace baytree::naive_bayes
