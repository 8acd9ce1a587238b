// What the growth of a tree asks of its target: what a node is, what its columns offer, which offer wins. How that is found is
// compiled once for each kind of target, in files of their own; growing is compiled once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tree/column_view.hpp"
#include "tree/sorted/branch_assignment.hpp"
#include "tree/sorted/node.hpp"
#include "tree/sorted/rows/partitioned_rows.hpp"
#include "tree/sorted/splits/split.hpp"
#include "tree/sorted/workspace.hpp"
#include "workers.hpp"

namespace baytree::tree::sorted {

// The rows of a search, which outlive it.
struct SearchedRows {
  std::span<const ColumnView> columns;
  const Target& target;
  const Settings& settings;
  const PartitionedRows& partitioned;
  Workers& workers;
};

class TargetSearch {
 public:
  virtual ~TargetSearch() = default;

  // Of a worker; what it is handed to must be of the same search.
  virtual Workspace& workspace(int worker) = 0;
  // A statistic is counts of classes and their sum.
  virtual bool is_plain_count() const = 0;

  // What is known of a node before it is split; a node other than the root has its classes counted already.
  virtual void measure(Node& node, Workspace& workspace) = 0;
  virtual void count_children(const Node& parent, std::span<Node> children, Workspace& workspace) const = 0;

  virtual Split search(const Node& node, int32_t column, Workspace& workspace) = 0;
  // The levels of a column among the rows of a node.
  virtual const Levels& levels(const Node& node, size_t column, Workspace& workspace) const = 0;
  // To be called for a node whose rows have moved in a column.
  virtual void count_blocks(const Node& node, size_t column) = 0;
  // Gives the node its split; false where none is good enough.
  virtual bool choose(Node& node, std::span<Split> offers, const BranchAssigner& assigner, Workspace& workspace) const = 0;
};

// By the arithmetic that the settings ask for.
std::unique_ptr<TargetSearch> class_search(const SearchedRows& rows);
std::unique_ptr<TargetSearch> number_search(const SearchedRows& rows);

}  // namespace baytree::tree::sorted
