// The ends of numbers: the two least and the two largest different ones, and how often each is there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace baytree::numbers {

// From the outermost one inwards; `is_outside(a, b)`: a lies nearer to this end than b.
template <typename IsOutside> class End {
 public:
  bool is_inside(double value) const { return n_[1] && IsOutside()(value_[1], value); }
  void take(double value) {
    if (n_[0] && value == value_[0]) ++n_[0];
    else if (n_[1] && value == value_[1]) ++n_[1];
    else if (!n_[0] || IsOutside()(value, value_[0])) put(1, value_[0], n_[0]), put(0, value, 1);
    else if (!n_[1] || IsOutside()(value, value_[1])) put(1, value, 1);
  }
  std::vector<std::pair<double, int64_t>> found() const {
    std::vector<std::pair<double, int64_t>> found;
    for (size_t k = 0; k < 2 && n_[k]; ++k) found.emplace_back(value_[k], n_[k]);
    return found;
  }

 private:
  void put(size_t k, double value, int64_t n) { value_[k] = value, n_[k] = n; }
  double value_[2] = {0, 0};
  int64_t n_[2] = {0, 0};
};

using Counts = std::vector<std::pair<double, int64_t>>;

// Of numbers of which none is NaN: the lowest, and the highest.
inline std::pair<Counts, Counts> ends(std::span<const double> values) {
  struct Less {
    bool operator()(double a, double b) const { return a < b; }
  };
  struct More {
    bool operator()(double a, double b) const { return a > b; }
  };
  End<Less> lowest;
  End<More> highest;
  for (const double value : values) {
    if (lowest.is_inside(value) && highest.is_inside(value)) continue;
    lowest.take(value), highest.take(value);
  }
  return {lowest.found(), highest.found()};
}

}  // namespace baytree::numbers
