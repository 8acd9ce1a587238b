// Growth of multiway trees with fractional cases (C4.5, Quinlan 1993): a row with a missing value follows every branch
// with a fraction of its weight; and the choice among the tests of the columns.
#pragma once
#include <numeric>
#include <optional>

#include "tree/fractional/gain.hpp"
#include "tree/fractional/nodes.hpp"
#include "tree/fractional/nominal_test.hpp"
#include "tree/fractional/partition.hpp"

namespace baytree::tree::fractional {

// Choice of the best test of a node.

// Tolerance: a gain this much below the average still passes, and one this much below zero is still a test.
inline constexpr double kGainSlack = 1e-3;

// Nominal columns with too many levels to count towards the average gain; none if all have too many.
inline std::vector<bool> many_levels(std::span<const GivenColumn> columns, double total) {
  std::vector<bool> has_many;
  for (const GivenColumn& column : columns) has_many.push_back(!column.is_numeric() && std::max(column.levels, 2) >= 0.3 * total);
  if (std::all_of(has_many.begin(), has_many.end(), [](bool is) { return is; })) has_many.assign(has_many.size(), false);
  return has_many;
}

// Average gain of the tests that count: nominal columns with very many levels would raise it too much.
template <std::floating_point Real>
std::optional<Real> average_gain(std::span<const ColumnTest<Real>> tests, const std::vector<bool>& has_many_levels) {
  Real sum = 0;
  int64_t counted = 0;
  for (size_t j = 0; j < tests.size(); ++j) {
    if (!tests[j].is_valid || has_many_levels[j] || !(tests[j].gain > -kGainSlack)) continue;
    sum += tests[j].gain;
    ++counted;
  }
  if (counted == 0) return std::nullopt;
  return static_cast<Real>(sum / static_cast<double>(counted));
}

// The best gain ratio among tests of at least average gain; the earlier column wins ties. -1: no test.
template <std::floating_point Real>
int32_t best_by_ratio(std::span<const ColumnTest<Real>> tests, const std::vector<bool>& has_many_levels, const Rules& rules, double least) {
  const auto average = rules.gated ? average_gain(tests, has_many_levels) : std::optional<Real>(Real(0));
  if (!average) return -1;
  int32_t best = -1;
  double best_ratio = 0;
  for (size_t j = 0; j < tests.size(); ++j) {
    const ColumnTest<Real>& test = tests[j];
    if (!test.is_valid || !(test.gain > -kGainSlack)) continue;
    if (!(test.gain >= *average - kGainSlack) || !(test.info > rules.min_info)) continue;
    if (!rules.zero_ratio_wins && !(test.gain > least)) continue;
    const bool is_first = best < 0 && rules.zero_ratio_wins;
    if (!is_first && !rules.greater(test.ratio(), best_ratio)) continue;
    best = static_cast<int32_t>(j);
    best_ratio = test.ratio();
  }
  return best;
}

template <std::floating_point Real>
int32_t best_by_gain(std::span<const ColumnTest<Real>> tests, const Rules& rules, double least) {
  int32_t best = -1;
  double best_gain = rules.zero_ratio_wins ? -kGainSlack : least;
  for (size_t j = 0; j < tests.size(); ++j) {
    if (!tests[j].is_valid || !rules.greater(tests[j].gain, best_gain)) continue;
    best = static_cast<int32_t>(j);
    best_gain = tests[j].gain;
  }
  return best;
}

// The column of the best test; without one that has a gain, the first that separates cases if the rules ask for it. -1:
// none. `least` is the gain that a test must exceed.
template <std::floating_point Real>
int32_t best_column(std::span<ColumnTest<Real>> tests, const std::vector<bool>& has_many_levels, const Rules& rules, double least) {
  const std::span<const ColumnTest<Real>> all(tests);
  const int32_t best = rules.by_ratio ? best_by_ratio(all, has_many_levels, rules, least) : best_by_gain(all, rules, least);
  if (best >= 0 || !rules.takes_no_gain || rules.min_gain > 0) return best;
  const auto first = std::ranges::find_if(tests, [](const ColumnTest<Real>& test) { return test.is_valid; });
  if (first == tests.end()) return -1;
  first->gain = std::max(first->gain, Real(0));
  return static_cast<int32_t>(first - tests.begin());
}

template <std::floating_point Real>
class FractionalGrower {
 public:
  FractionalGrower(const Training& training, const Rules& rules, Workers& workers, Workers& alone, bool traces)
      : from_(training), rules_(rules), worth_(worth_of_levels<Real>(rules.measure)), worth_of_cuts_(worth_of_cuts<Real>(rules.measure)),
        workers_(workers), alone_(alone), traces_(traces),
        x_log2_x_(std::accumulate(training.weight.begin(), training.weight.end(), 0.0)), level_index_(static_cast<size_t>(workers.size())),
        has_many_levels_(many_levels(training.columns, rules.total)), classes_(training.n_classes) {
    tree_.n_classes = training.n_classes;
  }

