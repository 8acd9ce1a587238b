// Levels and classes in the order in which they came: it does not depend on those that come later, or on batches.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::streaming {

struct Arrivals {
  std::vector<int32_t> place;  // [n_codes], the place of each code in the order of arrival, -1 before it came
  int32_t count = 0;

  static Arrivals of(std::span<const int32_t> places) {
    Arrivals known{{places.begin(), places.end()}, 0};
    for (const int32_t place : places) known.count = std::max(known.count, place + 1);
    return known;
  }
  // The place of a code; a new one comes last.
  int32_t arrive(int32_t code) {
    int32_t& at = place[size_t(code)];
    return at >= 0 ? at : at = count++;
  }
  // The places in the order of their codes.
  std::vector<int32_t> in_order() const {
    std::vector<int32_t> places;
    for (const int32_t at : place) if (at >= 0) places.push_back(at);
    return places;
  }
};

}  // namespace baytree::tree::streaming
