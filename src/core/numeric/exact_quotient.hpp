// Correctly rounded means and standard deviations of exact sums: quotients of multi-word integers.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>

#include "numeric/exact_sum.hpp"

namespace baytree::numeric {

// Absolute value of an integer in base 2^32, lowest digit first, no leading zeros. Fixed capacity for the product of
// any two exact sums, to avoid one allocation per number.
class Digits {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::uint32_t back() const { return digit_[size_ - 1]; }
  std::uint32_t operator[](std::size_t k) const { return digit_[k]; }
  std::uint32_t& operator[](std::size_t k) { return digit_[k]; }
  const std::uint32_t* begin() const { return digit_.data(); }
  const std::uint32_t* end() const { return digit_.data() + size_; }
  std::uint32_t* begin() { return digit_.data(); }
  std::uint32_t* end() { return digit_.data() + size_; }

  void clear() { size_ = 0; }
  void push_back(std::uint32_t digit) { digit_[size_++] = digit; }
  void fill_zero(std::size_t size) {
    size_ = size;
    std::fill(begin(), end(), 0);
  }
  void drop_leading_zeros() {
    while (size_ > 0 && digit_[size_ - 1] == 0) --size_;
  }

 private:
  static constexpr std::size_t max_limbs = 4 * 256 + 8;  // windows of 256 limbs: two factors, and as many zeros below
  std::array<std::uint32_t, max_limbs> digit_;
  std::size_t size_ = 0;
};

inline constexpr double undecided = std::numeric_limits<double>::quiet_NaN();

// Exact numbers in one window, in the layout that Python stores: [n_layers, n_cells, width], the last limb signed. A
// cell is the sum over its layers, for example over all classes.
struct ExactView {
  std::span<const std::int64_t> limbs;
  std::size_t width, n_layers;

  std::size_t n_cells() const { return limbs.size() / (width * n_layers); }

  // Returns whether the number is negative.
  bool read(std::size_t cell, Digits& digits) const {
    std::array<std::int64_t, 256> sum;
    std::copy_n(limbs.begin() + static_cast<std::ptrdiff_t>(cell * width), width, sum.begin());
    const std::size_t layer = limbs.size() / n_layers;
    for (std::size_t k = 1; k < n_layers; ++k)
      for (std::size_t j = 0; j < width; ++j) sum[j] += limbs[k * layer + cell * width + j];
    if (n_layers > 1) carry_over({sum.data(), width});
    const bool is_negative = sum[width - 1] < 0;
    digits.clear();
    std::int64_t carry = 0;
    for (std::size_t j = 0; j < width; ++j) {
      carry += is_negative ? -sum[j] : sum[j];
      digits.push_back(static_cast<std::uint32_t>(carry));
      carry >>= limb_bits;
    }
    if (carry) digits.push_back(static_cast<std::uint32_t>(carry));
    digits.drop_leading_zeros();
    return is_negative;
  }
};

inline int bit_length(const Digits& digits) {
  return digits.empty() ? 0 : limb_bits * static_cast<int>(digits.size()) - std::countl_zero(digits.back());
}

// left * right * 2^(32 zeros).
inline void multiply(const Digits& left, const Digits& right, std::size_t zeros, Digits& product) {
  product.fill_zero(left.size() + right.size() + zeros);
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < right.size(); ++j) {
      carry += static_cast<std::uint64_t>(left[i]) * right[j] + product[zeros + i + j];
      product[zeros + i + j] = static_cast<std::uint32_t>(carry);
      carry >>= limb_bits;
    }
    product[zeros + i + right.size()] = static_cast<std::uint32_t>(carry);
  }
  product.drop_leading_zeros();
}

// Subtracts `less`, which must not be larger.
inline void subtract(Digits& digits, const Digits& less) {
  std::int64_t borrow = 0;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    borrow += static_cast<std::int64_t>(digits[k]) - (k < less.size() ? less[k] : 0);
    digits[k] = static_cast<std::uint32_t>(borrow);
    borrow >>= limb_bits;
  }
  digits.drop_leading_zeros();
}

inline bool is_less(const Digits& left, const Digits& right) {
  if (left.size() != right.size()) return left.size() < right.size();
  for (std::size_t k = left.size(); k-- > 0;)
    if (left[k] != right[k]) return left[k] < right[k];
  return false;
}

// A positive number rounded once: mantissa and power of two.
struct Rounded {
  double value;
  int exponent;
};

// Division of positive numbers.
class Division {
 public:
  // 56 or 57 bits of the quotient; a non-zero remainder sets the lowest bit (sticky bit).
  Rounded operator()(const Digits& numerator, const Digits& divisor) {
    const int lowest = bit_length(numerator) - bit_length(divisor) - 56;  // position of the quotient's last bit
    const Quotient found = divisor.size() <= 2 ? by_word(numerator, divisor, lowest) : by_bits(numerator, divisor, lowest);
    const bool has_rest = found.has_rest || has_bits_below(numerator, lowest);
    return {static_cast<double>(found.bits << 1 | has_rest), lowest - 1};
  }

