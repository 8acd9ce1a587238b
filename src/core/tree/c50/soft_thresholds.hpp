// Soft thresholds of C5.0: around a threshold, as far as both branches make about as many errors, rows follow both.
#pragma once
#include "tree/c50/classifier.hpp"
#include "tree/fractional/numeric_test.hpp"
#include "tree/fractional/partition.hpp"

namespace baytree::tree::c50 {

class Softener {
 public:
  Softener(const Growth& tree, Bench& bench, std::span<const double> costs, Workers& workers)
      : tree_(tree), bench_(bench), classify_(tree, bench.from, costs), workers_(workers), keeps_errors_(!costs.empty() && tree.n_classes == 2),
        errors_(tree.node.size()), soft_(tree.node.size()) {}

  std::vector<SoftCut> soften(std::span<const int32_t> rows) {
    Cases<float> cases;
    for (const int32_t row : rows)
      if (bench_.weight[row] > 0) cases.all.push_back({row, bench_.from.label[row], bench_.weight[row]});
    count_errors(rows);
    run({.id = 0, .cases = std::move(cases)});
    return std::move(soft_);
  }

 private:
  struct Visit {
    size_t id;
    Cases<float> cases;
    bool is_parted = false, is_below = false;
    std::vector<Cases<float>> parts = {};
    Shares shares = {};
    size_t next = 0;
  };

  // Errors of each subtree. A node with a row of unknown value counts as free of errors, as in C5.0.
  void count_errors(std::span<const int32_t> rows) {
    std::vector<double> plain(tree_.node.size());
    for (size_t id = tree_.node.size(); id-- > 0;) {
      const Node& node = tree_.node[id];
      plain[id] = node.is_leaf() ? node.weight - tree_.weight_of(id, node.label) : 0;
      for (int32_t b = 0; b < node.branches; ++b) plain[id] += plain[static_cast<size_t>(node.first + b)];
    }
    errors_ = plain;
    if (keeps_errors_) return;
    const std::vector<bool> meets_unknown = nodes_with_unknown(rows);
    std::vector<bool> is_plain(tree_.node.size());  // below a node that meets a row with a missing value
    for (size_t id = 0; id < tree_.node.size(); ++id)
      for (int32_t b = 0; b < tree_.node[id].branches; ++b)
        is_plain[static_cast<size_t>(tree_.node[id].first + b)] = is_plain[id] || meets_unknown[id];
    for (size_t id = tree_.node.size(); id-- > 0;) {
      const Node& node = tree_.node[id];
      if (node.is_leaf() || is_plain[id]) continue;
      errors_[id] = 0;
      for (int32_t b = 0; b < node.branches && !meets_unknown[id]; ++b) errors_[id] += errors_[static_cast<size_t>(node.first + b)];
    }
  }

  std::vector<bool> nodes_with_unknown(std::span<const int32_t> rows) const {
    std::vector<bool> met(tree_.node.size());
    std::vector<size_t> waiting;
    for (const int32_t row : rows) {
      waiting.assign(1, 0);
      while (!waiting.empty()) {
        const size_t id = waiting.back();
        waiting.pop_back();
        const Node& node = tree_.node[id];
        if (node.is_leaf()) continue;
        const int32_t branch = direction_of(tree_, node, bench_.from, row);
        if (branch >= 0) {
          waiting.push_back(static_cast<size_t>(node.first + branch));
          continue;
        }
        met[id] = true;
        for (int32_t b = 0; b < node.branches; ++b) waiting.push_back(static_cast<size_t>(node.first + b));
      }
    }
    return met;
  }

  void run(Visit&& root) {
    std::vector<Visit> stack;
    stack.push_back(std::move(root));
    while (!stack.empty()) {
      workers_.poll();
      Visit& at = stack.back();
      if (tree_.node[at.id].is_leaf()) {
        stack.pop_back();
        continue;
      }
      if (!at.is_parted) enter(at);
      if (at.is_below) come_back(bench_, at.shares, at.next - 1);
      while (at.next < at.parts.size() && !(at.shares.share[at.next] > 0)) ++at.next;
      if (at.next == at.parts.size()) {
        stack.pop_back();
        continue;
      }
      const size_t b = at.next++;
      at.is_below = true;
      follow(bench_, at.shares, b);
      Visit below{.id = static_cast<size_t>(tree_.node[at.id].first) + b, .cases = std::move(at.parts[b])};
      stack.push_back(std::move(below));
    }
  }

