// Scores of candidate column subsets (wrapper selection): adding a column to an additive model is a vector addition per
// row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace baytree::naive_bayes {

// Rows [first, last) that are predicted together; `fallback` is the class predicted where every class is impossible.
struct Batch {
  std::size_t first, last;
  std::int32_t fallback;
};

// Number of rows predicted correctly by base + effect, both [n_rows, n_classes]; the first class wins ties.
inline std::int64_t count_right(const double* base, const double* effect, std::span<const std::int32_t> label,
                                std::size_t n_classes, const Batch& batch) {
  std::int64_t right = 0;
  for (std::size_t i = batch.first; i < batch.last; ++i) {
    const double* const b = base + i * n_classes;
    const double* const e = effect + i * n_classes;
    double largest = -std::numeric_limits<double>::infinity();
    std::int32_t choice = batch.fallback;
    for (std::size_t c = 0; c < n_classes; ++c) {
      const double score = b[c] + e[c];
      if (score > largest) largest = score, choice = static_cast<std::int32_t>(c);
    }
    right += choice == label[i];
  }
  return right;
}

// The same for two classes, the most common case, without branches.
inline std::int64_t count_right_of_two(const double* base, const double* effect, std::span<const std::int32_t> label,
                                       const Batch& batch) {
  constexpr double impossible = -std::numeric_limits<double>::infinity();
  std::int64_t right = 0;
  for (std::size_t i = batch.first; i < batch.last; ++i) {
    const double zero = base[2 * i] + effect[2 * i], one = base[2 * i + 1] + effect[2 * i + 1];
    const bool is_fallback = (zero == impossible) & (one == impossible);
    const std::int32_t choice = is_fallback ? batch.fallback : static_cast<std::int32_t>(one > zero);
    right += choice == label[i];
  }
  return right;
}

}  // namespace baytree::naive_bayes
