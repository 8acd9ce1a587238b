// Bindings of streaming trees.
#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/streaming/merging.hpp"
#include "tree/streaming/serialize.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::streaming;

Settings streaming_settings_of(const nb::dict& given) {
  Settings settings;
  settings.revises = nb::cast<bool>(given["revises"]);
  settings.by_gini = nb::cast<bool>(given["by_gini"]);
  settings.asks_bayes = nb::cast<bool>(given["asks_bayes"]);
  settings.bits = nb::cast<double>(given["bits"]);
  settings.grace = nb::cast<double>(given["grace"]);
  settings.tie = nb::cast<double>(given["tie"]);
  settings.max_depth = nb::cast<int32_t>(given["max_depth"]);
  settings.most_bins = nb::cast<size_t>(given["max_bins"]);
  if (settings.most_bins < 8 || !(settings.grace > 0)) throw nb::value_error("too few bins, or no grace");
  return settings;
}

std::vector<Kind> kinds_of(const Vector<int32_t>& given) {
  std::vector<Kind> kinds;
  for (const int32_t kind : view(given)) {
    if (kind < 0 || kind > 2) throw nb::value_error("a column is a number, a name or a rank");
    kinds.push_back(Kind(kind));
  }
  return kinds;
}

// Names of the arrays of a stream, for both directions.
template <typename Arrays, typename Use> void each_array(Arrays& all, const Use& use) {
  use("classes", all.classes), use("levels", all.levels), use("n_codes", all.n_codes);
  use("column", all.column), use("first", all.first), use("missing", all.missing), use("listens", all.listens);
  use("n_branch_of", all.n_branch_of), use("branch_of", all.branch_of);
  use("cut", all.cut), use("seen", all.seen), use("next", all.next), use("start", all.start), use("own", all.own);
  use("exponent", all.exponent), use("n_bins", all.n_bins), use("n_levels", all.n_levels);
  use("low", all.low), use("bin_mass", all.bin_mass), use("level_mass", all.level_mass), use("gap", all.gap);
  use("named", all.named);
}

nb::dict to_python(Stored&& all) {
  nb::dict out;
  each_array(all, [&]<typename T>(const char* name, std::vector<T>& values) {
    const size_t size = values.size();
    out[name] = to_numpy(std::move(values), {size});
  });
  out["weight"] = all.weight, out["rows"] = all.rows, out["revisions"] = all.revisions;
  return out;
}

nb::dict arrays(const Stream& stream) { return to_python(Stored::of(stream)); }

nb::dict tree_of(const Stream& stream) {
  nb::dict out = to_python(Stored::tests(stream));
  auto all = counts(stream);
  const size_t nodes = all.size() / std::max<size_t>(1, stream.n_classes());
  out["counts"] = to_numpy(std::move(all), {nodes, stream.n_classes()});
  return out;
}

// Naive Bayes models of the nodes that predict by naive Bayes.
nb::dict bayes_leaves(const Stream& stream) {
  BayesLeaves all = BayesLeaves::of(stream);
  const size_t models = all.node.size(), columns = stream.kinds.size(), classes = stream.n_classes();
  const size_t levels = classes ? all.level_mass.size() / classes : 0;
  nb::dict out;
  out["node"] = to_numpy(std::move(all.node), {models});
  out["mean"] = to_numpy(std::move(all.mean), {models, columns, classes});
  out["scale"] = to_numpy(std::move(all.scale), {models, columns, classes});
  out["n_levels"] = to_numpy(std::move(all.n_levels), {models, columns});
  out["level_mass"] = to_numpy(std::move(all.level_mass), {levels, classes});
  return out;
}

Stream from_arrays(const nb::dict& settings, const Vector<int32_t>& kinds, const nb::dict& given) {
  Stored all;
  each_array(all, [&]<typename T>(const char* name, std::vector<T>& values) {
    const auto array = nb::cast<Vector<T>>(given[name], false);
    values.assign(array.data(), array.data() + array.shape(0));
  });
  all.weight = nb::cast<double>(given["weight"]);
  all.rows = nb::cast<int64_t>(given["rows"]);
  all.revisions = nb::cast<int64_t>(given["revisions"]);
  return all.stream(streaming_settings_of(settings), kinds_of(kinds));
}

