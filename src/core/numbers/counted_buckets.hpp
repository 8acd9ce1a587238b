// The buckets of many columns, and how many rows of each class lie in them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "numbers/buckets.hpp"
#include "numbers/counts.hpp"
#include "numbers/matrix.hpp"
#include "workers.hpp"

namespace baytree::numbers {

struct CountedBuckets {
  int exponent = exact_exponent;
  std::vector<double> edges;
  std::vector<std::int64_t> counts;  // [n_buckets + 1, n_classes], missing ones first
};

// Columns are laid out in eights, which lie in one line of the cache; threads take the eights.
class BucketCounter {
 public:
  BucketCounter(const Matrix& matrix, std::span<const std::int32_t> label, std::size_t n_classes, std::size_t most)
      : matrix_(matrix), label_(label), n_classes_(n_classes), most_(most) {}

  std::vector<CountedBuckets> operator()(Workers& workers) const {
    std::vector<CountedBuckets> columns(matrix_.n_columns);
    workers.run((matrix_.n_columns + at_once - 1) / at_once, [&](std::size_t k, int) {
      const std::size_t first = k * at_once, last = std::min(first + at_once, matrix_.n_columns);
      const std::vector<double> values = laid_out(first, last);
      for (std::size_t j = first; j < last; ++j) columns[j] = counted({values.data() + (j - first) * matrix_.n_rows, matrix_.n_rows});
    });
    return columns;
  }

 private:
  static constexpr std::size_t at_once = 8;

  std::vector<double> laid_out(std::size_t first, std::size_t last) const {
    std::vector<double> values((last - first) * matrix_.n_rows);
    for (std::size_t i = 0; i < matrix_.n_rows; ++i)
      for (std::size_t j = first; j < last; ++j) values[(j - first) * matrix_.n_rows + i] = *matrix_.at(i, j);
    return values;
  }

  CountedBuckets counted(std::span<const double> values) const {
    Buckets found = BucketCoder(values, most_)();
    const std::size_t n_buckets = found.edges.size();
    return {found.exponent, std::move(found.edges), count_rows(found.code, label_, n_buckets, n_classes_)};
  }

  Matrix matrix_;
  std::span<const std::int32_t> label_;
  std::size_t n_classes_, most_;
};

}  // namespace baytree::numbers
