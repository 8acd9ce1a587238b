// Trees: growing and routing. Arrays come in as they are, settings as plain values; arrays go out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/families.hpp"
#include "tree/sorted/growing.hpp"
#include "tree/prune/pruning.hpp"
#include "tree/route/routing.hpp"

namespace {

using namespace baytree;
using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

// The signal's own exception is already set where work was interrupted.
template <typename Work> auto interruptible(const Work& work) {
  try {
    const nb::gil_scoped_release release;
    return work();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

struct Columns {
  std::vector<AnyColumn> held;
  std::vector<ColumnView> views;
};

// levels: 0 for a column that is cut, the number of levels for one that is grouped.
Columns columns_of(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows) {
  Columns columns;
  if (levels.shape(0) != arrays.size()) throw nb::value_error("one number of levels is needed per column");
  for (size_t j = 0; j < arrays.size(); ++j) {
    auto array = nb::cast<AnyColumn>(arrays[j], false);
    if (array.shape(0) != rows) throw nb::value_error("a column has another number of rows than the table");
    ColumnView view;
    view.stride = array.stride(0);
    view.levels = levels.data()[j];
    if (array.dtype() == nb::dtype<double>()) view.x = static_cast<const double*>(array.data());
    else if (array.dtype() == nb::dtype<int32_t>()) view.code = static_cast<const int32_t*>(array.data());
    else throw nb::type_error("a column is neither float64 nor int32");
    if (view.x && view.levels) throw nb::value_error("a column of numbers has no levels");
    columns.views.push_back(view);
    columns.held.push_back(std::move(array));
  }
  return columns;
}

template <typename T> T setting(const nb::dict& settings, const char* name) { return nb::cast<T>(settings[name]); }

Settings settings_of(const nb::dict& given) {
  Settings s;
  s.criterion = setting<std::string>(given, "criterion");
  s.is_cart = setting<bool>(given, "is_cart");
  const auto missing = setting<std::string>(given, "missing");
  s.absent = missing == "category"    ? Absent::kCategory
             : missing == "largest"   ? Absent::kLargest
             : missing == "surrogate" ? Absent::kSurrogate
                                      : Absent::kLearned;
  s.min_split = setting<double>(given, "min_split");
  s.min_leaf = setting<double>(given, "min_leaf");
  s.max_depth = setting<int>(given, "max_depth");
  s.min_impurity = setting<double>(given, "min_impurity");
  s.min_gain = setting<double>(given, "min_gain");
  s.min_risk = setting<double>(given, "min_risk");
  s.critical = setting<std::vector<double>>(given, "critical");
  s.risk_scale = setting<std::vector<double>>(given, "risk_scale");
  s.loss = setting<std::vector<double>>(given, "loss");
  s.most_levels = setting<int>(given, "most_levels");
  s.max_surrogates = setting<int>(given, "max_surrogates");
  s.use_surrogate = setting<int>(given, "use_surrogate");
  s.surrogate_style = setting<int>(given, "surrogate_style");
  return s;
}

std::vector<Node> grow_with(std::span<const ColumnView> columns, size_t rows, const Target& target,
                            const Settings& settings, Workers& workers) {
  if (settings.is_cart) {
    if (!target.classes) return Grower<CartSquareMeasure>(columns, rows, target, settings, workers).grow();
    if (settings.criterion == "entropy")
      return Grower<CartClassMeasure<ClassIndex::kInformation>>(columns, rows, target, settings, workers).grow();
    return Grower<CartClassMeasure<ClassIndex::kGini>>(columns, rows, target, settings, workers).grow();
  }
  if (!target.classes) return Grower<SquareMeasure>(columns, rows, target, settings, workers).grow();
  return with_criterion(settings.criterion, [&]<Criterion C>() {
    return Grower<ClassMeasure<C>>(columns, rows, target, settings, workers).grow();
  });
}

// The branch of each level, written at the end of `branch_of`.
void append_groups(const std::vector<int32_t> (&group)[2], int32_t levels, std::vector<int32_t>& branch_of) {
  const size_t start = branch_of.size();
  branch_of.resize(start + size_t(levels), -1);
  for (int32_t b = 0; b < 2; ++b)
    for (const int32_t code : group[b]) branch_of[start + size_t(code)] = b;
}

// Node after node into arrays, under the names of the fields of `structure.Tree`.
class Arrays {
 public:
  Arrays(const std::vector<Node>& nodes, std::span<const ColumnView> columns, size_t classes) : n_(nodes.size()) {
    for (const Node& node : nodes) append(node, columns);
    for (size_t i = 0; i < nodes.size(); ++i)
      for (const Substitute& each : nodes[i].substitutes) append(int32_t(i), each, columns);
    classes_ = classes;
  }
  nb::dict to_python() {
    nb::dict out;
    const auto put = [&](const char* name, auto& values) { out[name] = to_numpy(std::move(values), {n_}); };
    put("column", column), put("first", first), put("branches", branches), put("cut", cut), put("strict", strict);
    put("mirrored", mirrored), put("start", start), put("levels", levels), put("missing", missing), put("rows", rows);
    put("weight", weight), put("mean", mean), put("prediction", prediction), put("impurity", impurity);
    put("risk", risk), put("gain", gain), put("depth", depth);
    out["counts"] = to_numpy(std::move(counts), {n_, classes_});
    const size_t entries = branch_of.size();
    out["branch_of"] = to_numpy(std::move(branch_of), {entries});
    out["surrogates"] = substitutes_to_python();
    return out;
  }

 private:
  void append(const Node& node, std::span<const ColumnView> views) {
    const bool is_leaf = node.is_leaf();
    const int32_t n_levels = is_leaf ? 0 : views[size_t(node.split.column)].levels;
    column.push_back(is_leaf ? -1 : node.split.column), first.push_back(node.first), branches.push_back(node.branches);
    cut.push_back(is_leaf || n_levels ? std::numeric_limits<double>::quiet_NaN() : node.split.cut);
    strict.push_back(!is_leaf && node.is_strict && !n_levels), mirrored.push_back(!is_leaf && node.split.is_mirrored);
    start.push_back(int32_t(branch_of.size())), levels.push_back(n_levels), missing.push_back(is_leaf ? -1 : node.missing);
    if (n_levels) append_groups(node.split.group, n_levels, branch_of);
    rows.push_back(node.rows), weight.push_back(node.weight), mean.push_back(node.mean);
    prediction.push_back(node.prediction), impurity.push_back(node.impurity), risk.push_back(node.risk);
    gain.push_back(is_leaf ? 0.0 : node.gain), depth.push_back(node.depth);
    counts.insert(counts.end(), node.counts.begin(), node.counts.end());
  }
  void append(int32_t node, const Substitute& each, std::span<const ColumnView> views) {
    const int32_t n_levels = views[size_t(each.column)].levels;
    s_node.push_back(node), s_column.push_back(each.column), s_cut.push_back(each.cut);
    s_strict.push_back(!n_levels), s_flipped.push_back(each.is_flipped), s_start.push_back(int32_t(s_branch_of.size()));
    s_levels.push_back(n_levels);
    if (n_levels) append_groups(each.group, n_levels, s_branch_of);
    s_agree.push_back(each.agree), s_adjusted.push_back(each.adjusted), s_count.push_back(each.count);
  }
  nb::dict substitutes_to_python() {
    nb::dict out;
    const size_t n = s_node.size(), entries = s_branch_of.size();
    const auto put = [&](const char* name, auto& values) { out[name] = to_numpy(std::move(values), {n}); };
    put("node", s_node), put("column", s_column), put("cut", s_cut), put("strict", s_strict);
    put("flipped", s_flipped), put("start", s_start), put("levels", s_levels), put("agree", s_agree);
    put("adjusted", s_adjusted), put("count", s_count);
    out["branch_of"] = to_numpy(std::move(s_branch_of), {entries});
    return out;
  }
  size_t n_, classes_ = 0;
  std::vector<int32_t> column, first, branches, start, levels, branch_of, missing, prediction, depth;
  std::vector<uint8_t> strict, mirrored, s_strict, s_flipped;
  std::vector<int64_t> rows, s_count;
  std::vector<double> cut, weight, mean, impurity, risk, gain, counts, s_cut, s_agree, s_adjusted;
  std::vector<int32_t> s_node, s_column, s_start, s_levels, s_branch_of;
};

using MaybeInts = std::optional<Vector<int32_t>>;
using MaybeDoubles = std::optional<Vector<double>>;

nb::dict grow(const nb::list& arrays, const Vector<int32_t>& levels, const MaybeInts& label, const MaybeDoubles& y,
              const MaybeDoubles& weight, const Vector<double>& scale, const nb::dict& given, int threads) {
  const size_t rows = label ? label->shape(0) : y ? y->shape(0) : 0;
  if (rows == 0) throw nb::value_error("a tree needs at least one row");
  if (rows > 0x7FFFFFFFu) throw nb::value_error("a tree holds at most 2,147,483,647 rows");
  const Columns columns = columns_of(arrays, levels, rows);
  const Settings settings = settings_of(given);
  Target target;
  target.classes = label ? scale.shape(0) : 0;
  target.label = label ? label->data() : nullptr;
  target.y = y ? y->data() : nullptr;
  target.weight = weight ? weight->data() : nullptr;
  target.scale = view(scale);
  target.counts_rows = setting<bool>(given, "counts_rows");
  target.is_counted = setting<bool>(given, "is_counted");
  const int bits = target.classes > 1 ? std::bit_width(target.classes - 1) : 0;
  target.class_bits = rows << bits <= 0xFFFFFFFFu ? bits : 0;
  Workers workers(threads, is_interrupted);
  auto nodes = interruptible([&] { return grow_with(columns.views, rows, target, settings, workers); });
  return Arrays(nodes, columns.views, target.classes).to_python();
}

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

// Holds the arrays of a tree while it routes.
class PyRouter {
 public:
  PyRouter(const nb::dict& tree, const nb::dict& surrogates, Vector<int64_t> bounds) {
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
    }
    const auto flipped = array<bool>(surrogates, "flipped");
    for (size_t i = 0; i < router_.surrogates.size(); ++i) router_.surrogates[i].is_flipped = flipped.data()[i];
  }
  bool may_spread() const { return may_spread_; }

  nb::ndarray<nb::numpy, int32_t> leaves(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows, int threads) {
    const Columns columns = checked(arrays, levels, rows);
    Workers workers(threads, is_interrupted);
    std::vector<int32_t> out(rows);
    interruptible([&] { baytree::leaves(router_, columns.views, out, workers); });
    return to_numpy(std::move(out), {rows});
  }

  nb::ndarray<nb::numpy, double> mixtures(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows,
                                          nb::ndarray<const double, nb::ndim<2>, nb::c_contig> value, int threads) {
    const Columns columns = checked(arrays, levels, rows);
    if (value.shape(0) != router_.nodes.size()) throw nb::value_error("one value is needed per node");
    Workers workers(threads, is_interrupted);
    std::vector<double> out(rows * value.shape(1), 0.0);
    const std::span<const double> values(value.data(), value.size());
    interruptible([&] { baytree::mixtures(router_, columns.views, values, rows, out, workers); });
    return to_numpy(std::move(out), {rows, value.shape(1)});
  }

  // loss: [n_nodes, n_classes] with the rows' classes, or the nodes' values with the rows' numbers.
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
  template <typename Loss>
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
      out[i].levels = levels.data()[i], out[i].branch_of = branch_of.data() + start.data()[i];
    }
    return out;
  }

