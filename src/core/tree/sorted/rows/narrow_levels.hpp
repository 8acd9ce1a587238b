// The levels of a nominal column as narrow numbers: level + 1 of each row, 0 where the value is missing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tree/column_view.hpp"

namespace baytree::tree::sorted {

// Rows of a node lie apart in the table, so counting its levels jumps: the fewer bytes a column has, the more of it is near.
class NarrowLevels {
 public:
  NarrowLevels() = default;
  explicit NarrowLevels(const ColumnView& column, size_t rows) {
    if (column.levels < 0xFF) narrow_.resize(rows);
    else if (column.levels < 0xFFFF) middle_.resize(rows);
    else wide_.resize(rows);
  }
  void copy(const ColumnView& column, size_t begin, size_t end) {
    const auto fill = [&](auto& shifted) {
      for (size_t i = begin; i < end; ++i) shifted[i] = std::remove_cvref_t<decltype(shifted[i])>(column.level(i) + 1);
    };
    if (!narrow_.empty()) fill(narrow_);
    else if (!middle_.empty()) fill(middle_);
    else fill(wide_);
  }
  // Calls use(pointer to level + 1 of the first row).
  template <typename Use> auto with(const Use& use) const {
    if (!narrow_.empty()) return use(narrow_.data());
    if (!middle_.empty()) return use(middle_.data());
    return use(wide_.data());
  }

 private:
  std::vector<uint8_t> narrow_;
  std::vector<uint16_t> middle_;
  std::vector<uint32_t> wide_;
};

}  // namespace baytree::tree::sorted
