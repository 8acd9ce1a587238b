// The search of a target by a measure of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/node_measure.hpp"
#include "tree/sorted/splits/column_search.hpp"
#include "tree/sorted/splits/split_choice.hpp"
#include "tree/sorted/target_search.hpp"

namespace baytree::tree::sorted {

template <Measure M> class MeasuredSearch final : public TargetSearch {
 public:
  explicit MeasuredSearch(const SearchedRows& rows)
      : rows_(rows), columns_(rows.columns, rows.target, rows.settings, rows.partitioned, rows.workers),
        nodes_(rows.target, rows.settings, rows.partitioned) {
    for (int w = 0; w < rows.workers.size(); ++w) workspaces_.emplace_back(rows.target, rows.settings.criterion, w);
  }

  Workspace& workspace(int worker) override { return workspaces_[size_t(worker)]; }
  bool is_plain_count() const override { return M(rows_.target, rows_.settings.criterion).is_plain_count(); }

  void measure(Node& node, Workspace& workspace) override { nodes_.measure(node, own(workspace)); }
  void count_children(const Node& parent, std::span<Node> children, Workspace& workspace) const override {
    nodes_.count_children(parent, children, own(workspace));
  }
  Split search(const Node& node, int32_t column, Workspace& workspace) override { return columns_.search(node, column, own(workspace)); }
  const Levels& levels(const Node& node, size_t column, Workspace& workspace) const override {
    MeasureWorkspace<M>& in = own(workspace);
    in.measure.focus(node.mean, node.risk);
    in.counter.count(rows_.partitioned.tags(node), rows_.partitioned.levels(column), rows_.columns[column].levels, rows_.target, in.measure,
                     in.levels);
    return in.levels;
  }
  void count_blocks(const Node& node, size_t column) override { columns_.count_blocks(node, column); }
  bool choose(Node& node, std::span<Split> offers, const BranchAssigner& assigner, Workspace& workspace) const override {
    return SplitChoice<M>(rows_.columns, rows_.target, rows_.settings, rows_.partitioned, assigner).choose(node, offers, own(workspace));
  }

 private:
  static MeasureWorkspace<M>& own(Workspace& workspace) { return static_cast<MeasureWorkspace<M>&>(workspace); }

  SearchedRows rows_;
  ColumnSearch<M> columns_;
  NodeMeasure<M> nodes_;
  std::vector<MeasureWorkspace<M>> workspaces_;
};

}  // namespace baytree::tree::sorted
