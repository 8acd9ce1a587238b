// Bindings of counts, exact moments, histograms, factorisation, MDL cut points and extremes.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "numeric/counts.hpp"
#include "numeric/exact_quotient.hpp"
#include "numeric/extremes.hpp"
#include "numeric/factorize.hpp"
#include "numeric/histogram.hpp"
#include "numeric/mdl_cuts.hpp"
#include "numeric/moments.hpp"
#include "numeric/repeated_sum.hpp"

namespace baytree::bindings {

// Counts, moments, histograms and factorisation.

namespace {

using namespace numeric;

// Columns are processed in stripes, so that a chunk fits the cache and the exact cells of very wide tables stay few.
constexpr std::size_t stripe = 64;

// Wider stripes for few rows, where the overhead of a stripe would dominate.
std::size_t stripe_of(std::size_t n_rows) { return n_rows * 4 * stripe <= chunk_bytes / sizeof(double) ? 4 * stripe : stripe; }

using Limbs = nb::ndarray<nb::numpy, std::int64_t>;

template <std::invocable<Workers&> Kernel> void run(int threads, const Kernel& kernel) {
  interruptible([&] {
    Workers workers(threads, is_interrupted);
    kernel(workers);
  });
}

nb::tuple as_tuple(ExactTable&& table, std::size_t n_cells) {
  const std::size_t width = table.width;
  const int low = table.low;
  return nb::make_tuple(to_numpy(std::move(table.limbs), {n_cells, width}), low);
}

// (weight, total, square), each (limbs [n_classes * n_columns, width], low); `part(first, n)` computes some of the
// columns.
template <std::invocable<std::size_t, std::size_t> Part>
nb::tuple moments_of(const Part& part, std::size_t n_columns, const Vector<std::int32_t>& label, const Vector<double>& weight, std::size_t n_classes, int threads) {
  ExactTable tables[3];
  run(threads, [&](Workers& workers) {
    const std::size_t stripe = stripe_of(label.shape(0)), n_stripes = (n_columns + stripe - 1) / stripe;
    std::vector<ExactTable> stripes[3] = {std::vector<ExactTable>(n_stripes), std::vector<ExactTable>(n_stripes), std::vector<ExactTable>(n_stripes)};
    workers.run(n_stripes, [&](std::size_t k, int) {
      const auto own = part(k * stripe, std::min(stripe, n_columns - k * stripe));
      MomentCells cells(n_classes, own.n_columns);
      MomentKernel(own, view(label), view(weight), cells).observe();
      MomentTables found = cells.tables();
      stripes[0][k] = std::move(found.weight);
      stripes[1][k] = std::move(found.total);
      stripes[2][k] = std::move(found.square);
    });
    workers.run(3, [&](std::size_t k, int) { tables[k] = side_by_side(stripes[k], n_classes); });
  });
  const std::size_t n_cells = n_classes * n_columns;
  return nb::make_tuple(as_tuple(std::move(tables[0]), n_cells), as_tuple(std::move(tables[1]), n_cells), as_tuple(std::move(tables[2]), n_cells));
}

nb::tuple moments(const Strided& values, const Vector<std::int32_t>& label, const Vector<double>& weight, std::size_t n_classes, int threads) {
  const Matrix whole = matrix_of(values);
  const auto part = [&](std::size_t first, std::size_t n) {
    return Matrix{whole.at(0, first), whole.n_rows, n, whole.row_step, whole.column_step};
  };
  return moments_of(part, whole.n_columns, label, weight, n_classes, threads);
}

nb::tuple moments_of_columns(const nb::list& columns, const Vector<std::int32_t>& label, const Vector<double>& weight, std::size_t n_classes, int threads) {
  std::vector<const double*> first;
  for (const nb::handle column : columns) {
    const auto numbers = nb::cast<Vector<double>>(column, false);  // a copy would not outlive this line
    if (numbers.shape(0) != label.shape(0)) throw nb::value_error("a column has another number of rows than the labels");
    first.push_back(numbers.data());
  }
  const auto part = [&](std::size_t from, std::size_t n) { return Columns{std::span(first).subspan(from, n), label.shape(0)}; };
  return moments_of(part, first.size(), label, weight, n_classes, threads);
}

using ExactCells = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using ExactLayers = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;  // [n_layers, n_cells, width]

ExactView exact_view(const ExactLayers& cells, const ExactLayers& others) {
  if (cells.shape(0) != others.shape(0) || cells.shape(1) != others.shape(1)) throw nb::value_error("exact sums differ in number");
  if (cells.shape(0) == 0 || cells.shape(2) == 0 || cells.shape(2) > 256) throw nb::value_error("exact sums have no layer, or no limb, or too many");
  return {{cells.data(), cells.size()}, cells.shape(2), cells.shape(0)};
}

nb::tuple carried(const ExactCells& limbs, int low, int threads) {
  ExactTable table;
  run(threads, [&](Workers& workers) { table = carried_cells({limbs.data(), limbs.size()}, limbs.shape(1), low, workers); });
  return as_tuple(std::move(table), limbs.shape(0));
}

// What `quotient` gives for each cell; threads take runs of cells.
template <std::invocable<ExactMoments&, std::size_t> Quotient>
nb::ndarray<nb::numpy, double> of_each_cell(const ExactView& weights, const ExactView& totals, int threads, const Quotient& quotient) {
  const std::size_t n_cells = weights.n_cells();
  std::vector<double> found(n_cells);
  run(threads, [&](Workers& workers) {
    workers.run((n_cells + run_cells - 1) / run_cells, [&](std::size_t k, int) {
      const std::size_t first = k * run_cells, last = std::min(first + run_cells, n_cells);
      ExactMoments moments(weights, totals);
      for (std::size_t cell = first; cell < last; ++cell) found[cell] = quotient(moments, cell);
    });
  });
  return to_numpy(std::move(found), {n_cells});
}

nb::ndarray<nb::numpy, double> exact_means(const ExactLayers& weight, const ExactLayers& total, int exponent, int threads) {
  const ExactView weights = exact_view(weight, total), totals = exact_view(total, weight);
  return of_each_cell(weights, totals, threads, [&](ExactMoments& moments, std::size_t cell) { return moments.mean(cell, exponent); });
}

nb::ndarray<nb::numpy, double> exact_deviations(const ExactLayers& weight, const ExactLayers& total, const ExactLayers& square,
                                                std::size_t total_zeros, std::size_t square_zeros, int exponent, int threads) {
  const ExactView weights = exact_view(weight, total), totals = exact_view(total, weight), squares = exact_view(square, weight);
  const Units units{total_zeros, square_zeros, exponent};
  return of_each_cell(weights, totals, threads, [&](ExactMoments& moments, std::size_t cell) { return moments.deviation(cell, squares, units); });
}

void check_codes(std::span<const std::int32_t> code, std::span<const std::int32_t> label, std::size_t n_levels, std::size_t n_classes) {
  if (code.size() != label.size()) throw nb::value_error("codes and labels differ in length");
  for (const std::int32_t c : code)
    if (c < -1 || c >= static_cast<std::int64_t>(n_levels)) throw nb::value_error("a code is out of range");
  for (const std::int32_t c : label)
    if (c < 0 || c >= static_cast<std::int64_t>(n_classes)) throw nb::value_error("a label is out of range");
}

Limbs count_unweighted(const Vector<std::int32_t>& code, const Vector<std::int32_t>& label, std::size_t n_levels, std::size_t n_classes) {
  std::vector<std::int64_t> counts;
  {
    nb::gil_scoped_release released;
    if (code.shape(0) != label.shape(0)) throw nb::value_error("codes and labels differ in length");
    counts = count_rows(view(code), view(label), n_levels, n_classes);
  }
  return to_numpy(std::move(counts), {n_levels + 1, n_classes});
}

nb::tuple count_weighted(const Vector<std::int32_t>& code, const Vector<std::int32_t>& label, const Vector<double>& weight,
                         std::size_t n_levels, std::size_t n_classes) {
  ExactTable table;
  {
    nb::gil_scoped_release released;
    check_codes(view(code), view(label), n_levels, n_classes);
    if (view(weight).size() != view(code).size()) throw nb::value_error("codes and weights differ in length");
    table = count_weights(view(code), view(label), view(weight), n_levels, n_classes);
  }
  return as_tuple(std::move(table), (n_levels + 1) * n_classes);
}

// Adds row k of the cells to row place[k] of the totals.
void add_at_places(const nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& totals, const Vector<std::int64_t>& place,
                   const ExactCells& cells) {
  const std::size_t width = totals.shape(1);
  if (cells.shape(1) != width || cells.shape(0) != place.shape(0)) throw nb::value_error("cells and places differ in shape");
  for (std::size_t k = 0; k < place.shape(0); ++k) {
    if (place.data()[k] < 0 || place.data()[k] >= static_cast<std::int64_t>(totals.shape(0))) throw nb::value_error("a place is out of range");
    std::int64_t* total = totals.data() + static_cast<std::size_t>(place.data()[k]) * width;
    for (std::size_t j = 0; j < width; ++j) total[j] += cells.data()[k * width + j];
  }
}

// For each column the exponent and the edges of its buckets, and counts per bucket and class.
nb::list bucket_columns(const Strided& values, const Vector<std::int32_t>& label, std::size_t n_classes, std::size_t most, int threads) {
  if (values.shape(0) != label.shape(0)) throw nb::value_error("rows and labels differ in number");
  std::vector<CountedBuckets> columns;
  run(threads, [&](Workers& workers) { columns = BucketCounter(matrix_of(values), view(label), n_classes, most)(workers); });
  nb::list found;
  for (CountedBuckets& column : columns) {
    const std::size_t n_buckets = column.edges.size();
    found.append(nb::make_tuple(column.exponent, to_numpy(std::move(column.edges), {n_buckets}),
                                to_numpy(std::move(column.counts), {n_buckets + 1, n_classes})));
  }
  return found;
}

nb::tuple bucketed(const Vector<double>& values, std::size_t most) {
  Buckets found;
  {
    nb::gil_scoped_release released;
    found = BucketCoder(view(values), most)();
  }
  const std::size_t n_values = found.code.size(), n_buckets = found.edges.size();
  return nb::make_tuple(found.exponent, to_numpy(std::move(found.edges), {n_buckets}), to_numpy(std::move(found.code), {n_values}));
}

nb::tuple united_buckets(const Vector<double>& left, const Vector<double>& right, int exponent, std::size_t most) {
  UnitedBuckets united = unite_buckets(view(left), view(right), exponent, most);
  const std::size_t n_buckets = united.edges.size(), n_left = united.of_left.size(), n_right = united.of_right.size();
  return nb::make_tuple(united.exponent, to_numpy(std::move(united.edges), {n_buckets}), to_numpy(std::move(united.of_left), {n_left}),
                        to_numpy(std::move(united.of_right), {n_right}));
}

// Runs the hashing coder on several threads.
nb::tuple factorise_items(const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& items, int threads) {
  Factorised result;
  run(threads, [&](Workers& workers) { result = ItemCoder(items.data(), items.shape(0), items.shape(1), workers)(); });
  const std::size_t n_items = result.code.size(), n_distinct = result.first.size();
  return nb::make_tuple(to_numpy(std::move(result.code), {n_items}), to_numpy(std::move(result.first), {n_distinct}));
}

template <typename Number> using Numbers = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;

using CodeRows = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Writes the codes [n_columns, n_rows]; returns the distinct numbers of each column, empty if they are not integers of
// a small range.
template <Codable Number> nb::list code_whole_numbers(const Numbers<Number>& numbers, const CodeRows& codes, int threads) {
  const NumberMatrix<Number> matrix{numbers.data(), numbers.shape(0), numbers.shape(1), numbers.stride(0), numbers.stride(1)};
  if (codes.shape(0) != matrix.n_columns || codes.shape(1) != matrix.n_rows) throw nb::value_error("numbers and codes differ in shape");
  std::vector<std::vector<std::int64_t>> levels;
  run(threads, [&](Workers& workers) {
    WholeNumberCoder<Number> coder(matrix, {codes.data(), codes.size()}, workers);
    for (std::size_t first = 0; first < matrix.n_columns; first += stripe)
      for (auto& found : coder(first, std::min(first + stripe, matrix.n_columns))) levels.push_back(std::move(found));
  });
  nb::list distinct;
  for (auto& found : levels) distinct.append(to_numpy(std::move(found), {found.size()}));
  return distinct;
}

}  // namespace

void bind_statistics(nb::module_& module) {
  module.def("moments", &moments, "values"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert(), "n_classes"_a, "threads"_a,
             "Exact weight, sum and sum of squares of each column in each class, as limbs and their lowest one; an empty weight means 1.");
  module.def("moments_of_columns", &moments_of_columns, "columns"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "n_classes"_a, "threads"_a,
             "The same of columns that lie apart.");
  module.def("carried", &carried, "limbs"_a.noconvert(), "low"_a, "threads"_a,
             "Limbs of any size below 2^62 as digits in their smallest common window, the last one signed, and its lowest limb.");
  module.def("exact_means", &exact_means, "weight"_a.noconvert(), "total"_a.noconvert(), "exponent"_a, "threads"_a,
             "total / weight * 2^exponent of each cell, the sum of its layers, correctly rounded; NaN where that is no normal double.");
  module.def("exact_deviations", &exact_deviations, "weight"_a.noconvert(), "total"_a.noconvert(), "square"_a.noconvert(),
             "total_zeros"_a, "square_zeros"_a, "exponent"_a, "threads"_a,
             "The standard deviation of each cell, the sum of its layers, rounded before its root; NaN where that is no normal double.");
  module.def("add_repeatedly", &add_repeatedly, "sum"_a, "term"_a, "times"_a, "The sum with a term added many times, each time rounded.");
  module.def("count", &count_unweighted, "code"_a.noconvert(), "label"_a.noconvert(), "n_levels"_a, "n_classes"_a,
             "Rows per level and class, missing (-1) first: int64 [n_levels + 1, n_classes].");
  module.def("count_weighted", &count_weighted, "code"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert(),
             "n_levels"_a, "n_classes"_a, "Weights per level and class as limbs and their lowest limb, not yet carried.");
  module.def("add_at_places", &add_at_places, "totals"_a.noconvert(), "place"_a.noconvert(), "cells"_a.noconvert(),
             "Adds each row of limbs to the row of the totals at its place.");
  module.def("bucketed", &bucketed, "values"_a.noconvert(), "most"_a,
             "The exponent and edges of the narrowest buckets of which at most so many hold a number, and the bucket of each, -1 for NaN.");
  module.def("bucket_columns", &bucket_columns, "values"_a.noconvert(), "label"_a.noconvert(), "n_classes"_a, "most"_a, "threads"_a,
             "For each column the exponent and edges of such buckets, and the rows of each class in them, missing ones first.");
  module.def("united_buckets", &united_buckets, "left"_a.noconvert(), "right"_a.noconvert(), "exponent"_a, "most"_a,
             "The buckets of two together, at least 2^exponent wide: their exponent and edges, and where those of either have gone.");
  module.def("factorise", &factorise_items, "items"_a.noconvert(), "threads"_a,
             "Codes in order of first appearance and where each distinct item appears first; items are rows of bytes.");
  const char* coding = "Writes the codes [n_columns, n_rows] of each column's numbers, NaN -1; gives its distinct numbers in ascending "
                       "order, or none where they are not whole or lie too far apart.";
  module.def("code_whole_numbers", &code_whole_numbers<std::int64_t>, "numbers"_a.noconvert(), "codes"_a.noconvert(), "threads"_a, coding);
  module.def("code_whole_numbers", &code_whole_numbers<double>, "numbers"_a.noconvert(), "codes"_a.noconvert(), "threads"_a, coding);
}

// Cut points of numeric columns by class entropy, and extremes of columns.

namespace {


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

// Calls work with a suitable entropy: a lookup table for counts, computed for weights. With a table, all weights are
// integers, and the table covers their sum.
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

}  // namespace baytree::bindings
