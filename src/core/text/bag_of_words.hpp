// Bags of words: per row the codes of its tokens, ascending and distinct, with counts; and totals of the words per
// class.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "numeric/matrix.hpp"
#include "text/tokenizer.hpp"

namespace baytree::text {

// A word (code in `words`) and its final code.
struct Coded {
  int32_t code, word;
};

inline std::vector<Coded> by_place(const Vocabulary& vocabulary) {
  std::vector<Coded> order;
  order.reserve(vocabulary.size());
  for (const int32_t word : vocabulary.order) order.push_back({static_cast<int32_t>(order.size()), word});
  return order;
}

// The words that `code` maps to a code other than -1, sorted by that code.
template <std::invocable<std::string_view> F> std::vector<Coded> by_code(const Words& words, F code) {
  std::vector<Coded> order;
  for (int32_t word = 0; word < words.size(); ++word)
    if (const int32_t given = code(words[word]); given >= 0) order.push_back({given, word});
  std::sort(order.begin(), order.end(), [](const Coded& a, const Coded& b) { return a.code < b.code; });
  return order;
}

// 32-bit MurmurHash3 of the bytes, seed 0. Unkeyed on purpose: codes must be the same in every process.
inline uint32_t murmur(const std::string_view bytes) {
  const auto scramble = [](const uint32_t k) { return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u; };
  const auto byte = [&](const size_t i) { return uint32_t{static_cast<uint8_t>(bytes[i])}; };
  uint32_t h = 0, tail = 0;
  size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4)
    h = std::rotl(h ^ scramble(byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24), 13) * 5 + 0xe6546b64u;
  for (size_t k = i; k < bytes.size(); ++k) tail |= byte(k) << (8 * (k - i));
  h ^= scramble(tail) ^ static_cast<uint32_t>(bytes.size());
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

inline int32_t bucket(const std::string_view token, const int64_t n_buckets) {
  const int64_t hash = static_cast<int32_t>(murmur(token));
  return static_cast<int32_t>((hash < 0 ? -hash : hash) % n_buckets);
}

// The rows [first, last).
struct Tile {
  size_t first, last;
};

inline constexpr std::size_t cached_tokens = 1 << 18;  // whose codes and counts, a few megabytes, fit the last-level cache

// Splits the rows into tiles that hold about as many tokens as fit the cache, or as many as there are words if that is
// more.
inline std::vector<Tile> tiles(std::span<const int64_t> start, const size_t n_words) {
  const int64_t min_tokens = static_cast<int64_t>(std::max<size_t>(n_words, cached_tokens));
  std::vector<Tile> tiles;
  for (size_t first = 0, row = 1; row < start.size(); ++row)
    if (row + 1 == start.size() || start[row] - start[first] >= min_tokens)
      tiles.push_back({first, row}), first = row;
  return tiles;
}

// Inverted index: for each word the rows in which it occurs, one entry per occurrence.
struct Postings {
  std::vector<int64_t> start;  // [n_words + 1]
  std::vector<int32_t> row;
};

inline Postings invert(const Rows& rows, const Tile tile, const size_t n_words) {
  const int64_t begin = rows.start[tile.first], end = rows.start[tile.last];
  Postings postings{std::vector<int64_t>(n_words + 1), std::vector<int32_t>(end - begin)};
  for (int64_t i = begin; i < end; ++i) ++postings.start[rows.code[i] + 1];
  for (size_t word = 0; word < n_words; ++word) postings.start[word + 1] += postings.start[word];
  std::vector<int64_t> next(postings.start.begin(), postings.start.end() - 1);
  for (size_t row = tile.first; row < tile.last; ++row)
    for (int64_t i = rows.start[row]; i < rows.start[row + 1]; ++i)
      postings.row[next[rows.code[i]]++] = static_cast<int32_t>(row);
  return postings;
}

// Rewrites the codes of a tile: ascending, distinct, with counts; row r then ends at end[r]. Appending each word, in
// order of its code, to its rows sorts all rows in linear time.
inline void tally_tile(Rows& rows, const Tile tile, std::span<const Coded> order, const size_t n_words,
                       std::span<int64_t> end) {
  const Postings postings = invert(rows, tile, n_words);
  for (const auto [code, word] : order)
    for (int64_t i = postings.start[word]; i < postings.start[word + 1]; ++i) {
      const int32_t row = postings.row[i];
      const int64_t last = end[row] - 1;
      if (last >= rows.start[row] && rows.code[last] == code) {
        rows.count[last] += 1;
      } else {
        rows.code[end[row]] = code;
        rows.count[end[row]++] = 1;
      }
    }
}

// Removes the unused space between rows; row r ends at end[r].
inline void compact(Rows& rows, std::span<const int64_t> end) {
  int64_t kept = 0;
  for (size_t row = 0; row < end.size(); ++row) {
    const int64_t begin = std::exchange(rows.start[row], kept), length = end[row] - begin;
    std::copy_n(rows.code.begin() + begin, length, rows.code.begin() + kept);
    std::copy_n(rows.count.begin() + begin, length, rows.count.begin() + kept);
    kept += length;
  }
  rows.start.back() = kept;
  rows.code.resize(kept);
  rows.count.resize(kept);
}

// Turns each row into a bag with final codes: ascending, distinct, with counts.
template <std::invocable Poll>
void tally(Rows& rows, std::span<const Coded> order, const size_t n_words, Poll poll) {
  std::vector<int64_t> end(rows.start.begin(), rows.start.end() - 1);
  rows.count.resize(rows.code.size());
  for (const Tile tile : tiles(rows.start, n_words)) {
    poll();
    tally_tile(rows, tile, order, n_words, end);
  }
  compact(rows, end);
}

// Totals: occurrences of each word per class, and the number of documents of each class that contain it.

struct WordCounts {
  std::vector<std::int64_t> total, documents;  // [n_words, n_classes]
  bool is_whole = true;                        // whether every count was an integer; if not, the totals are invalid
};

// Rows are documents, codes are words, values are counts. Codes and labels must be in range.
inline WordCounts count_words(const numeric::SparseRows& rows, std::span<const std::int32_t> label, std::size_t n_words,
                              std::size_t n_classes) {
  WordCounts counts{std::vector<std::int64_t>(n_words * n_classes), std::vector<std::int64_t>(n_words * n_classes)};
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (auto e = static_cast<std::size_t>(rows.start[i]); e < static_cast<std::size_t>(rows.start[i + 1]); ++e) {
      const std::size_t cell = static_cast<std::size_t>(rows.code[e]) * n_classes + static_cast<std::size_t>(label[i]);
      const double times = std::fabs(rows.value[e]) < 0x1p31 ? rows.value[e] : 0.5;  // larger values count as non-integers
      const auto whole = static_cast<std::int64_t>(times);
      counts.is_whole &= static_cast<double>(whole) == times;
      counts.total[cell] += whole;
      ++counts.documents[cell];
    }
  return counts;
}

}  // namespace baytree::text
