// Best test of a node of a classification tree as a function of the counts of its columns; and the score of the best
// threshold of one column. The arithmetic is that of the fractional search.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "tree/counted/class_counts.hpp"
#include "tree/criteria.hpp"
#include "tree/fractional/gain.hpp"
#include "tree/fractional/grower.hpp"
#include "tree/fractional/nominal_test.hpp"
#include "tree/fractional/numeric_test.hpp"
#include "tree/fractional/partition.hpp"

namespace baytree::tree::counted {

using ColumnTest = fractional::ColumnTest<double>;
using NodeCases = fractional::NodeCases<double>;

// A column whose codes are levels, one branch each, or ranks of distinct values with thresholds.
struct CodedColumn {
  int32_t levels = 0;              // 0: split by thresholds
  std::span<const double> values;  // ascending, values of the ranks
  int32_t n_codes() const { return levels ? levels : int32_t(values.size()); }
};

// Code -1 is a missing value.
struct Cell {
  int32_t code, label;
};

// The cells of one column at one node.
struct NodeCells {
  std::span<const int64_t> key;
  std::span<const double> weight;
  int64_t base = 0;
  int64_t n_classes = 0;

  size_t size() const { return key.size(); }
  Cell operator[](size_t i) const {
    const auto at = uint64_t(key[i] - base), classes = uint64_t(n_classes);
    const uint64_t code = at >> 32 ? at / classes : uint32_t(at) / uint32_t(classes);  // 32-bit division is faster
    return {int32_t(code) - 1, int32_t(at - code * classes)};
  }
  bool has_missing() const { return size() > 0 && key[0] - base < n_classes; }
};

struct NodeTest {
  int32_t column = -1;       // -1: no test
  int32_t rank = -1;         // codes up to this one take the first branch; -1: code c takes branch c
  double cut = std::numeric_limits<double>::quiet_NaN();
  double gain = 0, ratio = 0;
  int32_t branches = 0, missing = -1;
  std::vector<double> counts;     // [branches, n_classes]
  std::vector<ColumnTest> tried;  // [n_columns]
};

class ClassTests {
 public:
  ClassTests(std::vector<CodedColumn> columns, size_t n_classes, const fractional::Rules& rules)
      : columns_(std::move(columns)), n_classes_(n_classes), rules_(rules), worth_(fractional::worth_of_levels<double>(rules.measure)),
        worth_of_cuts_(fractional::worth_of_cuts<double>(rules.measure)), x_log2_x_(rules.total),
        has_many_levels_(columns_.size(), false), place_(n_classes) {
    std::iota(place_.begin(), place_.end(), 0);
  }

  const std::vector<CodedColumn>& columns() const { return columns_; }
  size_t n_classes() const { return n_classes_; }

  // Inputs and buffers of a thread.
  struct Room {
    std::vector<NodeCells> cells;  // [n_columns] of the node; empty for a column that must not be tested
    fractional::Cases<double> cases;
    std::atomic<int64_t>* branches_left = nullptr;  // limit for all nodes together
  };

  NodeTest best(std::span<const double> counts, Room& room) const {
    const std::span<const NodeCells> cells(room.cells);
    NodeTest found;
    if (std::ranges::all_of(cells, [](const NodeCells& each) { return each.size() == 0; })) return found;
    const double weight = std::accumulate(counts.begin(), counts.end(), 0.0);
    if (worth_.impurity(counts, x_log2_x_) / weight < rules_.min_impurity) return found;
    found.tried.resize(cells.size());
    for (size_t j = 0; j < cells.size(); ++j)
      if (cells[j].size()) found.tried[j] = test(j, cells[j], counts, weight, room.cases);
    const double scale = worth_.is_significance ? 1 : rules_.total / weight;
    const double least = std::max(rules_.zero_gain, rules_.min_gain * scale);
    found.column = fractional::best_column(std::span<ColumnTest>(found.tried), has_many_levels_, rules_, least);
    if (found.column < 0) return found;
    const int32_t branches = found.tried[size_t(found.column)].branches;
    if (room.branches_left->fetch_sub(branches) < branches) throw fractional::TooManyBranches{found.column};
    write(found, cells[size_t(found.column)]);
    return found;
  }

 private:
  ColumnTest test(size_t column, const NodeCells& cells, std::span<const double> counts, double weight, fractional::Cases<double>& cases) const {
    ColumnTest found = columns_[column].levels ? by_level(column, cells, counts, weight) : by_cut(column, cells, counts, weight, cases);
    if (rules_.missing == fractional::MissingValues::category && cells.has_missing()) ++found.branches;
    return found;
  }

