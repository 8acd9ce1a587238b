#include <nanobind/stl/pair.h>
#include <chrono>
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "text/bag_of_words.hpp"
#include "text/string_views.hpp"

namespace baytree::bindings {
namespace {

using text::Vocabulary;
using text::Words;

// View of a str (ASCII only: others would cache a second copy) or of UTF-8 bytes, not copied; None is an empty view.
std::string_view bytes_of(const nb::handle text) {
  Py_ssize_t size = 0;
  if (text.is_none()) return {};
  if (PyUnicode_Check(text.ptr())) {
    const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!bytes) throw nb::python_error();
    return {bytes, static_cast<size_t>(size)};
  }
  char* bytes = nullptr;
  if (PyBytes_AsStringAndSize(text.ptr(), &bytes, &size) < 0) throw nb::python_error();
  return {bytes, static_cast<size_t>(size)};
}

std::vector<std::string_view> views_of(const nb::list& documents) {
  std::vector<std::string_view> views;
  views.reserve(documents.size());
  for (const nb::handle document : documents) views.push_back(bytes_of(document));
  return views;
}

Words words_of(const nb::list& words, const std::pair<uint64_t, uint64_t> key) {
  Words known({key.first, key.second});
  for (const nb::handle word : words) known.add(bytes_of(word));
  return known;
}

// Checks for Ctrl-C, acquiring the GIL at most every 20 ms.
class Interruptible {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(20);
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
};

// Python wrapper of text::Rule; keeps arrays and stop words alive.
struct Reading {
  Vector<uint8_t> letters;
  Words stops;
  size_t shortest, longest;
  bool lowercase;
  text::Key key;

  text::Rule rule() const { return {{text::ascii_letters(lowercase), view(letters)}, &stops, shortest, longest}; }
};

nb::tuple arrays_of(text::Rows&& rows) {
  const size_t n_rows = rows.start.size(), n_entries = rows.code.size();
  return nb::make_tuple(to_numpy(std::move(rows.start), {n_rows}), to_numpy(std::move(rows.code), {n_entries}),
                        to_numpy(std::move(rows.count), {n_entries}));
}

text::Rows read(const std::vector<std::string_view>& documents, const Reading& reading, Words& words) {
  return text::read(std::span(documents), reading.rule(), words, Interruptible());
}

nb::tuple count_tokens(const nb::list& documents, const Reading& reading) {
  const std::vector<std::string_view> views = views_of(documents);
  Words words(reading.key);
  text::Rows rows;
  std::optional<Vocabulary> vocabulary;
  {
    const nb::gil_scoped_release released;
    rows = read(views, reading, words);
    vocabulary.emplace(std::move(words));
    text::tally(rows, text::by_place(*vocabulary), vocabulary->size(), Interruptible());
  }
  return nb::make_tuple(nb::cast(std::move(*vocabulary)), arrays_of(std::move(rows)));
}

template <std::invocable<std::string_view> F>
nb::tuple encode(const nb::list& documents, const Reading& reading, const F code) {
  const std::vector<std::string_view> views = views_of(documents);
  text::Rows rows;
  {
    const nb::gil_scoped_release released;
    Words words(reading.key);
    rows = read(views, reading, words);
    text::tally(rows, text::by_code(words, code), words.size(), Interruptible());
  }
  return arrays_of(std::move(rows));
}

nb::tuple encode_tokens(const nb::list& documents, const Reading& reading, const Words& known) {
  return encode(documents, reading, [&](const std::string_view token) { return known.find(token); });
}

nb::tuple hash_tokens(const nb::list& documents, const Reading& reading, const int64_t buckets) {
  return encode(documents, reading, [=](const std::string_view token) { return text::bucket(token, buckets); });
}

nb::object text_of(const std::string_view word) {
  PyObject* const text = PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), "surrogatepass");
  if (!text) throw nb::python_error();
  return nb::steal(text);
}

nb::tuple unite(const nb::list& parts) {
  std::vector<const Vocabulary*> vocabularies;
  for (const nb::handle part : parts) vocabularies.push_back(&nb::cast<const Vocabulary&>(part));
  text::Union all;
  {
    const nb::gil_scoped_release released;
    all = text::unite(vocabularies);
  }
  nb::list words, codes;
  for (const std::string_view word : all.words) words.append(text_of(word));
  for (std::vector<int32_t>& code : all.codes) {
    const size_t size = code.size();
    codes.append(to_numpy(std::move(code), {size}));
  }
  return nb::make_tuple(nb::tuple(words), codes);
}

