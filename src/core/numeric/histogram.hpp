// Histograms with buckets whose widths are powers of two, and counts per bucket and class. Buckets are mergeable.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "numeric/counts.hpp"
#include "numeric/factorize.hpp"
#include "numeric/matrix.hpp"
#include "util/thread_pool.hpp"

namespace baytree::numeric {

// Numbers → few buckets of width 2^exponent, aligned to multiples of the width (the merging is explained in Python,
// class Histogram).

constexpr int exact_exponent = -1075;  // exponent of buckets that hold one double each

struct Buckets {
  int exponent = exact_exponent;
  std::vector<double> edges;       // lower edges, ascending
  std::vector<std::int32_t> code;  // the bucket of each number, -1 for NaN
};

// value * 2^exponent, rounded once; a multiplication if that power is a normal double, else ldexp.
inline double times_power(double value, int exponent) {
  if (exponent < -1022 || exponent > 1023) return std::ldexp(value, exponent);
  return value * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

// Lower edge of a number's bucket; the number itself if a bucket is wider than the range of doubles.
inline double begin_of_bucket(double value, int exponent) {
  if (exponent == exact_exponent) return value;
  const double scaled = times_power(value, -exponent);
  const double multiple = scaled == 0 && value < 0 ? -1.0 : std::floor(scaled);  // an underflowing negative value stays below 0
  const double begin = times_power(multiple, exponent);
  return std::isfinite(scaled) && std::isfinite(begin) ? begin + 0.0 : value;
}

// Lower edges of the buckets of ascending numbers.
inline std::vector<double> begins_of(std::span<const double> ascending, int exponent) {
  std::vector<double> begins;
  for (const double value : ascending) {
    const double begin = begin_of_bucket(value, exponent);
    if (begins.empty() || begin != begins.back()) begins.push_back(begin);
  }
  return begins;
}

inline std::size_t count_buckets(std::span<const double> ascending, int exponent) {
  std::size_t n_buckets = 0;
  double last = 0;
  for (const double value : ascending) {
    const double begin = begin_of_bucket(value, exponent);
    n_buckets += n_buckets == 0 || begin != last;
    last = begin;
  }
  return n_buckets;
}

// Index of each ascending number's bucket among these edges, which include all of them.
inline std::vector<std::int32_t> places_among(const std::vector<double>& edges, std::span<const double> ascending, int exponent) {
  std::vector<std::int32_t> place(ascending.size());
  std::size_t here = 0;
  for (std::size_t k = 0; k < ascending.size(); ++k) {
    while (edges[here] < begin_of_bucket(ascending[k], exponent)) ++here;
    place[k] = static_cast<std::int32_t>(here);
  }
  return place;
}

// The smallest exponent for which these distinct ascending numbers occupy at most `most` buckets.
inline int least_exponent(std::span<const double> ascending, int at_least, std::size_t most) {
  if (ascending.size() <= most) return at_least;
  int low = at_least, high = 1024;                      // too many buckets at `low`, few enough at `high`
  int step = at_least > exact_exponent ? 1 : high;      // if the first width is nearly right, the result is close
  while (high - low > 1) {
    const int middle = std::min(low + step, low + (high - low) / 2);
    if (count_buckets(ascending, middle) > most) low = middle, step *= 2;
    else high = middle;
  }
  return high;
}

// Assigns numbers to the narrowest buckets of which at most `most` are occupied.
class BucketCoder {
 public:
  BucketCoder(std::span<const double> values, std::size_t most) : values_(values), most_(most) {}

  Buckets operator()() {
    survey();
    result_.code.assign(values_.size(), -1);
    if (n_known_ > most_ && is_near_its_extent() && code_widened()) return std::move(result_);
    code_distinct();
    return std::move(result_);
  }

 private:
  // Buckets over the whole range before widening, for a column of many numbers: more than the result may have, few enough
  // for the cache.
  static constexpr double n_initial_buckets = 4096;

  void survey() {
    constexpr std::size_t lanes = 4;  // independent minima, so that comparisons do not wait for each other
    double low[lanes], high[lanes];
    std::fill_n(low, lanes, std::numeric_limits<double>::infinity());
    std::fill_n(high, lanes, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double value = values_[i];
      double &least = low[i % lanes], &most = high[i % lanes];
      least = value < least ? value : least;  // NaN compares false
      most = value > most ? value : most;
      n_known_ += value == value;
    }
    low_ = *std::min_element(low, low + lanes);
    high_ = *std::max_element(high, high + lanes);
  }

  // Whether multiples of the fine width are integers that fit into 64 bits.
  bool is_near_its_extent() const {
    const double extent = high_ - low_;
    return 1e-290 < extent && extent < 1e290 && std::max(std::abs(low_), std::abs(high_)) <= extent * 0x1p40;
  }

  // Without sorting: start with buckets that are certainly too narrow and double them until few enough are occupied.
  // Returns false if few are occupied at once, since narrower ones might do.
  bool code_widened() {
    fine_ = static_cast<int>(std::ceil(std::log2((high_ - low_) / n_initial_buckets)));
    const double scale = std::ldexp(1.0, -fine_);
    first_ = whole_below(low_ * scale);
    std::vector<std::int32_t> bucket(static_cast<std::size_t>(whole_below(high_ * scale) - first_) + 1, -1);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (std::isnan(values_[i])) continue;
      result_.code[i] = static_cast<std::int32_t>(whole_below(values_[i] * scale) - first_);
      bucket[static_cast<std::size_t>(result_.code[i])] = 0;
    }
    if (static_cast<std::size_t>(std::count(bucket.begin(), bucket.end(), 0)) <= most_) return false;
    int widening = 1;
    while (number_widened(bucket, widening) > most_) ++widening;
    result_.exponent = fine_ + widening;
    for (std::int32_t& code : result_.code)
      if (code >= 0) code = bucket[static_cast<std::size_t>(code)];
    return true;
  }

  // Numbers the occupied buckets after `widening` doublings; returns how many there are.
  std::size_t number_widened(std::vector<std::int32_t>& bucket, int widening) {
    result_.edges.clear();
    const double width = std::ldexp(1.0, fine_ + widening);
    std::int64_t last = 0;
    for (std::size_t k = 0; k < bucket.size(); ++k) {
      if (bucket[k] < 0) continue;
      const std::int64_t multiple = (first_ + static_cast<std::int64_t>(k)) >> widening;
      if (result_.edges.empty() || multiple != last) result_.edges.push_back(static_cast<double>(multiple) * width);
      last = multiple;
      bucket[k] = static_cast<std::int32_t>(result_.edges.size()) - 1;
    }
    return result_.edges.size();
  }

  // For few distinct numbers, or numbers of very different magnitudes: by their distinct values.
  void code_distinct() {
    std::vector<double> known;
    known.reserve(n_known_);
    for (const double value : values_)
      if (!std::isnan(value)) known.push_back(value + 0.0);  // -0 becomes 0
    ItemTable table(reinterpret_cast<const unsigned char*>(known.data()), sizeof(double));
    std::vector<std::int32_t> item(known.size());
    for (std::size_t i = 0; i < known.size(); ++i) item[i] = table.code_of(i);
    const std::vector<std::int32_t> bucket = bucket_distinct(known, table.take_first());
    std::size_t i = 0;
    for (std::size_t row = 0; row < values_.size(); ++row)
      if (!std::isnan(values_[row])) result_.code[row] = bucket[static_cast<std::size_t>(item[i++])];
  }

  // Finds exponent and edges; returns the bucket of each distinct number.
  std::vector<std::int32_t> bucket_distinct(const std::vector<double>& known, const std::vector<std::int64_t>& first) {
    struct Distinct {
      double number;
      std::size_t item;
    };
    std::vector<Distinct> order(first.size());  // values stored beside their items, so that comparisons need no lookup
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = {known[static_cast<std::size_t>(first[k])], k};
    std::sort(order.begin(), order.end(), [](const Distinct& a, const Distinct& b) { return a.number < b.number; });
    std::vector<double> ascending(order.size());
    std::transform(order.begin(), order.end(), ascending.begin(), [](const Distinct& each) { return each.number; });
    result_.exponent = least_exponent(ascending, exact_exponent, most_);
    result_.edges = begins_of(ascending, result_.exponent);
    std::vector<std::int32_t> bucket(order.size());
    std::int32_t place = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (begin_of_bucket(ascending[k], result_.exponent) != result_.edges[static_cast<std::size_t>(place)]) ++place;
      bucket[order[k].item] = place;
    }
    return bucket;
  }

