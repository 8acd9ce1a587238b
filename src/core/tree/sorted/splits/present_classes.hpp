// The classes that occur in a node, and where each stands among them: the cost of a node follows from these, not from all classes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/splits/target.hpp"

namespace baytree::tree::sorted {

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
