// Leave-one-out scores of normal columns: what each class says of a value once the value itself is taken away.
#pragma once
#include "amounts.hpp"

namespace baytree {

// Of column j in class c at [c * n_columns + j], in units of the column: the weight, the mean and the sum of squares about it.
struct ClassMoments {
  std::span<const double> weight, mean, squares;
  std::span<const double> centre, unit;  // of the column over all classes: 0 and 1 in these units
  std::size_t n_classes;
};

enum class NormalRule { plain, mode, predictive, raised };

struct NormalSetting {
  NormalRule rule;
  double alpha;  // pseudo-observations of the prior
  double floor;  // of the variance (plain), or what is added to it (raised)
};

class LeftOutNormals {
 public:
  LeftOutNormals(const ClassMoments& moments, const NormalSetting& setting, std::size_t n_columns)
      : moments_(moments), setting_(setting), n_columns_(n_columns), whole_(n_columns), step_(moments.weight.size()), less_(moments.weight.size()) {
    for (std::size_t j = 0; j < n_columns; ++j)
      for (std::size_t c = 0; c < moments.n_classes; ++c) {
        const double n = moments.weight[c * n_columns + j];
        whole_[j] += n;
        step_[c * n_columns + j] = log_rising((setting.alpha + n) / 2, 0.5);
        less_[c * n_columns + j] = log_rising((setting.alpha + std::max(n - 1, 0.0)) / 2, 0.5);
      }
  }

  // Adds the scores of one value, up to a number that all classes share.
  void add(double value, std::size_t j, std::size_t label, double weight, double* scores) const {
    const double x = (value - moments_.centre[j]) / moments_.unit[j], n = whole_[j] - weight;
    if (!(n > 0)) return;
    const double centre = -weight * x / n, variance = (whole_[j] - weight * x * x * whole_[j] / n) / n;
    if (!(variance > 1e-14)) return add_unknown(scores);  // nearly all of the spread was this row's: to be derived anew
    for (std::size_t c = 0; c < moments_.n_classes; ++c) {
      const std::size_t cell = c * n_columns_ + j;
      double count = moments_.weight[cell], mean = moments_.mean[cell], squares = moments_.squares[cell], step = step_[cell];
      if (c == label) {
        const double rest = count - weight, gap = x - mean;
        squares = rest > 0 ? std::max(squares - weight * gap * gap * count / rest, 0.0) : 0;
        mean = rest > 0 ? mean - weight * gap / rest : 0;
        count = std::max(rest, 0.0);
        step = weight == 1 ? less_[cell] : log_rising((setting_.alpha + count) / 2, 0.5);
      }
      const double unit = std::sqrt(variance);
      scores[c] += log_density_at((x - centre) / unit, count, (mean - centre) / unit, count > 0 ? squares / count / variance : 0, step);
    }
  }

 private:
  double log_density_at(double x, double n, double distance, double spread, double step) const {
    const double alpha = setting_.alpha, kappa = alpha + n;
    if (setting_.rule == NormalRule::plain || setting_.rule == NormalRule::raised) {
      const double variance = n <= 0                                    ? 1.0
                              : setting_.rule == NormalRule::plain ? std::max(spread, setting_.floor)
                                                                   : spread + std::max(setting_.floor, 1e-300);
      const double z = x - (n > 0 ? distance : 0);
      return -0.5 * (std::log(variance) + z * z / variance);
    }
    const double mean = n * distance / kappa, a = kappa / 2;
    const double b = alpha / 2 + n * spread / 2 + alpha * n * distance * distance / (2 * kappa), z = x - mean;
    if (setting_.rule == NormalRule::mode) {
      const double variance = b / (a + 1.5);
      return -0.5 * (std::log(variance) + z * z / variance);
    }
    const double variance = b / a * (1 + 1 / kappa);
    return step - 0.5 * std::log(kappa * variance) - 0.5 * (kappa + 1) * std::log1p(z * z / variance / kappa);
  }

  void add_unknown(double* scores) const {
    for (std::size_t c = 0; c < moments_.n_classes; ++c) scores[c] = std::numeric_limits<double>::quiet_NaN();
  }

  ClassMoments moments_;
  NormalSetting setting_;
  std::size_t n_columns_;
  std::vector<double> whole_, step_, less_;
};

inline void add_left_out_normals(const Matrix& matrix, std::span<const std::int32_t> label, std::span<const double> weight,
                                 const LeftOutNormals& normals, std::size_t n_classes, std::span<double> scores) {
  for (std::size_t i = 0; i < matrix.n_rows; ++i)
    for (std::size_t j = 0; j < matrix.n_columns; ++j) {
      const double x = matrix.data[static_cast<std::ptrdiff_t>(i) * matrix.row_step + static_cast<std::ptrdiff_t>(j) * matrix.column_step];
      if (x == x) normals.add(x, j, static_cast<std::size_t>(label[i]), weight.empty() ? 1.0 : weight[i], scores.data() + i * n_classes);
    }
}

}  // namespace baytree