  // A tree may come from a file: its columns must be there, and be of the kind that its tests read.
  Columns checked(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows) const {
    Columns columns = columns_of(arrays, levels, rows);
    for (const auto* tests : {&router_.nodes, &router_.surrogates})
      for (const Test& test : *tests) {
        if (test.column < 0) continue;
        if (size_t(test.column) >= columns.views.size()) throw nb::value_error("the tree asks for a column that the table does not have");
        if (test.levels && !columns.views[size_t(test.column)].code) throw nb::value_error("the tree asks for levels of a numeric column");
      }
    return columns;
  }

  Router router_;
  std::vector<Vector<int32_t>> held_;
  Vector<double> share_;
  bool may_spread_ = false;
};

}  // namespace

void bind_tree(nb::module_& module) {
  module.def("grow", &grow, "columns"_a, "levels"_a.noconvert(), "label"_a.noconvert().none(), "y"_a.noconvert().none(),
             "weight"_a.noconvert().none(), "scale"_a.noconvert(), "settings"_a, "threads"_a,
             "A tree grown from columns, as a dict of arrays over its nodes.");
  module.def("complexities", &complexities, "first"_a.noconvert(), "branches"_a.noconvert(), "mirrored"_a.noconvert(),
             "risk"_a.noconvert(), "alpha"_a, "is_bounded"_a, "The penalty at which each split goes, and the splits worth keeping.");
  module.def("kept_nodes", &kept_nodes, "first"_a.noconvert(), "branches"_a.noconvert(), "mirrored"_a.noconvert(),
             "risk"_a.noconvert(), "is_split"_a.noconvert(), "The nodes that remain when only some splits are kept.");
  nb::class_<PyRouter>(module, "Router", "Rows to nodes of a tree given as arrays.")
      .def(nb::init<const nb::dict&, const nb::dict&, Vector<int64_t>>(), "tree"_a, "surrogates"_a, "bounds"_a.noconvert())
      .def_prop_ro("may_spread", &PyRouter::may_spread)
      .def("leaves", &PyRouter::leaves, "columns"_a, "levels"_a.noconvert(), "rows"_a, "threads"_a)
      .def("class_losses", &PyRouter::class_losses)
      .def("number_losses", &PyRouter::number_losses)
      .def("mixtures", &PyRouter::mixtures, "columns"_a, "levels"_a.noconvert(), "rows"_a, "value"_a.noconvert(), "threads"_a);
}
