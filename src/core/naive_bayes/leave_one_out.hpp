// Leave-one-out scores of normal columns: each row is scored by the model of all other rows, in closed form.
#pragma once
#include <limits>
#include <string_view>

#include "naive_bayes/count_scores.hpp"
#include "simd/dispatch.hpp"
#include "simd/lanes.hpp"

namespace baytree::naive_bayes {

// Inner loops: for eight columns at a time, the moments of each class without the row, and the score of the row.

using simd::LaneBits, simd::Lanes, simd::lanes;

enum class NormalRule { plain, mode, predictive, raised };


struct NormalSetting {
  NormalRule rule;
  double alpha;  // pseudo-observations of the prior
  double floor;  // minimum of the variance (plain), or what is added to it (raised)
  double one;    // the weight of one row
};

// Groups of eight columns, standardised over all classes to centre 0 and variance 1; padding is never known.
struct ColumnLanes {
  const Lanes *whole, *centre, *inverse_unit;  // weight of the column; centre and inverse scale of the standardisation
  const Lanes *squares, *n_classes;  // sum of squares within classes; number of classes with values
};

// One class: weight, mean, variance, and its contribution to the degrees of freedom of a predictive density.
struct MomentLanes {
  const Lanes *weight, *mean, *spread, *step;
};

// The same without the row; output.
struct RestLanes {
  Lanes *weight, *mean, *spread;
};

// One row: its values; centre and variance of the columns without it; the prior variance within classes; and the prior
// weight, in rows, of the centre as the mean of a class.
struct RowLanes {
  Lanes *x, *centre, *variance, *within, *pull;
  LaneBits* is_known;
};

struct LeaveOneOutLoops {
  // Returns false if the row accounts for nearly all of a column's variance, where rounding would dominate. `own` is
  // the class of the row.
  bool (*prepare)(const Lanes* value, std::size_t n_groups, const ColumnLanes& columns, const MomentLanes& own, double weight,
                  const NormalSetting& setting, const RowLanes& row);
  // Moments of a class without the row.
  void (*take_away)(const RowLanes& row, std::size_t n_groups, const MomentLanes& all, double weight, const RestLanes& rest);
  // Log-density of the row, up to a constant that all classes share.
  double (*score)(const RowLanes& row, std::size_t n_groups, const MomentLanes& seen, const NormalSetting& setting);
};

// The loops for this machine.
extern const LeaveOneOutLoops leave_one_out_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const LeaveOneOutLoops leave_one_out_loops_v3, leave_one_out_loops_v4;
inline const LeaveOneOutLoops& leave_one_out_loops() {
  static const LeaveOneOutLoops& chosen = simd::loops_in_use(leave_one_out_loops_baseline, leave_one_out_loops_v3, leave_one_out_loops_v4);
  return chosen;
}
#else
inline const LeaveOneOutLoops& leave_one_out_loops() { return leave_one_out_loops_baseline; }
#endif

// Leave-one-out scores, row by row.

inline NormalRule normal_rule(std::string_view name) {
  static constexpr Choice<NormalRule> choices[] = {
      {"mle", NormalRule::plain}, {"map", NormalRule::mode}, {"bayes", NormalRule::predictive}, {"raised", NormalRule::raised}};
  return chosen("rule", name, choices);
}

// Moments of column j in class c at [c * n_columns + j], standardised: weight, mean, sum of squared deviations.
struct ClassMoments {
  std::span<const double> weight, mean, squares;
  std::span<const double> centre, unit;  // of the column over all classes: 0 and 1 after standardisation
  std::size_t n_classes;
};

class LeftOutNormals {
 public:
  LeftOutNormals(const ClassMoments& moments, const NormalSetting& setting, std::size_t n_columns)
      : setting_(setting), n_columns_(n_columns), n_classes_(moments.n_classes), n_groups_((n_columns + lanes - 1) / lanes),
        columns_(5 * n_groups_), moments_(5 * n_groups_ * n_classes_) {
    for (std::size_t j = 0; j < n_columns; ++j) {
      group(columns_, 0, j)[j % lanes] = 0;
      group(columns_, 1, j)[j % lanes] = moments.centre[j];
      group(columns_, 2, j)[j % lanes] = 1 / moments.unit[j];
      group(columns_, 3, j)[j % lanes] = group(columns_, 4, j)[j % lanes] = 0;
      for (std::size_t c = 0; c < n_classes_; ++c) keep(moments, j, c);
    }
  }

  // Adds the scores of one row, up to a constant that all classes share; NaN if the model must be refitted without the
  // row.
  class Reader {
   public:
    explicit Reader(const LeftOutNormals& normals)
        : normals_(normals), value_(normals.n_groups_), row_(5 * normals.n_groups_), known_(normals.n_groups_), rest_(4 * normals.n_groups_) {}

