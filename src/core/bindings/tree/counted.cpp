// Bindings of coded rows: interval codes of numbers, and counts of codes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <numeric>
#include <optional>
#include <span>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "numeric/distributions.hpp"
#include "tree/counted/class_tests.hpp"
#include "tree/counted/coded_rows.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::counted;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <double tail(double, double)> nb::ndarray<nb::numpy, double> tails(const Vector<double>& statistic, const Vector<double>& degrees) {
  if (statistic.shape(0) != degrees.shape(0)) throw nb::value_error("statistics and degrees differ in length");
  std::vector<double> log_p(statistic.shape(0));
  for (size_t i = 0; i < log_p.size(); ++i) log_p[i] = tail(statistic.data()[i], degrees.data()[i]);
  const size_t n = log_p.size();
  return to_numpy(std::move(log_p), {n});
}

nb::ndarray<nb::numpy, int64_t> interval_codes(const Vector<double>& values, const Vector<double>& ends) {
  const size_t n = values.shape(0);
  std::vector<int64_t> code(n);
  {
    const nb::gil_scoped_release released;
    tree::counted::interval_codes(view(values), view(ends), std::span<int64_t>(code));
  }
  return to_numpy(std::move(code), {n});
}

void check_bits(int shift, int bits) {
  if (shift < 0 || bits < 1 || bits > 48 || shift + bits > 64) throw nb::value_error("no such bits of a double");
  if (shift + bits > 48 && shift + bits < 64) throw nb::value_error("prefixes have 16 bits at least");
}

nb::ndarray<nb::numpy, int64_t> prefix_cells(const Vector<double>& values, const Vector<uint64_t>& prefixes, int shift, int bits) {
  check_bits(shift, bits);
  std::vector<int64_t> cells;
  {
    const nb::gil_scoped_release released;
    each_prefix_cell(view(values), view(prefixes), shift, bits, [&](uint64_t cell) { cells.push_back(int64_t(cell)); });
  }
  const size_t n = cells.size();
  return to_numpy(std::move(cells), {n});
}

nb::ndarray<nb::numpy, int32_t> prefix_counts(const Vector<double>& values, const Vector<uint64_t>& prefixes, int shift, int bits) {
  check_bits(shift, bits);
  if (bits > 16) throw nb::value_error("more than 16 bits are too many to count each of their cells");
  const size_t n = (shift + bits == 64 ? 1 : prefixes.shape(0)) << bits;
  auto counts = zeros<int32_t>({n});
  {
    const nb::gil_scoped_release released;
    int32_t* cells = counts.data();
    each_prefix_cell(view(values), view(prefixes), shift, bits, [cells](uint64_t cell) { ++cells[cell]; });
  }
  return counts;
}

template <typename C> using CodeMatrix = nb::ndarray<const C, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename C> std::span<const C> cells_of(const CodeMatrix<C>& codes) { return {codes.data(), codes.size()}; }

template <Code C> void code_intervals(const Vector<double>& values, const Vector<double>& ends, const Output<C>& codes) {
  if (values.shape(0) != codes.shape(0)) throw nb::value_error("one code is needed per value");
  const nb::gil_scoped_release released;
  tree::counted::interval_codes(view(values), view(ends), view(codes));
}

template <Code C>
nb::ndarray<nb::numpy, int32_t> coded_places(const CodeMatrix<C>& codes, const Vector<int32_t>& column, const Vector<int64_t>& start,
                                             const Vector<int32_t>& child, const Vector<int32_t>& place_of) {
  std::vector<int32_t> place(codes.shape(1));
  {
    const nb::gil_scoped_release released;
    tree::counted::coded_places(cells_of(codes), {view(column), view(start), view(child)}, view(place_of), std::span<int32_t>(place));
  }
  const size_t n = place.size();
  return to_numpy(std::move(place), {n});
}

