// What the growth of a tree asks about a node: its measure, what its columns offer, and which of the offers wins. The answers are
// compiled for each measure of the target; the growth, which asks for one column of a node at a time, is compiled once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tree/sorted/branch_assignment.hpp"
#include "tree/sorted/partitioned_rows.hpp"
#include "tree/sorted/settings.hpp"
#include "tree/sorted/split.hpp"
#include "tree/sorted/target.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::sorted {

// A worker is a thread by its number: two that search at a time are not the same.
class NodeSearch {
 public:
  virtual ~NodeSearch() = default;
  virtual bool is_plain_count() const = 0;  // statistics are counts of classes
  virtual void measure(Node& node, int worker) = 0;
  virtual void count_children(const Node& parent, std::span<Node> children, int worker) = 0;
  virtual Split search(const Node& node, int32_t column, int worker) = 0;
  virtual bool choose(Node& node, std::span<Split> offers, int worker) = 0;
  virtual const Levels& levels(const Node& node, int32_t column, int worker) = 0;  // of a nominal column, until the worker's next call
};

// The search for this target, with the arithmetic that was asked for.
std::unique_ptr<NodeSearch> node_search(std::span<const ColumnView> columns, const Target& target, const Settings& settings,
                                        const PartitionedRows& partitioned, const BranchAssigner& assigner, Workers& workers);

}  // namespace baytree::tree::sorted
