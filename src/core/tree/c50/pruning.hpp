// Pruning of C5.0 trees: local (pessimistic error, subtree raising) and global (cost-complexity within one standard
// error).
#pragma once
#include "tree/c50/classifier.hpp"
#include "tree/c50/grower.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::c50 {

// Local pruning: a node may become a leaf, or be replaced by a branch, whose subtree is then regrown.

class LocalPruner {
 public:
  LocalPruner(Growth& tree, Bench& bench, Grower& grower, bool grows_anew) : tree_(tree), bench_(bench), grower_(grower), grows_anew_(grows_anew), classes_(tree.n_classes) {}

  void prune(std::span<const int32_t> rows) {
    Cases<float> cases;
    for (const int32_t row : rows) cases.all.push_back({row, bench_.from.label[row], bench_.weight[row]});
    Visit root{.id = 0, .cases = std::move(cases), .changes = true, .grows_anew = grows_anew_, .is_whole = bench_.starts_whole};
    stack_.push_back(std::move(root));
    while (!stack_.empty()) {
      step(stack_.back());
      grower_.alone().poll();
    }
  }

 private:
  enum class Stage { enter, branches, raised };

  struct Visit {
    size_t id;
    Cases<float> cases;
    bool changes;     // whether to change the tree, or only to compute its errors on these cases
    bool grows_anew;  // regrow after raising
    bool is_whole;    // no ancestor has split the weight of a row
    Stage stage = Stage::enter;
    std::vector<Cases<float>> parts = {};
    std::vector<double> part_weight = {};
    Cases<float> pool = {};  // cases of the branches that are too small to be evaluated alone
    Shares shares = {};
    size_t next = 0;
    bool is_below = false;
    double weight = 0;
    int32_t raised = -1;  // the branch that could replace the node
    float as_leaf = 0, as_tree = 0;
  };

  void step(Visit& at) {
    if (at.stage == Stage::enter) return enter(at);
    if (at.stage == Stage::branches) return next_branch(at);
    decide(at, returned_);
  }

  void leave(float errors) {
    if (stack_.back().changes) tree_.node[stack_.back().id].errors = errors;
    returned_ = errors;
    stack_.pop_back();
  }

  void enter(Visit& at) {
    bench_.refresh(at.cases);
    const ClassWeights<double> counts = classes_.count(at.cases);
    at.weight = total(counts);
    at.as_leaf = estimate(counts);
    if (at.changes) keep_counts(tree_, at.id, counts, at.cases.size());
    if (tree_.node[at.id].is_leaf()) return leave(at.as_leaf);
    part(at);
    at.stage = Stage::branches;
    next_branch(at);
  }

  static double total(const ClassWeights<double>& counts) { return std::accumulate(counts.weight.begin(), counts.weight.end(), 0.0); }

  // Errors of a leaf with these class weights, plus the pessimistic correction.
  float estimate(const ClassWeights<double>& counts) const {
    const int32_t label = ClassWeights<float>{counts.label, {counts.weight.begin(), counts.weight.end()}}.heaviest();
    double wrong = 0;
    for (size_t place = 0; place < counts.label.size(); ++place)
      if (counts.label[place] != label) wrong += counts.weight[place];
    return static_cast<float>(wrong + bench_.extra_errors(counts, label));
  }

  void part(Visit& at) {
    const Node& node = tree_.node[at.id];
    const auto direction = directions(tree_, node, bench_.from, at.cases);
    at.shares = share_out(bench_, at.cases, direction, static_cast<size_t>(node.branches), at.is_whole);
    Partition<float> parts(at.cases, direction, at.shares.known, at.shares.share);
    at.parts = std::move(parts.children);
    at.part_weight.assign(at.parts.size(), 0);
    at.pool.all.clear();
    for (size_t b = 0; b < at.parts.size(); ++b)
      for (const Case<float>& it : at.parts[b].all) at.part_weight[b] += it.weight;
    at.next = 0;
    at.is_below = false;
    at.as_tree = 0;
  }

  bool is_pooled(const Visit& at, size_t branch) const { return at.part_weight[branch] < bench_.settings.min_cases; }

  void next_branch(Visit& at) {
    if (at.is_below) {
      come_back(bench_, at.shares, at.next - 1);
      if (!is_pooled(at, at.next - 1)) at.as_tree += returned_;
    }
    at.is_below = false;
    while (at.next < at.parts.size() && !(at.shares.share[at.next] > 0)) ++at.next;
    if (at.next < at.parts.size()) {
      const size_t b = at.next++;
      at.is_below = true;
      follow(bench_, at.shares, b);
      if (is_pooled(at, b))
        for (const Case<float>& it : at.parts[b].all) at.pool.all.push_back({it.row, it.label, bench_.weight[it.row]});
      Visit below{.id = static_cast<size_t>(tree_.node[at.id].first) + b, .cases = std::move(at.parts[b]), .changes = at.changes,
                  .grows_anew = at.grows_anew, .is_whole = at.is_whole && at.shares.unknown.empty()};
      stack_.push_back(std::move(below));
      return;
    }
    if (const ClassWeights<double> pool = classes_.count(at.pool); total(pool) > 0) at.as_tree += estimate(pool);
    if (!at.changes) return leave(at.as_tree);
    at.raised = branch_to_raise(at);
    at.stage = Stage::raised;
    if (at.raised < 0) return decide(at, static_cast<float>(bench_.n_rows()));
    Visit above{.id = static_cast<size_t>(tree_.node[at.id].first + at.raised), .cases = {.all = at.cases.all, .ordered = {}, .known = {}},
                .changes = false, .grows_anew = false, .is_whole = false};
    stack_.push_back(std::move(above));
  }

