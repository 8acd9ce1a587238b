// Bags of words to totals: how often each word occurs in each class, and in how many documents.
#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "numbers/sparse_rows.hpp"

namespace baytree::text {

struct WordCounts {
  std::vector<std::int64_t> total, documents;  // [n_words, n_classes]
  bool is_whole = true;                        // every count was a whole number; else the totals are not
};

// Rows are documents, their codes words and their values counts; every code and label is within its range.
inline WordCounts count_words(const numbers::SparseRows& rows, std::span<const std::int32_t> label, std::size_t n_words,
                              std::size_t n_classes) {
  WordCounts counts{std::vector<std::int64_t>(n_words * n_classes), std::vector<std::int64_t>(n_words * n_classes)};
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (auto e = static_cast<std::size_t>(rows.start[i]); e < static_cast<std::size_t>(rows.start[i + 1]); ++e) {
      const std::size_t cell = static_cast<std::size_t>(rows.code[e]) * n_classes + static_cast<std::size_t>(label[i]);
      const double times = std::fabs(rows.value[e]) < 0x1p31 ? rows.value[e] : 0.5;  // what is larger counts as not whole
      const auto whole = static_cast<std::int64_t>(times);
      counts.is_whole &= static_cast<double>(whole) == times;
      counts.total[cell] += whole;
      ++counts.documents[cell];
    }
  return counts;
}

}  // namespace baytree::text