  void enter(Visit& at) {
    bench_.refresh(at.cases);
    const Node& node = tree_.node[at.id];
    if (node.test == Test::threshold) soften(at.id, at.cases);
    const auto direction = directions(tree_, node, bench_.from, at.cases);
    at.shares = share_out(bench_, at.cases, direction, static_cast<size_t>(node.branches), false);
    at.parts = std::move(fractional::Partition<float>(at.cases, direction, at.shares.known, at.shares.share).children);
    at.is_parted = true;
  }

  struct Placed {
    int32_t rank, row;
  };

  void soften(size_t id, const Cases<float>& cases) {
    const Node& node = tree_.node[id];
    const RankedColumn& column = bench_.from.ranked[bench_.from.stripe[node.column]];
    std::vector<Placed> sorted;
    double known = 0;
    for (const Case<float>& it : cases.all)
      if (const int32_t rank = column.rank[it.row]; rank >= 0) sorted.push_back({rank, it.row}), known += it.weight;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Placed& a, const Placed& b) { return a.rank < b.rank; });
    const auto above = std::partition_point(sorted.begin(), sorted.end(), [&](const Placed& p) { return p.rank <= node.level; }) - sorted.begin();
    SoftCut& soft = soft_[id];
    if (above == 0 || above == static_cast<std::ptrdiff_t>(sorted.size())) {  // no row on one side: the threshold stays sharp
      soft.low = soft.mid = soft.high = column.measured[node.level];
      return;
    }
    const double low = column.measured[sorted[static_cast<size_t>(above) - 1].rank], high = column.measured[sorted[static_cast<size_t>(above)].rank];
    soft.mid = column.is_single ? fractional::halfway<float>(low, high) : fractional::halfway<double>(low, high);
    const double errors = errors_[id];
    const double slack = errors > known ? std::numeric_limits<double>::infinity() : std::sqrt(errors * (known - errors) / (known + 0.001));
    soft.low = std::min(soft.mid, column.measured[bound(id, sorted, above - 1, -1, slack)]);
    soft.high = std::max(soft.mid, column.measured[bound(id, sorted, above, 1, slack)]);
  }

  // Moves away from the threshold while the opposite branch makes about as few errors as the own one; returns the rank
  // of the bound.
  int32_t bound(size_t id, const std::vector<Placed>& sorted, std::ptrdiff_t from, std::ptrdiff_t step, double slack) {
    const auto first = static_cast<size_t>(tree_.node[id].first);
    const size_t own = step < 0 ? first : first + 1, across = step < 0 ? first + 1 : first;
    const auto last = static_cast<std::ptrdiff_t>(sorted.size()) - 1;
    int32_t rank = sorted[static_cast<size_t>(from)].rank;
    double here = 0, there = 0;
    for (std::ptrdiff_t i = from; step < 0 ? i > 0 : i < last; i += step) {
      const int32_t row = sorted[static_cast<size_t>(i)].row, next = sorted[static_cast<size_t>(i + step)].rank;
      if (classify_(row, own, id).label != bench_.from.label[row]) here += bench_.weight[row];
      if (classify_(row, across, id).label != bench_.from.label[row]) there += bench_.weight[row];
      if (next == sorted[static_cast<size_t>(i)].rank) continue;
      if (there > 2 * here + 1 || there - here > slack) break;
      rank = next;
    }
    return rank;
  }

  const Growth& tree_;
  Bench& bench_;
  Classifier classify_;
  Workers& workers_;
  const bool keeps_errors_;
  std::vector<double> errors_;
  std::vector<SoftCut> soft_;
};

}  // namespace baytree::tree::c50
