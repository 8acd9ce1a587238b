// What a tree reads of the training rows: the columns on the way of each row, and whether any of them lacks values.
#pragma once
#include "tree/c50/bench.hpp"

namespace baytree::tree::c50 {

// [n_rows, n_columns]; rows without a value go on down every branch that holds rows.
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
