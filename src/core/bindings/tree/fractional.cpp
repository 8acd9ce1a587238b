// Bindings of the fractional search: multiway trees whose cases may follow several branches.
#include <nanobind/stl/string.h>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/fractional/grower.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::fractional;

template <typename T, std::invocable<const Node&> Of>
auto column_of(const Growth& tree, Of of) {
  std::vector<T> values;
  values.reserve(tree.node.size());
  for (const Node& node : tree.node) values.push_back(static_cast<T>(of(node)));
  const size_t n = values.size();
  return to_numpy(std::move(values), {n});
}

// Class weights as a sparse table, row by row: with many classes most do not occur in a node.
void write_counts(const Growth& tree, nb::dict& all) {
  auto table = zeros<double>({tree.node.size(), tree.n_classes});
  std::vector<int64_t> cell;  // index in the table, row by row
  for (size_t id = 0; id < tree.node.size(); ++id)
    for (const auto& [label, weight] : tree.counts_of(id))
      if (weight != 0) {
        cell.push_back(static_cast<int64_t>(id * tree.n_classes) + label);
        table.data()[cell.back()] = weight;
      }
  const size_t n = cell.size();
  all["counts"] = table;
  all["cell"] = to_numpy(std::move(cell), {n});
}

nb::dict arrays(const Growth& tree) {
  nb::dict all;
  all["test"] = column_of<int32_t>(tree, [](const Node& n) { return static_cast<int32_t>(n.test); });
  all["column"] = column_of<int32_t>(tree, [](const Node& n) { return n.column; });
  all["first"] = column_of<int32_t>(tree, [](const Node& n) { return n.first; });
  all["branches"] = column_of<int32_t>(tree, [](const Node& n) { return n.branches; });
  all["label"] = column_of<int32_t>(tree, [](const Node& n) { return n.label; });
  all["level"] = column_of<int32_t>(tree, [](const Node& n) { return n.level; });
  all["origin"] = column_of<int32_t>(tree, [](const Node& n) { return n.origin; });
  all["levels"] = column_of<int32_t>(tree, [](const Node& n) { return n.is_leaf() ? 0 : n.levels; });
  all["group"] = column_of<int64_t>(tree, [](const Node& n) { return n.group; });
  all["missing"] = column_of<int32_t>(tree, [](const Node& n) { return n.missing; });
  all["cut"] = column_of<double>(tree, [](const Node& n) { return n.cut; });
  all["weight"] = column_of<double>(tree, [](const Node& n) { return n.weight; });
  all["rows"] = column_of<int64_t>(tree, [](const Node& n) { return n.rows; });
  all["gain"] = column_of<double>(tree, [](const Node& n) { return n.gain; });
  all["ratio"] = column_of<double>(tree, [](const Node& n) { return n.ratio; });
  all["errors"] = column_of<double>(tree, [](const Node& n) { return n.errors; });
  write_counts(tree, all);
  std::vector<double> soft;
  for (const SoftCut& cut : tree.soft) soft.insert(soft.end(), {cut.low, cut.mid, cut.high});
  all["soft"] = to_numpy(std::move(soft), {tree.soft.size(), 3});
  all["branch_of"] = to_numpy(std::vector<int32_t>(tree.branch_of), {tree.branch_of.size()});
  return all;
}

ClassWeights<double> classes_in(std::span<const double> counts) {
  ClassWeights<double> found;
  for (size_t c = 0; c < counts.size(); ++c)
    if (c == 0 || counts[c] != 0) found.label.push_back(static_cast<int32_t>(c)), found.weight.push_back(counts[c]);
  return found;
}

// The nodes of a finished tree, to be pruned further. The arrays were checked when the record was created.
Growth growth_of(Vector<int32_t> column, Vector<int32_t> first, Vector<int32_t> branches, Vector<double> cut, Vector<int32_t> start,
                 Vector<int32_t> levels, Vector<int32_t> branch_of, Vector<int32_t> missing, Vector<int64_t> rows, Vector<double> weight,
                 Vector<double> counts, Vector<int32_t> prediction, Vector<double> gain) {
  Growth tree;
  const size_t n = column.shape(0);
  tree.n_classes = n ? counts.shape(0) / n : 0;
  tree.append(n);
  tree.branch_of.assign(view(branch_of).begin(), view(branch_of).end());
  for (size_t id = 0; id < n; ++id) {
    Node& node = tree.node[id];
    node.label = view(prediction)[id];
    node.weight = view(weight)[id];
    node.rows = view(rows)[id];
    tree.keep(id, classes_in(view(counts).subspan(id * tree.n_classes, tree.n_classes)));
    if (view(column)[id] < 0) continue;
    node.test = view(levels)[id] > 0 ? Test::groups : Test::threshold;
    node.column = view(column)[id];
    node.first = view(first)[id];
    node.branches = view(branches)[id];
    node.cut = view(cut)[id];
    node.group = view(start)[id];
    node.levels = view(levels)[id];
    node.missing = std::max(view(missing)[id], -1);
    node.gain = node.weight > 0 ? view(gain)[id] / node.weight : 0;
  }
  return tree;
}

