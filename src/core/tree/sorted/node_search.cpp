#include "tree/sorted/node_search.hpp"

#include <vector>

#include "tree/sorted/column_search.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/node_stats.hpp"
#include "tree/sorted/rpart_measures.hpp"
#include "tree/sorted/workspace.hpp"

namespace baytree::tree::sorted {
namespace {

template <Measure M> class NodeSearchBy final : public NodeSearch {
 public:
  NodeSearchBy(std::span<const ColumnView> columns, const Target& target, const Settings& settings, const PartitionedRows& partitioned,
               const BranchAssigner& assigner, Workers& workers)
      : searcher_(columns, target, settings, partitioned, workers), choice_(columns, target, settings, partitioned, assigner),
        node_measure_(target, settings, partitioned) {
    for (int w = 0; w < workers.size(); ++w) workspaces_.emplace_back(target, settings.criterion, w);
  }
  bool is_plain_count() const override { return workspaces_[0].measure.is_plain_count(); }
  void measure(Node& node, int worker) override { node_measure_.measure(node, at(worker)); }
  void count_children(const Node& parent, std::span<Node> children, int worker) override {
    node_measure_.count_children(parent, children, at(worker));
  }
  Split search(const Node& node, int32_t column, int worker) override { return searcher_.search(node, column, at(worker)); }
  bool choose(Node& node, std::span<Split> offers, int worker) override { return choice_.choose(node, offers, at(worker)); }
  const Levels& levels(const Node& node, int32_t column, int worker) override { return searcher_.levels(node, column, at(worker)); }

 private:
  Workspace<M>& at(int worker) { return workspaces_[size_t(worker)]; }
  ColumnSearch<M> searcher_;
  SplitChoice<M> choice_;
  NodeMeasure<M> node_measure_;
  std::vector<Workspace<M>> workspaces_;
};

}  // namespace

std::unique_ptr<NodeSearch> node_search(std::span<const ColumnView> columns, const Target& target, const Settings& settings,
                                        const PartitionedRows& partitioned, const BranchAssigner& assigner, Workers& workers) {
  const auto by = [&]<Measure M>() -> std::unique_ptr<NodeSearch> {
    return std::make_unique<NodeSearchBy<M>>(columns, target, settings, partitioned, assigner, workers);
  };
  if (target.classes) return settings.is_cart ? by.template operator()<RpartClassMeasure>() : by.template operator()<ClassMeasure>();
  return settings.is_cart ? by.template operator()<RpartSquareMeasure>() : by.template operator()<SquareMeasure>();
}

}  // namespace baytree::tree::sorted
