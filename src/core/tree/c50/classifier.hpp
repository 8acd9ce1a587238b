// Classification of training rows by a C5.0 tree while it is built, costs of errors, and the columns that a tree reads
// for each row.
#pragma once
#include "tree/c50/training_rows.hpp"

namespace baytree::tree::c50 {

// Class predicted by a tree for a training row; the first class wins ties.

struct Answer {
  int32_t label;
  float confidence;  // proportion of that class
};

class Classifier {
 public:
  // `costs` [predicted, true], empty if all errors cost the same. Column `masked` is treated as missing.
  Classifier(const Growth& tree, const Training& from, std::span<const double> costs = {}, int32_t masked = -1)
      : tree_(tree), from_(from), costs_(costs), masked_(masked), share_(tree.n_classes), is_met_(tree.n_classes) {}

  // By the whole tree, or by the subtree of a node.
  Answer operator()(int32_t row, size_t below = 0, size_t parent = 0) {
    forget();
    waiting_.assign(1, {below, parent, 1.0F});
    while (!waiting_.empty()) {
      const Part part = waiting_.back();
      waiting_.pop_back();
      advance(part, row);
    }
    std::sort(met_.begin(), met_.end());
    if (!costs_.empty()) return cheapest();
    int32_t label = 0;
    for (const int32_t c : met_)
      if (share_[static_cast<size_t>(c)] > share_[static_cast<size_t>(label)]) label = c;
    return {label, static_cast<float>(share_[static_cast<size_t>(label)])};
  }

 private:
  struct Part {
    size_t node, parent;
    float share;
  };

  void forget() {
    for (const int32_t c : met_) share_[static_cast<size_t>(c)] = 0, is_met_[static_cast<size_t>(c)] = 0;
    met_.clear();
  }

  Answer cheapest() const {
    double least = 0, sum = 0;
    int32_t best = -1;
    for (size_t c = 0; c < share_.size(); ++c) {
      double cost = 0;
      for (const int32_t t : met_) cost += costs_[c * share_.size() + static_cast<size_t>(t)] * share_[static_cast<size_t>(t)];
      sum += cost;
      if (share_[c] > 0 && (best < 0 || cost < least)) least = cost, best = static_cast<int32_t>(c);
    }
    return {std::max(best, 0), sum > 0 ? static_cast<float>(1 - least / sum) : 1.0F};
  }

  void advance(Part at, int32_t row) {
    while (true) {
      const Node& node = tree_.node[at.node];
      if (node.is_leaf()) return rest(at);
      const int32_t branch = node.column == masked_ ? -1 : direction_of(tree_, node, from_, row);
      if (branch < 0) return spread(at, node);
      if (!tree_.soft.empty() && node.test == Test::threshold && soften(at, node, row)) return;
      at = {static_cast<size_t>(node.first + branch), at.node, at.share};
    }
  }

  void spread(const Part& at, const Node& node) {
    for (int32_t b = node.branches; b-- > 0;) {
      const auto child = static_cast<size_t>(node.first + b);
      if (tree_.node[child].weight > kReached)
        waiting_.push_back({child, at.node, at.share * (static_cast<float>(tree_.node[child].weight) / static_cast<float>(node.weight))});
    }
  }

  // Follows both sides of a soft threshold, if the value lies between its bounds.
  bool soften(const Part& at, const Node& node, int32_t row) {
    const auto& soft = tree_.soft[at.node];
    const auto& column = from_.ranked[from_.stripe[node.column]];
    const double low = soft.share_below(column.measured[column.rank[row]], soft.mid);
    if (low >= 1 || low <= 0) return false;
    for (const auto& [b, share] : {std::pair<int32_t, double>{1, 1 - low}, {0, low}})
      if (share >= 0.01) waiting_.push_back({static_cast<size_t>(node.first + b), at.node, static_cast<float>(at.share * share)});
    return true;
  }

  void rest(const Part& at) {
    const size_t from = tree_.node[at.node].weight < kReached ? at.parent : at.node;
    const auto weight = static_cast<float>(tree_.node[from].weight);
    if (!(weight > 0)) return;
    for (const auto& [c, count] : tree_.counts_of(from)) {
      if (!is_met_[static_cast<size_t>(c)]) is_met_[static_cast<size_t>(c)] = 1, met_.push_back(c);
      share_[static_cast<size_t>(c)] += static_cast<double>(at.share) * (static_cast<float>(count) / weight);
    }
  }

