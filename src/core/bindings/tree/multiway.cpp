// Bindings of multiway regression trees.
#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/counted/multiway_regression.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::counted;

template <typename T, std::invocable<const MultiwayNode&> Of> auto column_of(const std::vector<MultiwayNode>& nodes, Of of) {
  std::vector<T> values;
  values.reserve(nodes.size());
  for (const MultiwayNode& node : nodes) values.push_back(static_cast<T>(of(node)));
  return to_numpy(std::move(values), {nodes.size()});
}

// Under the names of the fields of Python's class Tree.
nb::dict arrays(const std::vector<MultiwayNode>& nodes) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<int32_t> branch_of;
  for (const MultiwayNode& node : nodes) branch_of.insert(branch_of.end(), node.branch_of.begin(), node.branch_of.end());
  nb::dict out;
  out["column"] = column_of<int32_t>(nodes, [](const auto& node) { return node.column; });
  out["first"] = column_of<int32_t>(nodes, [](const auto& node) { return node.first; });
  out["branches"] = column_of<int32_t>(nodes, [](const auto& node) { return node.branches; });
  out["cut"] = column_of<double>(nodes, [](const auto& node) { return node.is_leaf() || !node.branch_of.empty() ? nan : node.cut; });
  out["levels"] = column_of<int32_t>(nodes, [](const auto& node) { return node.branch_of.size(); });
  out["missing"] = column_of<int32_t>(nodes, [](const auto& node) { return node.missing; });
  out["rows"] = column_of<int64_t>(nodes, [](const auto& node) { return node.rows; });
  out["weight"] = column_of<double>(nodes, [](const auto& node) { return node.weight; });
  out["mean"] = column_of<double>(nodes, [](const auto& node) { return node.mean; });
  out["impurity"] = column_of<double>(nodes, [](const auto& node) { return node.impurity; });
  out["risk"] = column_of<double>(nodes, [](const auto& node) { return node.risk; });
  out["gain"] = column_of<double>(nodes, [](const auto& node) { return node.gain; });
  const size_t entries = branch_of.size();
  out["branch_of"] = to_numpy(std::move(branch_of), {entries});
  return out;
}

nb::dict grow(const nb::list& given_columns, const Vector<int32_t>& levels, const Vector<double>& y, const MaybeDoubles& weight,
              const nb::dict& given, int threads) {
  const size_t rows = y.shape(0);
  if (rows == 0) throw nb::value_error("a tree needs at least one row");
  if (rows > max_rows) throw nb::value_error("a tree holds at most 2,147,483,647 rows");
  const Columns columns = columns_of(given_columns, levels, rows);
  const tree::sorted::Settings settings = settings_of(given);
  tree::sorted::Target target;
  target.y = y.data();
  target.weight = weight ? weight->data() : nullptr;
  target.is_counted = setting<bool>(given, "is_counted");
  Workers workers(threads, is_interrupted);
  return arrays(interruptible([&] { return MultiwayNumbers(columns.views, rows, target, settings, workers).grow(); }));
}

}  // namespace

void bind_multiway(nb::module_& module) {
  module.def("grow_multiway", &grow, "columns"_a, "levels"_a.noconvert(), "y"_a.noconvert(), "weight"_a.noconvert().none(), "settings"_a,
             "threads"_a, "A regression tree with a branch for each level, as a dict of arrays over its nodes.");
}

}  // namespace baytree::bindings
