// Bindings of routing: rows → nodes of a tree given as arrays.
#include <nanobind/stl/optional.h>
#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/pruning/cost_complexity.hpp"
#include "tree/routing/array_checks.hpp"
#include "tree/routing/router.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::routing;
using tree::pruning::PathLoss, tree::pruning::path_losses;

// Keeps the arrays of a tree alive while it routes.
class PyRouter {
 public:
  // The surrogates of node i are those from bounds[i] to bounds[i + 1]; likewise its thresholds after the first.
  PyRouter(const nb::dict& tree, const nb::dict& surrogates, Vector<int64_t> bounds, Vector<double> more_cuts,
           Vector<int64_t> cut_bounds)
      : more_cuts_(more_cuts) {
    router_.nodes = tests(tree, held_.emplace_back(array<int32_t>(tree, "branch_of")));
    router_.surrogates = tests(surrogates, held_.emplace_back(array<int32_t>(surrogates, "branch_of")));
    share_ = array<double>(tree, "share");
    router_.share = view(share_);
    const auto first = array<int32_t>(tree, "first"), branches = array<int32_t>(tree, "branches"),
               missing = array<int32_t>(tree, "missing");
    for (size_t i = 0; i < router_.nodes.size(); ++i) {
      Test& node = router_.nodes[i];
      node.first = first.data()[i], node.branches = branches.data()[i], node.missing = missing.data()[i];
      node.surrogates = int32_t(bounds.data()[i]), node.surrogates_end = int32_t(bounds.data()[i + 1]);
      if (node.missing == kSpread) may_spread_ = true;
      if (const int64_t begin = cut_bounds.data()[i], n = cut_bounds.data()[i + 1] - begin; n > 0)
        node.more_cuts = more_cuts_.data() + begin, node.entries = -int32_t(n);
    }
    const auto flipped = array<bool>(surrogates, "flipped");
    for (size_t i = 0; i < router_.surrogates.size(); ++i) router_.surrogates[i].is_flipped = flipped.data()[i];
  }
  bool may_spread() const { return may_spread_; }

  nb::ndarray<nb::numpy, int32_t> leaves(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows, int threads) {
    const Columns columns = checked(arrays, levels, rows);
    Workers workers(threads, is_interrupted);
    std::vector<int32_t> out(rows);
    interruptible([&] { tree::routing::leaves(router_, columns.views, out, workers); });
    return to_numpy(std::move(out), {rows});
  }

  nb::ndarray<nb::numpy, double> mixtures(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows,
                                          nb::ndarray<const double, nb::ndim<2>, nb::c_contig> value, int threads,
                                          std::optional<Vector<double>> soft) {
    const Columns columns = checked(arrays, levels, rows);
    if (value.shape(0) != router_.nodes.size()) throw nb::value_error("one value is needed per node");
    if (soft && soft->shape(0) != 4 * router_.nodes.size()) throw nb::value_error("four numbers are needed per soft cut");
    Router router = router_;
    if (soft) router.soft = view(*soft);
    Workers workers(threads, is_interrupted);
    std::vector<double> out(rows * value.shape(1), 0.0);
    const std::span<const double> values(value.data(), value.size());
    interruptible([&] { tree::routing::mixtures(router, columns.views, values, rows, out, workers); });
    return to_numpy(std::move(out), {rows, value.shape(1)});
  }

  // loss: [n_nodes, n_classes] with the rows' classes, or node values with the rows' numbers.
  nb::tuple class_losses(const nb::list& arrays, const Vector<int32_t>& levels, Vector<double> complexity, Vector<double> penalty,
                         Vector<double> weight, Vector<int32_t> label, nb::ndarray<const double, nb::ndim<2>, nb::c_contig> loss) {
    return losses(arrays, levels, complexity, penalty, weight, [&](size_t at, size_t row) {
      return loss.data()[at * loss.shape(1) + size_t(label.data()[row])];
    });
  }
  nb::tuple number_losses(const nb::list& arrays, const Vector<int32_t>& levels, Vector<double> complexity, Vector<double> penalty,
                          Vector<double> weight, Vector<double> y, Vector<double> value) {
    return losses(arrays, levels, complexity, penalty, weight, [&](size_t at, size_t row) {
      const double apart = y.data()[row] - value.data()[at];
      return apart * apart;
    });
  }

