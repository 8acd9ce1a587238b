// The rows of a chunk by class, those of the first class first: their places, not their numbers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::numbers {

class ClassOrder {
 public:
  ClassOrder(std::size_t n_classes, std::size_t most_rows) : place_(most_rows), end_(n_classes + 1) {}

  void sort(std::span<const std::int32_t> label) {
    std::fill(end_.begin(), end_.end(), 0);
    for (const std::int32_t c : label) ++end_[static_cast<std::size_t>(c) + 1];
    for (std::size_t c = 1; c < end_.size(); ++c) end_[c] += end_[c - 1];
    for (std::size_t i = 0; i < label.size(); ++i) place_[end_[static_cast<std::size_t>(label[i])]++] = static_cast<std::uint16_t>(i);
  }

  std::size_t begin(std::size_t c) const { return c == 0 ? 0 : end_[c - 1]; }
  std::size_t n_rows(std::size_t c) const { return end_[c] - begin(c); }
  const std::uint16_t* places(std::size_t c) const { return place_.data() + begin(c); }

 private:
  std::vector<std::uint16_t> place_;
  std::vector<std::size_t> end_;  // [n_classes + 1], the last one is not used
};

}  // namespace baytree::numbers
