// Bindings of CHAID: tests of groups, and tests of all columns at all nodes of one depth.
#include <nanobind/stl/string.h>
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "tree/counted/column_tests.hpp"
#include "tree/counted/group_tests.hpp"
#include "util/options.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::counted;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Calls the work with the test of this name.
template <typename Work> auto with_test(const std::string& name, size_t width, const Work& work) {
  if (name == "pearson") return work.template operator()<ClassTest<true>>();
  if (name == "likelihood_ratio") return work.template operator()<ClassTest<false>>();
  if (name != "mean") refuse_choice("test", name, std::array<std::string_view, 3>{"pearson", "likelihood_ratio", "mean"});
  if (width != 3) throw nb::value_error("a test of means needs weight, sum and squares");
  return work.template operator()<MeanTest>();
}

nb::ndarray<nb::numpy, double> test_groups(const Tables& tables, const std::string& name) {
  const size_t n = tables.shape(0), n_groups = tables.shape(1), width = tables.shape(2);
  std::vector<double> log_p(n);
  with_test(name, width, [&]<GroupTest Test>() {
    const nb::gil_scoped_release released;
    Groups groups(n_groups);
    Test test;
    for (size_t t = 0; t < n; ++t) {
      for (size_t g = 0; g < n_groups; ++g) groups[g] = {tables.data() + (t * n_groups + g) * width, width};
      log_p[t] = Test::log_p(test.contrast(groups));
    }
  });
  return to_numpy(std::move(log_p), {n});
}

// First and last (exclusive) cell of each node in each column, and whether the first cell is that of missing values:
// three arrays [n_nodes, n_columns].
nb::tuple node_spans(const nb::list& keys, const Vector<int64_t>& n_codes, const Vector<int64_t>& places) {
  const size_t n_nodes = places.shape(0), n_columns = n_codes.shape(0);
  if (keys.size() != n_columns) throw nb::value_error("columns differ in number");
  std::vector<int64_t> first(n_nodes * n_columns), last(n_nodes * n_columns);
  auto has_missing = zeros<bool>({n_nodes, n_columns});
  for (size_t column = 0; column < n_columns; ++column) {
    const auto given = nb::cast<Vector<int64_t>>(keys[column], false);
    const std::span<const int64_t> key = view(given);
    const int64_t per_node = n_codes.data()[column] + 1;
    for (size_t at = 0; at < n_nodes; ++at) {
      const size_t pair = at * n_columns + column;
      const auto begin = std::ranges::lower_bound(key, places.data()[at] * per_node);
      first[pair] = begin - key.begin();
      last[pair] = std::lower_bound(begin, key.end(), (places.data()[at] + 1) * per_node) - key.begin();
      has_missing.data()[pair] = first[pair] < last[pair] && *begin == places.data()[at] * per_node;
    }
  }
  return nb::make_tuple(to_numpy(std::move(first), {n_nodes, n_columns}), to_numpy(std::move(last), {n_nodes, n_columns}), has_missing);
}

// Counts of one column at all nodes of a depth.
struct CountedColumn {
  Matrix sums;            // [n_cells, width]
  Vector<double> weight;  // [n_cells]
  bool is_ordered;
};

// Each of these is [n_nodes, n_columns].
struct CellPlaces {
  Places first, last;  // of the cells of a node
  Places run;          // positions of the runs of its levels, -1 if there are none
  nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu> has_missing;
};

CodeSums codes_of(const CountedColumn& column, const CellPlaces& places, std::span<const int32_t> runs, size_t pair) {
  const auto first = size_t(places.first.data()[pair]), n = size_t(places.last.data()[pair]) - first, width = column.sums.shape(1);
  CodeSums codes{.sums = {column.sums.data() + first * width, n * width}, .weight = {column.weight.data() + first, n}, .run = {},
                 .is_ordered = column.is_ordered, .has_missing = places.has_missing.data()[pair]};
  if (const int64_t run = places.run.data()[pair]; run >= 0) codes.run = runs.subspan(size_t(run), codes.n_levels());
  return codes;
}

// For each node and column the number of groups and log p; for each column the group of every cell.
nb::tuple try_columns(const nb::list& columns, const nb::tuple& where, const Vector<int32_t>& runs, const std::string& test, const TrialRules& rules,
                      int threads) {
  std::vector<CountedColumn> given;
  for (const nb::handle& column : columns)
    given.push_back({nb::cast<Matrix>(column[0], false), nb::cast<Vector<double>>(column[1], false), nb::cast<bool>(column[2])});
  const CellPlaces places{nb::cast<Places>(where[0], false), nb::cast<Places>(where[1], false), nb::cast<Places>(where[2], false),
                          nb::cast<decltype(CellPlaces::has_missing)>(where[3], false)};
  const size_t n_columns = given.size(), n_nodes = places.first.shape(0);
  if (places.first.shape(1) != n_columns) throw nb::value_error("columns differ in number");
  std::vector<std::vector<int32_t>> group;
  for (const CountedColumn& column : given) group.emplace_back(column.weight.shape(0));
  std::vector<int32_t> n_groups(n_nodes * n_columns);
  std::vector<double> log_p(n_nodes * n_columns);
  Workers workers(threads, is_interrupted);
  with_test(test, given.empty() ? 3 : given[0].sums.shape(1), [&]<GroupTest Test>() {
    interruptible([&] {
      workers.run(n_nodes * n_columns, [&](size_t pair, int) {
        const size_t column = pair % n_columns;
        const CodeSums codes = codes_of(given[column], places, view(runs), pair);
        const std::span<int32_t> of_cells(group[column].data() + places.first.data()[pair], codes.size());
        const Grouped found = ColumnTrial<Test>(codes, rules, of_cells).grouped();
        n_groups[pair] = found.n_groups, log_p[pair] = found.log_p;
      });
    });
  });
  nb::list groups;
  for (auto& each : group) {
    const size_t n = each.size();
    groups.append(to_numpy(std::move(each), {n}));
  }
  return nb::make_tuple(to_numpy(std::move(n_groups), {n_nodes, n_columns}), to_numpy(std::move(log_p), {n_nodes, n_columns}), groups);
}

}  // namespace

void bind_chaid(nb::module_& module) {
  module.def("test_groups", &test_groups, "tables"_a.noconvert(), "test"_a,
             "log p that groups do not differ, for tables [n_tables, n_groups, n_statistics].");
  module.def("node_spans", &node_spans, "keys"_a, "n_codes"_a.noconvert(), "places"_a.noconvert(),
             "The first and last cell of each node in each column, and whether the first is that of missing values.");
  nb::class_<TrialRules>(module, "TrialRules", "When levels merge: log p, the least weight of a group and its least share of a node, and beyond how many levels these first run together.")
      .def("__init__", [](TrialRules* self, double log_alpha, double min_leaf, double min_prob, bool is_exhaustive, size_t max_levels) {
        new (self) TrialRules{log_alpha, min_leaf, min_prob, is_exhaustive, max_levels};
      }, "log_alpha"_a, "min_leaf"_a, "min_prob"_a, "is_exhaustive"_a, "max_levels"_a);
  module.def("try_columns", &try_columns, "columns"_a, "where"_a, "runs"_a.noconvert(), "test"_a, "rules"_a, "threads"_a,
             "For each node and column the number of groups and log p; for each column the group of each of its cells.");
}

}  // namespace baytree::bindings
