// Arrow string views (C data interface, format "vu", 16 bytes per cell) → codes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "text/vocabulary.hpp"

// Field names and order as in the Arrow C data interface.
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

namespace baytree::text {

// A structure of the C data interface that is released when this goes out of scope.
template <typename Handed> struct Borrowed : Handed {
  Borrowed() : Handed{} {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    if (this->release) this->release(this);
  }
};

// Length of a string, then the string itself if it has at most 12 bytes, else its first bytes and its position in a
// buffer.
struct View {
  uint64_t low, high;

  uint32_t length() const { return static_cast<uint32_t>(low); }
  bool is_short() const { return length() <= 12; }
  bool operator==(const View&) const = default;
};

// The cells of one chunk.
class StringChunk {
 public:
  explicit StringChunk(const ArrowArray& array)
      : known_(array.null_count ? static_cast<const uint8_t*>(array.buffers[0]) : nullptr),
        views_(static_cast<const View*>(array.buffers[1]) + array.offset), buffers_(array.buffers + 2),
        first_(static_cast<size_t>(array.offset)), size_(static_cast<size_t>(array.length)) {}

  size_t size() const { return size_; }
  bool is_missing(const size_t row) const { return known_ && !(known_[(first_ + row) / 8] >> (first_ + row) % 8 & 1); }
  const View& operator[](const size_t row) const { return views_[row]; }

  std::string_view text(const View& view) const {
    if (view.is_short()) return {reinterpret_cast<const char*>(&view) + 4, view.length()};
    const auto buffer = static_cast<uint32_t>(view.high), offset = static_cast<uint32_t>(view.high >> 32);
    return {static_cast<const char*>(buffers_[buffer]) + offset, view.length()};
  }

 private:
  const uint8_t* known_;
  const View* views_;
  const void** buffers_;
  size_t first_, size_;
};

// Calls use(chunk) for every chunk of a stream, in order.
template <std::invocable<const StringChunk&> Use> void each_chunk(ArrowArrayStream& stream, const Use use) {
  Borrowed<ArrowSchema> schema;
  if (stream.get_schema(&stream, &schema)) throw std::runtime_error("a column of strings could not be read");
  if (std::string_view(schema.format) != "vu") throw std::invalid_argument("these are no views of strings");
  for (;;) {
    Borrowed<ArrowArray> array;
    if (stream.get_next(&stream, &array)) throw std::runtime_error("a column of strings could not be read");
    if (!array.release) return;
    if (array.length) use(StringChunk(array));
  }
}

struct StringCodes {
  std::vector<int32_t> code;            // [n_rows], -1 for a missing string
  std::vector<std::string_view> level;  // [n_levels], the strings in byte order
};

// Assigns codes to strings in byte order. A small cache of recent views avoids looking at the bytes of repeated
// strings.
class StringCoder {
 public:
  explicit StringCoder(const Key key) : words_(key), lately_(1024) {}

  void operator()(const StringChunk& chunk) {
    std::fill(lately_.begin(), lately_.end(), Known{});  // buffer positions are only valid within a chunk
    const size_t before = code_.size();
    code_.resize(before + chunk.size());
    const std::span<int32_t> code = std::span(code_).subspan(before);
    for (size_t row = 0; row < chunk.size(); ++row) {
      const Known& lately = lately_[place_of(chunk[row])];
      if (chunk.is_missing(row)) code[row] = -1;
      else code[row] = lately.view == chunk[row] ? lately.code : looked_up(chunk, chunk[row]);
    }
  }

  // The codes and their levels; the levels are views into this coder's words, valid as long as the coder lives.
  StringCodes sorted() {
    const size_t n_levels = static_cast<size_t>(words_.size());
    std::vector<int32_t> order(n_levels), rank(n_levels);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return words_[a] < words_[b]; });
    StringCodes found{std::move(code_), {}};
    for (const int32_t code : order) {
      rank[static_cast<size_t>(code)] = static_cast<int32_t>(found.level.size());
      found.level.push_back(words_[code]);
    }
    for (int32_t& code : found.code) code = code < 0 ? code : rank[static_cast<size_t>(code)];
    return found;
  }

 private:
  struct Known {
    View view{~uint64_t{0}, 0};  // matches no view: its length would be negative
    int32_t code = -1;
  };

  static size_t place_of(const View& view) {
    return (view.low * 0x9e3779b97f4a7c15 + view.high * 0xd6e8feb86659fd93) >> 54;
  }

  int32_t looked_up(const StringChunk& chunk, const View& view) {
    const int32_t code = words_.add(chunk.text(view));
    lately_[place_of(view)] = {view, code};
    return code;
  }

  Words words_;
  std::vector<Known> lately_;
  std::vector<int32_t> code_;
};

// Whether a string is empty, or starts or ends with white space.
inline bool has_margin(const StringChunk& chunk) {
  const auto is_blank = [](const char letter) { return letter == ' ' || letter == '\t'; };
  for (size_t row = 0; row < chunk.size(); ++row) {
    if (chunk.is_missing(row)) continue;
    const std::string_view text = chunk.text(chunk[row]);
    if (text.empty() || is_blank(text.front()) || is_blank(text.back())) return true;
  }
  return false;
}

}  // namespace baytree::text
