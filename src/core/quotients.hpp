// Means and variances of exact sums, correctly rounded: whole numbers of many digits divided by a weight of one word.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "exact.hpp"

namespace baytree {

// The absolute value of a whole number in base 2^32, the lowest digit first, without leading zeros.
using Digits = std::vector<std::uint32_t>;

inline constexpr double undecided = std::numeric_limits<double>::quiet_NaN();

// Exact numbers in one window, as Python keeps them: [n_cells, width], the last limb signed.
struct ExactView {
  std::span<const std::int64_t> limbs;
  std::size_t width;
  std::size_t size() const { return width ? limbs.size() / width : 0; }
  bool is_negative(std::size_t cell) const { return limbs[(cell + 1) * width - 1] < 0; }

  void read(std::size_t cell, Digits& digits) const {
    const bool negative = is_negative(cell);
    digits.clear();
    std::int64_t carry = 0;
    for (const std::int64_t limb : limbs.subspan(cell * width, width)) {
      carry += negative ? -limb : limb;
      digits.push_back(static_cast<std::uint32_t>(carry));
      carry >>= limb_bits;
    }
    if (carry) digits.push_back(static_cast<std::uint32_t>(carry));
    while (!digits.empty() && !digits.back()) digits.pop_back();
  }
};

inline int bit_length(const Digits& digits) {
  return digits.empty() ? 0 : limb_bits * static_cast<int>(digits.size()) - std::countl_zero(digits.back());
}

// left * right, `zeros` digits further up.
inline void multiply(const Digits& left, const Digits& right, std::size_t zeros, Digits& product) {
  product.assign(left.size() + right.size() + zeros, 0);
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < right.size(); ++j) {
      carry += static_cast<std::uint64_t>(left[i]) * right[j] + product[zeros + i + j];
      product[zeros + i + j] = static_cast<std::uint32_t>(carry);
      carry >>= limb_bits;
    }
    product[zeros + i + right.size()] = static_cast<std::uint32_t>(carry);
  }
  while (!product.empty() && !product.back()) product.pop_back();
}

// Takes `less` away; false where that would be negative.
inline bool subtract(Digits& digits, const Digits& less) {
  if (digits.size() < less.size()) return false;
  std::int64_t borrow = 0;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    borrow += static_cast<std::int64_t>(digits[k]) - (k < less.size() ? less[k] : 0);
    digits[k] = static_cast<std::uint32_t>(borrow);
    borrow >>= limb_bits;
  }
  while (!digits.empty() && !digits.back()) digits.pop_back();
  return borrow == 0;
}

// A positive number rounded once, and a power of two.
struct Rounded {
  double value;
  int exponent;
};

// numerator / weight^times, times being 1 or 2: enough leading bits are divided for 56 of the quotient, and whatever is lost
// leaves its mark in the last one.
inline Rounded quotient(const Digits& numerator, std::uint64_t weight, int times) {
  using Wide = unsigned __int128;
  const Wide divisor = times == 2 ? static_cast<Wide>(weight) * weight : weight;
  const int high = 64 - std::countl_zero(static_cast<std::uint64_t>(divisor >> 64));
  const int divisor_bits = high ? 64 + high : 64 - std::countl_zero(static_cast<std::uint64_t>(divisor));
  const int shift = bit_length(numerator) - divisor_bits - 56;  // bits that are cut off, or zeros that are put below
  const auto digit = [&](int k) -> std::uint64_t {
    return k >= 0 && k < static_cast<int>(numerator.size()) ? numerator[static_cast<std::size_t>(k)] : 0;
  };
  const auto word_at = [&](int bit) -> std::uint64_t {
    const int k = bit >= 0 ? bit / limb_bits : -((-bit + limb_bits - 1) / limb_bits), within = bit - k * limb_bits;
    const Wide wide = static_cast<Wide>(digit(k + 2)) << 64 | digit(k + 1) << 32 | digit(k);
    return static_cast<std::uint64_t>(wide >> within);
  };
  bool has_rest = false;
  for (int k = 0; k < shift / limb_bits; ++k) has_rest |= digit(k) != 0;
  if (shift > 0) has_rest |= (digit(shift / limb_bits) & ((std::uint64_t{1} << shift % limb_bits) - 1)) != 0;
  std::uint64_t word[3] = {word_at(shift), word_at(shift + 64), word_at(shift + 128)};
  for (int time = 0; time < times; ++time) {
    std::uint64_t rest = 0;
    for (int k = 2; k >= 0; --k) {
      const Wide here = static_cast<Wide>(rest) << 64 | word[k];
      word[k] = static_cast<std::uint64_t>(here / weight);
      rest = static_cast<std::uint64_t>(here % weight);
    }
    has_rest |= rest != 0;
  }
  return {static_cast<double>(word[0] << 1 | has_rest), shift - 1};
}

// The quotients of many cells; undecided where a weight is none, or has more than one word, or the result is no normal double.
class ExactMoments {
 public:
  ExactMoments(ExactView weight, ExactView total) : weight_(weight), total_(total) {}

  // total / weight * 2^exponent.
  double mean(std::size_t cell, int exponent) {
    if (!read_weight(cell)) return undecided;
    total_.read(cell, sum_);
    if (sum_.empty()) return 0.0;
    const Rounded mean = quotient(sum_, divisor_, 1);
    const int power = mean.exponent + exponent;
    if (power < -1070 || power > 950) return undecided;
    return std::ldexp(total_.is_negative(cell) ? -mean.value : mean.value, power);
  }

  // The root of (weight * square * 2^(32 square_zeros) - total^2 * 2^(32 total_zeros)) / weight^2 * 2^exponent.
  double deviation(std::size_t cell, const ExactView& square, std::size_t square_zeros, std::size_t total_zeros, int exponent) {
    if (!read_weight(cell) || square.is_negative(cell)) return undecided;
    square.read(cell, sum_);
    multiply(sum_, weight_digits_, square_zeros, spread_);
    total_.read(cell, sum_);
    multiply(sum_, sum_, total_zeros, between_);
    if (!subtract(spread_, between_)) return undecided;
    if (spread_.empty()) return 0.0;
    const Rounded variance = quotient(spread_, divisor_, 2);
    const int power = variance.exponent + exponent, odd = power & 1;
    const int half = (power - odd) / 2;
    if (half < -1000 || half > 950) return undecided;
    return std::ldexp(std::sqrt(std::ldexp(variance.value, odd)), half);
  }

 private:
  bool read_weight(std::size_t cell) {
    weight_.read(cell, weight_digits_);
    const Digits& digits = weight_digits_;
    if (digits.empty() || digits.size() > 2 || weight_.is_negative(cell)) return false;
    divisor_ = digits[0] | (digits.size() > 1 ? static_cast<std::uint64_t>(digits[1]) << limb_bits : 0);
    return true;
  }

  ExactView weight_, total_;
  std::uint64_t divisor_ = 0;
  Digits weight_digits_, sum_, spread_, between_;
};

}  // namespace baytree