  const Growth& tree_;
  const Training& from_;
  const std::span<const double> costs_;
  const int32_t masked_;
  std::vector<double> share_;  // [n_classes]; sums are doubles, summands float32, which decides exact ties
  std::vector<char> is_met_;   // [n_classes]
  std::vector<int32_t> met_;   // classes of the leaves that the row has reached
  std::vector<Part> waiting_;
};

// Weight of these rows that a tree misclassifies.
inline double wrong_weight(const Growth& tree, const Bench& bench, std::span<const int32_t> rows) {
  Classifier classify(tree, bench.from);
  double wrong = 0;
  for (const int32_t row : rows)
    if (classify(row).label != bench.from.label[row]) wrong += bench.weight[row];
  return wrong;
}

// Total cost of the errors on these rows, each with weight 1; column `masked` is treated as missing.
inline double cost_of_mistakes(const Growth& tree, const Bench& bench, std::span<const int32_t> rows, std::span<const double> costs, int32_t masked) {
  Classifier classify(tree, bench.from, costs, masked);
  double sum = 0;
  for (const int32_t row : rows) {
    const int32_t given = classify(row).label, truth = bench.from.label[row];
    if (given != truth) sum += costs.empty() ? 1 : costs[static_cast<size_t>(given) * tree.n_classes + static_cast<size_t>(truth)];
  }
  return sum;
}

// Divides the class weights by the cost multipliers; the class of a node is then the one of minimum expected cost.
inline void apply_costs(Growth& tree, const Bench& bench, std::span<const double> costs) {
  for (size_t id = 0; id < tree.node.size(); ++id) {
    Node& node = tree.node[id];
    if (node.weight < kEmpty) continue;
    const auto counts = tree.counts_of(id);
    float whole = 0;
    for (auto& [c, count] : counts) {
      count = static_cast<float>(count / bench.multiplier[static_cast<size_t>(c)]);
      whole += static_cast<float>(count);
    }
    node.weight = whole;
    double least = 0;
    for (size_t c = 0; c < tree.n_classes; ++c) {
      double cost = 0;
      for (const auto& [t, count] : counts) cost += costs[c * tree.n_classes + static_cast<size_t>(t)] * count;
      if (c == 0 || cost < least) least = cost, node.label = static_cast<int32_t>(c);
    }
  }
}

// Columns that a tree reads for each training row.

// [n_rows, n_columns]; rows with a missing value follow every branch that holds rows.
inline std::vector<char> columns_read(const Growth& tree, const Training& from) {
  const size_t n = from.label.size(), m = from.columns.size();
  std::vector<char> read(n * m);
  std::vector<size_t> waiting;
  for (size_t row = 0; row < n; ++row) {
    waiting.assign(1, 0);
    while (!waiting.empty()) {
      const Node& node = tree.node[waiting.back()];
      waiting.pop_back();
      if (node.is_leaf()) continue;
      const int32_t branch = direction_of(tree, node, from, static_cast<int32_t>(row));
      if (branch >= 0) read[row * m + static_cast<size_t>(node.column)] = 1;
      for (int32_t b = 0; b < node.branches; ++b)
        if (b == branch || (branch < 0 && tree.node[static_cast<size_t>(node.first + b)].weight > kReached)) waiting.push_back(static_cast<size_t>(node.first + b));
    }
  }
  return read;
}

inline bool has_missing(const Training& from, size_t j) {
  const GivenColumn& column = from.columns[j];
  if (column.is_numeric()) return from.ranked[from.stripe[j]].order.size() < from.label.size();
  return std::any_of(column.code.begin(), column.code.end(), [](int32_t code) { return code < 0; });
}

inline bool reads_missing_values(const Growth& tree, const Training& from) {
  std::vector<bool> is_tested(from.columns.size());
  for (const Node& node : tree.node)
    if (!node.is_leaf()) is_tested[static_cast<size_t>(node.column)] = true;
  for (size_t j = 0; j < is_tested.size(); ++j)
    if (is_tested[j] && has_missing(from, j)) return true;
  return false;
}

}  // namespace baytree::tree::c50