  int32_t branch_to_raise(const Visit& at) const {
    const Node& node = tree_.node[at.id];
    int32_t best = -1;
    for (size_t b = 0; b < at.part_weight.size(); ++b) {
      const Node& below = tree_.node[static_cast<size_t>(node.first) + b];
      if (below.is_leaf() || at.part_weight[b] < 0.1 * at.weight) continue;
      if (below.column == node.column && bench_.from.columns[node.column].is_numeric()) continue;
      if (best < 0 || at.part_weight[b] > at.part_weight[static_cast<size_t>(best)]) best = static_cast<int32_t>(b);
    }
    return best;
  }

  void decide(Visit& at, float as_branch) {
    if (at.as_leaf <= as_branch + 0.1 && at.as_leaf <= at.as_tree + 0.1) {
      tree_.make_leaf(at.id);
      return leave(at.as_leaf);
    }
    if (as_branch > at.as_tree + 0.1) return leave(at.as_tree);
    const Node branch = tree_.node[static_cast<size_t>(tree_.node[at.id].first + at.raised)];
    const bool regrows = at.grows_anew && at.part_weight[static_cast<size_t>(at.raised)] < 0.95 * at.weight;
    tree_.node[at.id] = branch;
    if (regrows) grower_.grow_below(tree_, at.id, {.all = at.cases.all, .ordered = {}, .known = {}});
    at.grows_anew = at.is_whole = false;
    at.stage = Stage::enter;
  }

  Growth& tree_;
  Bench& bench_;
  Grower& grower_;
  const bool grows_anew_;
  ClassCounter<double> classes_;
  std::vector<Visit> stack_;
  float returned_ = 0;
};

// Global pruning: repeatedly removes the subtrees of minimum cost per leaf, as long as the errors increase by at most
// one standard error.

class GlobalPruner {
 public:
  GlobalPruner(Growth& tree, Workers& workers) : tree_(tree), workers_(workers), errors_(tree.node.size()), leaves_(tree.node.size()) {}

  // `base`: errors of the tree on all rows.
  void prune(double base, double n_rows) {
    for (double allowed = std::sqrt(base * (1 - base / n_rows)); allowed > 0;) {
      workers_.poll();
      sum_up();
      const std::vector<size_t> weakest = find_weakest(allowed);
      double extra = 0;
      for (const size_t id : weakest) extra += extra_errors(id);
      if (weakest.empty() || extra > allowed) return;
      for (const size_t id : weakest) tree_.make_leaf(id);
      allowed -= extra;
    }
  }

  double errors() {
    sum_up();
    return errors_.front();
  }

 private:
  double as_leaf(size_t id) const { return static_cast<float>(tree_.node[id].weight - tree_.weight_of(id, tree_.node[id].label)); }
  // Sums the other classes one by one: the last bit differs from `as_leaf`, and decides equal ratios.
  float leaf_errors(size_t id) const {
    float sum = 0;
    for (const auto& [label, weight] : tree_.counts_of(id))
      if (label != tree_.node[id].label) sum += static_cast<float>(weight);
    return sum;
  }
  double extra_errors(size_t id) const { return as_leaf(id) - errors_[id]; }

  // Children come after their parent, so one pass from the end accumulates every subtree.
  void sum_up() {
    for (size_t id = tree_.node.size(); id-- > 0;) {
      const Node& node = tree_.node[id];
      errors_[id] = node.is_leaf() ? leaf_errors(id) : 0;
      leaves_[id] = node.is_leaf() && node.weight > 1e-3 ? 1 : 0;
      for (int32_t b = 0; b < node.branches; ++b) {
        const auto child = static_cast<size_t>(node.first + b);
        errors_[id] += errors_[child];
        leaves_[id] += leaves_[child];
      }
    }
  }

  // Nodes of minimum ratio. The ratio is float32, as in C5.0, so that ties are the same.
  std::vector<size_t> find_weakest(double allowed) const {
    std::vector<size_t> weakest, below(tree_.node.size());  // inner nodes of each subtree
    float least = 1e30F;
    const std::vector<size_t> order = children_first();
    for (size_t place = 0; place < order.size(); ++place) {
      const size_t id = order[place];
      below[id] = 1;
      for (int32_t b = 0; b < tree_.node[id].branches; ++b) below[id] += below[static_cast<size_t>(tree_.node[id].first + b)];
      const double extra = extra_errors(id);
      if (extra > allowed || leaves_[id] < 2) continue;
      const double ratio = extra / (leaves_[id] - 1);
      if (ratio < least) {
        weakest.assign(1, place);
        least = static_cast<float>(ratio);
      } else if (ratio == least) {
        while (!weakest.empty() && weakest.back() + below[id] > place) weakest.pop_back();  // its descendants are removed with it
        weakest.push_back(place);
      }
    }
    for (size_t& place : weakest) place = order[place];
    return weakest;
  }

  std::vector<size_t> children_first() const {
    std::vector<size_t> order, waiting{0};
    while (!waiting.empty()) {
      const size_t id = waiting.back();
      waiting.pop_back();
      const Node& node = tree_.node[id];
      if (node.is_leaf()) continue;
      order.push_back(id);
      for (int32_t b = 0; b < node.branches; ++b)
        if (const auto child = static_cast<size_t>(node.first + b); tree_.node[child].weight > 0.1) waiting.push_back(child);
    }
    std::reverse(order.begin(), order.end());  // gives branches in order, before their node
    return order;
  }

  Growth& tree_;
  Workers& workers_;
  std::vector<float> errors_;  // float32 sums, too: their last bits decide equal ratios
  std::vector<double> leaves_;
};

}  // namespace baytree::tree::c50
