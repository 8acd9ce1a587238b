// Bindings of the search of optimal trees.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "tree/optimal/search.hpp"
#include "tree/optimal/threshold_search.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::optimal;

// Ctrl-C ends the search, which then returns the best tree so far; so does a caller on another thread that no longer
// waits. Other exceptions from signal handlers are propagated.
bool is_to_end(const nb::callable& is_given_up) {
  const nb::gil_scoped_acquire gil;
  try {
    return nb::cast<bool>(is_given_up());  // Python checks for signals when it calls a function
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    return true;
  }
}

template <std::invocable<const Shape&> Of> auto column_of(const std::vector<Shape>& shapes, Of of) {
  std::vector<int32_t> values;
  for (const Shape& shape : shapes) values.push_back(of(shape));
  return to_numpy(std::move(values), {shapes.size()});
}

nb::dict to_python(const Found& found) {
  nb::dict out;
  out["test"] = column_of(found.shapes, [](const Shape& shape) { return shape.test; });
  out["low"] = column_of(found.shapes, [](const Shape& shape) { return shape.low; });
  out["high"] = column_of(found.shapes, [](const Shape& shape) { return shape.high; });
  out["cost"] = found.cost;
  out["lower"] = found.lower;
  out["searched"] = found.searched;
  out["is_late"] = found.is_stopped_by_time;
  out["is_interrupted"] = found.is_stopped_by_user;
  return out;
}

nb::dict best_tree(const Vector<uint64_t>& bits, size_t tests, const Vector<int32_t>& label, const Vector<int64_t>& weight, size_t classes,
                   int64_t mistake, int64_t leaf, int64_t least, int max_depth, double seconds, const nb::callable& is_given_up) {
  const size_t rows = label.shape(0);
  if (weight.shape(0) != rows) throw nb::value_error("one weight is needed per row");
  if (rows > max_rows) throw nb::value_error("a tree holds at most 2,147,483,647 rows");
  if (bits.shape(0) != tests * ((rows + 63) / 64)) throw nb::value_error("one bit is needed per test and row");
  for (const int32_t c : view(label)) if (c < 0 || size_t(c) >= classes) throw nb::value_error("a label is no class");
  const Limits limits{max_depth, least, seconds, [&] { return is_to_end(is_given_up); }};
  int64_t total = 0;
  for (const int64_t w : view(weight)) total += w;
  const Found found = interruptible([&] {
    const RowBits by_row(view(bits), tests, rows);
    if (total < never<int32_t> / 2) return Search<int32_t>(by_row, view(label), view(weight), classes, {mistake, leaf}, limits).run();
    return Search<int64_t>(by_row, view(label), view(weight), classes, {mistake, leaf}, limits).run();
  });
  return to_python(found);
}

using Ranks = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::dict best_threshold_tree(const Ranks& ranks, const Vector<int32_t>& label, const Vector<int64_t>& weight, size_t classes,
                             int64_t mistake, int64_t leaf, int64_t least, int max_depth, double seconds,
                             int64_t known_cost, int threads, const nb::callable& is_given_up) {
  const size_t columns = ranks.shape(0), rows = ranks.shape(1);
  if (rows == 0 || columns == 0 || rows > max_rows || label.shape(0) != rows || weight.shape(0) != rows)
    throw nb::value_error("one label and weight are needed per row, and at least one row and column");
  for (const int32_t c : view(label)) if (c < 0 || size_t(c) >= classes) throw nb::value_error("a label is no class");
  for (const int64_t w : view(weight)) if (w <= 0) throw nb::value_error("a weight is not positive");
  const RankTable table{{ranks.data(), ranks.size()}, columns, rows};
  for (const int32_t rank : table.ranks) if (rank < 0 || size_t(rank) >= rows) throw nb::value_error("a rank is out of range");
  const Limits limits{max_depth, least, seconds, [&] { return is_to_end(is_given_up); }};
  int64_t total = 0;
  for (const int64_t w : view(weight)) total += w;
  const Found found = interruptible([&] {
    if (total < never<int32_t> / 2) return TableSearch<int32_t>(table, view(label), view(weight), classes, {mistake, leaf}, limits, threads).run(known_cost);
    return TableSearch<int64_t>(table, view(label), view(weight), classes, {mistake, leaf}, limits, threads).run(known_cost);
  });
  return to_python(found);
}

}  // namespace

void bind_optimal(nb::module_& module) {
  module.def("best_tree", &best_tree, "bits"_a.noconvert(), "tests"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "classes"_a,
             "mistake"_a, "leaf"_a, "least"_a, "max_depth"_a, "seconds"_a, "is_given_up"_a,
             "The tree of least cost over tests that are bits of rows [tests, ⌈rows / 64⌉]: its nodes, children before parents, what "
             "it costs, and what every tree at least costs.");
  module.def("best_threshold_tree", &best_threshold_tree, "ranks"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert(), "classes"_a,
             "mistake"_a, "leaf"_a, "least"_a, "max_depth"_a, "seconds"_a, "known_cost"_a, "threads"_a, "is_given_up"_a,
             "The same over thresholds of ranks [columns, rows]; tests are numbered column by column, from the lowest threshold. No nodes if no tree costs "
             "less than the known one.");
}

}  // namespace baytree::bindings
