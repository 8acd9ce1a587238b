// Class weights per level, and per bin of a numeric column; bins are powers of two wide and mergeable.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::streaming {

// Class weights: a row per bin or level.

inline void add_to(std::span<double> sum, std::span<const double> more) {
  for (size_t k = 0; k < sum.size(); ++k) sum[k] += more[k];
}

inline double sum_of(std::span<const double> masses) {
  double sum = 0;
  for (const double mass : masses) sum += mass;
  return sum;
}

// Distributes the initial weights of a node between two branches in the proportions of the later rows (integers stay
// integers): per class, or over all classes for a class without later rows.
inline void share_out(std::span<const double> start, std::span<double> low, std::span<double> high) {
  const double in_low = sum_of(low), in_both = in_low + sum_of(high);
  for (size_t k = 0; k < start.size(); ++k) {
    const double came = low[k] + high[k];
    const double exact = start[k] * (came > 0 ? low[k] / came : in_low / in_both);
    const double to_low = std::floor(start[k]) == start[k] ? std::min(start[k], std::floor(exact + 0.5)) : exact;
    low[k] += to_low;
    high[k] += start[k] - to_low;
  }
}

struct Masses {
  std::vector<double> all;  // [n_rows, n_classes]

  std::span<double> of(size_t row, size_t classes) { return {all.data() + row * classes, classes}; }
  std::span<const double> of(size_t row, size_t classes) const { return {all.data() + row * classes, classes}; }

  size_t size(size_t classes) const { return classes ? all.size() / classes : 0; }
  void resize(size_t rows, size_t classes) { all.resize(rows * classes); }
  void insert(size_t row, size_t classes) { all.insert(all.begin() + std::ptrdiff_t(row * classes), classes, 0.0); }
  void move(size_t from, size_t to, size_t classes) {
    if (from != to) std::ranges::copy(of(from, classes), of(to, classes).begin());
  }
  // Adds columns for new classes.
  void widen(size_t classes, size_t more) {
    const size_t rows = size(classes);
    std::vector<double> wide(rows * more);
    for (size_t row = 0; row < rows; ++row) std::ranges::copy(of(row, classes), wide.begin() + std::ptrdiff_t(row * more));
    all = std::move(wide);
  }
};

// Numbers of a column by class: individual values while there are few, then bins of one width, a power of two.
//
// A bin of twice the width is the union of two, so the state depends only on the values: neither on their order nor on
// the batches in which they came; and states of two parts can be added.

constexpr int32_t kExact = -1074, kNarrowest = -1000, kWidest = 1022;  // exponents of the width; kExact: a bin is a single value

// Lower edge of the bin of a number.
class Grid {
 public:
  explicit Grid(int32_t exponent = kExact)
      : exponent_(exponent), width_(std::ldexp(1.0, exponent)), per_unit_(exponent == kExact ? 0 : std::ldexp(1.0, -exponent)) {}

  int32_t exponent() const { return exponent_; }
  // Number of possible bins between two lower edges.
  double steps(double from, double to) const { return (to - from) * per_unit_; }
  double operator()(double x) const {
    if (exponent_ == kExact) return x + 0.0;  // -0 becomes 0
    const double place = x * per_unit_;
    if (!(std::abs(place) < 0x1p52)) return x;  // a multiple of the width, or infinite
    const auto toward_zero = double(int64_t(place));  // instead of a call of floor
    const double below = toward_zero - double(toward_zero > place);
    return below == 0 && x < 0 ? -width_ : below * width_ + 0.0;  // the product may underflow to 0
  }

 private:
  int32_t exponent_;
  double width_, per_unit_;
};

struct Bins {
  Grid grid;
  std::vector<double> low;  // [n_bins], ascending
  Masses mass;              // [n_bins, n_classes]

  size_t size() const { return low.size(); }

  void add(double x, size_t label, double weight, size_t classes, size_t most) {
    const size_t at = place_of(grid(x), classes);
    mass.of(at, classes)[label] += weight;
    if (size() > most) coarsen(most, classes);
  }
  void add(const Bins& other, size_t classes, size_t most) {
    if (other.grid.exponent() > grid.exponent()) widen(other.grid.exponent(), classes);
    for (size_t i = 0; i < other.size(); ++i) {
      const size_t at = place_of(grid(other.low[i]), classes);
      add_to(mass.of(at, classes), other.mass.of(i, classes));
    }
    if (size() > most) coarsen(most, classes);
  }

 private:
  size_t place_of(double begin, size_t classes) {
    const size_t at = found(begin);
    if (at < size() && low[at] == begin) return at;
    low.insert(low.begin() + std::ptrdiff_t(at), begin);
    mass.insert(at, classes);
    return at;
  }

  // The first bin whose lower edge is not below; without gaps between bins it needs no search.
  size_t found(double begin) const {
    if (low.empty()) return 0;
    const double guess = grid.steps(low[0], begin);
    if (guess >= 0 && guess < double(size()) && low[size_t(guess)] == begin) return size_t(guess);
    const double* from = low.data();
    for (size_t left = size(); left > 1;) {
      const size_t half = left / 2;
      from += from[half - 1] < begin ? half : 0;
      left -= half;
    }
    return size_t(from - low.data()) + (*from < begin);
  }

  // Doubles the width until there are few enough bins.
  void coarsen(size_t most, size_t classes) {
    int32_t narrow = std::max(grid.exponent() + 1, kNarrowest), wide = narrow;
    for (int32_t step = 1; wide < kWidest && occupied(Grid(wide), most) > most; step *= 2)  // usually the first width suffices
      narrow = wide + 1, wide = std::min(wide + step, kWidest);
    while (narrow < wide) {
      const int32_t middle = narrow + (wide - narrow) / 2;
      if (occupied(Grid(middle), most) <= most) wide = middle;
      else narrow = middle + 1;
    }
    widen(wide, classes);
  }
  // Number of occupied bins of a wider grid, counted up to `most` + 1.
  size_t occupied(const Grid& wider, size_t most) const {
    size_t count = 0;
    double last = 0;
    for (size_t i = 0; i < size() && count <= most; ++i) {
      const double begin = wider(low[i]);
      count += i == 0 || begin != last;
      last = begin;
    }
    return count;
  }
  void widen(int32_t exponent, size_t classes) {
    grid = Grid(exponent);
    size_t kept = 0;
    for (size_t i = 0; i < size(); ++i) {
      const double begin = grid(low[i]);
      if (kept && low[kept - 1] == begin) {
        add_to(mass.of(kept - 1, classes), mass.of(i, classes));
        continue;
      }
      low[kept] = begin;
      mass.move(i, kept++, classes);
    }
    low.resize(kept);
    mass.resize(kept, classes);
  }
};

}  // namespace baytree::tree::streaming
