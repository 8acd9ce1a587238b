// Bindings of classification trees grown from counts: class counts of one depth, best tests, and routing of rows by
// these tests.
#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/counted/class_tests.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::counted;

using Flags = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using Vectors = std::vector<Vector<T>>;

template <typename T> Vectors<T> vectors(const nb::list& arrays) {
  Vectors<T> all;
  for (const nb::handle& array : arrays) all.push_back(nb::cast<Vector<T>>(array, false));
  return all;
}

// Each numeric column as ranks of its distinct values (-1: missing), and these values.
nb::list rank_values(const nb::list& columns, int threads) {
  const Vectors<double> given = vectors<double>(columns);
  std::vector<tree::fractional::RankedColumn> ranked(given.size());
  Workers workers(threads, is_interrupted);
  interruptible([&] {
    workers.run(given.size(), [&](size_t j, int) { ranked[j] = tree::fractional::rank_column(view(given[j]), false); });
  });
  nb::list all;
  for (auto& column : ranked) {
    const size_t n = column.rank.size(), n_values = column.distinct.size();
    all.append(nb::make_tuple(to_numpy(std::move(column.rank), {n}), to_numpy(std::move(column.distinct), {n_values})));
  }
  return all;
}

// Counts of the nodes of one depth: rows, class weights, and the cells of each open column.
struct LevelCounts {
  std::vector<int64_t> rows;
  std::vector<double> sums;
  std::vector<ClassCells> cells;
};

LevelCounts counted_level(const nb::list& columns, const Vector<int32_t>& n_codes, const Vector<int32_t>& place, const Labels& labels,
                          const Flags& is_open, int threads) {
  const Vectors<int32_t> codes = vectors<int32_t>(columns);
  if (is_open.shape(1) != codes.size() || n_codes.shape(0) != codes.size()) throw nb::value_error("columns differ in number");
  if (place.shape(0) != labels.label.size()) throw nb::value_error("places and labels differ in number");
  const size_t n_nodes = is_open.shape(0), width = codes.size(), n_classes = labels.n_classes;
  LevelCounts counts{std::vector<int64_t>(n_nodes), std::vector<double>(n_nodes * n_classes), std::vector<ClassCells>(width)};
  Workers workers(threads, is_interrupted);
  interruptible([&] {
    const LevelRows level(view(place), labels.label, n_nodes);
    for (size_t node = 0; node < n_nodes; ++node) {
      counts.rows[node] = int64_t(level[node].size());
      for (const auto& [row, of_class] : level[node]) counts.sums[node * n_classes + size_t(of_class)] += labels.weight_of(row);
    }
    workers.run(width, [&](size_t j, int) {
      counts.cells[j] = ClassCounter(level, labels).count(view(codes[j]), view(n_codes)[j], [&](size_t node) { return is_open.data()[node * width + j]; });
    });
  });
  return counts;
}

nb::tuple with_cells(LevelCounts&& counts, nb::list&& cells) {
  const size_t n = counts.rows.size(), width = n ? counts.sums.size() / n : 0;
  return nb::make_tuple(to_numpy(std::move(counts.rows), {n}), to_numpy(std::move(counts.sums), {n, width}), cells);
}

nb::tuple count_classes(const nb::list& columns, const Vector<int32_t>& n_codes, const Vector<int32_t>& place, const Vector<int32_t>& label,
                        const Vector<double>& weight, size_t n_classes, const Flags& is_open, int threads) {
  LevelCounts counts = counted_level(columns, n_codes, place, {view(label), view(weight), n_classes}, is_open, threads);
  nb::list cells;
  for (ClassCells& each : counts.cells) {
    const size_t n = each.key.size();
    cells.append(nb::make_tuple(to_numpy(std::move(each.key), {n}), to_numpy(std::move(each.weight), {n})));
  }
  return with_cells(std::move(counts), std::move(cells));
}

