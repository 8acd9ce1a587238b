// Rows to scores: the log-densities of normal and Student-t columns added up for every class.
#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "moments.hpp"

namespace baytree {

// Of column j in class c at [c * n_columns + j]; infinite degrees mean a normal density.
struct Densities {
  std::span<const double> mean, scale, degrees, constant;
  std::size_t n_classes;
};

// Beyond this distance squares leave the doubles; the score goes on falling, slowly and without end, so that the
// nearer class still wins.
inline constexpr double far_away = 0x1p500;

inline double far_score(double x, double mean, double scale) {
  const double half_distance = std::fabs(x / 2 - mean / 2);  // the difference itself may overflow
  const double log_distance = std::log(half_distance) + std::log(2.0) - std::log(scale);
  return -0x1p990 * (1 + log_distance / 2048);
}

inline double log_kernel(double z, double degrees) {
  if (std::isinf(degrees)) return -0.5 * z * z;
  return -0.5 * (degrees + 1) * std::log1p(z / degrees * z);
}

// Adds the scores of rows to scores[i * n_classes + c]; a missing value adds nothing.
inline void add_scores(const Matrix& matrix, const Densities& densities, std::span<double> scores) {
  const std::size_t n_columns = matrix.n_columns, n_classes = densities.n_classes;
  std::vector<double> inverse(densities.scale.size());
  bool is_normal = true;
  for (std::size_t k = 0; k < inverse.size(); ++k) {
    inverse[k] = 1 / densities.scale[k];
    is_normal = is_normal && std::isinf(densities.degrees[k]);
  }
  std::vector<double> row(n_columns);
  for (std::size_t i = 0; i < matrix.n_rows; ++i) {
    const double* first = matrix.data + static_cast<std::ptrdiff_t>(i) * matrix.row_step;
    for (std::size_t j = 0; j < n_columns; ++j) row[j] = first[static_cast<std::ptrdiff_t>(j) * matrix.column_step];
    for (std::size_t c = 0; c < n_classes; ++c) {
      const double *mean = densities.mean.data() + c * n_columns, *scale = inverse.data() + c * n_columns,
                   *constant = densities.constant.data() + c * n_columns;
      double sum = 0, largest = 0;
      if (is_normal) {
        for (std::size_t j = 0; j < n_columns; ++j) {
          const double z = (row[j] - mean[j]) * scale[j];
          largest = std::fabs(z) < largest ? largest : std::fabs(z);
          sum += constant[j] - 0.5 * z * z;
        }
      } else {
        largest = far_away * 2;
      }
      // something is missing (then the sum is NaN), far away or not normal: one by one
      if (!(largest <= far_away) || sum != sum) {
        sum = 0;
        for (std::size_t j = 0; j < n_columns; ++j) {
          if (row[j] != row[j]) continue;
          if (std::isinf(row[j])) throw std::domain_error("a value is infinite");
          const std::size_t k = c * n_columns + j;
          const double z = (row[j] - mean[j]) * scale[j];
          sum += std::fabs(z) <= far_away ? constant[j] + log_kernel(z, densities.degrees[k])
                 : std::isinf(densities.degrees[k]) ? far_score(row[j], mean[j], densities.scale[k])
                                                    : constant[j] - (densities.degrees[k] + 1) *
                                                          (std::log(std::fabs(row[j] / 2 - mean[j] / 2)) + std::log(2.0) -
                                                           std::log(densities.scale[k]) - 0.5 * std::log(densities.degrees[k]));
        }
      }
      scores[i * n_classes + c] += sum;
    }
  }
}

}  // namespace baytree
