// Growth of C5.0 trees, depth first with an explicit stack: rows with a missing value follow every branch with a
// fraction of their weight.
#pragma once
#include <numeric>

#include "tree/c50/column_tests.hpp"
#include "tree/c50/level_groups.hpp"
#include "tree/c50/training_rows.hpp"
#include "tree/fractional/partition.hpp"

namespace baytree::tree::c50 {

using fractional::Partition;

// Later boosting trials grow no larger trees than the first: a node of weight W has at most `leaves_per_weight` · W
// leaves.
struct GrowthRules {
  Gate gate;
  float leaves_per_weight = 0;  // 0 = no limit
};

class Grower {
 public:
  Grower(Bench& bench, const GrowthRules& rules, Workers& workers, Workers& alone)
      : bench_(bench), rules_(rules), workers_(workers), alone_(alone), index_(static_cast<size_t>(workers.size())), has_many_levels_(many_levels(bench)), classes_(bench.n_classes()) {}

  // The tree of these rows.
  Growth grow(std::span<const int32_t> rows) {
    Growth tree;
    tree.n_classes = bench_.n_classes();
    tree.append(1);
    run(tree, {.id = 0, .cases = fractional::root_cases<float>(bench_.from, rows), .is_used = unused(), .is_whole = bench_.starts_whole});
    return tree;
  }

  // Regrows the subtree of a node; the node keeps its test and, for now, its class, which empty leaves inherit.
  void grow_below(Growth& tree, size_t id, Cases<float>&& cases) {
    run(tree, {.id = id, .cases = ordered(bench_.from, std::move(cases)), .is_used = unused(), .is_whole = false, .has_test = true});
  }

  Workers& alone() { return alone_; }

 private:
  struct Frame {
    size_t id;
    Cases<float> cases;
    std::vector<bool> is_used;  // nominal columns tested by ancestors
    bool is_whole;              // no ancestor has split the weight of a row
    bool has_test = false;
    std::vector<Cases<float>> parts = {};
    Shares shares = {};
    size_t next = 0;
    float errors = 0;  // of the branches so far
    bool is_split = false, is_below = false;
  };

  std::vector<bool> unused() const { return std::vector<bool>(bench_.from.columns.size()); }

  void run(Growth& tree, Frame&& root) {
    std::vector<Frame> stack;
    stack.push_back(std::move(root));
    float returned = 0;
    while (!stack.empty()) {
      Frame& at = stack.back();
      if (!at.is_split && !split(tree, at)) {
        returned = static_cast<float>(tree.node[at.id].errors);
        stack.pop_back();
        continue;
      }
      if (at.is_below) {
        come_back(bench_, at.shares, at.next - 1);
        at.errors += returned;
      }
      while (at.next < at.parts.size() && !(at.shares.share[at.next] > 0)) ++at.next;
      if (at.next < at.parts.size()) {
        const size_t b = at.next++;
        at.is_below = true;
        follow(bench_, at.shares, b);
        const auto child = static_cast<size_t>(tree.node[at.id].first) + b;
        Frame below{.id = child, .cases = std::move(at.parts[b]), .is_used = at.is_used, .is_whole = at.is_whole && at.shares.unknown.empty()};
        stack.push_back(std::move(below));
      } else {
        returned = finish(tree, at);
        stack.pop_back();
      }
      alone_.poll();
    }
  }

  float finish(Growth& tree, const Frame& at) {
    Node& node = tree.node[at.id];
    if (at.errors >= 0.999F * static_cast<float>(node.errors) && !at.has_test) tree.make_leaf(at.id);
    else node.errors = at.errors;
    return static_cast<float>(node.errors);
  }

  // Splits the cases of a node by its test, or by a new test if one is found.
  bool split(Growth& tree, Frame& at) {
    bench_.refresh(at.cases);
    if (!at.has_test && !find_test(tree, at)) return false;
    part(tree, at);
    return true;
  }

  bool find_test(Growth& tree, Frame& at) {
    const ClassWeights<double> counts = classes_.count(at.cases);
    const double weight = std::accumulate(counts.weight.begin(), counts.weight.end(), 0.0), largest = counts.largest();
    keep_counts(tree, at.id, counts, at.cases.size());
    if (largest >= 0.999 * weight || weight < 2 * bench_.settings.min_cases) return false;
    const auto most = static_cast<int64_t>(rules_.leaves_per_weight * weight + 0.5);
    if (rules_.leaves_per_weight > 0 && most < 2) return false;
    const NodeView view{bench_, at.cases, counts.weight, classes_.places(counts.label), weight, static_cast<float>(weight)};
    std::vector<Offer> offers(bench_.from.columns.size());
    workers_for(at.cases).run(offers.size(), [&](size_t column, int worker) {
      if (!bench_.in_use[column] || at.is_used[column]) return;
      offers[column] = offer_of(view, column, index_[static_cast<size_t>(worker)]);
      if (rules_.leaves_per_weight > 0 && branches_of(column, offers[column]) > most + 1) offers[column].is_valid = false;
    });
    const int32_t column = choose(offers, bench_.from.columns, has_many_levels_, rules_.gate, view.weight);
    if (column < 0) return false;
    write_test(tree, tree.node[at.id], column, offers[static_cast<size_t>(column)]);
    if (tree.node[at.id].test == Test::each_level) at.is_used[static_cast<size_t>(column)] = true;
    return true;
  }

