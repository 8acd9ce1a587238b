// Bindings of the densities of naive Bayes: normal, Student t, kernel densities, intervals, levels.
#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "naive_bayes/densities.hpp"
#include "naive_bayes/kernel_density.hpp"
#include "naive_bayes/leave_one_out.hpp"

namespace baytree::bindings {
namespace {

using namespace naive_bayes;

void add_density_scores(const Strided& values, const Table& mean, const Table& scale, const Table& degrees, const Table& constant,
                        const Scores& scores) {
  const std::size_t n_classes = mean.shape(0), n_columns = values.shape(1);
  for (const Table* table : {&mean, &scale, &degrees, &constant})
    if (table->shape(0) != n_classes || table->shape(1) != n_columns) throw nb::value_error("densities do not fit the columns");
  if (scores.shape(0) != values.shape(0) || scores.shape(1) != n_classes) throw nb::value_error("scores do not fit the rows");
  const Matrix matrix{values.data(), values.shape(0), n_columns, values.stride(0), values.stride(1)};
  const Densities densities{flat(mean), flat(scale), flat(degrees), flat(constant), n_classes};
  nb::gil_scoped_release released;
  add_scores(matrix, densities, {scores.data(), scores.size()});
}

void add_level_scores(const Vector<std::int32_t>& code, const Table& table, const Scores& scores) {
  const std::size_t n_levels = table.shape(0), n_classes = table.shape(1);
  if (scores.shape(0) != code.shape(0) || scores.shape(1) != n_classes) throw nb::value_error("scores do not fit the rows");
  nb::gil_scoped_release released;
  for (std::size_t i = 0; i < code.shape(0); ++i) {
    const std::int32_t level = code.data()[i];
    if (level < 0) continue;
    if (static_cast<std::size_t>(level) >= n_levels) throw nb::value_error("a code is out of range");
    for (std::size_t c = 0; c < n_classes; ++c)
      scores.data()[i * n_classes + c] += table.data()[static_cast<std::size_t>(level) * n_classes + c];
  }
}

void choose_classes(const Table& scores, const Output<std::int32_t>& choice) {
  if (scores.shape(0) != choice.shape(0) || scores.shape(1) == 0) throw nb::value_error("choices do not fit the rows");
  nb::gil_scoped_release released;
  choose(flat(scores), scores.shape(1), view(choice));
}

void add_interval_scores(const Vector<double>& values, double precision, const Vector<double>& mean, const Vector<double>& scale,
                         const Scores& scores) {
  if (mean.shape(0) != scale.shape(0)) throw nb::value_error("means and scales differ in number");
  const std::span<double> out = output(scores, values.shape(0), mean.shape(0));
  nb::gil_scoped_release released;
  add_class_scores(view(values), mean.shape(0), out, [&](double x, std::size_t c) {
    const double m = mean.data()[c], s = scale.data()[c];
    const double share = lower_tail((x + precision / 2 - m) / s) - lower_tail((x - precision / 2 - m) / s);
    return std::log(std::max(share, smallest_factor));
  });
}

KernelClasses kernel_classes(const Vector<std::int64_t>& start, const Vector<double>& centre, const Vector<double>& weight,
                             const Vector<double>& width) {
  const KernelClasses kernels{view(start), view(centre), view(weight), view(width)};
  if (kernels.start.size() != kernels.n_classes() + 1 || kernels.centre.size() != kernels.weight.size())
    throw nb::value_error("kernels do not fit their classes");
  for (std::size_t c = 0; c < kernels.n_classes(); ++c)
    if (kernels.start[c] < 0 || kernels.start[c + 1] <= kernels.start[c]) throw nb::value_error("every class has a kernel");
  if (static_cast<std::size_t>(kernels.start.back()) != kernels.centre.size()) throw nb::value_error("kernels do not fit their classes");
  return kernels;
}

void add_kernel_scores(const Vector<double>& values, const Vector<std::int64_t>& start, const Vector<double>& centre,
                       const Vector<double>& weight, const Vector<double>& width, const Scores& scores) {
  const KernelClasses kernels = kernel_classes(start, centre, weight, width);
  const std::span<double> out = output(scores, values.shape(0), kernels.n_classes());
  nb::gil_scoped_release released;
  add_class_scores(view(values), kernels.n_classes(), out, [&](double x, std::size_t c) {
    const auto first = static_cast<std::size_t>(kernels.start[c]), count = static_cast<std::size_t>(kernels.start[c + 1]) - first;
    return log_kernel_density(x, kernels.centre.subspan(first, count), kernels.weight.subspan(first, count), kernels.width[c]);
  });
}

void add_interval_kernel_scores(const Vector<double>& values, double precision, const Vector<std::int64_t>& start,
                                const Vector<double>& centre, const Vector<double>& weight, const Vector<double>& width,
                                const Scores& scores) {
  const KernelClasses kernels = kernel_classes(start, centre, weight, width);
  const std::span<double> out = output(scores, values.shape(0), kernels.n_classes());
  nb::gil_scoped_release released;
  add_class_scores(view(values), kernels.n_classes(), out, [&](double x, std::size_t c) {
    const auto first = static_cast<std::size_t>(kernels.start[c]), count = static_cast<std::size_t>(kernels.start[c + 1]) - first;
    const double share = interval_share(x, precision, kernels.centre.subspan(first, count), kernels.weight.subspan(first, count),
                                        kernels.width[c]);
    return std::log(std::max(share, smallest_factor));
  });
}

void add_left_out_scores(const Strided& values, const Vector<std::int32_t>& label, const Vector<double>& weight, const Table& n,
                         const Table& mean, const Table& squares, const Vector<double>& centre, const Vector<double>& unit,
                         const std::string& rule, double alpha, double floor, double one, const Scores& scores) {
  const std::size_t n_classes = n.shape(0), n_columns = values.shape(1);
  for (const Table* table : {&n, &mean, &squares})
    if (table->shape(0) != n_classes || table->shape(1) != n_columns) throw nb::value_error("moments do not fit the columns");
  if (centre.shape(0) != n_columns || unit.shape(0) != n_columns || label.shape(0) != values.shape(0) ||
      (weight.shape(0) != 0 && weight.shape(0) != values.shape(0)))
    throw nb::value_error("rows or columns differ in number");
  for (const std::int32_t c : view(label))
    if (c < 0 || static_cast<std::size_t>(c) >= n_classes) throw nb::value_error("a label is out of range");
  const std::span<double> out = output(scores, values.shape(0), n_classes);
  const LeftOutNormals normals({flat(n), flat(mean), flat(squares), view(centre), view(unit), n_classes}, {normal_rule(rule), alpha, floor, one}, n_columns);
  nb::gil_scoped_release released;
  add_left_out_normals(matrix_of(values), view(label), view(weight), normals, n_classes, out);
}

}  // namespace

void bind_densities(nb::module_& module) {
  module.def("add_density_scores", &add_density_scores, "values"_a.noconvert(), "mean"_a.noconvert(), "scale"_a.noconvert(),
             "degrees"_a.noconvert(), "constant"_a.noconvert(), "scores"_a.noconvert(),
             "Adds the log-densities of normal (infinite degrees) or Student-t columns to scores [n_rows, n_classes].");
  module.def("add_level_scores", &add_level_scores, "code"_a.noconvert(), "table"_a.noconvert(), "scores"_a.noconvert(),
             "Adds table[code] to the scores of each row; a missing code adds nothing.");
  module.def("choose_classes", &choose_classes, "scores"_a.noconvert(), "choice"_a.noconvert(),
             "The class of the highest score in each row; -1 where another one is as good but for rounding, or all are impossible.");
  module.def("add_interval_scores", &add_interval_scores, "values"_a.noconvert(), "precision"_a, "mean"_a.noconvert(),
             "scale"_a.noconvert(), "scores"_a.noconvert(), "Adds the log of the normal probability of an interval, at least 1e-75.");
  module.def("add_kernel_scores", &add_kernel_scores, "values"_a.noconvert(), "start"_a.noconvert(), "centre"_a.noconvert(),
             "weight"_a.noconvert(), "width"_a.noconvert(), "scores"_a.noconvert(), "Adds the log of a Gaussian kernel density.");
  module.def("add_interval_kernel_scores", &add_interval_kernel_scores, "values"_a.noconvert(), "precision"_a, "start"_a.noconvert(),
             "centre"_a.noconvert(), "weight"_a.noconvert(), "width"_a.noconvert(), "scores"_a.noconvert(),
             "Adds the log of the kernels' share of an interval, summed as Weka does, at least 1e-75.");
  module.def("add_left_out_scores", &add_left_out_scores, "values"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert(),
             "n"_a.noconvert(), "mean"_a.noconvert(), "squares"_a.noconvert(), "centre"_a.noconvert(), "unit"_a.noconvert(), "rule"_a,
             "alpha"_a, "floor"_a, "one"_a, "scores"_a.noconvert(), "Adds the log-densities of normal columns by the moments of all other rows.");
}

}  // namespace baytree::bindings