nb::tuple count_codes(const nb::list& columns, const Vector<int32_t>& n_codes, const Vector<int32_t>& place, const Vector<int32_t>& label,
                      const Vector<double>& weight, size_t n_classes, const Flags& is_open, int threads) {
  LevelCounts counts = counted_level(columns, n_codes, place, {view(label), view(weight), n_classes}, is_open, threads);
  nb::list cells;
  for (ClassCells& each : counts.cells) {
    CodeCells codes = by_code(std::exchange(each, {}), n_classes);
    const size_t n = codes.key.size();
    cells.append(nb::make_tuple(to_numpy(std::move(codes.key), {n}), to_numpy(std::move(codes.sums), {n, n_classes})));
  }
  return with_cells(std::move(counts), std::move(cells));
}

// Sum of two lists of counts with ascending keys.
nb::tuple add_cells(const Vector<int64_t>& left, const Matrix& mine, const Vector<int64_t>& right, const Matrix& others) {
  const size_t width = mine.shape(1);
  if (left.shape(0) != mine.shape(0) || right.shape(0) != others.shape(0) || others.shape(1) != width)
    throw nb::value_error("cells and sums differ in number");
  CodeCells sum;
  {
    const nb::gil_scoped_release released;
    sum = added({view(left), {mine.data(), mine.size()}}, {view(right), {others.data(), others.size()}}, width);
  }
  const size_t n = sum.key.size();
  return nb::make_tuple(to_numpy(std::move(sum.key), {n}), to_numpy(std::move(sum.sums), {n, width}));
}

ClassTests class_tests(const nb::list& values, const Vector<int32_t>& levels, size_t n_classes, const tree::fractional::Rules& rules) {
  const Vectors<double> given = vectors<double>(values);
  std::vector<CodedColumn> columns;
  for (size_t j = 0; j < given.size(); ++j) columns.push_back({view(levels)[j], view(given[j])});
  return {std::move(columns), n_classes, rules};
}

nb::dict to_python(std::vector<NodeTest>& tests) {
  const auto column_of = [&]<typename T>(T, const auto& of) {
    std::vector<T> values;
    for (const NodeTest& test : tests) values.push_back(of(test));
    return to_numpy(std::move(values), {tests.size()});
  };
  nb::dict out;
  out["column"] = column_of(int32_t(), [](const NodeTest& test) { return test.column; });
  out["rank"] = column_of(int32_t(), [](const NodeTest& test) { return test.rank; });
  out["branches"] = column_of(int32_t(), [](const NodeTest& test) { return test.branches; });
  out["missing"] = column_of(int32_t(), [](const NodeTest& test) { return test.missing; });
  out["cut"] = column_of(double(), [](const NodeTest& test) { return test.cut; });
  out["gain"] = column_of(double(), [](const NodeTest& test) { return test.gain; });
  std::vector<double> counts;
  for (const NodeTest& test : tests) counts.insert(counts.end(), test.counts.begin(), test.counts.end());
  const size_t n = counts.size();
  out["counts"] = to_numpy(std::move(counts), {n});
  return out;
}

// Where the cells of each node begin, and the end.
std::vector<size_t> node_begins(std::span<const int64_t> key, int64_t per_node, size_t n_nodes) {
  std::vector<size_t> begin{0};
  for (size_t node = 1; node <= n_nodes; ++node) {
    size_t at = begin.back();
    while (at < key.size() && key[at] < int64_t(node) * per_node) ++at;
    begin.push_back(at);
  }
  return begin;
}