 private:
  template <std::invocable<size_t, size_t> Loss>
  nb::tuple losses(const nb::list& arrays, const Vector<int32_t>& levels, const Vector<double>& complexity,
                   const Vector<double>& penalty, const Vector<double>& weight, const Loss& loss) {
    const Columns columns = checked(arrays, levels, weight.shape(0));
    PathLoss total = interruptible([&] {
      return path_losses(router_, columns.views, view(complexity), view(penalty), view(weight), loss);
    });
    const size_t n = total.sum.size();
    return nb::make_tuple(to_numpy(std::move(total.sum), {n}), to_numpy(std::move(total.squares), {n}));
  }

  template <typename T> static Vector<T> array(const nb::dict& of, const char* name) { return nb::cast<Vector<T>>(of[name]); }

  static std::vector<Test> tests(const nb::dict& of, const Vector<int32_t>& branch_of) {
    const auto column = array<int32_t>(of, "column"), start = array<int32_t>(of, "start"), levels = array<int32_t>(of, "levels");
    const auto cut = array<double>(of, "cut");
    const auto strict = array<bool>(of, "strict");
    std::vector<Test> out(column.shape(0));
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].column = column.data()[i], out[i].cut = cut.data()[i], out[i].is_strict = strict.data()[i];
      out[i].entries = levels.data()[i], out[i].branch_of = branch_of.data() + start.data()[i];
    }
    return out;
  }

  // A tree may come from a file: its columns must exist and have the kind that its tests read.
  Columns checked(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows) const {
    Columns columns = columns_of(arrays, levels, rows);
    for (const auto* tests : {&router_.nodes, &router_.surrogates})
      for (const Test& test : *tests) {
        if (test.column < 0) continue;
        if (size_t(test.column) >= columns.views.size()) throw nb::value_error("the tree asks for a column that the table does not have");
        if (test.entries > 0 && !columns.views[size_t(test.column)].code) throw nb::value_error("the tree asks for levels of a numeric column");
      }
    return columns;
  }

  Router router_;
  std::vector<Vector<int32_t>> held_;
  Vector<double> share_, more_cuts_;
  bool may_spread_ = false;
};

// Number of the first fault of the arrays of a tree, in the order of the checks; 0 for none.
int tree_fault(Vector<int32_t> column, Vector<double> cut, Vector<int32_t> start, Vector<int32_t> levels, Vector<int32_t> branch_of,
               Vector<int32_t> first, Vector<int32_t> branches, Vector<int32_t> missing, Vector<double> share,
               nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> value, Vector<int32_t> prediction) {
  const size_t n = column.shape(0);
  for (const size_t length : {cut.shape(0), start.shape(0), levels.shape(0), first.shape(0), branches.shape(0), missing.shape(0), share.shape(0),
                              value.shape(0), prediction.shape(0)})
    if (length != n) throw std::invalid_argument("tree_fault: the lengths do not fit");
  return static_cast<int>(fault_of({view(column), view(start), view(levels), view(first), view(branches), view(missing), view(prediction),
                                    view(branch_of), view(cut), view(share), {value.data(), n * value.shape(1)}, value.shape(1)}));
}

}  // namespace

void bind_routing(nb::module_& module) {
  module.def("tree_fault", &tree_fault, "column"_a, "cut"_a, "start"_a, "levels"_a, "branch_of"_a, "first"_a, "branches"_a, "missing"_a, "share"_a,
             "value"_a, "prediction"_a, "Which fault the arrays of a tree have, in the order in which they are looked for; 0 for none.");
  nb::class_<PyRouter>(module, "Router", "Rows to nodes of a tree given as arrays.")
      .def(nb::init<const nb::dict&, const nb::dict&, Vector<int64_t>, Vector<double>, Vector<int64_t>>(), "tree"_a, "surrogates"_a,
           "bounds"_a.noconvert(), "more_cuts"_a.noconvert(), "cut_bounds"_a.noconvert())
      .def_prop_ro("may_spread", &PyRouter::may_spread)
      .def("leaves", &PyRouter::leaves, "columns"_a, "levels"_a.noconvert(), "rows"_a, "threads"_a)
      .def("class_losses", &PyRouter::class_losses)
      .def("number_losses", &PyRouter::number_losses)
      .def("mixtures", &PyRouter::mixtures, "columns"_a, "levels"_a.noconvert(), "rows"_a, "value"_a.noconvert(), "threads"_a,
           "soft"_a.noconvert() = nb::none());
}

}  // namespace baytree::bindings
