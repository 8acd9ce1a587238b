// What is predicted: the target of every row, with its weight.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace baytree::tree::sorted {

// The target of every row. A tag is a row number with, where it fits, the class in its lowest bits.
struct Target {
  size_t classes = 0;               // 0: a number is predicted
  const int32_t* label = nullptr;   // [n_rows]
  const double* y = nullptr;        // [n_rows]
  const double* weight = nullptr;   // [n_rows], null where every weight is 1
  std::span<const double> scale;    // [n_classes], what a unit of weight of a class counts for in the search
  int class_bits = 0;
  bool counts_rows = false;         // sizes are rows, whatever their weights
  bool is_counted = false;          // every row counts 1: masses are whole numbers

  uint32_t row(uint32_t tag) const { return tag >> class_bits; }
  size_t class_of(uint32_t tag) const {
    return class_bits ? tag & ((1u << class_bits) - 1) : size_t(label[tag]);
  }
  double weight_of(uint32_t row) const { return weight ? weight[row] : 1.0; }
  // A small whole weight adds in as many steps, so that last bits, and with them ties, are those of as many rows.
  void add_weighted(double& sum, double amount, uint32_t row) const {
    const double w = weight_of(row);
    if (!weight || !(w <= kMostSteps) || w != int(w)) sum += w * amount;
    else
      for (int step = 0; step < int(w); ++step) sum += amount;
  }
  static constexpr double kMostSteps = 16;
  double size_of(uint32_t row) const { return counts_rows ? 1.0 : weight_of(row); }
};

}  // namespace baytree::tree::sorted
