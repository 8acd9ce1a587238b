// Loops over the rows of a logistic regression: scores, probabilities, gradients and products with the Hessian.
//
// The lanes and the order of every sum are the same for every instruction set, so the bits are too. Dense rows hold one feature after
// another; their number is a multiple of eight, and rows beyond the last one have weight 0. Compressed rows hold the scores of a row
// side by side, `width` of them: 1, or a multiple of four with zeros at the end.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/dispatch.hpp"

namespace baytree::linear {

// Labels and weights of the rows; with one score the labels are 0 and 1.
struct LabelledWeights {
  std::size_t rows, scores;
  const std::int32_t* label;
  const double* weight;
};

// Entries of compressed rows (CSR).
struct CompressedEntries {
  std::size_t rows;
  const std::int64_t* start;
  const std::int32_t* feature;
  const double* value;
};

// The entries of each feature: their rows, and their places among all entries.
struct FeatureEntries {
  std::size_t features;
  const std::int64_t* start;
  const std::int32_t* row;
  const std::int64_t* place;
};

struct LogisticLoops {
  // Dense rows.
  // out [count, rows] = coefficient [count, features] times feature [features, rows].
  void (*combine)(const double* coefficient, std::size_t count, const double* feature, std::size_t features, std::size_t rows, double* out);
  // out[a * step + b] = Σ_i left[a][i] right[b][i].
  void (*dots)(const double* const* left, std::size_t lefts, const double* const* right, std::size_t rights, std::size_t rows,
               double* out, std::size_t step);
  // The same for b up to a (and some more), where left and right are the same features.
  void (*lower_dots)(const double* const* left, const double* const* right, std::size_t count, std::size_t rows, double* out,
                     std::size_t step);
  // Σ weight · loss of scores [scores, rows], which become probabilities; writes weight (probability − truth) to residual.
  double (*judge)(const LabelledWeights& rows, double* score, double* residual);
  // Scores u [scores, rows] of a direction become weight · p (u − Σ p u): the product of the loss's Hessian in the scores with u.
  void (*bend)(const LabelledWeights& rows, const double* probability, double* score);
  // out[i] = a[i] b[i].
  void (*times)(const double* a, const double* b, std::size_t rows, double* out);

  // Compressed rows.
  // out [rows, width] = entries times coefficient [features, width].
  void (*scores)(const CompressedEntries& entries, const double* coefficient, std::size_t width, double* out);
  // Adds entries' transpose times of_rows [rows, width] to out [features, width].
  void (*sums)(const CompressedEntries& entries, const double* of_rows, std::size_t width, double* out);
  // Adds Σ_i factor[i] x_a x_b to out [features, features, width] for b up to a.
  void (*squares)(const CompressedEntries& entries, const FeatureEntries& by_feature, const double* factor, std::size_t width, double* out);
  // As judge and bend, for scores [rows, width].
  double (*judge_rows)(const LabelledWeights& rows, std::size_t width, double* score, double* residual);
  void (*bend_rows)(const LabelledWeights& rows, std::size_t width, const double* probability, double* score);
};

// The loops for this machine.
extern const LogisticLoops logistic_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const LogisticLoops logistic_loops_v3, logistic_loops_v4;
inline const LogisticLoops& logistic_loops() {
  static const LogisticLoops& chosen = simd::loops_in_use(logistic_loops_baseline, logistic_loops_v3, logistic_loops_v4);
  return chosen;
}
#else
inline const LogisticLoops& logistic_loops() { return logistic_loops_baseline; }
#endif

}  // namespace baytree::linear
