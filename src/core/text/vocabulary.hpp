// Growing list of distinct words and their codes: an open-addressing hash table over one byte arena; and sorted
// vocabularies.
#pragma once
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baytree::text {

// Up to eight bytes as a little-endian number, by overlapping loads instead of a loop.
inline uint64_t load(const char* bytes, const size_t n) {
  const auto whole = [&]<std::unsigned_integral T>(T word, const size_t at) {
    std::memcpy(&word, bytes + at, sizeof word);
    return uint64_t{word};
  };
  if (n >= 8) return whole(uint64_t{}, 0);
  if (n >= 4) return whole(uint32_t{}, 0) | whole(uint32_t{}, n - 4) << 8 * (n - 4);
  if (n == 0) return 0;
  const auto single = [&](const size_t at) { return uint64_t{static_cast<uint8_t>(bytes[at])} << 8 * at; };
  return single(0) | single(n / 2) | single(n - 1);
}

// Random key of the process, so that no document can be crafted whose words all collide.
struct Key {
  uint64_t first, second;
};

// The 64-bit SipHash-1-3 of the bytes (Aumasson and Bernstein, 2012).
class SipHash {
 public:
  explicit SipHash(const Key key) : key_(key) {}

  uint64_t operator()(const std::string_view bytes) const {
    State s{key_.first ^ 0x736f6d6570736575, key_.second ^ 0x646f72616e646f6d, key_.first ^ 0x6c7967656e657261,
            key_.second ^ 0x7465646279746573};
    size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) absorb(s, load(bytes.data() + i, 8));
    absorb(s, load(bytes.data() + i, bytes.size() - i) | uint64_t{bytes.size()} << 56);
    s.c ^= 0xff;
    for (int round = 0; round < 3; ++round) mix(s);
    return s.a ^ s.b ^ s.c ^ s.d;
  }

 private:
  struct State {
    uint64_t a, b, c, d;
  };

  static void absorb(State& s, const uint64_t word) {
    s.d ^= word;
    mix(s);
    s.a ^= word;
  }

  static void mix(State& s) {
    s.a += s.b, s.b = std::rotl(s.b, 13) ^ s.a, s.a = std::rotl(s.a, 32);
    s.c += s.d, s.d = std::rotl(s.d, 16) ^ s.c;
    s.a += s.d, s.d = std::rotl(s.d, 21) ^ s.a;
    s.c += s.b, s.b = std::rotl(s.b, 17) ^ s.c, s.c = std::rotl(s.c, 32);
  }

  Key key_;
};

class Words {
 public:
  explicit Words(const Key key) : hash_(key), slots_(1024) {}

  int32_t size() const { return static_cast<int32_t>(end_.size()); }

  std::string_view operator[](const int32_t code) const {
    const size_t begin = code ? end_[code - 1] : 0;
    return {arena_.data() + begin, end_[code] - begin};
  }

  // The code of the word, or -1.
  int32_t find(const std::string_view word) const { return slots_[slot_of(word)].code; }

  // The code of the word; adds new words.
  int32_t add(const std::string_view word) {
    Slot& slot = slots_[slot_of(word)];
    if (slot.code != kEmpty) return slot.code;
    slot = {load(word.data(), word.size()), static_cast<uint32_t>(word.size()), append(word)};
    if (4 * end_.size() > 3 * slots_.size()) grow();
    return size() - 1;
  }

 private:
  static constexpr int32_t kEmpty = -1;
  // The first bytes and the length distinguish short words without access to the arena.
  struct Slot {
    uint64_t head = 0;
    uint32_t length = 0;
    int32_t code = kEmpty;
  };

  // The slot of the word, or the slot where it would be inserted.
  size_t slot_of(const std::string_view word) const {
    const size_t mask = slots_.size() - 1;
    const uint64_t head = load(word.data(), word.size());
    size_t at = hash_(word) & mask;
    while (slots_[at].code != kEmpty && !holds(slots_[at], head, word)) at = (at + 1) & mask;
    return at;
  }

  bool holds(const Slot& slot, const uint64_t head, const std::string_view word) const {
    return slot.head == head && slot.length == static_cast<uint32_t>(word.size()) &&
           (word.size() <= 8 || (*this)[slot.code] == word);
  }

  int32_t append(const std::string_view word) {
    if (end_.size() == size_t{std::numeric_limits<int32_t>::max()})
      throw std::overflow_error("a text column has more than 2147483647 distinct tokens; use hashing=");
    arena_.append(word);
    end_.push_back(arena_.size());
    return size() - 1;
  }

  void grow() {
    std::vector<Slot> slots(2 * slots_.size());
    slots.swap(slots_);
    for (const Slot& slot : slots)
      if (slot.code != kEmpty) slots_[slot_of((*this)[slot.code])] = slot;
  }

  SipHash hash_;
  std::string arena_;
  std::vector<size_t> end_;  // end of each word in the arena
  std::vector<Slot> slots_;  // size is a power of two; at most three quarters are occupied
};

// The first eight bytes as a number with the same order; decides most comparisons of words.
inline uint64_t head_of(const std::string_view word) {
  uint64_t head = 0;
  for (size_t i = 0; i < 8; ++i) head = head << 8 | (i < word.size() ? static_cast<uint8_t>(word[i]) : 0);
  return head;
}

// Words in byte order, which for UTF-8 is the order of code points.
struct Vocabulary {
  Words words;
  std::vector<int32_t> order;  // codes in `words`

  explicit Vocabulary(Words&& found) : words(std::move(found)), order(words.size()) {
    std::vector<std::pair<uint64_t, int32_t>> heads;
    heads.reserve(order.size());
    for (int32_t code = 0; code < words.size(); ++code) heads.emplace_back(head_of(words[code]), code);
    std::sort(heads.begin(), heads.end(), [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : words[a.second] < words[b.second];
    });
    std::transform(heads.begin(), heads.end(), order.begin(), [](const auto& head) { return head.second; });
  }

  size_t size() const { return order.size(); }
  std::string_view operator[](const size_t place) const { return words[order[place]]; }
};

// Union of several vocabularies: each word once, in order, and for every part the new codes of its words.
struct Union {
  std::vector<std::string_view> words;      // views into the parts
  std::vector<std::vector<int32_t>> codes;  // by part and old code
};

inline Union unite(std::span<const Vocabulary* const> parts) {
  struct Entry {
    uint64_t head;
    std::string_view word;
    size_t part, place;
  };
  const auto before = [](const Entry& a, const Entry& b) { return a.head != b.head ? a.head < b.head : a.word < b.word; };
  std::vector<Entry> entries;
  std::vector<size_t> end{0};  // end of each part in `entries`
  Union all;
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t place = 0; place < parts[part]->size(); ++place)
      entries.push_back({head_of((*parts[part])[place]), (*parts[part])[place], part, place});
    end.push_back(entries.size());
    all.codes.emplace_back(parts[part]->size());
  }
  const auto at = [&](const size_t part) { return entries.begin() + end[std::min(part, parts.size())]; };
  for (size_t width = 1; width < parts.size(); width *= 2)
    for (size_t part = 0; part + width < parts.size(); part += 2 * width)
      std::inplace_merge(at(part), at(part + width), at(part + 2 * width), before);
  for (const Entry& entry : entries) {
    if (all.words.empty() || all.words.back() != entry.word) all.words.push_back(entry.word);
    all.codes[entry.part][entry.place] = static_cast<int32_t>(all.words.size() - 1);
  }
  return all;
}

}  // namespace baytree::text