 private:
  struct Quotient {
    std::uint64_t bits;
    bool has_rest;
  };

  // One-word divisor, the usual case: the numerator down to that position has at most 120 bits.
  static Quotient by_word(const Digits& numerator, const Digits& divisor, int lowest) {
    const std::uint64_t word = divisor[0] | (divisor.size() > 1 ? static_cast<std::uint64_t>(divisor[1]) << limb_bits : 0);
    unsigned __int128 dividend = 0;
    for (std::size_t k = numerator.size(); k-- > 0;) {
      const int place = static_cast<int>(k) * limb_bits - lowest;
      if (place <= -limb_bits) break;
      const unsigned __int128 digit = numerator[k];
      dividend |= place >= 0 ? digit << place : digit >> -place;
    }
    const auto quotient = static_cast<std::uint64_t>(dividend / word);
    return {quotient, dividend != static_cast<unsigned __int128>(quotient) * word};  // a remainder would divide once more
  }

  Quotient by_bits(const Digits& numerator, const Digits& divisor, int lowest) {
    rest_.clear();
    for (int place = bit_length(numerator) - 1; place > lowest + 56; --place) push(bit(numerator, place));
    std::uint64_t quotient = 0;
    for (int place = lowest + 56; place >= lowest; --place) {
      push(bit(numerator, place));
      const bool fits = !is_less(rest_, divisor);
      if (fits) subtract(rest_, divisor);
      quotient = quotient << 1 | fits;
    }
    return {quotient, !rest_.empty()};
  }

  static bool has_bits_below(const Digits& digits, int place) {
    if (place <= 0) return false;
    const auto whole = static_cast<std::size_t>(place / limb_bits);
    for (std::size_t k = 0; k < std::min(whole, digits.size()); ++k)
      if (digits[k] != 0) return true;
    return whole < digits.size() && (digits[whole] & ((std::uint32_t{1} << place % limb_bits) - 1)) != 0;
  }

  static bool bit(const Digits& digits, int place) {
    const auto k = static_cast<std::size_t>(place / limb_bits);
    return place >= 0 && k < digits.size() && (digits[k] >> place % limb_bits & 1) != 0;
  }

  void push(bool bit) {
    std::uint32_t carry = bit;
    for (std::uint32_t& digit : rest_) {
      const std::uint32_t out = digit >> (limb_bits - 1);
      digit = digit << 1 | carry;
      carry = out;
    }
    if (carry) rest_.push_back(carry);
  }

  Digits rest_;
};

// Shifts (in limbs) that bring sums of squares and squared sums to one unit, and the exponent of the quotient's unit.
struct Units {
  std::size_t total_zeros, square_zeros;
  int exponent;
};

// Quotients of many cells; undecided where a weight is not positive, no rows can have such sums, or the result is not a
// normal double.
class ExactMoments {
 public:
  ExactMoments(ExactView weight, ExactView total) : weight_(weight), total_(total) {}

  // total / weight * 2^exponent.
  double mean(std::size_t cell, int exponent) {
    if (!read_weight(cell)) return undecided;
    const bool is_negative = total_.read(cell, sum_);
    if (sum_.empty()) return 0.0;
    const Rounded mean = divide_(sum_, divisor_);
    const int power = mean.exponent + exponent;
    if (power < -1070 || power > 950) return undecided;
    return std::ldexp(is_negative ? -mean.value : mean.value, power);
  }

  // The root of (weight * square * 2^(32 square_zeros) - total^2 * 2^(32 total_zeros)) / weight^2 * 2^exponent.
  double deviation(std::size_t cell, const ExactView& square, const Units& units) {
    if (!read_weight(cell) || square.read(cell, sum_)) return undecided;
    multiply(sum_, divisor_, units.square_zeros, spread_);
    total_.read(cell, sum_);
    multiply(sum_, sum_, units.total_zeros, between_);
    if (is_less(spread_, between_)) return undecided;
    subtract(spread_, between_);
    if (spread_.empty()) return 0.0;
    multiply(divisor_, divisor_, 0, between_);
    const Rounded variance = divide_(spread_, between_);
    const int power = variance.exponent + units.exponent, odd = power & 1, half = (power - odd) / 2;
    if (half < -1000 || half > 950) return undecided;
    return std::ldexp(std::sqrt(std::ldexp(variance.value, odd)), half);
  }

 private:
  bool read_weight(std::size_t cell) {
    const bool is_negative = weight_.read(cell, divisor_);
    return !divisor_.empty() && !is_negative;
  }

  ExactView weight_, total_;
  Division divide_;
  Digits divisor_, sum_, spread_, between_;
};

}  // namespace baytree::numeric
