// Text → token counts: the words of a document, their n-grams, and their counts.
//
// A word is a run of at least two word characters (letters or digits of any script, or underscores).
#pragma once
#include <array>
#include <concepts>
#include <span>
#include <utility>

#include "text/vocabulary.hpp"

namespace baytree::text {

// Word characters. Beyond ASCII the caller provides a bit set and has already changed the case.
struct Alphabet {
  std::array<char, 128> letter;     // the character to store, or 0 for a separator
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

// Tokens are runs of `shortest` to `longest` consecutive words that are not stop words.
struct Rule {
  Alphabet alphabet;
  const Words* stops;
  size_t shortest, longest;
};

// Codes of all documents, concatenated: row r has code[start[r]] to code[start[r + 1]].
struct Rows {
  std::vector<int64_t> start{0};
  std::vector<int32_t> code;
  std::vector<double> count;
};

// The words of a document, each followed by a blank, so that every n-gram is a substring.
struct Sentence {
  std::string text;
  std::vector<size_t> begin;  // start of each word, and end of the last one

  size_t size() const { return begin.size() - 1; }
  std::string_view piece(const size_t word, const size_t n) const {
    return {text.data() + begin[word], begin[word + n] - begin[word] - 1};
  }
};

struct CodePoint {
  char32_t value;
  size_t width;  // in bytes
};

// The first code point of non-empty UTF-8. An invalid byte is read as a separator of one byte.
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

// Copies the next word to `to`, moves `from` behind it and returns its number of characters.
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
  sentence.text.resize(document.size() + 1);  // words do not grow, and a blank replaces each separator
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

// The tokens of all documents in reading order, as codes in `words`. Calls `poll` once per document.
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

}  // namespace baytree::text
