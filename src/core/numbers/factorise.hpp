// Fixed-width items (integers, fixed-width strings) to codes in order of first appearance.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "workers.hpp"

namespace baytree::numbers {

struct Factorised {
  std::vector<std::int32_t> code;   // [n_items]
  std::vector<std::int64_t> first;  // [n_distinct]: where each distinct item appears first
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
    return mix(state ^ load(item + size_ - 8));  // the last word may overlap the one before
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

// Parts of the rows are coded apart; then the distinct items of all parts, in the order of the parts, get their codes.
class ItemCoder {
 public:
  ItemCoder(const unsigned char* items, std::size_t n_items, std::size_t item_size, Workers& workers)
      : items_(items), n_items_(n_items), size_(item_size), workers_(workers) {}

  Factorised operator()() {
    Factorised result;
    result.code.resize(n_items_);
    std::vector<std::vector<std::int64_t>> first((n_items_ + part - 1) / part);
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
      for (std::size_t row = p * part; row < end(p); ++row) result.code[row] = joint[p][static_cast<std::size_t>(result.code[row])];
    });
    result.first = whole.take_first();
    return result;
  }

 private:
  static constexpr std::size_t part = 1 << 17;

  std::size_t end(std::size_t p) const { return std::min(n_items_, (p + 1) * part); }

  std::vector<std::int64_t> code_part(std::size_t p, std::vector<std::int32_t>& code) const {
    ItemTable own(items_, size_);
    for (std::size_t row = p * part; row < end(p); ++row) code[row] = own.code_of(row);
    return own.take_first();
  }

  const unsigned char* items_;
  std::size_t n_items_, size_;
  Workers& workers_;
};

}  // namespace baytree::numbers
