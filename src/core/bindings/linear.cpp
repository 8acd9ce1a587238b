#include <algorithm>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "linear/active_set.hpp"
#include "linear/cell_products.hpp"
#include "linear/coordinate_descent.hpp"
#include "linear/row_hash.hpp"
#include "linear/row_loops.hpp"
#include "linear/sparse_rows.hpp"
#include "linear/sparse_squares.hpp"
#include "numeric/distributions.hpp"

namespace baytree::bindings {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

using Dense = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using DenseOutput = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> flat(const Dense& x) { return {x.data(), x.shape(0) * x.shape(1)}; }
std::span<double> flat(const DenseOutput& x) { return {x.data(), x.shape(0) * x.shape(1)}; }

// Rows [first, last) of a matrix with contiguous rows.
linear::RowRun run_of(const Matrix& x, const int32_t* label, const Vector<double>& weight, size_t first, size_t last) {
  require(first <= last && last <= x.shape(0) && (x.shape(1) < 2 || x.stride(1) == 1) && weight.shape(0) == x.shape(0),
          "rows: the shapes do not fit");
  const double* const at = x.data() + static_cast<std::ptrdiff_t>(first) * x.stride(0);
  return {at, x.stride(0), last - first, x.shape(1), label ? label + first : nullptr, weight.data() + first};
}

void centre_classes(Matrix x, Vector<int32_t> label, Vector<double> weight, Vector<double> pivot, Vector<int64_t> place,
                    Output<double> total, Output<double> mean, Output<double> out) {
  const auto run = run_of(x, label.data(), weight, 0, x.shape(0));
  const size_t rows = run.rows, columns = run.columns, classes = total.shape(0);
  require(label.shape(0) == rows && place.shape(0) == rows && pivot.shape(0) == columns &&
              mean.shape(0) == classes * columns && out.shape(0) >= rows * columns,
          "centre_classes: the shapes do not fit");
  for (size_t i = 0; i < rows; ++i)
    require(label(i) >= 0 && static_cast<size_t>(label(i)) < classes && place(i) >= 0 &&
                static_cast<size_t>(place(i)) < rows,
            "centre_classes: a label or place is out of range");
  nb::gil_scoped_release unlocked;
  linear::row_loops().centre(run, {pivot.data(), classes, total.data(), mean.data()}, place.data(), out.data());
}

double dense_slope(Matrix x, Vector<int32_t> label, Vector<double> weight, Vector<double> coefficient, double start,
                   size_t first, size_t last, Output<double> gradient) {
  const auto run = run_of(x, label.data(), weight, first, last);
  require(label.shape(0) == x.shape(0) && coefficient.shape(0) == run.columns && gradient.shape(0) == run.columns + 1, "dense_slope: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  return linear::row_loops().slope(run, coefficient.data(), start, gradient.data());
}

void curvature_rows(Matrix x, Vector<int32_t> label, Vector<double> weight, Vector<double> coefficient, double start, size_t first,
               size_t last, DenseOutput out) {
  const auto run = run_of(x, label.data(), weight, first, last);
  require(label.shape(0) == x.shape(0) && coefficient.shape(0) == run.columns && out.shape(0) == run.rows &&
              out.shape(1) == run.columns + 1,
          "curvature_rows: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  linear::row_loops().curvature_rows(run, coefficient.data(), start, out.data());
}

void sparse_squares(Dense rows, DenseOutput out) {
  const size_t q = rows.shape(1);
  require(out.shape(0) == q && out.shape(1) == q, "sparse_squares: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  linear::add_sparse_squares(flat(rows), q, out.data());
}

void column_moments(Matrix x, Vector<double> weight, Vector<double> pivot, size_t first, size_t last, Output<double> sum,
                    Output<double> square) {
  const auto run = run_of(x, nullptr, weight, first, last);
  require(pivot.shape(0) == run.columns && sum.shape(0) == run.columns && square.shape(0) == run.columns,
          "column_moments: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  linear::row_loops().moments(run, pivot.data(), sum.data(), square.data());
}

void row_hashes(Matrix x, Vector<double> centre, Vector<double> scale, Output<uint64_t> out) {
  require(centre.shape(0) == x.shape(1) && scale.shape(0) == x.shape(1) && out.shape(0) == x.shape(0) &&
              (x.shape(1) < 2 || x.stride(1) == 1),
          "row_hashes: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  const linear::RowRun run{x.data(), x.stride(0), x.shape(0), x.shape(1), nullptr, nullptr};
  linear::row_hashes(run, view(centre), view(scale), view(out));
}

// Rejects row starts that decrease or exceed the entries, and feature codes out of range.
numeric::SparseRows sparse(const Vector<int64_t>& start, const Vector<int32_t>& code, const Vector<double>& value,
                           size_t features) {
  const auto first = view(start);
  const auto entry = view(code);
  require(!first.empty() && first.front() == 0 && static_cast<size_t>(first.back()) == entry.size() &&
              entry.size() == value.shape(0),
          "sparse rows: starts, codes and values do not fit");
  for (size_t i = 1; i < first.size(); ++i) require(first[i] >= first[i - 1], "sparse rows: a row ends before it starts");
  for (const int32_t c : entry) require(c >= 0 && static_cast<size_t>(c) < features, "sparse rows: no such feature");
  return {first, entry, view(value)};
}

void sparse_product(Vector<int64_t> start, Vector<int32_t> code, Vector<double> value, Dense weight, DenseOutput out) {
  const auto x = sparse(start, code, value, weight.shape(0));
  require(out.shape(0) == x.rows() && out.shape(1) == weight.shape(1), "sparse_product: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  linear::sparse_product(x, flat(weight), weight.shape(1), flat(out));
}

double sparse_slope(Vector<int64_t> start, Vector<int32_t> code, Vector<double> value, Vector<int32_t> label,
                    Vector<double> weight, Dense theta, size_t first, size_t last, DenseOutput share,
                    DenseOutput gradient) {
  const numeric::SparseRows x{view(start), view(code), view(value)};  // checked once, by check_sparse
  const size_t k = theta.shape(1);
  require(label.shape(0) == x.rows() && weight.shape(0) == x.rows() && first <= last && last <= x.rows() &&
              share.shape(0) == x.rows() && share.shape(1) == k && gradient.shape(0) == theta.shape(0) &&
              gradient.shape(1) == k,
          "sparse_slope: the shapes do not fit");
  for (size_t i = first; i < last; ++i)
    require(label(i) >= 0 && static_cast<size_t>(label(i)) < std::max<size_t>(k, 2), "sparse_slope: no such class");
  nb::gil_scoped_release unlocked;
  const linear::Problem problem{x, view(label), view(weight), flat(theta)};
  return linear::with_width(
      k, [&](auto width) { return linear::sparse_slope(problem, width, first, last, flat(share), flat(gradient)); });
}

nb::tuple gram_descent(Dense matrix, Vector<double> ridge, Vector<double> lasso, Output<double> theta,
                       Output<double> slope, int64_t most, double tolerance) {
  const size_t m = theta.shape(0);
  require(matrix.shape(0) == m && matrix.shape(1) == m && ridge.shape(0) == m && lasso.shape(0) == m &&
              slope.shape(0) == m,
          "gram_descent: the shapes do not fit");
  linear::Sweeps done{};
  {
    nb::gil_scoped_release unlocked;
    done = linear::GramDescent(flat(matrix), view(ridge), view(lasso), view(theta), view(slope)).run(most, tolerance);
  }
  return nb::make_tuple(done.count, done.change);
}

double sparse_descent(Vector<int64_t> start, Vector<int32_t> code, Vector<double> value, Dense share,
                      Vector<double> weight, Vector<double> gradient, Vector<double> ridge, Vector<double> lasso,
                      Output<double> theta, Output<double> score, Output<double> mix, Vector<int64_t> coordinates) {
  const numeric::SparseRows x{view(start), view(code), view(value)};  // checked once, by check_sparse
  const size_t n = share.shape(0), k = share.shape(1), m = theta.shape(0);
  require(m == x.rows() * k && gradient.shape(0) == m && lasso.shape(0) == x.rows() && ridge.shape(0) == x.rows() && weight.shape(0) == n &&
              score.shape(0) == n * k && mix.shape(0) == n,
          "sparse_descent: the shapes do not fit");
  for (const int64_t c : view(coordinates)) require(c >= 0 && static_cast<size_t>(c) < m, "sparse_descent: no such coordinate");
  nb::gil_scoped_release unlocked;
  return linear::SparseDescent(x, flat(share), view(weight), view(gradient), view(ridge), view(lasso), k, view(theta),
                                view(score), view(mix))
      .sweep(view(coordinates));
}

bool lasso_step(Dense hessian, Vector<double> ridge, Vector<double> lasso, Vector<double> theta, Vector<double> gradient, double near,
                Output<double> out) {
  const size_t q = theta.shape(0);
  require(hessian.shape(0) == q && hessian.shape(1) == q && ridge.shape(0) == q && lasso.shape(0) == q && gradient.shape(0) == q &&
              out.shape(0) == q,
          "lasso_step: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  const auto step = linear::lasso_step(flat(hessian), view(ridge), view(lasso), view(theta), view(gradient), near);
  if (step) std::ranges::copy(*step, out.data());
  return step.has_value();
}

void check_sparse(Vector<int64_t> start, Vector<int32_t> code, Vector<double> value, size_t features) {
  sparse(start, code, value, features);
}

void cell_products(nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> cell, Vector<int64_t> size, Dense weight,
                   nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu> out) {
  const size_t n_scores = weight.shape(0);
  require(size.shape(0) == cell.shape(0) && weight.shape(1) == cell.shape(1) && n_scores > 0 && n_scores <= 4,
          "cell_products: the shapes do not fit");
  const linear::TermRows rows{cell.data(), cell.shape(1), view(size)};
  size_t q = 0;
  for (size_t j = 0; j < rows.size.size(); ++j) {
    const int64_t n_cells = rows.size[j];
    bool fits = n_cells > 0;
    for (size_t i = 0; i < rows.n_rows; ++i) fits &= rows.of(j)[i] >= 0 && rows.of(j)[i] < n_cells;
    require(fits, "cell_products: a cell is out of range");
    q += static_cast<size_t>(n_cells);
  }
  require(out.shape(0) == n_scores && out.shape(1) == q && out.shape(2) == q, "cell_products: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  linear::cell_products(rows, weight.data(), n_scores, q, out.data());
}

}  // namespace

void bind_linear(nb::module_& module) {
  module.def("centre_classes", &centre_classes, nb::arg("x").noconvert(), nb::arg("label").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("pivot").noconvert(), nb::arg("place").noconvert(),
             nb::arg("total").noconvert(), nb::arg("mean").noconvert(), nb::arg("out").noconvert(),
             "Means of each class about the pivot, and the rows about them, one block of rows at a time.");
  module.def("dense_slope", &dense_slope, nb::arg("x").noconvert(), nb::arg("label").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("coefficient").noconvert(), "start"_a, "first"_a, "last"_a,
             nb::arg("gradient").noconvert(), "Loss of some rows with two classes; adds their gradient.");
  module.def("curvature_rows", &curvature_rows, nb::arg("x").noconvert(), nb::arg("label").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("coefficient").noconvert(), "start"_a, "first"_a, "last"_a,
             nb::arg("out").noconvert(), "Rows with two classes, times the root of their curvature, the constant last.");
  module.def("cell_products", &cell_products, nb::arg("cell").noconvert(), nb::arg("size").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("out").noconvert(),
             "Writes the weighted counts of pairs of cells of up to four scores: the lower triangles, by terms, of their Hessians.");
  module.def("sparse_squares", &sparse_squares, nb::arg("rows").noconvert(), nb::arg("out").noconvert(),
             "Adds rows' rows to a symmetric matrix, by the numbers of each row that are not 0.");
  module.def("column_moments", &column_moments, nb::arg("x").noconvert(), nb::arg("weight").noconvert(),
             nb::arg("pivot").noconvert(), "first"_a, "last"_a, nb::arg("sum").noconvert(),
             nb::arg("square").noconvert(), "Adds weighted sums and squares of each column about a pivot.");
  module.def("row_hashes", &row_hashes, nb::arg("x").noconvert(), nb::arg("centre").noconvert(),
             nb::arg("scale").noconvert(), nb::arg("out").noconvert(),
             "A number made from each row in standard units, whatever the order of its columns.");
  module.def("sparse_product", &sparse_product, nb::arg("start").noconvert(), nb::arg("code").noconvert(),
             nb::arg("value").noconvert(), nb::arg("weight").noconvert(), nb::arg("out").noconvert(),
             "Adds compressed rows times a dense matrix to `out`.");
  module.def("check_sparse", &check_sparse, nb::arg("start").noconvert(), nb::arg("code").noconvert(),
             nb::arg("value").noconvert(), "features"_a, "Refuses compressed rows that do not hold together.");
  module.def("sparse_slope", &sparse_slope, nb::arg("start").noconvert(), nb::arg("code").noconvert(),
             nb::arg("value").noconvert(), nb::arg("label").noconvert(), nb::arg("weight").noconvert(),
             nb::arg("theta").noconvert(), "first"_a, "last"_a, nb::arg("share").noconvert(),
             nb::arg("gradient").noconvert(), "Loss of some compressed rows; adds their gradient, writes their shares.");
  module.def("f_log_tail", &numeric::f_log_tail, "statistic"_a, "between"_a, "within"_a, "log P(F >= statistic).");
  module.def("gram_descent", &gram_descent, nb::arg("matrix").noconvert(), nb::arg("ridge").noconvert(),
             nb::arg("lasso").noconvert(), nb::arg("theta").noconvert(), nb::arg("slope").noconvert(), "most"_a,
             "tolerance"_a, "Coordinate descent on a quadratic given by its matrix; (sweeps, last change).");
  module.def("lasso_step", &lasso_step, nb::arg("hessian").noconvert(), nb::arg("ridge").noconvert(), nb::arg("lasso").noconvert(),
             nb::arg("theta").noconvert(), nb::arg("gradient").noconvert(), "near"_a, nb::arg("out").noconvert(),
             "Write the step to the minimum of a quadratic with an L1 penalty; False if its matrix is nearly singular.");
  module.def("sparse_descent", &sparse_descent, nb::arg("start").noconvert(), nb::arg("code").noconvert(),
             nb::arg("value").noconvert(), nb::arg("share").noconvert(), nb::arg("weight").noconvert(),
             nb::arg("gradient").noconvert(), nb::arg("ridge").noconvert(), nb::arg("lasso").noconvert(), nb::arg("theta").noconvert(),
             nb::arg("score").noconvert(), nb::arg("mix").noconvert(), nb::arg("coordinates").noconvert(),
             "One sweep of coordinate descent on a quadratic given by compressed columns; the largest change.");
}

}  // namespace baytree::bindings
