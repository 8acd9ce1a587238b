// Bindings of pruning: cost-complexity, pessimistic error, reduced error.
#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/pruning/cost_complexity.hpp"
#include "tree/pruning/error_pruning.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::pruning;
using tree::fractional::cases_of;

Shape shape_of(const Vector<int32_t>& first, const Vector<int32_t>& branches, const Vector<bool>& mirrored, const Vector<double>& risk) {
  return {view(first), view(branches), {reinterpret_cast<const uint8_t*>(mirrored.data()), mirrored.shape(0)}, view(risk)};
}

nb::tuple complexities(Vector<int32_t> first, Vector<int32_t> branches, Vector<bool> mirrored, Vector<double> risk, double alpha,
                       bool is_bounded) {
  const Shape shape = shape_of(first, branches, mirrored, risk);
  Complexities found(shape, alpha, is_bounded);
  const size_t n = found.complexity.size();
  return nb::make_tuple(to_numpy(std::move(found.complexity), {n}), to_numpy(std::move(found.is_split), {n}));
}

nb::ndarray<nb::numpy, uint8_t> kept_nodes(Vector<int32_t> first, Vector<int32_t> branches, Vector<bool> mirrored,
                                           Vector<double> risk, Vector<uint8_t> is_split) {
  auto found = reached(shape_of(first, branches, mirrored, risk), view(is_split));
  const size_t n = found.size();
  return to_numpy(std::move(found), {n});
}

template <std::floating_point Real>
void raise_in(Growth& tree, const nb::list& columns, const Vector<int32_t>& levels, const Vector<int32_t>& label,
              const Vector<double>& weight, const Vector<int32_t>& rows, const PruningRules& rules) {
  const auto table = given(columns, levels);
  interruptible([&] {
    Workers alone(1, is_interrupted);
    RaisingPruner<Real>(tree, table, rules, alone).prune(cases_of<Real>(view(rows), view(label), view(weight)));
  });
}

}  // namespace

void bind_pruning(nb::module_& module) {
  module.def("complexities", &complexities, "first"_a.noconvert(), "branches"_a.noconvert(), "mirrored"_a.noconvert(),
             "risk"_a.noconvert(), "alpha"_a, "is_bounded"_a, "The penalty at which each split goes, and the splits worth keeping.");
  module.def("kept_nodes", &kept_nodes, "first"_a.noconvert(), "branches"_a.noconvert(), "mirrored"_a.noconvert(),
             "risk"_a.noconvert(), "is_split"_a.noconvert(), "The nodes that remain when only some splits are kept.");

  module.def("collapse", [](Growth& tree, bool single) { single ? collapse<float>(tree) : collapse<double>(tree); },
             nb::arg("tree"), nb::arg("single"));

  module.def("extra_errors",
             [](double n, double errors, double confidence, double z, double top_share) {
               return Pessimism{confidence, z, top_share}.extra(n, errors);
             },
             nb::arg("n"), nb::arg("errors"), nb::arg("confidence"), nb::arg("z"), nb::arg("top_share"));

  module.def("error_prune",
             [](Growth& tree, double confidence, double z, double top_share, bool single) {
               const PruningRules rules{.pessimism = {confidence, z, top_share}, .tolerance = 0};
               single ? prune_by_counts<float>(tree, rules) : prune_by_counts<double>(tree, rules);
             },
             nb::arg("tree"), nb::arg("confidence"), nb::arg("z"), nb::arg("top_share"), nb::arg("single"));

  module.def("error_prune_raising",
             [](Growth& tree, const nb::list& columns, Vector<int32_t> levels, Vector<int32_t> label, Vector<double> weight,
                Vector<int32_t> rows, double confidence, double z, double top_share, double tolerance, bool single) {
               const PruningRules rules{.pessimism = {confidence, z, top_share}, .tolerance = tolerance};
               single ? raise_in<float>(tree, columns, levels, label, weight, rows, rules)
                      : raise_in<double>(tree, columns, levels, label, weight, rows, rules);
             },
             nb::arg("tree"), nb::arg("columns"), nb::arg("levels").noconvert(), nb::arg("label").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("rows").noconvert(), nb::arg("confidence"), nb::arg("z"), nb::arg("top_share"),
             nb::arg("tolerance"), nb::arg("single"));

  module.def("reduce_errors",
             [](Growth& tree, const nb::list& columns, Vector<int32_t> levels, Vector<int32_t> label, Vector<double> weight,
                Vector<int32_t> rows, double tolerance) {
               const auto table = given(columns, levels);
               interruptible([&] {
                 Workers alone(1, is_interrupted);
                 auto cases = cases_of<double>(view(rows), view(label), view(weight));
                 reduce_errors(tree, held_out_errors(tree, table, std::move(cases), alone), tolerance);
               });
             },
             nb::arg("tree"), nb::arg("columns"), nb::arg("levels").noconvert(), nb::arg("label").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("rows").noconvert(), nb::arg("tolerance"));
}

}  // namespace baytree::bindings
