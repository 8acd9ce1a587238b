// What the pairs of one column and the parent terms know, kept between steps within a share of the memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "linear/splines/knots.hpp"

namespace baytree::linear::splines {

class KnotCache {
 public:
  explicit KnotCache(std::size_t most) : kept_(most) {}

  // The knots of a parent, told by its slot; new ones are empty.
  Knots& of(std::size_t slot) {
    if (!kept_[slot]) kept_[slot] = std::make_unique<Knots>();
    return *kept_[slot];
  }

  // Drops what exceeds the memory: pairs of parents that are not tried go first, then the latest.
  void make_room(std::size_t memory, std::span<const std::int32_t> tried, std::size_t latest) {
    if (held() <= memory) return;
    std::vector<bool> is_tried(kept_.size());
    for (const std::int32_t slot : tried) is_tried[static_cast<std::size_t>(slot)] = true;
    for (std::size_t slot = 0; slot < kept_.size(); ++slot)
      if (!is_tried[slot]) kept_[slot].reset();
    if (held() > memory) kept_[latest].reset();
  }

 private:
  std::size_t held() const {
    std::size_t bytes = 0;
    for (const auto& knots : kept_) bytes += knots ? knots->bytes() : 0;
    return bytes;
  }

  std::vector<std::unique_ptr<Knots>> kept_;  // [slots]
};

}  // namespace baytree::linear::splines