// to[i] = mapping[from[i]]
void recode(const Vector<int32_t> from, const Vector<int32_t> mapping, const Output<int32_t> to) {
  const auto codes = view(from), renamed = view(mapping);
  const auto target = view(to);
  if (codes.size() != target.size()) throw std::invalid_argument("recode: as many codes must go out as come in");
  const nb::gil_scoped_release released;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (static_cast<size_t>(codes[i]) >= renamed.size()) throw std::out_of_range("recode: a code has no new code");
    target[i] = renamed[codes[i]];
  }
}

ArrowArrayStream& stream_in(const nb::object& capsule) {
  void* const stream = PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream");
  if (!stream) throw nb::python_error();
  return *static_cast<ArrowArrayStream*>(stream);
}

nb::tuple string_codes(const nb::object& strings, const std::pair<uint64_t, uint64_t> key) {
  ArrowArrayStream& stream = stream_in(strings);
  text::StringCoder coder({key.first, key.second});
  text::StringCodes found = interruptible([&] {
    text::each_chunk(stream, [&](const text::StringChunk& chunk) { coder(chunk); });
    return coder.sorted();
  });
  nb::list levels;
  for (const std::string_view level : found.level) levels.append(text_of(level));
  const size_t n_rows = found.code.size();
  return nb::make_tuple(to_numpy(std::move(found.code), {n_rows}), nb::tuple(levels));
}

bool has_margins(const nb::object& strings) {
  ArrowArrayStream& stream = stream_in(strings);
  return interruptible([&] {
    bool found = false;
    text::each_chunk(stream, [&](const text::StringChunk& chunk) { found = found || text::has_margin(chunk); });
    return found;
  });
}

}  // namespace

void bind_text(nb::module_& module) {
  nb::class_<Words>(module, "Words", "Words and their codes, for fast lookup.")
      .def("__init__", [](Words* self, const nb::list& words, const std::pair<uint64_t, uint64_t> key) {
        new (self) Words(words_of(words, key));
      }, "words"_a, "key"_a)
      .def("__len__", &Words::size);
  nb::class_<Vocabulary>(module, "Vocabulary", "The distinct tokens of some documents, sorted.")
      .def("__len__", &Vocabulary::size);
  nb::class_<Reading>(module, "Reading", "What a token is: word characters, stop words, lengths of n-grams.")
      .def("__init__", [](Reading* self, Vector<uint8_t> letters, const Words& stops, size_t shortest, size_t longest,
                          bool lowercase, const std::pair<uint64_t, uint64_t> key) {
        new (self) Reading{std::move(letters), stops, shortest, longest, lowercase, {key.first, key.second}};
      }, nb::arg("letters").noconvert(), "stops"_a, "shortest"_a, "longest"_a, "lowercase"_a, "key"_a);
  module.def("string_codes", &string_codes, "strings"_a, "key"_a,
             "Codes of the strings of an Arrow stream of views, and the strings in the order of their bytes.");
  module.def("has_margins", &has_margins, "strings"_a,
             "Whether a string of an Arrow stream of views is empty, or begins or ends with a blank.");
  module.def("count_tokens", &count_tokens, "documents"_a, "reading"_a,
             "The sorted vocabulary of the documents, and (start, code, count) of each row's bag.");
  module.def("unite", &unite, "parts"_a,
             "The words of all vocabularies, sorted, and the new codes of the words of each.");
  module.def("recode", &recode, nb::arg("codes").noconvert(), nb::arg("mapping").noconvert(), nb::arg("to").noconvert(),
             "Writes mapping[codes] to `to`.");
  module.def("encode_tokens", &encode_tokens, "documents"_a, "reading"_a, "known"_a,
             "(start, code, count) of each row's bag in the codes of known words; other words are dropped.");
  module.def("hash_tokens", &hash_tokens, "documents"_a, "reading"_a, "buckets"_a,
             "(start, code, count) of each row's bag with a token's MurmurHash3 as its code.");
}

}  // namespace baytree::bindings
