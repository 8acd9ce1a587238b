// Target and weights of the rows, and the levels and classes that occur in a node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::sorted {

// The target of every row. A tag is a row number, with the class in its lowest bits if it fits.
struct Target {
  size_t classes = 0;               // 0: numeric target
  const int32_t* label = nullptr;   // [n_rows]
  const double* y = nullptr;        // [n_rows]
  const double* weight = nullptr;   // [n_rows], null if every weight is 1
  std::span<const double> scale;    // [n_classes], factor of each class's weight in the search
  int class_bits = 0;
  bool counts_rows = false;         // sizes are numbers of rows, whatever the weights
  bool is_counted = false;          // every row has weight 1: weights of nodes are integers

  uint32_t row(uint32_t tag) const { return tag >> class_bits; }
  size_t class_of(uint32_t tag) const {
    return class_bits ? tag & ((1u << class_bits) - 1) : size_t(label[tag]);
  }
  double weight_of(uint32_t row) const { return weight ? weight[row] : 1.0; }
  // A small integer weight is added in as many steps, so that rounding, and with it ties, is that of repeated rows.
  void add_weighted(double& sum, double amount, uint32_t row) const {
    const double w = weight_of(row);
    if (!weight || !(w <= kMostSteps) || w != int(w)) sum += w * amount;
    else
      for (int step = 0; step < int(w); ++step) sum += amount;
  }
  static constexpr double kMostSteps = 16;
  double size_of(uint32_t row) const { return counts_rows ? 1.0 : weight_of(row); }
};

// The levels that occur in a node, ascending, with the statistic of each.
struct Levels {
  std::vector<int32_t> code;      // -1: the missing level, where missing values are a level
  std::vector<double> statistic;  // [n_levels * width]
  size_t width = 0;

  size_t size() const { return code.size(); }
  std::span<const double> operator[](size_t i) const { return {statistic.data() + i * width, width}; }
};

// The classes that occur in a node and their indices: the cost of a node depends on these, not on all classes.

constexpr size_t kFewClasses = 16;  // up to here all classes count as present: there is nothing to save

class PresentClasses {
 public:
  explicit PresentClasses(const Target& target) : target_(target), place_(target.classes) {}

  // `classes` are ascending and contain the class of every row that is looked up.
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
  std::vector<uint32_t> place_;  // [n_classes], index among the present classes
};

}  // namespace baytree::tree::sorted