    void add(const double* row, std::ptrdiff_t step, std::size_t label, double weight, double* scores) {
      const std::size_t n_groups = normals_.n_groups_;
      for (Lanes& group : value_) group = Lanes{} + std::numeric_limits<double>::quiet_NaN();
      for (std::size_t j = 0; j < normals_.n_columns_; ++j) value_[j / lanes][j % lanes] = row[static_cast<std::ptrdiff_t>(j) * step];
      const auto field = [&](std::size_t k) { return row_.data() + k * n_groups; };
      const RowLanes here{field(0), field(1), field(2), field(3), field(4), known_.data()};
      const bool is_safe = loops_.prepare(value_.data(), n_groups, normals_.columns(), normals_.of_class(label), weight, normals_.setting_, here);
      for (std::size_t c = 0; c < normals_.n_classes_; ++c)
        scores[c] += !is_safe   ? std::numeric_limits<double>::quiet_NaN()
                     : c == label ? own_score(here, c, weight)
                                  : loops_.score(here, n_groups, normals_.of_class(c), normals_.setting_);
    }

   private:
    double own_score(const RowLanes& here, std::size_t c, double weight) {
      const std::size_t n_groups = normals_.n_groups_;
      const auto field = [&](std::size_t k) { return rest_.data() + k * n_groups; };
      loops_.take_away(here, n_groups, normals_.of_class(c), weight, {field(0), field(1), field(2)});
      const MomentLanes rest{field(0), field(1), field(2), weight == 1 ? normals_.steps_without_one(c) : field(3)};
      if (weight != 1 && normals_.setting_.rule == NormalRule::predictive)
        for (std::size_t j = 0; j < normals_.n_columns_; ++j) field(3)[j / lanes][j % lanes] = normals_.step(field(0)[j / lanes][j % lanes]);
      return loops_.score(here, n_groups, rest, normals_.setting_);
    }

    const LeftOutNormals& normals_;
    const LeaveOneOutLoops& loops_ = leave_one_out_loops();
    simd::LaneTable value_, row_;
    simd::LaneBitsTable known_;
    simd::LaneTable rest_;
  };

 private:
  // The group of lanes of column j; Clang cannot return a reference to a single lane.
  Lanes& group(simd::LaneTable& table, std::size_t field, std::size_t j) { return table[field * n_groups_ + j / lanes]; }

  void keep(const ClassMoments& moments, std::size_t j, std::size_t c) {
    const double n = moments.weight[c * n_columns_ + j];
    const double fields[] = {n, moments.mean[c * n_columns_ + j], n > 0 ? moments.squares[c * n_columns_ + j] / n : 0.0,
                             step(n), step(std::max(n - 1, 0.0))};
    for (std::size_t k = 0; k < 5; ++k) group(moments_, 5 * c + k, j)[j % lanes] = fields[k];
    group(columns_, 0, j)[j % lanes] += n;
    group(columns_, 3, j)[j % lanes] += n > 0 ? moments.squares[c * n_columns_ + j] : 0.0;
    group(columns_, 4, j)[j % lanes] += n > 0 ? setting_.one : 0.0;
  }

  // Term of the degrees of freedom: two per pseudo-observation, plus the number of rows minus one.
  double step(double n) const { return log_rising(setting_.alpha + std::max(n - setting_.one, 0.0) / 2, 0.5); }

  ColumnLanes columns() const {
    const auto field = [&](std::size_t k) { return columns_.data() + k * n_groups_; };
    return {field(0), field(1), field(2), field(3), field(4)};
  }

  const Lanes* field(std::size_t c, std::size_t k) const { return moments_.data() + (5 * c + k) * n_groups_; }
  MomentLanes of_class(std::size_t c) const { return {field(c, 0), field(c, 1), field(c, 2), field(c, 3)}; }
  const Lanes* steps_without_one(std::size_t c) const { return field(c, 4); }

  NormalSetting setting_;
  std::size_t n_columns_, n_classes_, n_groups_;
  simd::LaneTable columns_;  // [5, n_groups]: weight, centre, inverse unit, squares within classes, weight of a row per class
  simd::LaneTable moments_;  // [n_classes, 5, n_groups]: weight, mean, variance, step, step without a row of weight 1
};

inline void add_left_out_normals(const Matrix& matrix, std::span<const std::int32_t> label, std::span<const double> weight,
                                 const LeftOutNormals& normals, std::size_t n_classes, std::span<double> scores) {
  LeftOutNormals::Reader reader(normals);
  for (std::size_t i = 0; i < matrix.n_rows; ++i)
    reader.add(matrix.at(i, 0), matrix.column_step, static_cast<std::size_t>(label[i]),
               weight.empty() ? 1.0 : weight[i], scores.data() + i * n_classes);
}

}  // namespace baytree::naive_bayes
