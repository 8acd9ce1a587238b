// Multinomial regression on few rows: the optimum, and a cross-validation of it, every fold and strength in one call.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "linear/classes/class_lasso.hpp"
#include "linear/classes/class_newton.hpp"
#include "linear/classes/class_ridge.hpp"

namespace baytree::linear {

// The optimum from a start, with the curvature of each class from nearby, where there is one; nothing where it is not found.
inline std::optional<ClassFit> class_fit(const ClassRows& rows, const ClassPenalty& penalty, std::vector<double> start, const NewtonAim& aim,
                                         const ClassBlocks* near = nullptr) {
  if (!penalty.is_smooth()) {
    constexpr std::int64_t kPatience = 20;  // steps; most problems take a third of them
    ClassLasso steps(rows, penalty);
    return class_optimum(rows, penalty, std::move(start), {aim.tol, aim.ideal, std::min(aim.most, kPatience)}, steps);
  }
  centre_classes(start, rows.q());
  ClassRidge steps(rows, penalty, near);
  return class_optimum(rows, penalty, std::move(start), aim, steps);
}

// The same strengths for all folds, and the optimum of all rows at each of them.
struct ClassPath {
  std::size_t classes, folds, count;
  std::span<const double> ridge, lasso;  // [folds, count, q]
  std::span<const double> theta;         // [count, classes, q]
  std::span<const double> aim;           // [folds, count], the violation that will do
  std::int64_t most;                     // steps
};

class ClassHeldOut {
 public:
  ClassHeldOut(const RowRun& run, std::span<const std::int64_t> fold, const ClassPath& path)
      : path_(path), q_(run.columns + 1), all_(run, path.classes) {
    for (std::size_t f = 0; f < path.folds; ++f) folds_.push_back(std::make_unique<Fold>(run, fold, f, path.classes));
  }

  // Writes the mean loss of each fold's rows under the path of all others, and whether it was found. [folds, count]
  void losses(std::span<double> loss, std::span<std::uint8_t> found) {
    for (std::size_t i = 0; i < path_.count; ++i) {
      const auto near = shared(i);
      for (std::size_t f = 0; f < path_.folds; ++f) {
        Fold& own = *folds_[f];
        own.last = fit(f, i, near ? &*near : nullptr);
        found[f * path_.count + i] = own.last.has_value();
        loss[f * path_.count + i] = own.last ? own.held.slope(own.last->theta).loss : 0.0;
      }
    }
  }

 private:
  // A row's weight among those of a fold, or among all others; those that count sum to 1.
  struct FoldWeights {
    FoldWeights(const RowRun& run, std::span<const std::int64_t> fold, std::size_t f, bool is_held) : weight(run.rows) {
      double total = 0;
      for (std::size_t i = 0; i < run.rows; ++i)
        total += weight[i] = (fold[i] == static_cast<std::int64_t>(f)) == is_held ? run.weight[i] : 0.0;
      for (double& each : weight) each /= total;
    }
    RowRun of(RowRun run) const { return run.weight = weight.data(), run; }

    std::vector<double> weight;
  };

  struct Fold {
    Fold(const RowRun& run, std::span<const std::int64_t> fold, std::size_t f, std::size_t classes)
        : others(FoldWeights(run, fold, f, false).of(run), classes), held(FoldWeights(run, fold, f, true).of(run), classes) {}

    ClassRows others, held;
    std::optional<ClassFit> last;
  };

  ClassPenalty penalty(std::size_t f, std::size_t i) const {
    const std::size_t at = (f * path_.count + i) * q_;
    return {path_.ridge.subspan(at, q_), path_.lasso.subspan(at, q_)};
  }

  std::span<const double> whole(std::size_t i) const { return path_.theta.subspan(i * path_.classes * q_, path_.classes * q_); }

  // The curvature of each class over all rows, near which those of all folds are.
  std::optional<ClassBlocks> shared(std::size_t i) const {
    const auto strength = penalty(0, i);
    return strength.is_smooth() ? ClassBlocks::at(all_, all_.slope(whole(i)).share, strength) : std::nullopt;
  }

  std::optional<ClassFit> fit(std::size_t f, std::size_t i, const ClassBlocks* near) const {
    const auto& last = folds_[f]->last;
    if (folds_[f]->others.rows() == 0 || folds_[f]->held.rows() == 0) return std::nullopt;
    std::vector<double> start(whole(i).begin(), whole(i).end());
    if (last)  // as far from the last one as those of all rows are apart
      for (std::size_t j = 0; j < start.size(); ++j) start[j] = last->theta[j] + (start[j] - whole(i - 1)[j]);
    const double aim = path_.aim[f * path_.count + i];
    return class_fit(folds_[f]->others, penalty(f, i), std::move(start), {aim, aim, path_.most}, near);
  }

  const ClassPath path_;
  const std::size_t q_;
  const ClassRows all_;
  std::vector<std::unique_ptr<Fold>> folds_;
};

}  // namespace baytree::linear
