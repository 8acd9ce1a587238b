// Entries in the order of their upper 32 bits: dealt into buckets by the leading bits, each of which the fast cache can hold.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace baytree::tree::sorted {

// One row of a column: above the rank of its value, below its tag (row and class).
using Entry = uint64_t;
inline uint32_t rank_of(Entry e) { return uint32_t(e >> 32); }
inline uint32_t tag_of(Entry e) { return uint32_t(e); }
inline Entry entry(uint32_t rank, uint32_t tag) { return Entry(rank) << 32 | tag; }

// Tags come in ascending order, and every step is stable, so that the order is that of whole entries.
class BucketSort {
 public:
  BucketSort(std::vector<Entry>& entries, std::vector<Entry>& scratch) : entries_(entries), scratch_(scratch) {}

  void sort() {
    if (entries_.size() <= kFew) {
      std::ranges::sort(entries_);
      return;
    }
    scratch_.resize(std::max(scratch_.size(), entries_.size())), room_.resize(2 * kMuch);
    const int bits = std::clamp(int(std::bit_width(entries_.size())) - 11, 4, 12);
    std::vector<uint32_t> place(size_t(1) << bits);
    deal(entries_, scratch_.data(), 64 - bits, place);
    uint32_t begin = 0;
    for (const uint32_t end : place) {
      if (end > begin) sort_bucket(begin, end, bits);
      begin = end;
    }
  }

 private:
  static constexpr size_t kFew = 1024, kMuch = 1 << 14, kLongRun = 32;

  // Stable; `place` becomes the end of each bucket.
  static uint32_t deal(std::span<const Entry> from, Entry* to, int shift, std::span<uint32_t> place) {
    const uint64_t mask = place.size() - 1;
    std::ranges::fill(place, 0u);
    for (const Entry e : from) ++place[(e >> shift) & mask];
    const uint32_t most = std::ranges::max(place);
    uint32_t sum = 0;
    for (auto& p : place) sum += std::exchange(p, sum);
    for (const Entry e : from) to[place[(e >> shift) & mask]++] = e;
    return most;
  }

  // From the scratch room back into its place: by as many more bits as spread the bucket to about one entry each.
  void sort_bucket(uint32_t begin, uint32_t end, int bits_before) {
    const std::span<Entry> from(scratch_.data() + begin, end - begin), to(entries_.data() + begin, end - begin);
    if (from.size() > kMuch) return sort_by_bytes(from, to);
    const int bits = std::min(int(std::bit_width(from.size())), 32 - bits_before);
    const uint32_t most = deal(from, to.data(), 64 - bits_before - bits, std::span(room_).first(size_t(1) << bits));
    if (most <= kLongRun) insert_in_order(to);
    else if (!std::ranges::is_sorted(to)) std::ranges::sort(to);
  }

  static void insert_in_order(std::span<Entry> entries) {
    for (size_t i = 1; i < entries.size(); ++i) {
      const Entry e = entries[i];
      size_t at = i;
      for (; at > 0 && entries[at - 1] > e; --at) entries[at] = entries[at - 1];
      entries[at] = e;
    }
  }

  // A bucket that holds a large part of the rows: a byte at a time, the lowest first; an even number of times.
  static void sort_by_bytes(std::span<Entry> from, std::span<Entry> to) {
    std::array<uint32_t, 256> place;
    for (int shift = 32; shift < 64; shift += 16) {
      deal(from, to.data(), shift, place);
      deal(to, from.data(), shift + 8, place);
    }
    std::ranges::copy(from, to.begin());
  }

  std::vector<Entry>& entries_;
  std::vector<Entry>& scratch_;
  std::vector<uint32_t> room_;
};

}  // namespace baytree::tree::sorted
