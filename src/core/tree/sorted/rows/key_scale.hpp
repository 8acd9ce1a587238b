// Numbers as 32-bit keys that never fall as the numbers rise.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace baytree::tree::sorted {

constexpr uint64_t kMissingKey = ~uint64_t(0);

// Doubles as integers in the same order; -0.0 equals 0.0.
inline uint64_t sortable(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x + 0.0);
  return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}
inline double number_of(uint64_t key) { return std::bit_cast<double>(key >> 63 ? key & 0x7FFFFFFFFFFFFFFFu : ~key); }

// Either in proportion to the number, which spreads ordinary columns evenly, or by its leading bits, which suits numbers of
// very different sizes; a sample decides. Both only round, so a greater key is a greater number.
class KeyScale {
 public:
  explicit KeyScale(std::span<const uint64_t> keys) {
    uint64_t low = kMissingKey, high = 0;
    for (const uint64_t key : keys)
      if (key != kMissingKey) low = std::min(low, key), high = std::max(high, key);
    if (high < low) return;
    low_bits_ = low;
    shift_ = high - low > 0xFFFFFFFFu ? 32 - std::countl_zero(high - low) : 0;
    low_ = number_of(low);
    unit_ = kMost / (number_of(high) - low_);
    if (shift_ == 0 || !(unit_ > 0) || std::isinf(unit_)) return;
    choose(keys, number_of(high) - low_);
  }

  uint32_t operator()(uint64_t key) const {
    return is_even_ ? uint32_t(int64_t((number_of(key) - low_) * unit_)) : uint32_t((key - low_bits_) >> shift_);
  }
  // Different numbers have different keys.
  bool is_exact() const { return is_even_ ? is_whole_ : shift_ == 0; }

 private:
  static constexpr double kMost = 4294966272.0;  // a little below 2^32: rounding may not reach it
  static constexpr size_t kSample = 256;

  void choose(std::span<const uint64_t> keys, double range) {
    std::array<uint64_t, kSample> sample;
    size_t n = 0;
    for (size_t i = 0; i < kSample; ++i)
      if (const uint64_t key = keys[i * keys.size() / kSample]; key != kMissingKey) sample[n++] = key;
    const size_t by_bits = distinct({sample.data(), n});
    is_even_ = true;
    is_even_ = distinct({sample.data(), n}) >= by_bits;
    is_whole_ = is_even_ && range < kMost && std::abs(low_) < kWhole && std::ranges::all_of(sample.data(), sample.data() + n, is_whole) &&
                std::ranges::all_of(keys, is_whole);
    if (is_whole_) unit_ = 1;
  }
  size_t distinct(std::span<const uint64_t> sample) const {
    std::array<uint32_t, kSample> key;
    std::ranges::transform(sample, key.begin(), *this);
    std::sort(key.begin(), key.begin() + std::ptrdiff_t(sample.size()));
    return size_t(std::unique(key.begin(), key.begin() + std::ptrdiff_t(sample.size())) - key.begin());
  }
  static constexpr double kWhole = 4503599627370496.0;  // 2^52: whole numbers up to here, and their differences, are exact
  static bool is_whole(uint64_t key) {
    const double x = number_of(key);
    return key == kMissingKey || (std::abs(x) < kWhole && double(int64_t(x)) == x);
  }

  uint64_t low_bits_ = 0;
  int shift_ = 0;
  double low_ = 0, unit_ = 0;
  bool is_even_ = false, is_whole_ = false;
};

}  // namespace baytree::tree::sorted
