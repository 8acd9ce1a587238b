// A rule of C5.0 while rules are formed: conditions that all must hold, and the class that then is likely.
#pragma once
#include <algorithm>
#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "tree/c50/bench.hpp"

namespace baytree::tree::c50 {

enum class Ask : int32_t { at_most, above, levels };

struct Condition {
  int32_t column = -1;
  Ask ask = Ask::levels;
  int32_t rank = -1;                   // at_most, above: of the threshold
  std::vector<int32_t> levels = {};    // levels: those that pass, ascending
  float bits = 0;                      // what it costs to name it

  auto key() const { return std::tie(column, ask, rank, levels); }
};

struct Rule {
  std::vector<Condition> conditions;
  int32_t label = 0;
  double cover = 0, right = 0;  // weight of the rows that it covers, and of those of its class
  int32_t vote = 0;             // its confidence in thousandths
  float bits = 0;
  std::vector<int32_t> rows;    // those that it covers
};

// A set of rows.
class RowSet {
 public:
  explicit RowSet(size_t n = 0, bool is_full = false) : words_((n + 63) / 64, is_full ? ~uint64_t{0} : 0) {
    if (is_full && n % 64) words_.back() = (uint64_t{1} << (n % 64)) - 1;
  }
  // Those of the first rows of which this holds.
  template <std::predicate<size_t> Has> void fill(size_t n, const Has& has) {
    for (size_t w = 0; w < words_.size(); ++w) {
      uint64_t bits = 0;
      for (size_t row = w * 64, end = std::min(n, row + 64), bit = 0; row < end; ++row, ++bit) bits |= uint64_t{has(row)} << bit;
      words_[w] = bits;
    }
  }
  void add(size_t row) { words_[row / 64] |= uint64_t{1} << (row % 64); }
  size_t size() const { return words_.size(); }
  uint64_t word(size_t w) const { return words_[w]; }
  uint64_t& word(size_t w) { return words_[w]; }

 private:
  std::vector<uint64_t> words_;
};

// The weight of rows, and what those of another class than a rule's count.
struct Covered {
  double weight = 0, wrong = 0;
  Covered operator+(const Covered& other) const { return {weight + other.weight, wrong + other.wrong}; }
  Covered operator-(const Covered& other) const { return {weight - other.weight, wrong - other.wrong}; }
  Covered cut() const { return {weight, std::min(wrong, weight)}; }  // mistakes that cost much do not count more than the rows
  double right() const { return weight - wrong; }
  // Laplace's estimate of the share of wrong rows.
  float estimate() const { return weight < 1e-4 ? 0.5F : static_cast<float>((wrong + 1) / (weight + 2)); }
};

inline double log2_factorial(size_t n) { return std::lgamma(static_cast<double>(n) + 1) / std::log(2.0); }

inline constexpr double kTheory = 0.23;  // what a bit of a rule counts beside a bit of its exceptions

}  // namespace baytree::tree::c50
