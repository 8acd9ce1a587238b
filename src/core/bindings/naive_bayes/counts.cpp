// Bindings of naive Bayes for counts and amounts (dense and sparse), word counts, and scores of column subsets.
#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "naive_bayes/count_scores.hpp"
#include "naive_bayes/subset_scores.hpp"
#include "text/bag_of_words.hpp"

namespace baytree::bindings {

// Counts and amounts.

namespace {

using namespace naive_bayes;

Amounts amounts_of(const Table& zero, const Table& base, const Table& slope, const Table& shape, double threshold, const std::string& rule) {
  for (const Table* table : {&base, &slope, &shape})
    if (table->shape(0) != zero.shape(0) || table->shape(1) != zero.shape(1)) throw nb::value_error("amounts differ in shape");
  return {flat(zero), flat(base), flat(slope), flat(shape), zero.shape(0), zero.shape(1), threshold, amount_rule(rule)};
}

SparseRows sparse_rows(const Vector<std::int64_t>& start, const Vector<std::int32_t>& code, const Vector<double>& value,
                       std::size_t n_columns) {
  const SparseRows rows{view(start), view(code), view(value)};
  if (rows.start.empty() || rows.start[0] < 0 || rows.code.size() != rows.value.size() ||
      static_cast<std::size_t>(rows.start.back()) > rows.code.size())
    throw nb::value_error("rows do not fit their entries");
  for (std::size_t i = 0; i + 1 < rows.start.size(); ++i)
    if (rows.start[i] > rows.start[i + 1]) throw nb::value_error("rows do not fit their entries");
  for (const std::int32_t c : rows.code)
    if (c < 0 || static_cast<std::size_t>(c) >= n_columns) throw nb::value_error("a code is out of range");
  return rows;
}

std::span<const bool> missing_rows(const Vector<bool>& missing, const SparseRows& rows) {
  if (missing.shape(0) != 0 && missing.shape(0) != rows.rows()) throw nb::value_error("rows differ in number");
  return view(missing);
}

void add_amount_scores(const Strided& values, const Table& zero, const Table& base, const Table& slope, const Table& shape,
                       double threshold, const std::string& rule, const Scores& scores) {
  const Amounts amounts = amounts_of(zero, base, slope, shape, threshold, rule);
  if (values.shape(1) != amounts.n_columns) throw nb::value_error("amounts do not fit the columns");
  const std::span<double> out = output(scores, values.shape(0), amounts.n_classes);
  nb::gil_scoped_release released;
  add_amounts(matrix_of(values), amounts, out);
}

void add_sparse_amount_scores(const Vector<std::int64_t>& start, const Vector<std::int32_t>& code, const Vector<double>& value,
                              const Vector<bool>& missing, const Table& zero, const Table& base, const Table& slope,
                              const Table& shape, double threshold, const std::string& rule, const Scores& scores) {
  const Amounts amounts = amounts_of(zero, base, slope, shape, threshold, rule);
  const SparseRows rows = sparse_rows(start, code, value, amounts.n_columns);
  const std::span<const bool> absent = missing_rows(missing, rows);
  const std::span<double> out = output(scores, rows.rows(), amounts.n_classes);
  nb::gil_scoped_release released;
  add_sparse_amounts(rows, absent, amounts, out);
}

void add_urn_scores(const Strided& values, const Table& concentration, const Vector<double>& total, const Scores& scores) {
  if (values.shape(1) != concentration.shape(0) || total.shape(0) != concentration.shape(1))
    throw nb::value_error("urns do not fit the columns");
  const Urns urns{flat(concentration), view(total), total.shape(0)};
  const std::span<double> out = output(scores, values.shape(0), urns.n_classes);
  nb::gil_scoped_release released;
  add_urns(matrix_of(values), urns, out);
}

void add_sparse_urn_scores(const Vector<std::int64_t>& start, const Vector<std::int32_t>& code, const Vector<double>& value,
                           const Vector<bool>& missing, const Table& concentration, const Vector<double>& total, const Scores& scores) {
  if (total.shape(0) != concentration.shape(1)) throw nb::value_error("urns do not fit the classes");
  const Urns urns{flat(concentration), view(total), total.shape(0)};
  const SparseRows rows = sparse_rows(start, code, value, concentration.shape(0));
  const std::span<const bool> absent = missing_rows(missing, rows);
  const std::span<double> out = output(scores, rows.rows(), urns.n_classes);
  nb::gil_scoped_release released;
  add_sparse_urns(rows, absent, urns, out);
}

// (totals, documents), or None if a count is not an integer.
nb::object tally_words(const Vector<std::int64_t>& start, const Vector<std::int32_t>& code, const Vector<double>& count,
                       const Vector<std::int32_t>& label, std::size_t n_words, std::size_t n_classes) {
  const SparseRows rows = sparse_rows(start, code, count, n_words);
  if (label.shape(0) + 1 != rows.start.size()) throw nb::value_error("rows differ in number");
  for (const std::int32_t c : view(label))
    if (c < 0 || static_cast<std::size_t>(c) >= n_classes) throw nb::value_error("a label is out of range");
  text::WordCounts result;
  {
    nb::gil_scoped_release released;
    result = text::count_words(rows, view(label), n_words, n_classes);
  }
  if (!result.is_whole) return nb::none();
  return nb::make_tuple(to_numpy(std::move(result.total), {n_words, n_classes}), to_numpy(std::move(result.documents), {n_words, n_classes}));
}

}  // namespace

void bind_counts(nb::module_& module) {
  module.def("add_amount_scores", &add_amount_scores, "values"_a.noconvert(), "zero"_a.noconvert(), "base"_a.noconvert(),
             "slope"_a.noconvert(), "shape"_a.noconvert(), "threshold"_a, "rule"_a, "scores"_a.noconvert(),
             "Adds the scores of Bernoulli ('binary'), Poisson, multinomial ('count') or other ('amount') columns.");
  module.def("add_sparse_amount_scores", &add_sparse_amount_scores, "start"_a.noconvert(), "code"_a.noconvert(), "value"_a.noconvert(),
             "missing"_a.noconvert(), "zero"_a.noconvert(), "base"_a.noconvert(), "slope"_a.noconvert(), "shape"_a.noconvert(),
             "threshold"_a, "rule"_a, "scores"_a.noconvert(), "The same for sparse rows: what is not stored is 0.");
  module.def("add_urn_scores", &add_urn_scores, "values"_a.noconvert(), "concentration"_a.noconvert(), "total"_a.noconvert(),
             "scores"_a.noconvert(), "Adds the log-probability of each row's counts under Dirichlet-multinomial urns.");
  module.def("add_sparse_urn_scores", &add_sparse_urn_scores, "start"_a.noconvert(), "code"_a.noconvert(), "value"_a.noconvert(),
             "missing"_a.noconvert(), "concentration"_a.noconvert(), "total"_a.noconvert(), "scores"_a.noconvert(),
             "The same for sparse rows.");
  module.def("tally_words", &tally_words, "start"_a.noconvert(), "code"_a.noconvert(), "count"_a.noconvert(), "label"_a.noconvert(),
             "n_words"_a, "n_classes"_a, "Whole totals and document frequencies of words per class; None where a count is not whole.");
}

// Wrapper selection with additive models.

namespace {

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void count_right_with(const Scores& base, const Scores& effect, const Vector<std::int32_t>& label,
                      const Vector<std::int64_t>& start, const Vector<std::int32_t>& fallback, const Output<std::int64_t>& right) {
  const std::size_t n_rows = base.shape(0), n_classes = base.shape(1), n_batches = fallback.shape(0);
  if (effect.shape(0) != n_rows || effect.shape(1) != n_classes || label.shape(0) != n_rows)
    throw nb::value_error("effects and labels do not fit the scores");
  if (start.shape(0) != n_batches + 1 || right.shape(0) != n_batches) throw nb::value_error("the batches do not fit");
  const auto bounds = view(start);
  for (std::size_t b = 0; b < n_batches; ++b)
    if (bounds[b] < 0 || bounds[b] > bounds[b + 1] || static_cast<std::size_t>(bounds[b + 1]) > n_rows)
      throw nb::value_error("a batch lies outside the rows");
  nb::gil_scoped_release released;
  for (std::size_t b = 0; b < n_batches; ++b) {
    const Batch batch{static_cast<std::size_t>(bounds[b]), static_cast<std::size_t>(bounds[b + 1]), fallback.data()[b]};
    right.data()[b] = n_classes == 2 ? count_right_of_two(base.data(), effect.data(), view(label), batch)
                                     : count_right(base.data(), effect.data(), view(label), n_classes, batch);
  }
}

}  // namespace

void bind_subset_scores(nb::module_& module) {
  module.def("count_right_with", &count_right_with, "base"_a.noconvert(), "effect"_a.noconvert(), "label"_a.noconvert(),
             "start"_a.noconvert(), "fallback"_a.noconvert(), "right"_a.noconvert(),
             "How many rows of each batch base + effect predicts right.");
}

}  // namespace baytree::bindings
