// Target and weights; levels and classes of a node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::sorted {

// What is predicted: the target of every row, with its weight.

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

// The levels of a nominal column among the rows of a node.

// The levels that occur in a node, ascending, each with its statistic.
struct Levels {
  std::vector<int32_t> code;      // -1: the rows without a value, where they are a level
  std::vector<double> statistic;  // [n_levels * width]
  size_t width = 0;

  size_t size() const { return code.size(); }
  std::span<const double> operator[](size_t i) const { return {statistic.data() + i * width, width}; }
};

// The classes that occur in a node, and where each stands among them: the cost of a node follows from these, not from all classes.

constexpr size_t kFewClasses = 16;  // up to here all classes count as present: there is nothing to save

class PresentClasses {
 public:
  explicit PresentClasses(const Target& target) : target_(target), place_(target.classes) {}

  // `classes` ascend, and those of every row that is asked for are among them.
  void enter(std::span<const int32_t> classes) {
    classes_ = classes;
    for (size_t place = 0; place < classes.size(); ++place) place_[size_t(classes[place])] = uint32_t(place);
  }
  size_t size() const { return classes_.size(); }
  size_t of_all() const { return place_.size(); }
  size_t operator[](size_t place) const { return size_t(classes_[place]); }
  size_t place_of(uint32_t tag) const { return place_[target_.class_of(tag)]; }

 private:
  const Target& target_;
  std::span<const int32_t> classes_;
  std::vector<uint32_t> place_;  // [n_classes], of those that are present
};

}  // namespace baytree::tree::sorted
