// Interface between the growth of a tree and the search of a node: its measure, the best split of each column, and the
// choice among them. The implementation is compiled once per measure; the growth, which makes one call per column and
// node, is compiled once.
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

// `worker` is a thread number; two concurrent searches must have different ones.
class NodeSearch {
 public:
  virtual ~NodeSearch() = default;
  virtual bool is_plain_count() const = 0;  // statistics are class counts
  virtual void measure(Node& node, int worker) = 0;
  virtual void count_children(const Node& parent, std::span<Node> children, int worker) = 0;
  virtual Split search(const Node& node, int32_t column, int worker) = 0;
  virtual bool choose(Node& node, std::span<Split> offers, int worker) = 0;
  virtual const Levels& levels(const Node& node, int32_t column, int worker) = 0;  // until the worker's next call
};

// The search for this target, with the arithmetic that the settings name.
std::unique_ptr<NodeSearch> node_search(std::span<const ColumnView> columns, const Target& target, const Settings& settings,
                                        const PartitionedRows& partitioned, const BranchAssigner& assigner, Workers& workers);

}  // namespace baytree::tree::sorted
