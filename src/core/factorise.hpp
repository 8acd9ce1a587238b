// Fixed-width items (integers, fixed-width strings) to codes in order of first appearance.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace baytree {

struct Factorised {
  std::vector<std::int32_t> code;   // [n_items]
  std::vector<std::int64_t> first;  // [n_distinct]: where each distinct item appears first
};

class ItemTable {
 public:
  ItemTable(const unsigned char* items, std::size_t item_size) : items_(items), size_(item_size), slots_(64, -1) {}

  std::int32_t code_of(std::size_t row) {
    if (!first_.empty() && equal(row, static_cast<std::size_t>(first_[last_]))) return static_cast<std::int32_t>(last_);
    const unsigned char* item = items_ + row * size_;
    for (std::size_t slot = hash(item) & mask();; slot = (slot + 1) & mask()) {
      if (slots_[slot] < 0) return insert(row, slot);
      if (equal(row, static_cast<std::size_t>(first_[static_cast<std::size_t>(slots_[slot])]))) {
        last_ = static_cast<std::size_t>(slots_[slot]);
        return slots_[slot];
      }
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
    return mix(state ^ load(item + size_ - 8));  // the last word may overlap the one before
  }

  static constexpr std::uint64_t seed = 0x9e3779b97f4a7c15ULL;

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
  }

  std::int32_t insert(std::size_t row, std::size_t slot) {
    last_ = first_.size();
    slots_[slot] = static_cast<std::int32_t>(last_);
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
  std::size_t last_ = 0;
};

inline Factorised factorise(const unsigned char* items, std::size_t n_items, std::size_t item_size) {
  ItemTable table(items, item_size);
  Factorised result;
  result.code.reserve(n_items);
  for (std::size_t row = 0; row < n_items; ++row) result.code.push_back(table.code_of(row));
  result.first = table.take_first();
  return result;
}

}  // namespace baytree