  // Floor of numbers far below 2^63, without a function call.
  static std::int64_t whole_below(double value) {
    const auto whole = static_cast<std::int64_t>(value);
    return whole - (value < static_cast<double>(whole));
  }

  std::span<const double> values_;
  std::size_t most_, n_known_ = 0;
  double low_ = 0, high_ = 0;
  int fine_ = 0;            // exponent of the fine buckets
  std::int64_t first_ = 0;  // and the multiple of their width at which the first one starts
  Buckets result_;
};

// Union of two sets of buckets: exponent, edges, and the new index of each old bucket.
struct UnitedBuckets {
  int exponent = exact_exponent;
  std::vector<double> edges;
  std::vector<std::int32_t> of_left, of_right;
};

inline UnitedBuckets unite_buckets(std::span<const double> left, std::span<const double> right, int exponent, std::size_t most) {
  const std::vector<double> a = begins_of(left, exponent), b = begins_of(right, exponent);
  std::vector<double> both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  UnitedBuckets united;
  united.exponent = least_exponent(both, exponent, most);
  united.edges = begins_of(both, united.exponent);
  united.of_left = places_among(united.edges, left, united.exponent);
  united.of_right = places_among(united.edges, right, united.exponent);
  return united;
}

// Buckets of many columns, with counts of rows per bucket and class.

struct CountedBuckets {
  int exponent = exact_exponent;
  std::vector<double> edges;
  std::vector<std::int64_t> counts;  // [n_buckets + 1, n_classes], missing first
};

// Columns are processed in groups of eight, which share a cache line; threads take groups.
class BucketCounter {
 public:
  BucketCounter(const Matrix& matrix, std::span<const std::int32_t> label, std::size_t n_classes, std::size_t most)
      : matrix_(matrix), label_(label), n_classes_(n_classes), most_(most) {}

  std::vector<CountedBuckets> operator()(Workers& workers) const {
    std::vector<CountedBuckets> columns(matrix_.n_columns);
    workers.run((matrix_.n_columns + columns_per_task - 1) / columns_per_task, [&](std::size_t k, int) {
      const std::size_t first = k * columns_per_task, last = std::min(first + columns_per_task, matrix_.n_columns);
      const std::vector<double> values = laid_out(first, last);
      for (std::size_t j = first; j < last; ++j) columns[j] = counted({values.data() + (j - first) * matrix_.n_rows, matrix_.n_rows});
    });
    return columns;
  }

 private:
  static constexpr std::size_t columns_per_task = 8;  // copied together: eight doubles of a row are a cache line

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

}  // namespace baytree::numeric