template <std::floating_point Real>
nb::tuple grow_in(const nb::list& columns, const Vector<int32_t>& levels, const Vector<int32_t>& label, const Vector<double>& weight,
                  const Vector<int32_t>& rows, size_t n_classes, const Rules& rules, size_t threads, bool traces) {
  const auto table = given(columns, levels);
  Growth tree;
  std::vector<typename FractionalGrower<Real>::Tried> tried;
  bounded([&] {
    Workers alone(1, is_interrupted), workers(static_cast<int>(threads), is_interrupted);
    const Training training = prepare(table, view(label), view(weight), n_classes, std::is_same_v<Real, float>, workers);
    FractionalGrower<Real> grower(training, rules, workers, alone, traces);
    tree = grower.grow(view(rows));
    tried = grower.tried();
  });
  nb::list trace;
  for (const auto& it : tried) trace.append(nb::make_tuple(it.node, it.column, it.gain, it.raw_gain, it.info, it.cuts));
  return nb::make_tuple(nb::cast(std::move(tree)), trace);
}

}  // namespace

void bind_fractional(nb::module_& module) {
  nb::class_<Growth>(module, "Growth")
      .def("arrays", [](const Growth& tree) { return arrays(tree); })
      .def("compact", [](const Growth& tree) { return compact(tree); });

  nb::class_<Rules>(module, "FractionalRules")
      .def(nb::init<>())
      .def_rw("measure", &Rules::measure)
      .def_prop_rw("missing", [](const Rules& rules) { return name_of(rules.missing, kMissingValues); },
                   [](Rules& rules, const std::string& name) { rules.missing = chosen("missing", name, kMissingValues); })
      .def_rw("by_ratio", &Rules::by_ratio)
      .def_rw("binary", &Rules::binary)
      .def_rw("grouped", &Rules::grouped)
      .def_rw("mdl", &Rules::mdl)
      .def_rw("midpoint", &Rules::midpoint)
      .def_rw("quinlan_sides", &Rules::quinlan_sides)
      .def_rw("zero_ratio_wins", &Rules::zero_ratio_wins)
      .def_rw("takes_no_gain", &Rules::takes_no_gain)
      .def_rw("min_side", &Rules::min_side)
      .def_rw("tolerance", &Rules::tolerance)
      .def_rw("min_info", &Rules::min_info)
      .def_rw("zero_gain", &Rules::zero_gain)
      .def_rw("min_gain", &Rules::min_gain)
      .def_rw("min_split", &Rules::min_split)
      .def_rw("min_impurity", &Rules::min_impurity)
      .def_rw("total", &Rules::total)
      .def_rw("gated", &Rules::gated)
      .def_rw("max_depth", &Rules::max_depth)
      .def_rw("max_leaves", &Rules::max_leaves)
      .def_rw("first_column", &Rules::first_column);

  module.def("fractional_grow",
             [](const nb::list& columns, Vector<int32_t> levels, Vector<int32_t> label, Vector<double> weight, Vector<int32_t> rows,
                size_t n_classes, const Rules& rules, bool single, size_t threads, bool traces) {
               return single ? grow_in<float>(columns, levels, label, weight, rows, n_classes, rules, threads, traces)
                             : grow_in<double>(columns, levels, label, weight, rows, n_classes, rules, threads, traces);
             },
             nb::arg("columns"), nb::arg("levels").noconvert(), nb::arg("label").noconvert(), nb::arg("weight").noconvert(),
             nb::arg("rows").noconvert(), nb::arg("n_classes"), nb::arg("rules"), nb::arg("single"), nb::arg("threads"),
             nb::arg("traces"));

  module.def("drop_excluded_levels", &drop_excluded_levels, nb::arg("tree"));

  module.def("growth_of", &growth_of, nb::arg("column").noconvert(), nb::arg("first").noconvert(), nb::arg("branches").noconvert(),
             nb::arg("cut").noconvert(), nb::arg("start").noconvert(), nb::arg("levels").noconvert(), nb::arg("branch_of").noconvert(),
             nb::arg("missing").noconvert(), nb::arg("rows").noconvert(), nb::arg("weight").noconvert(), nb::arg("counts").noconvert(),
             nb::arg("prediction").noconvert(), nb::arg("gain").noconvert());
}

}  // namespace baytree::bindings