// Counts of the codes of each column: [n_places, n_codes, n_classes] each.
template <Code C, typename Cell, std::invocable<uint32_t> AmountOf>
nb::ndarray<nb::numpy, Cell> counts_of(const CodeMatrix<C>& codes, const CountedRows& rows, const Vector<int64_t>& n_codes, size_t n_places,
                                       size_t n_classes, const AmountOf& amount_of) {
  const auto sizes = view(n_codes);
  auto counts = zeros<Cell>({size_t(std::accumulate(sizes.begin(), sizes.end(), int64_t(0))) * n_places * n_classes});
  {
    const nb::gil_scoped_release released;
    Cell* cells = counts.data();
    for (size_t j = 0; j < sizes.size(); ++j) {
      count_codes(codes.data() + j * codes.shape(1), rows, size_t(sizes[j]), n_classes, amount_of, cells);
      cells += n_places * size_t(sizes[j]) * n_classes;
    }
  }
  return counts;
}

template <Code C>
nb::object coded_counts(const CodeMatrix<C>& codes, const Vector<int32_t>& place, const Vector<int32_t>& label,
                        std::optional<Vector<double>> weight, const Vector<int64_t>& n_codes, size_t n_places, size_t n_classes) {
  const size_t n = codes.shape(1);
  if (place.shape(0) != n || label.shape(0) != n || (weight && weight->shape(0) != n) || n_codes.shape(0) != codes.shape(0))
    throw nb::value_error("codes, places, labels and weights differ in length");
  const CountedRows rows(view(place), view(label));
  if (!weight) return nb::cast(counts_of<C, int32_t>(codes, rows, n_codes, n_places, n_classes, [](uint32_t) { return 1; }));
  const double* amount = weight->data();
  return nb::cast(counts_of<C, double>(codes, rows, n_codes, n_places, n_classes, [amount](uint32_t row) { return amount[row]; }));
}

double best_cut_worth(const Matrix& counts, const std::string& criterion, double min_leaf) {
  return tree::counted::best_cut_worth({counts.data(), counts.size()}, counts.shape(1), criterion, min_leaf);
}

template <Code C> void bind_codes(nb::module_& module) {
  module.def("code_intervals", &code_intervals<C>, "values"_a.noconvert(), "ends"_a.noconvert(), "codes"_a.noconvert(),
             "Sets codes: for each value one more than the number of ends (ascending) below it; 0 where it is missing.");
  module.def("coded_places", &coded_places<C>, "codes"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "child"_a.noconvert(),
             "place_of"_a.noconvert(), "The place of the node where each row of codes [n_columns, n_rows] comes to rest.");
  module.def("coded_counts", &coded_counts<C>, "codes"_a.noconvert(), "place"_a.noconvert(), "label"_a.noconvert(),
             "weight"_a.noconvert().none(), "n_codes"_a.noconvert(), "n_places"_a, "n_classes"_a,
             "Rows, or their weights, by place, code and class: one column [n_places, n_codes, n_classes] after the other.");
}

bool are_many(const Vector<double>& values, size_t most) {
  const nb::gil_scoped_release released;
  return tree::counted::are_many(view(values), most);
}

}  // namespace

void bind_counted(nb::module_& module) {
  module.def("interval_codes", &interval_codes, "values"_a.noconvert(), "ends"_a.noconvert(),
             "For each value one more than the number of ends (ascending) below it; 0 where it is missing.");
  module.def("prefix_cells", &prefix_cells, "values"_a.noconvert(), "prefixes"_a.noconvert(), "shift"_a, "bits"_a,
             "For each known value whose bits begin with a prefix: the place of the prefix, then the next bits.");
  module.def("prefix_counts", &prefix_counts, "values"_a.noconvert(), "prefixes"_a.noconvert(), "shift"_a, "bits"_a,
             "How many known values have each of these cells, of which each prefix has 2^bits.");
  bind_codes<uint8_t>(module);
  bind_codes<uint16_t>(module);
  bind_codes<uint32_t>(module);
  module.def("best_cut_worth", &best_cut_worth, "counts"_a.noconvert(), "criterion"_a, "min_leaf"_a,
             "What the best cut between codes is worth, of counts [n_codes, n_classes]; 0 where there is none.");
  module.def("are_many", &are_many, "values"_a.noconvert(), "most"_a, "Whether more than so many known values differ.");
  module.def("chi2_log_tail", &tails<numeric::chi2_log_tail>, "statistic"_a.noconvert(), "degrees"_a.noconvert(),
             "log P(χ² >= statistic), element by element.");
}

}  // namespace baytree::bindings