  Offer offer_of(const NodeView& at, size_t column, LevelIndex& index) const {
    const GivenColumn& given = bench_.from.columns[column];
    if (given.is_numeric()) {
      const auto stripe = static_cast<size_t>(bench_.from.stripe[column]);
      return best_cut(at, bench_.from.ranked[stripe], at.cases.sorted(stripe));
    }
    const auto split = fractional::tabulate<double>(at.cases, at.counts.size(), at.place, given.code, given.levels, index);
    const std::span<const int32_t> present(index.present);
    if (given.is_ordered) return best_ordered_cut(at, split, present, given.levels);
    if (bench_.settings.groups && given.levels > 2) return GroupSearch(at, split, present, given.levels).best();
    return each_level(at, split, given.levels);
  }

  int64_t branches_of(size_t column, const Offer& offer) const {
    const GivenColumn& given = bench_.from.columns[column];
    if (given.is_numeric()) return 0;
    return offer.group.empty() ? offer.cuts : offer.branches;
  }

  void write_test(Growth& tree, Node& node, int32_t column, const Offer& offer) {
    node.column = column;
    node.gain = offer.gain;
    node.ratio = offer.ratio();
    node.branches = offer.branches;
    node.levels = bench_.from.columns[column].levels;
    if (bench_.from.columns[column].is_numeric()) {
      const RankedColumn& ranked = bench_.from.ranked[bench_.from.stripe[column]];
      node.test = Test::threshold;
      node.level = fractional::rank_below_middle(ranked, offer.rank, offer.next);
      node.cut = ranked.distinct[node.level];
    } else if (offer.group.empty()) {
      node.test = Test::each_level;
    } else {
      node.test = Test::groups;
      node.group = static_cast<int64_t>(tree.branch_of.size());
      tree.branch_of.insert(tree.branch_of.end(), offer.group.begin(), offer.group.end());
    }
  }

  void part(Growth& tree, Frame& at) {
    const Node node = tree.node[at.id];
    const auto branches = static_cast<size_t>(node.branches);
    const std::vector<int32_t> direction = directions(tree, node, bench_.from, at.cases);
    fractional::refuse_explosion(node.column, tree.node.size(), bench_.n_rows(), branches, direction);
    at.shares = share_out(bench_, at.cases, direction, branches, at.is_whole);
    Partition<float> parts(at.cases, direction, at.shares.known, at.shares.share);
    const auto first = static_cast<size_t>(tree.append(branches));
    tree.node[at.id].first = static_cast<int32_t>(first);
    std::vector<size_t> open;
    for (size_t b = 0; b < branches; ++b) {
      tree.node[first + b].label = node.label;
      if (at.shares.share[b] > 0) open.push_back(b);
    }
    parts.order(open, workers_for(at.cases));
    at.parts = std::move(parts.children);
    if (leaves_out_light_cases(node, at)) leave_out_light_cases(bench_.from, at.cases, direction, at.parts);
    at.cases = {};
    at.is_split = true;
  }

  // If most of many rows have a missing value and there are many branches, their small fractions are excluded from
  // growing.
  bool leaves_out_light_cases(const Node& node, const Frame& at) const {
    const int32_t branches = node.branches + (node.test == Test::groups && !bench_.from.columns[node.column].is_ordered ? 0 : 1);
    return at.cases.size() > 1000 && 2 * at.shares.unknown.size() > at.cases.size() && branches >= 10;
  }

  Workers& workers_for(const Cases<float>& cases) {
    constexpr size_t kWorthAThread = 1 << 16;
    return cases.size() * bench_.from.columns.size() >= kWorthAThread ? workers_ : alone_;
  }

  Bench& bench_;
  const GrowthRules rules_;
  Workers& workers_;
  Workers& alone_;  // for small nodes, which are not worth a second thread
  std::vector<LevelIndex> index_;
  const std::vector<bool> has_many_levels_;
  ClassCounter<double> classes_;
};

}  // namespace baytree::tree::c50