// The same stream with larger sets of codes; of_class and of_level give the new code of each code.
Stream with_codes(Stream stream, const Vector<int32_t>& of_class, size_t classes, const nb::list& of_level, const Vector<int32_t>& n_levels) {
  const auto checked = [](const Vector<int32_t>& codes, size_t size, const Arrivals& known) {
    if (codes.shape(0) != known.place.size()) throw nb::value_error("every code becomes another one");
    for (const int32_t code : view(codes)) if (code < 0 || size_t(code) >= size) throw nb::value_error("a code is none");
    return recoded(known, view(codes), size);
  };
  stream.classes = checked(of_class, classes, stream.classes);
  if (of_level.size() != stream.levels.size() || n_levels.shape(0) != stream.levels.size()) throw nb::value_error("one list is needed per column");
  for (size_t j = 0; j < stream.levels.size(); ++j)
    stream.levels[j] = checked(nb::cast<Vector<int32_t>>(of_level[j], false), size_t(n_levels.data()[j]), stream.levels[j]);
  return stream;
}

// The stream after these rows; the given one is not changed.
Stream learnt(const Stream& before, const nb::dict& settings, const nb::list& columns, const Vector<int32_t>& label,
              const Vector<double>& weight) {
  const Settings rules = streaming_settings_of(settings);
  const size_t rows = label.shape(0);
  if (weight.shape(0) != rows) throw nb::value_error("one weight is needed per row");
  std::vector<int32_t> n_levels;
  for (const Arrivals& known : before.levels) n_levels.push_back(int32_t(known.place.size()));
  const Columns read = columns_of(columns, Vector<int32_t>(n_levels.data(), {n_levels.size()}), rows);
  if (read.views.size() != before.kinds.size()) throw nb::value_error("the rows have other columns than those before");
  for (const int32_t c : view(label)) if (c < 0 || size_t(c) >= before.classes.place.size()) throw nb::value_error("a label is no class");
  for (size_t j = 0; j < read.views.size(); ++j)
    for (size_t row = 0; before.kinds[j] != Kind::kNumber && row < rows; ++row)
      if (read.views[j].level(row) >= n_levels[j]) throw nb::value_error("a code is no level");
  return interruptible([&] {
    Stream stream = before;
    stream.follow(rules);
    Workers worker(1, is_interrupted);
    for (size_t row = 0; row < rows; ++row) {
      stream.learn(read.views, row, label.data()[row], weight.data()[row]);
      if (row % 4096 == 4095) worker.poll();
    }
    return stream;
  });
}

Stream merged_streams(const Stream& one, const Stream& other) {
  const auto same_codes = [](const Arrivals& a, const Arrivals& b) { return a.place.size() == b.place.size(); };
  if (one.kinds != other.kinds || !same_codes(one.classes, other.classes)) throw nb::value_error("the streams have other columns");
  for (size_t j = 0; j < one.levels.size(); ++j)
    if (!same_codes(one.levels[j], other.levels[j])) throw nb::value_error("the streams have other levels");
  return merged(one, other);
}

}  // namespace

void bind_streaming(nb::module_& module) {
  nb::class_<Stream>(module, "TreeStream", "A tree that learns row after row, and what it needs to go on.")
      .def("__init__",
           [](Stream* self, const nb::dict& settings, const Vector<int32_t>& kinds) { new (self) Stream(streaming_settings_of(settings), kinds_of(kinds)); },
           "settings"_a, "kinds"_a.noconvert())
      .def_static("of", &from_arrays, "settings"_a, "kinds"_a.noconvert(), "arrays"_a, "The stream that these arrays hold.")
      .def_ro("rows", &Stream::rows, "The number of rows so far.")
      .def_ro("revisions", &Stream::revisions, "How many splits were taken back.")
      .def("tree", &tree_of, "Tests and counts of the nodes, level by level.")
      .def("bayes_leaves", &bayes_leaves, "The nodes that answer with naive Bayes, and what it counts there.")
      .def("arrays", &arrays, "All that the stream knows, as arrays by name.")
      .def("with_codes", &with_codes, "of_class"_a.noconvert(), "classes"_a, "of_level"_a, "n_levels"_a.noconvert(),
           "The same under codes of which there are more.")
      .def("learnt", &learnt, "settings"_a, "columns"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "The stream after these rows.")
      .def("merged", &merged_streams, "other"_a, "The stream that has learnt what both have, whose codes are the same.");
}

}  // namespace baytree::bindings
