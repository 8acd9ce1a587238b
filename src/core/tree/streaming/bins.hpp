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
  double operator()(double x) const {
    if (exponent_ == kExact) return x + 0.0;  // of two zeros the positive one
    const double place = x * per_unit_;
    if (!(std::abs(place) < 0x1p52)) return x;  // a multiple of the width, or infinite
    const double below = std::floor(place);
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
    const size_t at = size_t(std::lower_bound(low.begin(), low.end(), begin) - low.begin());
    if (at < size() && low[at] == begin) return at;
    low.insert(low.begin() + std::ptrdiff_t(at), begin);
    mass.insert(at, classes);
    return at;
  }

  // The narrowest bins that are not too many: fewer numbers are told apart the wider they are.
  void coarsen(size_t most, size_t classes) {
    int32_t narrow = std::max(grid.exponent() + 1, kNarrowest), wide = kWidest;
    while (narrow < wide) {
      const int32_t middle = narrow + (wide - narrow) / 2;
      if (occupied(Grid(middle)) <= most) wide = middle;
      else narrow = middle + 1;
    }
    widen(wide, classes);
  }
  size_t occupied(const Grid& wider) const {
    size_t count = 0;
    for (size_t i = 0; i < size(); ++i) count += i == 0 || wider(low[i]) != wider(low[i - 1]);
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
