// Bindings of the likelihoods of naive Bayes.
#include "families.hpp"
#include "likelihood.hpp"

using namespace baytree;

namespace {

using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> flat(const Table& table) { return {table.data(), table.size()}; }

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

}  // namespace

void bind_bayes(nb::module_& module) {
  module.def("add_density_scores", &add_density_scores, "values"_a.noconvert(), "mean"_a.noconvert(), "scale"_a.noconvert(),
             "degrees"_a.noconvert(), "constant"_a.noconvert(), "scores"_a.noconvert(),
             "Adds the log-densities of normal (infinite degrees) or Student-t columns to scores [n_rows, n_classes].");
  module.def("add_level_scores", &add_level_scores, "code"_a.noconvert(), "table"_a.noconvert(), "scores"_a.noconvert(),
             "Adds table[code] to the scores of each row; a missing code adds nothing.");
}
