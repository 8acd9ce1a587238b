// Rows → nodes of a flat tree, without recursion; numbers are compared as doubles, without rounding.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/column_view.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::routing {

constexpr int32_t kStop = -1, kSpread = -2;

// A test of a node or of a surrogate, as the router reads it.
struct Test {
  double cut = 0;
  int32_t column = -1;
  int32_t first = 0;       // first child (nodes only)
  union {  // by the sign of `entries`; a test with a single threshold has neither
    const int32_t* branch_of = nullptr;  // > 0: branch of each level
    const double* more_cuts;             // < 0: thresholds after `cut`, ascending; a value above k of all thresholds takes branch k
  };
  int32_t entries = 0;
  int16_t is_strict = 0, is_flipped = 0;
  int32_t missing = kStop, branches = 0;
  int32_t surrogates = 0, surrogates_end = 0;

  // The branch of a row, or -1 if the test cannot tell. The common case, a single threshold, comes first.
  int32_t branch(std::span<const ColumnView> columns, size_t row) const {
    const ColumnView& view = columns[size_t(column)];
    if (entries) return entries > 0 ? branch_of_level(view.level(row)) : branch_of_cuts(view[row]);
    const double x = view[row];
    return x == x ? int32_t(is_above(x)) ^ is_flipped : -1;
  }

 private:
  bool is_above(double x) const { return is_strict ? !(x < cut) : !(x <= cut); }
  int32_t branch_of_level(int32_t code) const { return code >= 0 && code < entries ? branch_of[code] : -1; }
  int32_t branch_of_cuts(double x) const {
    if (x != x) return -1;
    return is_above(x) ? 1 + int32_t(std::lower_bound(more_cuts, more_cuts - entries, x) - more_cuts) : 0;
  }
};

struct Router {
  std::vector<Test> nodes, surrogates;
  std::span<const double> share;  // [n_nodes]
  std::span<const double> soft;   // [n_nodes, 4]: low, middle, high and grid of soft thresholds; empty if thresholds are sharp

  // The branch of a row at a node: by its test, by a surrogate, or by the rule for missing values.
  int32_t branch(const Test& node, std::span<const ColumnView> columns, size_t row) const {
    int32_t taken = node.branch(columns, row);
    for (int32_t s = node.surrogates; taken < 0 && s < node.surrogates_end; ++s)
      taken = surrogates[size_t(s)].branch(columns, row);
    return taken >= 0 ? taken : node.missing;
  }

  // The node where a row ends; a row that would be distributed follows the largest proportion.
  int32_t leaf(std::span<const ColumnView> columns, size_t row) const {
    int32_t at = 0;
    while (nodes[size_t(at)].column >= 0) {
      const Test& node = nodes[size_t(at)];
      int32_t taken = branch(node, columns, row);
      if (taken == kStop) break;
      if (taken == kSpread) taken = largest(node);
      at = node.first + taken;
    }
    return at;
  }
  int32_t largest(const Test& node) const {
    int32_t best = 0;
    for (int32_t b = 1; b < node.branches; ++b)
      if (share[size_t(node.first + b)] > share[size_t(node.first + best)]) best = b;
    return best;
  }

  // Weight of a row below a soft threshold: 1 up to the lower bound, ½ at the middle, 0 from the upper bound on; -1: no
  // soft threshold. The value is first rounded to the grid, if there is one.
  double softened(const Test& node, size_t at, std::span<const ColumnView> columns, size_t row) const {
    if (soft.empty() || node.column < 0 || node.entries) return -1;
    const double low = soft[4 * at], middle = soft[4 * at + 1], high = soft[4 * at + 2], grid = soft[4 * at + 3];
    double x = columns[size_t(node.column)][row];
    if (x != x) return -1;
    if (grid > 0) x = std::nearbyint(x / grid) * grid;
    if (x <= low) return 1;
    if (x >= high) return 0;
    return x <= middle ? 1 - 0.5 * (x - low) / (middle - low) : 0.5 * (high - x) / (high - middle);
  }

  // Adds the row's mixture of node values to `out`: distributed rows follow every branch with a fraction of their
  // weight.
  struct Placement {
    int32_t node;
    double weight;
  };
  void mix(std::span<const ColumnView> columns, size_t row, std::span<const double> value, std::span<double> out,
           std::vector<Placement>& open) const {
    open.assign(1, {0, 1.0});
    while (!open.empty()) {
      const auto [at, weight] = open.back();
      open.pop_back();
      const Test& node = nodes[size_t(at)];
      if (const double below = softened(node, size_t(at), columns, row); below >= 0) {
        if (below < 1) open.push_back({node.first + 1, weight * (1 - below)});
        if (below > 0) open.push_back({node.first, weight * below});
        continue;
      }
      const int32_t taken = node.column < 0 ? kStop : branch(node, columns, row);
      if (taken == kStop)
        for (size_t k = 0; k < out.size(); ++k) out[k] += weight * value[size_t(at) * out.size() + k];
      else if (taken >= 0) open.push_back({node.first + taken, weight});
      else
        for (int32_t b = node.branches - 1; b >= 0; --b)
          if (const double s = share[size_t(node.first + b)]; s > 0) open.push_back({node.first + b, weight * s});
    }
  }
};

constexpr size_t kRouted = 4096;  // rows per task

inline void leaves(const Router& router, std::span<const ColumnView> columns, std::span<int32_t> out, Workers& workers) {
  workers.run((out.size() + kRouted - 1) / kRouted, [&](size_t task, int) {
    const size_t end = std::min(out.size(), (task + 1) * kRouted);
    for (size_t row = task * kRouted; row < end; ++row) out[row] = router.leaf(columns, row);
  });
}

// out: [n_rows, n_outputs], initially 0.
inline void mixtures(const Router& router, std::span<const ColumnView> columns, std::span<const double> value, size_t rows,
                     std::span<double> out, Workers& workers) {
  const size_t width = rows ? out.size() / rows : 0;
  workers.run((rows + kRouted - 1) / kRouted, [&](size_t task, int) {
    std::vector<Router::Placement> open;
    const size_t end = std::min(rows, (task + 1) * kRouted);
    for (size_t row = task * kRouted; row < end; ++row)
      router.mix(columns, row, value, out.subspan(row * width, width), open);
  });
}

}  // namespace baytree::tree::routing
