// Bindings of cuts of numeric columns by what they tell about the classes, and of the ends of such columns.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hpp"
#include "bind/rooms.hpp"
#include "numbers/ends.hpp"
#include "numbers/mdl_cuts.hpp"

namespace baytree::bind {
namespace {

using namespace numbers;

SortedColumn sorted_column(const Vector<double>& values, const Vector<std::int64_t>& order, const Vector<std::int32_t>& label,
                           const Vector<double>& weight, std::size_t n_classes) {
  const SortedColumn column{view(values), view(order), view(label), view(weight), n_classes};
  const auto n_rows = static_cast<std::int64_t>(column.values.size());
  if (column.label.size() != column.values.size() || (!column.weight.empty() && column.weight.size() != column.values.size()))
    throw nb::value_error("values, labels and weights differ in length");
  for (const std::int64_t row : column.order)
    if (row < 0 || row >= n_rows) throw nb::value_error("the order names a row that is not there");
  for (const std::int32_t label : column.label)
    if (label < 0 || static_cast<std::size_t>(label) >= n_classes) throw nb::value_error("a label is out of range");
  return column;
}

// Calls work with the entropy that fits: looked up for counts, computed for weights. A weight with a table of entropies is a
// whole number of rows, of which the table has an entry for all together.
template <typename Work> auto with_entropy(const SortedColumn& column, const Vector<double>& of_count, const Work& work) {
  if ((!column.weight.empty() && of_count.shape(0) == 0) || column.order.empty()) return work(XLog2X{});
  double rows = 0;
  for (std::size_t i = 0; i < column.order.size(); ++i) {
    const double weight = column.weight_of(i);
    if (!(weight >= 0) || weight != std::floor(weight)) throw nb::value_error("a number of rows is no whole number");
    rows += weight;
  }
  if (!(rows < static_cast<double>(of_count.shape(0)))) throw nb::value_error("the table of entropies is too short");
  return work(XLog2XOfCounts{view(of_count)});
}

nb::tuple best_entropy_cut(const Vector<double>& values, const Vector<std::int64_t>& order, const Vector<std::int32_t>& label,
                           const Vector<double>& weight, const Vector<double>& of_count, std::size_t n_classes) {
  const SortedColumn column = sorted_column(values, order, label, weight, n_classes);
  Cut cut{};
  {
    nb::gil_scoped_release released;
    cut = with_entropy(column, of_count, [&](const auto& entropy) { return best_cut(column, 0, column.order.size(), entropy); });
  }
  return nb::make_tuple(cut.position, cut.gain(), cut.low.weight, cut.high.weight);
}

nb::ndarray<nb::numpy, std::int64_t> mdl_cuts(const Vector<double>& values, const Vector<std::int64_t>& order,
                                              const Vector<std::int32_t>& label, const Vector<double>& weight,
                                              const Vector<double>& of_count, std::size_t n_classes) {
  const SortedColumn column = sorted_column(values, order, label, weight, n_classes);
  std::vector<std::int64_t> positions;
  {
    nb::gil_scoped_release released;
    const auto found = with_entropy(column, of_count, [&](const auto& entropy) { return paying_cuts(column, entropy); });
    positions.assign(found.begin(), found.end());
  }
  const std::size_t n = positions.size();
  return to_numpy(std::move(positions), {n});
}

std::tuple<Counts, Counts, std::int64_t> ends_of(const Vector<double>& values) {
  const nb::gil_scoped_release released;
  Ends found = ends(view(values));
  return {std::move(found.lowest), std::move(found.highest), found.n_missing};
}

}  // namespace

void bind_cuts(nb::module_& module) {
  module.def("best_entropy_cut", &best_entropy_cut, "values"_a.noconvert(), "order"_a.noconvert(), "label"_a.noconvert(),
             "weight"_a.noconvert(), "of_count"_a.noconvert(), "n_classes"_a,
             "The cut of a sorted column with the largest information gain: (position, weight times gain, low and high weight).");
  module.def("mdl_cuts", &mdl_cuts, "values"_a.noconvert(), "order"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert(),
             "of_count"_a.noconvert(), "n_classes"_a, "The positions of the cuts of a sorted column that Fayyad and Irani accept.");
  module.def("ends", &ends_of, "values"_a.noconvert(),
             "The two least and the two largest different numbers, each with how often it is there, and how many are NaN.");
}

}  // namespace baytree::bind
