// The numbers of a column by class: as they are while they are few, then in bins of one width, a power of two.
//
// Bins of twice the width hold pairs of the narrower ones, so what is kept is a function of the numbers alone: neither their
// order nor the parts in which they came can change it, and what two parts keep adds up.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/streaming/masses.hpp"

namespace baytree::tree::streaming {

constexpr int32_t kExact = -1074, kNarrowest = -1000, kWidest = 1022;  // exponents of the width; at the first a bin is a number

// Where the bin of a number begins.
class Grid {
 public:
  explicit Grid(int32_t exponent = kExact)
      : exponent_(exponent), width_(std::ldexp(1.0, exponent)), per_unit_(exponent == kExact ? 0 : std::ldexp(1.0, -exponent)) {}

  int32_t exponent() const { return exponent_; }
  // How many bins lie between two places, if all that could be there are.
  double steps(double from, double to) const { return (to - from) * per_unit_; }
  double operator()(double x) const {
    if (exponent_ == kExact) return x + 0.0;  // of two zeros the positive one
    const double place = x * per_unit_;
    if (!(std::abs(place) < 0x1p52)) return x;  // a multiple of the width, or infinite
    const auto toward_zero = double(int64_t(place));  // in place of floor, which is a call
    const double below = toward_zero - double(toward_zero > place);
    return below == 0 && x < 0 ? -width_ : below * width_ + 0.0;  // a product may be too small to be told from 0
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

  // The first bin that does not begin before; where bins have no gaps, it is known without a search.
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

  // The narrowest bins that are not too many: fewer numbers are told apart the wider they are.
  void coarsen(size_t most, size_t classes) {
    int32_t narrow = std::max(grid.exponent() + 1, kNarrowest), wide = narrow;
    for (int32_t step = 1; wide < kWidest && occupied(Grid(wide), most) > most; step *= 2)  // most often the next will do
      narrow = wide + 1, wide = std::min(wide + step, kWidest);
    while (narrow < wide) {
      const int32_t middle = narrow + (wide - narrow) / 2;
      if (occupied(Grid(middle), most) <= most) wide = middle;
      else narrow = middle + 1;
    }
    widen(wide, classes);
  }
  // How many of wider bins would hold something, told up to one more than `most`.
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