  ColumnTest by_level(size_t column, const NodeCells& cells, std::span<const double> counts, double weight) const {
    fractional::Branches<double> split = absent(cells);
    const size_t most = std::min(cells.size(), static_cast<size_t>(columns_[column].levels));
    split.weight.reserve(most), split.table.reserve(most * n_classes_);
    int32_t last = -1;
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto [code, label] = cells[i];
      if (code < 0) continue;
      if (code != last) split.weight.push_back(0), split.table.resize(split.table.size() + n_classes_), last = code;
      split.table[(split.weight.size() - 1) * n_classes_ + size_t(label)] = cells.weight[i];
      split.weight.back() += cells.weight[i];
      split.known[size_t(label)] += cells.weight[i];
    }
    const fractional::Cases<double> none;
    return each_level(NodeCases{rules_, worth_, x_log2_x_, none, counts, place_, weight}, split, columns_[column].levels);
  }

  // A cell is treated as one case of its weight.
  ColumnTest by_cut(size_t column, const NodeCells& cells, std::span<const double> counts, double weight,
                    fractional::Cases<double>& cases) const {
    fractional::Branches<double> split = absent(cells);
    split.table.resize(2 * n_classes_), split.weight.resize(2);
    cases.all.clear(), cases.ordered.clear();
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto [code, label] = cells[i];
      if (code < 0) continue;
      cases.ordered.push_back({int32_t(cases.size()), code});
      cases.all.push_back({0, label, cells.weight[i]});
      split.known[size_t(label)] += cells.weight[i];
    }
    if (cases.size() < 2) return {.group = {}, .branches = 2};
    const NodeCases at{rules_, worth_of_cuts_, x_log2_x_, cases, counts, place_, weight};
    return best_cut(at, std::move(split), columns_[column].values, 0, cases.ordered);
  }

  // Branches that contain only the missing values.
  fractional::Branches<double> absent(const NodeCells& cells) const {
    fractional::Branches<double> split{.table = {}, .weight = {}, .known = std::vector<double>(n_classes_),
                                       .absent = std::vector<double>(n_classes_), .missing = 0, .n_classes = n_classes_};
    for (size_t i = 0; i < cells.size() && cells[i].code < 0; ++i)
      split.absent[size_t(cells[i].label)] += cells.weight[i], split.missing += cells.weight[i];
    return split;
  }

  void write(NodeTest& found, const NodeCells& cells) const {
    ColumnTest& test = found.tried[size_t(found.column)];
    const CodedColumn& column = columns_[size_t(found.column)];
    found.gain = test.gain, found.ratio = test.ratio(), found.branches = test.branches;
    if (!column.levels) {
      found.rank = test.rank;
      found.cut = fractional::halfway<double>(column.values[size_t(test.rank)], column.values[size_t(test.next)]);
    }
    fractional::KnownAndAbsent sums{std::vector<double>(size_t(found.branches) * n_classes_), absent(cells).absent};
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto [code, label] = cells[i];
      if (code < 0) continue;
      const auto branch = size_t(column.levels ? code : code > found.rank);
      sums.table[branch * n_classes_ + size_t(label)] += cells.weight[i];
    }
    settle_missing(found, sums, cells.has_missing());
    found.counts = std::move(sums.table);
  }

  void settle_missing(NodeTest& found, fractional::KnownAndAbsent& sums, bool is_needed) const {
    const bool has_own_branch = rules_.missing == fractional::MissingValues::category;
    if (has_own_branch && !is_needed) return;
    found.missing = has_own_branch ? found.branches - 1 : fractional::best_fitting_branch(rules_, x_log2_x_, sums);
    for (size_t c = 0; c < n_classes_; ++c) sums.table[size_t(found.missing) * n_classes_ + c] += sums.absent[c];
  }

  std::vector<CodedColumn> columns_;
  size_t n_classes_;
  fractional::Rules rules_;
  fractional::Worth<double> worth_, worth_of_cuts_;
  numeric::XLog2XTable x_log2_x_;
  std::vector<bool> has_many_levels_;
  std::vector<int32_t> place_;  // [n_classes], each in its own
};

// Score of the best threshold between codes of a column.

// counts: [n_codes, n_classes]. 0 if no threshold leaves `min_leaf` on both sides.
inline double best_cut_worth(std::span<const double> counts, size_t n_classes, std::string_view criterion, double min_leaf) {
  std::vector<double> whole(n_classes, 0.0), sides(2 * n_classes);
  for (size_t i = 0; i < counts.size(); ++i) whole[i % n_classes] += counts[i];
  std::ranges::copy(whole, sides.begin() + std::ptrdiff_t(n_classes));
  return Criteria::with(criterion, [&]<Criterion C>() -> double {
    double best = 0;
    if constexpr (ClassCriterion<C> && C::suits.binary) {
      const C worth{std::span<const double>(whole)};
      const Children children{sides, n_classes};
      for (size_t at = 0; at + n_classes < counts.size(); at += n_classes) {
        for (size_t k = 0; k < n_classes; ++k) sides[k] += counts[at + k], sides[n_classes + k] = whole[k] - sides[k];
        if (std::min(total(children[0]), total(children[1])) >= min_leaf) best = std::max(best, worth(children));
      }
    }
    return best;
  });
}

}  // namespace baytree::tree::counted