  // The full tree of these rows, before collapsing and pruning.
  Growth grow(std::span<const int32_t> rows) {
    tree_.append(1);
    Pending root{0, 0, std::vector<bool>(from_.columns.size()), root_cases<Real>(from_, rows), -1, {}};
    if (count(0, root.cases)) wait_with_best_test(std::move(root));
    for (int64_t leaves = 1; !waiting_.empty();) {
      Pending next = take_next();
      if (rules_.max_leaves >= 0 && leaves + next.test.branches - 1 > rules_.max_leaves) continue;
      branch_out(next);
      leaves += tree_.node[next.id].branches - 1;
      alone_.poll();
    }
    return std::move(tree_);
  }

  // A candidate test of a node, for the trace.
  struct Tried {
    int32_t node, column;
    double gain, raw_gain, info;
    int64_t cuts;
  };
  const std::vector<Tried>& tried() const { return tried_; }

 private:
  struct Pending {
    int32_t id;
    int64_t depth;
    std::vector<bool> is_used;  // nominal columns tested by ancestors
    Cases<Real> cases;
    int32_t column;        // its best test
    ColumnTest<Real> test;
  };

  // Depth first; if the number of leaves is limited, best first.
  Pending take_next() {
    auto next = waiting_.end() - 1;
    if (rules_.max_leaves >= 0)
      next = std::max_element(waiting_.begin(), waiting_.end(), [&](const Pending& a, const Pending& b) {
        return a.test.gain * tree_.node[a.id].weight < b.test.gain * tree_.node[b.id].weight;
      });
    Pending taken = std::move(*next);
    waiting_.erase(next);
    return taken;
  }

  // Counts the cases of a new node. Returns whether it may be split.
  bool count(int32_t id, const Cases<Real>& cases) {
    const ClassWeights<Real> counts = classes_.count(cases);
    const Real weight = std::accumulate(counts.weight.begin(), counts.weight.end(), Real(0)), largest = counts.largest();
    tree_.keep(static_cast<size_t>(id), counts);
    Node& node = tree_.node[id];
    node.label = counts.heaviest();
    node.weight = weight;
    node.rows = static_cast<int64_t>(cases.size());
    node.errors = static_cast<Real>(weight - largest);
    return largest < weight && weight >= 2 * rules_.min_side - 1e-5 && weight >= rules_.min_split;
  }

  // Finds the best test of a node and queues the node if there is one.
  void wait_with_best_test(Pending&& pending) {
    if (rules_.max_depth >= 0 && pending.depth >= rules_.max_depth) return;
    const auto [present, counts] = tree_.template kept<Real>(static_cast<size_t>(pending.id));
    const NodeCases<Real> at{rules_, worth_, x_log2_x_, pending.cases, counts, classes_.places(present), static_cast<Real>(tree_.node[pending.id].weight)};
    if (worth_.impurity(counts, x_log2_x_) / at.weight < rules_.min_impurity) return;
    std::vector<ColumnTest<Real>> tests(from_.columns.size());
    workers_for(pending.cases).run(tests.size(), [&](size_t column, int worker) {
      if (may_test(pending, column)) tests[column] = best_test(at, worth_of_cuts_, from_, column, level_index_[static_cast<size_t>(worker)]);
    });
    if (traces_) record(pending.id, tests);
    const double scale = worth_.is_significance ? 1 : rules_.total / at.weight;
    const double least = std::max(rules_.zero_gain, rules_.min_gain * scale);
    pending.column = best_column(std::span<ColumnTest<Real>>(tests), has_many_levels_, rules_, least);
    if (pending.column < 0) return;
    pending.test = std::move(tests[pending.column]);
    waiting_.push_back(std::move(pending));
  }

