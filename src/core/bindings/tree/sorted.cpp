// Bindings of the sorted search: arrays and plain settings in, arrays out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/pruning/fold_losses.hpp"
#include "tree/sorted/grower.hpp"

namespace baytree::bindings {
namespace {

using namespace tree;
using namespace tree::sorted;

// Rejects a criterion that does not apply to this target.
template <Criterion C> void check(const Target& target, const Settings& settings) {
  const auto refuse = [](const char* why) { throw std::invalid_argument("criterion='" + std::string(C::name) + "' " + why); };
  if (!settings.critical.empty() && target.classes == 0) throw std::invalid_argument("a chi-squared test compares classes, not numbers");
  if (C::suits.numbers != (target.classes == 0)) refuse(C::suits.numbers ? "is for numbers" : "is for classes");
  if (!C::suits.binary) refuse("does not compare two branches");
  if (settings.is_cart && !C::suits.rpart) refuse("has no arithmetic of rpart");
}

std::vector<Node> grow_with(std::span<const ColumnView> columns, size_t rows, const Target& target, const Settings& settings,
                            Workers& workers, RowsLeftOut* asked = nullptr) {
  Criteria::with(settings.criterion, [&]<Criterion C>() { return check<C>(target, settings), true; });
  return Grower(columns, rows, target, settings, workers, asked).grow();
}

// Appends the branch of each level to `branch_of`.
void append_groups(const std::vector<int32_t> (&group)[2], int32_t levels, std::vector<int32_t>& branch_of) {
  const size_t start = branch_of.size();
  branch_of.resize(start + size_t(levels), -1);
  for (int32_t b = 0; b < 2; ++b)
    for (const int32_t code : group[b]) branch_of[start + size_t(code)] = b;
}

// Nodes → arrays, under the names of the fields of Python's class Tree.
class Arrays {
 public:
  Arrays(const std::vector<Node>& nodes, std::span<const ColumnView> columns, size_t classes)
      : n_(nodes.size()), classes_(classes), counts(zeros<double>({n_, classes})) {
    for (const Node& node : nodes) append(node, columns);
    for (size_t i = 0; i < nodes.size(); ++i)
      for (const Surrogate& each : nodes[i].surrogates) append(int32_t(i), each, columns);
  }
  nb::dict to_python() {
    nb::dict out;
    const auto put = [&](const char* name, auto& values) { out[name] = to_numpy(std::move(values), {n_}); };
    put("column", column), put("first", first), put("branches", branches), put("cut", cut), put("strict", strict);
    put("mirrored", mirrored), put("start", start), put("levels", levels), put("missing", missing), put("rows", rows);
    put("weight", weight), put("mean", mean), put("prediction", prediction), put("impurity", impurity);
    put("risk", risk), put("gain", gain), put("depth", depth);
    out["counts"] = counts;
    const size_t entries = branch_of.size();
    out["branch_of"] = to_numpy(std::move(branch_of), {entries});
    out["surrogates"] = surrogates_to_python();
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
    double* own = counts.data() + (column.size() - 1) * classes_;
    for (size_t k = 0; k < node.present.size(); ++k) own[node.present[k]] = node.counts[k];
  }
  void append(int32_t node, const Surrogate& each, std::span<const ColumnView> views) {
    const int32_t n_levels = views[size_t(each.column)].levels;
    s_node.push_back(node), s_column.push_back(each.column), s_cut.push_back(each.cut);
    s_strict.push_back(!n_levels), s_flipped.push_back(each.is_flipped), s_start.push_back(int32_t(s_branch_of.size()));
    s_levels.push_back(n_levels);
    if (n_levels) append_groups(each.group, n_levels, s_branch_of);
    s_agree.push_back(each.agree), s_adjusted.push_back(each.adjusted), s_count.push_back(each.count);
  }
  nb::dict surrogates_to_python() {
    nb::dict out;
    const size_t n = s_node.size(), entries = s_branch_of.size();
    const auto put = [&](const char* name, auto& values) { out[name] = to_numpy(std::move(values), {n}); };
    put("node", s_node), put("column", s_column), put("cut", s_cut), put("strict", s_strict);
    put("flipped", s_flipped), put("start", s_start), put("levels", s_levels), put("agree", s_agree);
    put("adjusted", s_adjusted), put("count", s_count);
    out["branch_of"] = to_numpy(std::move(s_branch_of), {entries});
    return out;
  }
  size_t n_, classes_;
  nb::ndarray<nb::numpy, double> counts;  // [n_nodes, n_classes]
  std::vector<int32_t> column, first, branches, start, levels, branch_of, missing, prediction, depth;
  std::vector<uint8_t> strict, mirrored, s_strict, s_flipped;
  std::vector<int64_t> rows, s_count;
  std::vector<double> cut, weight, mean, impurity, risk, gain, s_cut, s_agree, s_adjusted;
  std::vector<int32_t> s_node, s_column, s_start, s_levels, s_branch_of;
};

using MaybeInts = std::optional<Vector<int32_t>>;

Target target_of(size_t rows, const int32_t* label, const double* y, const double* weight, const Vector<double>& scale, const nb::dict& given) {
  if (rows == 0) throw nb::value_error("a tree needs at least one row");
  if (rows > max_rows) throw nb::value_error("a tree holds at most 2,147,483,647 rows");
  Target target;
  target.classes = label ? scale.shape(0) : 0;
  target.label = label, target.y = y, target.weight = weight;
  target.scale = view(scale);
  target.counts_rows = setting<bool>(given, "counts_rows");
  target.is_counted = setting<bool>(given, "is_counted");
  const int bits = target.classes > 1 ? std::bit_width(target.classes - 1) : 0;
  target.class_bits = rows << bits <= 0xFFFFFFFFu ? bits : 0;
  return target;
}

template <typename T> const T* pointer(const std::optional<Vector<T>>& array) { return array ? array->data() : nullptr; }

nb::dict grow(const nb::list& arrays, const Vector<int32_t>& levels, const MaybeInts& label, const MaybeDoubles& y,
              const MaybeDoubles& weight, const Vector<double>& scale, const nb::dict& given, int threads) {
  const size_t rows = label ? label->shape(0) : y ? y->shape(0) : 0;
  const Columns columns = columns_of(arrays, levels, rows);
  const Settings settings = settings_of(given);
  const Target target = target_of(rows, pointer(label), pointer(y), pointer(weight), scale, given);
  Workers workers(threads, is_interrupted);
  auto nodes = interruptible([&] { return grow_with(columns.views, rows, target, settings, workers); });
  return Arrays(nodes, columns.views, target.classes).to_python();
}

// Sums of weight * loss and weight * loss² over the rows `outside`, at every penalty, for the tree grown on the rows
// `inside`. `loss` [classes, classes] is the misclassification cost; numeric targets use the squared error.
nb::tuple losses_outside(const nb::list& arrays, const Vector<int32_t>& levels, const MaybeInts& label, const MaybeDoubles& y,
                         const MaybeDoubles& weight, const Vector<double>& scale, const nb::dict& given, const Vector<int64_t>& inside,
                         const Vector<int64_t>& outside, double alpha, bool is_bounded, const Vector<double>& penalty, const Vector<double>& loss) {
  using namespace tree::pruning;
  const size_t rows = label ? label->shape(0) : y ? y->shape(0) : 0, classes = label ? scale.shape(0) : 0;
  const Columns columns = columns_of(arrays, levels, rows);
  const auto is_row = [&](int64_t row) { return row >= 0 && size_t(row) < rows; };
  if (!std::ranges::all_of(view(inside), is_row) || !std::ranges::all_of(view(outside), is_row)) throw nb::index_error("no such row");
  if (loss.shape(0) != classes * classes) throw nb::value_error("one loss is needed for each two classes");
  const Settings settings = settings_of(given);
  const auto taken = [](const auto* from, const Vector<int64_t>& those) {
    std::vector<std::remove_cvref_t<decltype(*from)>> out;
    for (const int64_t row : view(those)) out.push_back(from ? from[row] : 1);
    return out;
  };
  const std::vector<int32_t> labels = taken(pointer(label), inside), truth = taken(pointer(label), outside);
  const std::vector<double> numbers = taken(pointer(y), inside), wanted = taken(pointer(y), outside);
  const std::vector<double> weights = taken(pointer(weight), inside), judged = taken(pointer(weight), outside);
  const Target target = target_of(labels.size(), label ? labels.data() : nullptr, y ? numbers.data() : nullptr,
                                  weight ? weights.data() : nullptr, scale, given);
  PathLoss total = interruptible([&] {
    const RowsTaken learnt(columns.views, view(inside)), asked(columns.views, view(outside));
    Workers alone(1, is_interrupted);
    RowsLeftOut follows(asked.views, judged.size());
    const std::vector<Node> nodes = grow_with(learnt.views, labels.size(), target, settings, alone, &follows);
    std::vector<double> risk;
    for (const Node& node : nodes) risk.push_back(is_bounded ? node.risk : node.impurity * node.weight);
    const GrownRouter way(nodes, learnt.views, settings.use_surrogate > 0);
    const auto lost = [&](size_t at, size_t row) {
      if (classes) return loss.data()[size_t(truth[row]) * classes + size_t(nodes[at].prediction)];
      const double apart = wanted[row] - nodes[at].mean;
      return apart * apart;
    };
    return path_losses(way.router, asked.views, worths(nodes, risk, alpha, is_bounded), view(penalty), judged, lost);
  });
  const size_t n = total.sum.size();
  return nb::make_tuple(to_numpy(std::move(total.sum), {n}), to_numpy(std::move(total.squares), {n}));
}

std::vector<std::pair<std::string, Suits>> criteria() {
  std::vector<std::pair<std::string, Suits>> all;
  Criteria::each([&]<Criterion C>() { all.emplace_back(C::name, C::suits); });
  return all;
}

}  // namespace

void bind_sorted(nb::module_& module) {
  nb::class_<Suits>(module, "Suits", "What a split criterion can be asked for.")
      .def_ro("numbers", &Suits::numbers, "The target is a number, not a class.")
      .def_ro("binary", &Suits::binary, "Two branches.")
      .def_ro("multiway", &Suits::multiway, "A branch for each level.")
      .def_ro("merged", &Suits::merged, "Groups of levels that do not differ.")
      .def_ro("by_ratio", &Suits::by_ratio, "Over the information of the split itself.")
      .def_ro("rpart", &Suits::rpart, "With rpart's arithmetic too.")
      .def_ro("impurity", &Suits::impurity, "What a node has of it.")
      .def_ro("test", &Suits::test, "The test of CHAID's merging, where the criterion is one itself.");
  module.def("criteria", &criteria, "Every split criterion: its name, and what it suits.");
  module.def("grow", &grow, "columns"_a, "levels"_a.noconvert(), "label"_a.noconvert().none(), "y"_a.noconvert().none(),
             "weight"_a.noconvert().none(), "scale"_a.noconvert(), "settings"_a, "threads"_a,
             "A tree grown from columns, as a dict of arrays over its nodes.");
  module.def("losses_outside", &losses_outside, "columns"_a, "levels"_a.noconvert(), "label"_a.noconvert().none(), "y"_a.noconvert().none(),
             "weight"_a.noconvert().none(), "scale"_a.noconvert(), "settings"_a, "inside"_a.noconvert(), "outside"_a.noconvert(), "alpha"_a,
             "is_bounded"_a, "penalty"_a.noconvert(), "loss"_a.noconvert(),
             "Weight times loss, and times its square, of the rows outside at every penalty, by the tree that the rows inside grow.");
}

}  // namespace baytree::bindings