// Best test of each node, and all evaluated tests: (node, column, gain, gain before penalties, information,
// thresholds).
nb::tuple best_tests(const ClassTests& by, const nb::list& keys, const nb::list& weights, const Matrix& counts, int64_t most_branches, int threads,
                     bool traces) {
  const Vectors<int64_t> key = vectors<int64_t>(keys);
  const Vectors<double> weight = vectors<double>(weights);
  const size_t n = counts.shape(0), width = by.columns().size();
  const auto n_classes = int64_t(by.n_classes());
  if (key.size() != width || weight.size() != width) throw nb::value_error("columns differ in number");
  std::vector<NodeTest> tests(n);
  std::vector<std::vector<size_t>> begin(width);
  const auto per_node = [&](size_t j) { return (int64_t(by.columns()[j].n_codes()) + 1) * n_classes; };
  Workers workers(threads, is_interrupted);
  std::atomic<int64_t> branches_left{most_branches};
  bounded([&] {
    workers.run(width, [&](size_t j, int) { begin[j] = node_begins(view(key[j]), per_node(j), n); });
    std::vector<ClassTests::Room> rooms(size_t(workers.size()), {{}, {}, &branches_left});
    workers.run(n, [&](size_t node, int worker) {
      std::vector<NodeCells>& cells = rooms[size_t(worker)].cells;
      cells.clear();
      for (size_t j = 0; j < width; ++j) {
        const size_t first = begin[j][node], size = begin[j][node + 1] - first;
        cells.push_back({view(key[j]).subspan(first, size), view(weight[j]).subspan(first, size), int64_t(node) * per_node(j), n_classes});
      }
      tests[node] = by.best({counts.data() + node * by.n_classes(), by.n_classes()}, rooms[size_t(worker)]);
      if (!traces) tests[node].tried.clear();
    });
  });
  nb::list trace;
  for (size_t node = 0; node < n; ++node)
    for (size_t j = 0; j < tests[node].tried.size(); ++j)
      if (const ColumnTest& it = tests[node].tried[j]; it.is_valid) trace.append(nb::make_tuple(node, j, it.gain, it.raw_gain, it.info, it.cuts));
  return nb::make_tuple(to_python(tests), trace);
}

// The node of each row one step further down: tests by rank, or by code if the rank is -1; leaves keep their rows.
nb::ndarray<nb::numpy, int32_t> step(const nb::list& columns, const Vector<int32_t>& node, const Vector<int32_t>& column,
                                     const Vector<int32_t>& rank, const Vector<int32_t>& first, const Vector<int32_t>& missing) {
  const Vectors<int32_t> codes = vectors<int32_t>(columns);
  std::vector<int32_t> next(view(node).begin(), view(node).end());
  for (size_t row = 0; row < next.size(); ++row) {
    const auto at = size_t(next[row]);
    const int32_t tested = column.data()[at];
    if (tested < 0) continue;
    const int32_t code = codes[size_t(tested)].data()[row], cut = rank.data()[at];
    next[row] = first.data()[at] + (code < 0 ? missing.data()[at] : cut < 0 ? code : int32_t(code > cut));
  }
  const size_t n = next.size();
  return to_numpy(std::move(next), {n});
}

}  // namespace

void bind_class_tests(nb::module_& module) {
  nb::class_<ClassTests>(module, "ClassTests", "The best tests of nodes of classes, from the counts of their columns.")
      .def("best", &best_tests, "keys"_a, "weights"_a, "counts"_a.noconvert(), "most_branches"_a, "threads"_a, "traces"_a,
           "The best test of each node as a dict of arrays, and every test that was tried.");
  module.def("class_tests", &class_tests, "values"_a, "levels"_a.noconvert(), "n_classes"_a, "rules"_a, nb::keep_alive<0, 1>(),
             "Tests of coded columns: values are those of the codes of a column that is cut, levels its number of levels or 0.");
  module.def("rank_values", &rank_values, "columns"_a, "threads"_a, "The rank of each number among the distinct ones, and these.");
  module.def("count_classes", &count_classes, "columns"_a, "n_codes"_a.noconvert(), "place"_a.noconvert(), "label"_a.noconvert(),
             "weight"_a.noconvert(), "n_classes"_a, "is_open"_a.noconvert(), "threads"_a,
             "Rows and class weights of the nodes of a level, and (key, weight) of the cells of each column.");
  module.def("count_codes", &count_codes, "columns"_a, "n_codes"_a.noconvert(), "place"_a.noconvert(), "label"_a.noconvert(),
             "weight"_a.noconvert(), "n_classes"_a, "is_open"_a.noconvert(), "threads"_a,
             "Rows and class weights of the nodes of a level, and (key, weights per class) of the codes of each column.");
  module.def("add_cells", &add_cells, "left"_a.noconvert(), "mine"_a.noconvert(), "right"_a.noconvert(), "others"_a.noconvert(),
             "The keys that occur in either, and the sum of their rows in both.");
  module.def("step_down", &step, "columns"_a, "node"_a.noconvert(), "column"_a.noconvert(), "rank"_a.noconvert(), "first"_a.noconvert(),
             "missing"_a.noconvert(), "The node of each row after one more test.");
}

}  // namespace baytree::bindings
