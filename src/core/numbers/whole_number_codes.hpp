// Numbers of a small range to codes: every column of a matrix in one read of it, by a table of what occurs, not by hashing.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "workers.hpp"

namespace baytree::numbers {

template <typename Number> concept Codable = std::is_same_v<Number, std::int64_t> || std::is_same_v<Number, double>;

template <Codable Number> struct NumberMatrix {
  const Number* data;
  std::size_t n_rows, n_columns;
  std::ptrdiff_t row_step, column_step;  // in numbers
  Number at(std::size_t row, std::size_t column) const {
    return data[static_cast<std::ptrdiff_t>(row) * row_step + static_cast<std::ptrdiff_t>(column) * column_step];
  }
};

inline constexpr std::int64_t window_size = 1 << 16;

// The integers [low, low + window_size) that a column is expected to hold, and those that it was seen to hold.
struct SeenWindow {
  std::int64_t low = 0;
  bool is_left = false;  // by a number that is not whole, or too far away
  std::vector<std::uint8_t> seen = std::vector<std::uint8_t>(window_size);
};

// The offset of a number in a window; -1 for NaN, -2 where the number does not belong there.
inline std::int32_t offset_in(std::int64_t number, std::int64_t low) {
  const auto offset = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(low);
  return offset < window_size ? static_cast<std::int32_t>(offset) : -2;
}

inline std::int32_t offset_in(double number, std::int64_t low) {
  if (number != number) return -1;
  const double offset = number - static_cast<double>(low);
  if (!(offset >= 0 && offset < window_size)) return -2;
  const auto whole = static_cast<std::int32_t>(offset);
  return static_cast<double>(whole + low) == number ? whole : -2;
}

// Offsets of whole numbers become codes in ascending order; the other columns are to be factorised in another way.
template <Codable Number> class WholeNumberCoder {
 public:
  WholeNumberCoder(const NumberMatrix<Number>& matrix, std::span<std::int32_t> codes, Workers& workers)
      : matrix_(matrix), codes_(codes), workers_(workers) {}

  // The distinct numbers of columns first ... last - 1; a column that is no case for this gives nothing.
  std::vector<std::vector<std::int64_t>> operator()(std::size_t first, std::size_t last) {
    const auto n_workers = static_cast<std::size_t>(workers_.size());
    std::vector<std::vector<SeenWindow>> windows(n_workers, std::vector<SeenWindow>(last - first));
    for (auto& own : windows)
      for (std::size_t j = first; j < last; ++j) own[j - first].low = expected_low(j);
    const std::size_t n_blocks = (matrix_.n_rows + block - 1) / block;
    workers_.run(n_blocks, [&](std::size_t b, int worker) {
      for (std::size_t j = first; j < last; ++j)
        code_block(j, b * block, std::min(matrix_.n_rows, (b + 1) * block), windows[static_cast<std::size_t>(worker)][j - first]);
    });
    std::vector<std::vector<std::int64_t>> levels(last - first);
    workers_.run(last - first, [&](std::size_t k, int) { levels[k] = recode(first + k, windows, k); });
    return levels;
  }

 private:
  static constexpr std::size_t block = 2048;  // rows of many columns that stay in the cache together

  // Codes mostly begin at 0; where they do not, the first number lies in the middle of what is expected.
  std::int64_t expected_low(std::size_t column) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(matrix_.n_rows, block); ++i) {
      const Number number = matrix_.at(i, column);
      if (number != number) continue;
      if (!(std::abs(static_cast<double>(number)) < 9e15)) return 0;
      const auto whole = static_cast<std::int64_t>(number);
      return whole >= 0 && whole < window_size ? 0 : whole - window_size / 2;
    }
    return 0;
  }

  void code_block(std::size_t column, std::size_t first, std::size_t last, SeenWindow& window) {
    if (window.is_left) return;
    std::int32_t* const out = codes_.data() + column * matrix_.n_rows;
    const Number* number = matrix_.data + static_cast<std::ptrdiff_t>(first) * matrix_.row_step +
                           static_cast<std::ptrdiff_t>(column) * matrix_.column_step;
    std::uint8_t* const seen = window.seen.data();
    for (std::size_t i = first; i < last; ++i, number += matrix_.row_step) {
      const std::int32_t found = offset_in(*number, window.low);
      if (found == -2) {
        window.is_left = true;
        return;
      }
      if (found >= 0) seen[found] = 1;
      out[i] = found;
    }
  }

  std::vector<std::int64_t> recode(std::size_t column, const std::vector<std::vector<SeenWindow>>& windows, std::size_t k) {
    std::vector<std::int64_t> levels;
    std::vector<std::int32_t> code(window_size + 1, -1);  // shifted by one: NaN, at offset -1, stays -1
    bool is_moved = false;
    for (std::int64_t offset = 0; offset < window_size; ++offset) {
      bool occurs = false;
      for (const auto& own : windows) occurs |= own[k].seen[static_cast<std::size_t>(offset)] != 0;
      if (!occurs) continue;
      is_moved |= offset != static_cast<std::int64_t>(levels.size());
      code[static_cast<std::size_t>(offset) + 1] = static_cast<std::int32_t>(levels.size());
      levels.push_back(windows[0][k].low + offset);
    }
    for (const auto& own : windows)
      if (own[k].is_left) return {};
    if (!is_moved) return levels;
    std::int32_t* const out = codes_.data() + column * matrix_.n_rows;
    for (std::size_t i = 0; i < matrix_.n_rows; ++i) out[i] = code[static_cast<std::size_t>(out[i] + 1)];
    return levels;
  }

  NumberMatrix<Number> matrix_;
  std::span<std::int32_t> codes_;  // [n_columns, n_rows]
  Workers& workers_;
};

}  // namespace baytree::numbers
