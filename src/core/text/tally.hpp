// Bags of words to totals: how often each word occurs in each class, and in how many documents.
#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree {

struct Tally {
  std::vector<std::int64_t> total, documents;  // [n_words, n_classes]
  bool is_whole = true;                        // every count was a whole number; else the totals are not
};

// Row i has the words code[start[i]] … and their counts; every code and label is within its range.
inline Tally tally(std::span<const std::int64_t> start, std::span<const std::int32_t> code, std::span<const double> count,
                   std::span<const std::int32_t> label, std::size_t n_words, std::size_t n_classes) {
  Tally tally{std::vector<std::int64_t>(n_words * n_classes), std::vector<std::int64_t>(n_words * n_classes)};
  for (std::size_t i = 0; i + 1 < start.size(); ++i)
    for (auto e = static_cast<std::size_t>(start[i]); e < static_cast<std::size_t>(start[i + 1]); ++e) {
      const std::size_t cell = static_cast<std::size_t>(code[e]) * n_classes + static_cast<std::size_t>(label[i]);
      const double times = std::fabs(count[e]) < 0x1p31 ? count[e] : 0.5;  // what is larger counts as not whole
      const auto whole = static_cast<std::int64_t>(times);
      tally.is_whole &= static_cast<double>(whole) == times;
      tally.total[cell] += whole;
      ++tally.documents[cell];
    }
  return tally;
}

}  // namespace baytree
