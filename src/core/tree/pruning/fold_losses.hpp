// Loss of a tree on held-out rows at every penalty: one fold of cross-validated cost-complexity pruning, without
// building a tree object.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/pruning/cost_complexity.hpp"
#include "tree/sorted/grower.hpp"

namespace baytree::tree::pruning {

// A copy of some rows of a table, contiguous in memory.
class RowsTaken {
 public:
  RowsTaken(std::span<const ColumnView> columns, std::span<const int64_t> rows) : numbers_(columns.size()), codes_(columns.size()) {
    for (size_t j = 0; j < columns.size(); ++j) {
      ColumnView view{.levels = columns[j].levels};
      if (columns[j].x) view.x = taken(numbers_[j], rows, [&](size_t row) { return columns[j].x[std::ptrdiff_t(row) * columns[j].stride]; });
      else view.code = taken(codes_[j], rows, [&](size_t row) { return columns[j].level(row); });
      views.push_back(view);
    }
  }
  std::vector<ColumnView> views;

 private:
  template <typename T, std::invocable<size_t> Of> static const T* taken(std::vector<T>& to, std::span<const int64_t> rows, const Of& of) {
    to.reserve(rows.size());
    for (const int64_t row : rows) to.push_back(of(size_t(row)));
    return to.data();
  }
  std::vector<std::vector<double>> numbers_;
  std::vector<std::vector<int32_t>> codes_;
};

// A grown tree in the form that the router reads.
class GrownRouter {
 public:
  GrownRouter(std::span<const sorted::Node> nodes, std::span<const ColumnView> columns, bool uses_surrogates) : columns_(columns) {
    for (const sorted::Node& node : nodes) {
      routing::Test test = node.is_leaf() ? routing::Test{} : test_of(node.split.column, node.split.cut, node.split.group, node.is_strict);
      test.first = node.first, test.branches = node.branches, test.missing = node.is_leaf() ? routing::kStop : node.missing;
      test.surrogates = int32_t(router.surrogates.size());
      if (uses_surrogates)
        for (const sorted::Surrogate& each : node.surrogates) add(each);
      test.surrogates_end = int32_t(router.surrogates.size());
      router.nodes.push_back(test);
    }
  }
  Router router;

 private:
  void add(const sorted::Surrogate& each) {
    routing::Test test = test_of(each.column, each.cut, each.group, true);
    test.is_flipped = each.is_flipped;
    router.surrogates.push_back(test);
  }
  routing::Test test_of(int32_t column, double cut, const std::vector<int32_t> (&group)[2], bool is_strict) {
    routing::Test test;
    test.cut = cut, test.column = column;
    const int32_t levels = columns_[size_t(column)].levels;
    if (!levels) return test.is_strict = is_strict, test;
    std::vector<int32_t>& branch = branches_.emplace_back(size_t(levels), -1);
    for (int32_t b = 0; b < 2; ++b)
      for (const int32_t code : group[b]) branch[size_t(code)] = b;
    test.branch_of = branch.data(), test.entries = levels;
    return test;
  }
  std::span<const ColumnView> columns_;
  std::vector<std::vector<int32_t>> branches_;  // level -> branch map of each nominal test; addresses stay valid
};

// The penalty, in units of risk, at which each split is removed; -infinity for a split that is worth less than alpha,
// if given.
inline std::vector<double> worths(std::span<const sorted::Node> nodes, std::span<const double> risk, double alpha, bool is_bounded) {
  std::vector<int32_t> first, branches;
  std::vector<uint8_t> is_mirrored;
  for (const sorted::Node& node : nodes)
    first.push_back(node.first), branches.push_back(node.branches), is_mirrored.push_back(!node.is_leaf() && node.split.is_mirrored);
  const Complexities found({first, branches, is_mirrored, risk}, alpha, is_bounded);
  std::vector<double> worth(nodes.size(), 0.0);
  for (size_t at = 0; at < worth.size(); ++at) {
    if (risk[0] > 0) worth[at] = found.complexity[at] / risk[0] * risk[0];  // rounded as in pruned trees
    if (is_bounded && !found.is_split[at]) worth[at] = -std::numeric_limits<double>::infinity();
  }
  return worth;
}

}  // namespace baytree::tree::pruning
