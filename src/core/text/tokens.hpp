// Text → token counts: the words of a document, their n-grams, and how often each occurs.
// A word is a run of at least two word characters (a letter or digit of any script, or an underscore).
#pragma once
#include <array>
#include <concepts>
#include <span>
#include <utility>

#include "text/words.hpp"

namespace baytree::text {

// Which characters make words. Beyond ASCII the caller says so, bit by bit, and has changed the case already.
struct Alphabet {
  std::array<char, 128> letter;     // as it is to be read, or 0 where it parts words
  std::span<const uint8_t> others;  // bit c % 8 of byte c / 8: does code point c belong to words?

  bool contains(const char32_t c) const { return c / 8 < others.size() && (others[c / 8] >> (c % 8) & 1); }
};

inline std::array<char, 128> ascii_letters(const bool lowercase) {
  std::array<char, 128> letter{};
  for (char c = 'a'; c <= 'z'; ++c) letter[c] = c, letter[c - 'a' + 'A'] = lowercase ? c : c - 'a' + 'A';
  for (char c = '0'; c <= '9'; ++c) letter[c] = c;
  letter['_'] = '_';
  return letter;
}

// What is a token: words that are not stop words, and the runs of `shortest` to `longest` of them.
struct Rule {
  Alphabet alphabet;
  const Words* stops;
  size_t shortest, longest;
};

// Codes of documents one after another: those of row r are code[start[r]] to code[start[r + 1]].
struct Rows {
  std::vector<int64_t> start{0};
  std::vector<int32_t> code;
  std::vector<double> count;
};

// The 32-bit MurmurHash3 of the bytes, seed 0: public and unkeyed, because codes must be the same everywhere.
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

// The words of a document with one blank after each, so that every n-gram is one piece of the text.
struct Sentence {
  std::string text;
  std::vector<size_t> begin;  // of each word, and the end of the last

  size_t size() const { return begin.size() - 1; }
  std::string_view piece(const size_t word, const size_t n) const {
    return {text.data() + begin[word], begin[word + n] - begin[word] - 1};
  }
};

struct CodePoint {
  char32_t value;
  size_t width;  // in bytes
};

// The first code point of non-empty UTF-8. A broken one reads as one byte that parts words.
inline CodePoint decode(const std::string_view bytes) {
  const auto byte = [&](const size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const size_t width = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (width > bytes.size() || (width == 2 && byte(0) < 0xc2)) return {0, 1};
  char32_t value = width == 1 ? byte(0) : byte(0) & (0x7f >> width);
  for (size_t i = 1; i < width; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 1};
    value = value << 6 | (byte(i) & 0x3f);
  }
  return {value, width};
}

// The number of characters of the word that begins here; moves `from` behind it and writes it to `to`.
inline size_t read_word(const std::string_view document, const Alphabet& alphabet, size_t& from, char*& to) {
  size_t length = 0;
  for (; from < document.size(); ++length) {
    if (const auto byte = static_cast<uint8_t>(document[from]); byte < 0x80) {
      if (!alphabet.letter[byte]) break;
      *to++ = alphabet.letter[byte];
      ++from;
    } else {
      const auto [value, width] = decode(document.substr(from));
      if (!alphabet.contains(value)) break;
      to = std::copy_n(document.data() + from, width, to);
      from += width;
    }
  }
  return length;
}

inline void split(const std::string_view document, const Rule& rule, Sentence& sentence) {
  sentence.text.resize(document.size() + 1);  // no word grows, and a blank takes the place of what parted them
  sentence.begin.assign(1, 0);
  char* const text = sentence.text.data();
  const bool is_free = rule.stops->size() == 0;
  size_t from = 0;
  while (from < document.size()) {
    char* const begin = text + sentence.begin.back();
    char* end = begin;
    const size_t length = read_word(document, rule.alphabet, from, end);
    if (length >= 2 && (is_free || rule.stops->find({begin, end}) < 0)) {
      *end++ = ' ';
      sentence.begin.push_back(end - text);
    }
    if (from < document.size()) from += decode(document.substr(from)).width;
  }
}

// The tokens of all documents in reading order, by their codes in `words`. `poll` is called once a document.
template <std::invocable Poll>
Rows read(std::span<const std::string_view> documents, const Rule& rule, Words& words, Poll poll) {
  Rows rows;
  Sentence sentence;
  for (const std::string_view document : documents) {
    poll();
    split(document, rule, sentence);
    for (size_t n = rule.shortest; n <= std::min(rule.longest, sentence.size()); ++n)
      for (size_t word = 0; word + n <= sentence.size(); ++word) rows.code.push_back(words.add(sentence.piece(word, n)));
    rows.start.push_back(static_cast<int64_t>(rows.code.size()));
  }
  return rows;
}

// A word of `words` and the code it gets in the end.
struct Coded {
  int32_t code, word;
};

inline std::vector<Coded> by_place(const Vocabulary& vocabulary) {
  std::vector<Coded> order;
  order.reserve(vocabulary.size());
  for (const int32_t word : vocabulary.order) order.push_back({static_cast<int32_t>(order.size()), word});
  return order;
}

// The words that `code` knows (gives no -1), by code.
template <std::invocable<std::string_view> F> std::vector<Coded> by_code(const Words& words, F code) {
  std::vector<Coded> order;
  for (int32_t word = 0; word < words.size(); ++word)
    if (const int32_t given = code(words[word]); given >= 0) order.push_back({given, word});
  std::sort(order.begin(), order.end(), [](const Coded& a, const Coded& b) { return a.code < b.code; });
  return order;
}

inline int32_t bucket(const std::string_view token, const int64_t n_buckets) {
  const int64_t hash = static_cast<int32_t>(murmur(token));
  return static_cast<int32_t>((hash < 0 ? -hash : hash) % n_buckets);
}

// Some of the rows, from `first` up to `last`.
struct Tile {
  size_t first, last;
};

// The rows in tiles of about as many tokens as a cache can hold, or as there are words if these are more.
inline std::vector<Tile> tiles(std::span<const int64_t> start, const size_t n_words) {
  const int64_t enough = static_cast<int64_t>(std::max<size_t>(n_words, 1 << 18));
  std::vector<Tile> tiles;
  for (size_t first = 0, row = 1; row < start.size(); ++row)
    if (row + 1 == start.size() || start[row] - start[first] >= enough)
      tiles.push_back({first, row}), first = row;
  return tiles;
}

// For each word the rows in which it stands, once for each time it stands there.
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

// Writes the codes of a tile anew, ascending, each once with its count; row r then ends at end[r]. Going through the words
// by code and appending each to its rows sorts all rows at once, in linear time.
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

// Closes the gaps between rows, of which row r ends at end[r].
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

// Makes each row a bag in the final codes: ascending, each once, with its count.
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

}  // namespace baytree::text