  bool may_test(const Pending& node, size_t column) const {
    if (node.depth == 0 && rules_.first_column >= 0 && column != static_cast<size_t>(rules_.first_column)) return false;
    return !node.is_used[column];
  }

  Workers& workers_for(const Cases<Real>& cases) {
    constexpr size_t kWorthAThread = 1 << 16;
    return cases.size() * from_.columns.size() >= kWorthAThread ? workers_ : alone_;
  }

  void record(int32_t node, std::span<const ColumnTest<Real>> tests) {
    for (size_t j = 0; j < tests.size(); ++j)
      if (tests[j].is_valid)
        tried_.push_back({node, static_cast<int32_t>(j), tests[j].gain, tests[j].raw_gain, tests[j].info, tests[j].cuts});
  }

  // Branch of each case; -1 for a missing value.
  std::vector<int32_t> directions(const Cases<Real>& cases, const Node& node, const ColumnTest<Real>& test) const {
    std::vector<int32_t> direction(cases.size(), -1);
    if (node.test == Test::threshold) {
      for (const OrderedCase& placed : cases.sorted(static_cast<size_t>(from_.stripe[node.column])))
        direction[placed.item] = placed.rank <= test.rank ? 0 : 1;
      return direction;
    }
    const auto code = from_.columns[node.column].code;
    for (size_t i = 0; i < cases.size(); ++i)
      if (code[cases[i].row] >= 0) direction[i] = tree_.branch(node, code[cases[i].row]);
    return direction;
  }

  void write_test(Node& node, int32_t column, ColumnTest<Real>& test) {
    node.column = column;
    node.gain = test.gain;
    node.ratio = test.ratio();
    node.branches = test.branches;
    node.levels = from_.columns[column].levels;
    if (from_.columns[column].is_numeric()) {
      place_cut(test, from_.ranked[from_.stripe[column]], rules_.midpoint);
      node.test = Test::threshold;
      node.cut = test.cut;
    } else if (test.level >= 0) {
      node.test = Test::one_level;
      node.level = test.level;
    } else if (!test.group.empty()) {
      node.test = Test::groups;
      node.group = static_cast<int64_t>(tree_.branch_of.size());
      tree_.branch_of.insert(tree_.branch_of.end(), test.group.begin(), test.group.end());
    } else {
      node.test = Test::each_level;
    }
  }

  void branch_out(Pending& pending) {
    Node node = tree_.node[pending.id];
    write_test(node, pending.column, pending.test);
    std::vector<int32_t> direction = directions(pending.cases, node, pending.test);
    settle_missing<Real>(rules_, x_log2_x_, classes_, node, pending.cases, direction);
    refuse_explosion(node.column, tree_.node.size(), from_.label.size(), static_cast<size_t>(node.branches), direction);
    node.first = tree_.append(static_cast<size_t>(node.branches));
    tree_.node[pending.id] = node;
    Partition<Real> parts(pending.cases, direction, std::vector<Real>(static_cast<size_t>(node.branches)));
    std::vector<size_t> open;
    for (size_t b = 0; b < parts.children.size(); ++b) {
      const auto child = static_cast<size_t>(node.first) + b;
      if (count(static_cast<int32_t>(child), parts.children[b])) open.push_back(b);
      if (parts.children[b].size() == 0) tree_.node[child].label = node.label;
    }
    parts.order(open, workers_for(pending.cases));
    if (node.test == Test::each_level) pending.is_used[pending.column] = true;
    for (const size_t b : open)
      wait_with_best_test({node.first + static_cast<int32_t>(b), pending.depth + 1, pending.is_used, std::move(parts.children[b]), -1, {}});
  }

  const Training& from_;
  const Rules& rules_;
  const Worth<Real> worth_, worth_of_cuts_;
  Workers& workers_;
  Workers& alone_;  // for small nodes, which are not worth a second thread
  const bool traces_;
  const XLog2XTable x_log2_x_;
  std::vector<LevelIndex> level_index_;
  const std::vector<bool> has_many_levels_;
  ClassCounter<Real> classes_;
  std::vector<Pending> waiting_;
  std::vector<Tried> tried_;
  Growth tree_;
};

}  // namespace baytree::tree::fractional
