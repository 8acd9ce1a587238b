// Bindings of C5.0: training rows, and the steps from rows to trees and rules.
#include <nanobind/stl/vector.h>
#include <memory>

#include "bindings/bindings.hpp"
#include "bindings/tree/columns.hpp"
#include "tree/c50/classifier.hpp"
#include "tree/c50/pruning.hpp"
#include "tree/c50/rules/rule_extraction.hpp"
#include "tree/c50/rules/rule_selection.hpp"
#include "tree/c50/simplify.hpp"
#include "tree/c50/soft_thresholds.hpp"

namespace baytree::bindings {
namespace {

using namespace tree::c50;

// Training rows, ranked once; keeps their arrays alive.
class Rows {
 public:
  Rows(const nb::list& columns, Vector<int32_t> levels, const nb::sequence& ordered, Vector<int32_t> label, Vector<double> weight,
       size_t n_classes, const nb::sequence& multiplier, size_t threads)
      : held_(columns), label_(label), weight_(weight), threads_(static_cast<int>(threads)) {
    auto given_columns = given(columns, levels);
    const auto is_ordered = values_of<bool>(ordered);
    for (size_t j = 0; j < given_columns.size(); ++j) given_columns[j].is_ordered = is_ordered.at(j);
    interruptible([&] {
      Workers workers(threads_, is_interrupted);
      training_ = tree::fractional::prepare(std::move(given_columns), view(label_), view(weight_), n_classes, true, workers);
    });
    const double total = static_cast<double>(weight.shape(0));
    bench_ = std::make_unique<Bench>(Bench{.from = training_, .settings = {}, .weight = {view(weight_).begin(), view(weight_).end()},
                                           .multiplier = values_of<float>(multiplier), .multiplied = {}, .in_use = std::vector<bool>(training_.columns.size(), true),
                                           .starts_whole = true, .x_log2_x = XLog2XTable(2 * total)});
    for (size_t c = 0; c < bench_->multiplier.size(); ++c)
      if (bench_->multiplier[c] != 1) bench_->multiplied.push_back(static_cast<int32_t>(c));
    for (size_t j = 0; j < training_.columns.size(); ++j) bench_->in_use[j] = training_.columns[j].levels != 1;
    for (const float w : bench_->weight) bench_->starts_whole &= w == 1;
  }

  void set(double min_cases, bool groups, double declared, double confidence, double z) {
    bench_->settings = {.min_cases = min_cases, .groups = groups, .declared = declared,
                        .pessimism = {.confidence = confidence, .z = z, .top_share = 0.67, .nearly_one = 0.9999, .few = 1}};
  }

  void use(const nb::sequence& in_use) { bench_->in_use = values_of<bool>(in_use); }
  std::vector<bool> used() const { return bench_->in_use; }

  // A tree grown on some rows and locally pruned on others.
  Growth grow(Vector<int32_t> grown_from, Vector<int32_t> pruned_by, double mean_gate, double log_gate, float leaves_per_weight, bool prunes, bool grows_anew) {
    Growth tree;
    bounded([&] {
      Workers workers(threads_, is_interrupted), alone(1, is_interrupted);
      Grower grower(*bench_, {.gate = {mean_gate, log_gate}, .leaves_per_weight = leaves_per_weight}, workers, alone);
      tree = grower.grow(view(grown_from));
      if (prunes) LocalPruner(tree, *bench_, grower, grows_anew).prune(view(pruned_by));
    });
    return tree::fractional::compact(tree);
  }

  Growth prune_globally(Growth tree, Vector<int32_t> rows) {
    interruptible([&] {
      Workers alone(1, is_interrupted);
      GlobalPruner pruner(tree, alone);
      const double errors = reads_missing_values(tree, training_) ? wrong_weight(tree, *bench_, view(rows)) : pruner.errors();
      pruner.prune(errors, static_cast<double>(bench_->n_rows()));
    });
    return tree::fractional::compact(tree);
  }

  Growth apply_costs(Growth tree, Vector<double> costs) {
    tree::c50::apply_costs(tree, *bench_, view(costs));
    return tree;
  }

  // Bounds of every soft threshold: [n_nodes, 3] low, middle, high.
  Growth soften(Growth tree, Vector<double> costs) {
    interruptible([&] {
      Workers alone(1, is_interrupted);
      std::vector<int32_t> rows(bench_->n_rows());
      std::iota(rows.begin(), rows.end(), 0);
      tree.soft = Softener(tree, *bench_, view(costs), alone).soften(rows);
    });
    return tree;
  }

  // Predicted class of each row, and its confidence.
  nb::tuple classify(const Growth& tree, Vector<double> costs) {
    const size_t n = bench_->n_rows();
    std::vector<int32_t> label(n);
    std::vector<float> confidence(n);
    interruptible([&] {
      Workers workers(threads_, is_interrupted);
      constexpr size_t kRows = 4096;
      workers.run((n + kRows - 1) / kRows, [&](size_t task, int) {
        Classifier classify(tree, training_, view(costs));
        for (size_t row = task * kRows; row < std::min(n, (task + 1) * kRows); ++row) {
          const Answer answer = classify(static_cast<int32_t>(row));
          label[row] = answer.label;
          confidence[row] = answer.confidence;
        }
      });
    });
    return nb::make_tuple(to_numpy(std::move(label), {n}), to_numpy(std::move(confidence), {n}));
  }

