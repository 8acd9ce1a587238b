// Fixed-width items (numbers, fixed-width strings) and integers of a small range → codes.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "util/thread_pool.hpp"

namespace baytree::numeric {

// Fixed-width items → codes in order of first appearance, by hashing.

struct Factorised {
  std::vector<std::int32_t> code;   // [n_items]
  std::vector<std::int64_t> first;  // [n_distinct]: row where each distinct item appears first
};

class ItemTable {
 public:
  ItemTable(const unsigned char* items, std::size_t item_size) : items_(items), size_(item_size), slots_(64, -1) {}

  std::int32_t code_of(std::size_t row) {
    const unsigned char* item = items_ + row * size_;
    for (std::size_t slot = hash(item) & mask();; slot = (slot + 1) & mask()) {
      if (slots_[slot] < 0) return insert(row, slot);
      if (equal(row, static_cast<std::size_t>(first_[static_cast<std::size_t>(slots_[slot])]))) return slots_[slot];
    }
  }

  std::vector<std::int64_t> take_first() { return std::move(first_); }

 private:
  std::size_t mask() const { return slots_.size() - 1; }

  bool equal(std::size_t a, std::size_t b) const {
    const unsigned char *left = items_ + a * size_, *right = items_ + b * size_;
    if (size_ >= 8 && size_ <= 16) return load(left) == load(right) && load(left + size_ - 8) == load(right + size_ - 8);
    return std::memcmp(left, right, size_) == 0;
  }

  static std::uint64_t load(const unsigned char* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
  }

  std::uint64_t hash(const unsigned char* item) const {
    if (size_ < 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, item, size_);
      return mix(seed ^ word);
    }
    std::uint64_t state = seed;
    for (std::size_t k = 0; k + 8 < size_; k += 8) state = mix(state ^ load(item + k));
    return mix(state ^ load(item + size_ - 8));  // the last word may overlap the previous one
  }

  static constexpr std::uint64_t seed = 0x9e3779b97f4a7c15ULL;

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
  }

  std::int32_t insert(std::size_t row, std::size_t slot) {
    slots_[slot] = static_cast<std::int32_t>(first_.size());
    first_.push_back(static_cast<std::int64_t>(row));
    const auto code = slots_[slot];
    if (2 * first_.size() > slots_.size()) grow();
    return code;
  }

  void grow() {
    slots_.assign(4 * slots_.size(), -1);
    for (std::size_t code = 0; code < first_.size(); ++code) {
      std::size_t slot = hash(items_ + static_cast<std::size_t>(first_[code]) * size_) & mask();
      while (slots_[slot] >= 0) slot = (slot + 1) & mask();
      slots_[slot] = static_cast<std::int32_t>(code);
    }
  }

  const unsigned char* items_;
  std::size_t size_;
  std::vector<std::int32_t> slots_;
  std::vector<std::int64_t> first_;
};

// Codes blocks of rows separately; then the distinct items of all blocks, in order of the blocks, get their final
// codes.
class ItemCoder {
 public:
  ItemCoder(const unsigned char* items, std::size_t n_items, std::size_t item_size, Workers& workers)
      : items_(items), n_items_(n_items), size_(item_size), workers_(workers) {}

  Factorised operator()() {
    Factorised result;
    result.code.resize(n_items_);
    std::vector<std::vector<std::int64_t>> first((n_items_ + part_rows - 1) / part_rows);
    workers_.run(first.size(), [&](std::size_t p, int) { first[p] = code_part(p, result.code); });
    if (first.size() == 1) {
      result.first = std::move(first[0]);
      return result;
    }
    ItemTable whole(items_, size_);
    std::vector<std::vector<std::int32_t>> joint(first.size());
    for (std::size_t p = 0; p < first.size(); ++p)
      for (const std::int64_t row : first[p]) joint[p].push_back(whole.code_of(static_cast<std::size_t>(row)));
    workers_.run(first.size(), [&](std::size_t p, int) {
      for (std::size_t row = p * part_rows; row < end(p); ++row) result.code[row] = joint[p][static_cast<std::size_t>(result.code[row])];
    });
    result.first = whole.take_first();
    return result;
  }

 private:
  static constexpr std::size_t part_rows = 1 << 17;  // rows of a task: much longer than handing it to a thread

  std::size_t end(std::size_t p) const { return std::min(n_items_, (p + 1) * part_rows); }

  std::vector<std::int64_t> code_part(std::size_t p, std::vector<std::int32_t>& code) const {
    ItemTable own(items_, size_);
    for (std::size_t row = p * part_rows; row < end(p); ++row) code[row] = own.code_of(row);
    return own.take_first();
  }

  const unsigned char* items_;
  std::size_t n_items_, size_;
  Workers& workers_;
};

// Integers of a small range → codes, for all columns in one pass over the matrix: a lookup table of present values
// instead of hashing.

template <typename Number> concept Codable = std::is_same_v<Number, std::int64_t> || std::is_same_v<Number, double>;

template <Codable Number> struct NumberMatrix {
  const Number* data;
  std::size_t n_rows, n_columns;
  std::ptrdiff_t row_step, column_step;  // in numbers
  Number at(std::size_t row, std::size_t column) const {
    return data[static_cast<std::ptrdiff_t>(row) * row_step + static_cast<std::ptrdiff_t>(column) * column_step];
  }
};

inline constexpr std::int64_t window_size = 1 << 16;  // integers; a window of bytes fits the second-level cache

// The integers [low, low + window_size) that a column is expected to hold, and those that occurred.
struct SeenWindow {
  std::int64_t low = 0;
  bool is_left = false;  // a non-integer or out-of-range value occurred
  std::vector<std::uint8_t> seen = std::vector<std::uint8_t>(window_size);
};

// The offset of a number in a window; -1 for NaN, -2 if the number is not in the window.
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

// Codes integers in ascending order; columns that do not fit are left to the hashing coder.
template <Codable Number> class WholeNumberCoder {
 public:
  WholeNumberCoder(const NumberMatrix<Number>& matrix, std::span<std::int32_t> codes, Workers& workers)
      : matrix_(matrix), codes_(codes), workers_(workers) {}

  // The distinct numbers of columns first ... last - 1; empty for a column that cannot be coded here.
  std::vector<std::vector<std::int64_t>> operator()(std::size_t first, std::size_t last) {
    const auto n_workers = static_cast<std::size_t>(workers_.size());
    std::vector<std::vector<SeenWindow>> windows(n_workers, std::vector<SeenWindow>(last - first));
    for (auto& own : windows)
      for (std::size_t j = first; j < last; ++j) own[j - first].low = expected_low(j);
    const std::size_t n_blocks = (matrix_.n_rows + block_rows - 1) / block_rows;
    workers_.run(n_blocks, [&](std::size_t b, int worker) {
      for (std::size_t j = first; j < last; ++j)
        code_block(j, b * block_rows, std::min(matrix_.n_rows, (b + 1) * block_rows), windows[static_cast<std::size_t>(worker)][j - first]);
    });
    std::vector<std::vector<std::int64_t>> levels(last - first);
    workers_.run(last - first, [&](std::size_t k, int) { levels[k] = recode(first + k, windows, k); });
    return levels;
  }

 private:
  static constexpr std::size_t block_rows = 2048;  // rows of many columns that stay in the cache together

  // Codes usually start at 0; otherwise the first number becomes the middle of the window.
  std::int64_t expected_low(std::size_t column) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(matrix_.n_rows, block_rows); ++i) {
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

}  // namespace baytree::numeric
