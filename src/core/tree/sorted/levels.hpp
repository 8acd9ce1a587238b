// The levels of a nominal column among the rows of a node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::sorted {

// The levels that occur in a node, ascending, each with its statistic.
struct Levels {
  std::vector<int32_t> code;      // -1: the rows without a value, where they are a level
  std::vector<double> statistic;  // [n_levels * width]
  size_t width = 0;

  size_t size() const { return code.size(); }
  std::span<const double> operator[](size_t i) const { return {statistic.data() + i * width, width}; }
};

}  // namespace baytree::tree::sorted