  double cost_of_mistakes(const Growth& tree, Vector<int32_t> rows, Vector<double> costs, int32_t masked) {
    return interruptible([&] { return tree::c50::cost_of_mistakes(tree, *bench_, view(rows), view(costs), masked); });
  }

  // Rules of a finished tree: (class, cover, right, vote, conditions), and the default class.
  nb::tuple rules(const Growth& tree, const nb::sequence& tested, double tree_errors, Vector<double> costs) {
    RuleSet set;
    const auto is_tested = values_of<bool>(tested);
    interruptible([&] {
      Workers alone(1, is_interrupted);
      const ErrorWeights weigh_error(view(costs), *bench_);
      auto formed = RuleFormer(tree, *bench_, is_tested, weigh_error, alone).form();
      set = RuleChooser(std::move(formed), *bench_, weigh_error, tree_errors, alone).choose();
    });
    nb::list rules;
    for (const Rule& rule : set.rules) {
      nb::list conditions;
      for (const Condition& it : rule.conditions) conditions.append(nb::make_tuple(it.column, static_cast<int32_t>(it.ask), cut_of(it), it.levels));
      rules.append(nb::make_tuple(rule.label, rule.cover, rule.right, rule.vote, conditions));
    }
    return nb::make_tuple(rules, set.otherwise);
  }

  // Which columns the tree reads for each row: [n_rows, n_columns].
  nb::ndarray<nb::numpy, bool> reads(const Growth& tree) const {
    auto* owned = new std::vector<char>(columns_read(tree, training_));
    nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<char>*>(pointer); });
    return nb::ndarray<nb::numpy, bool>(owned->data(), {bench_->n_rows(), training_.columns.size()}, owner);
  }

  nb::ndarray<nb::numpy, float> weights() const { return to_numpy(std::vector<float>(bench_->weight), {bench_->weight.size()}); }
  void weigh(Vector<float> weight) {
    if (weight.shape(0) != bench_->n_rows()) throw nb::value_error("one weight is needed per row");
    bench_->weight.assign(view(weight).begin(), view(weight).end());
    bench_->starts_whole = std::all_of(bench_->weight.begin(), bench_->weight.end(), [](float w) { return w == 1; });
  }

  Growth tidy(Growth tree, bool only_empty) {
    Tidier(tree, *bench_, only_empty ? Joining::empty_only : Joining::same_class).tidy();
    return tree::fractional::compact(tree);
  }

 private:
  double cut_of(const Condition& it) const {
    return it.ask == Ask::levels ? 0 : training_.ranked[training_.stripe[it.column]].distinct[static_cast<size_t>(it.rank)];
  }

  nb::list held_;
  Vector<int32_t> label_;
  Vector<double> weight_;
  int threads_;
  Training training_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace

void bind_c50(nb::module_& module) {
  nb::class_<Rows>(module, "C50Rows")
      .def(nb::init<const nb::list&, Vector<int32_t>, const nb::sequence&, Vector<int32_t>, Vector<double>, size_t, const nb::sequence&, size_t>(),
           "columns"_a, "levels"_a.noconvert(), "is_ordered"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "n_classes"_a, "multiplier"_a, "threads"_a)
      .def("set", &Rows::set, "min_cases"_a, "groups"_a, "declared"_a, "confidence"_a, "z"_a)
      .def("use", &Rows::use, "in_use"_a)
      .def("used", &Rows::used)
      .def("grow", &Rows::grow, "grown_from"_a.noconvert(), "pruned_by"_a.noconvert(), "mean_gate"_a, "log_gate"_a, "leaves_per_weight"_a, "prunes"_a,
           "grows_anew"_a)
      .def("prune_globally", &Rows::prune_globally, "tree"_a, "rows"_a.noconvert())
      .def("apply_costs", &Rows::apply_costs, "tree"_a, "costs"_a.noconvert())
      .def("soften", &Rows::soften, "tree"_a, "costs"_a.noconvert())
      .def("classify", &Rows::classify, "tree"_a, "costs"_a.noconvert())
      .def("cost_of_mistakes", &Rows::cost_of_mistakes, "tree"_a, "rows"_a.noconvert(), "costs"_a.noconvert(), "masked"_a)
      .def("rules", &Rows::rules, "tree"_a, "is_tested"_a, "tree_errors"_a, "costs"_a.noconvert())
      .def("reads", &Rows::reads, "tree"_a)
      .def("weights", &Rows::weights)
      .def("weigh", &Rows::weigh, "weight"_a.noconvert())
      .def("tidy", &Rows::tidy, "tree"_a, "only_empty"_a);
}

}  // namespace baytree::bindings
