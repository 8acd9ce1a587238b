// Rows that a tree is not grown from but will be asked for: they follow it as it grows, so that nothing is sought that none of them needs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "tree/sorted/branch_assignment.hpp"
#include "tree/sorted/node.hpp"

namespace baytree::tree::sorted {

class RowsLeftOut {
 public:
  RowsLeftOut(std::span<const ColumnView> columns, size_t rows) : columns_(columns), rows_(rows) { std::iota(rows_.begin(), rows_.end(), 0U); }

  void enter(Node& root) const { root.left_out_end = uint32_t(rows_.size()); }

  // Whether the split of a node cannot tell the branch of a row that comes there.
  bool ask(const Node& node, const BranchAssigner& assigner) const {
    const ColumnView& view = columns_[size_t(node.split.column)];
    const auto is_lost = [&](uint32_t row) { return assigner.branch(node.split, view, row) == kUnassigned; };
    return std::any_of(rows_.begin() + node.left_out, rows_.begin() + node.left_out_end, is_lost);
  }

  // Rows that no test and no rule sends on stay behind; nodes share no rows, so that threads may divide them at a time.
  void divide(const Node& node, std::span<Node> children, const BranchAssigner& assigner) {
    auto begin = rows_.begin() + node.left_out;
    const auto end = rows_.begin() + node.left_out_end;
    for (size_t b = 0; b < children.size(); ++b) {
      const auto next = std::partition(begin, end, [&](uint32_t row) { return branch(node, row, assigner) == int32_t(b); });
      children[b].left_out = uint32_t(begin - rows_.begin()), children[b].left_out_end = uint32_t(next - rows_.begin());
      begin = next;
    }
  }

 private:
  int32_t branch(const Node& node, uint32_t row, const BranchAssigner& assigner) const {
    uint8_t side = assigner.branch(node.split, columns_[size_t(node.split.column)], row);
    for (const Surrogate& each : node.surrogates)
      if (side == kUnassigned) side = each.side(columns_[size_t(each.column)], row);
    return side == kUnassigned ? node.missing : int32_t(side);
  }

  std::span<const ColumnView> columns_;
  std::vector<uint32_t> rows_;  // those of a node side by side
};

}  // namespace baytree::tree::sorted
