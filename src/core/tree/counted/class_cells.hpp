// Counts of a level of a tree of classes: how much weight each code of a column has of each class at each open node.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace baytree::tree::counted {

// The rows of the open nodes of a level side by side, those of a node in the order of the table.
struct LevelRows {
  std::vector<uint32_t> row;
  std::vector<size_t> begin;  // [n_nodes + 1]

  // place: [n_rows], the open node of each row, -1 elsewhere.
  LevelRows(std::span<const int32_t> place, size_t n_nodes) : begin(n_nodes + 1) {
    for (const int32_t node : place)
      if (node >= 0) ++begin[size_t(node) + 1];
    for (size_t node = 0; node < n_nodes; ++node) begin[node + 1] += begin[node];
    row.resize(begin.back());
    std::vector<size_t> next(begin);
    for (size_t i = 0; i < place.size(); ++i)
      if (place[i] >= 0) row[next[size_t(place[i])]++] = uint32_t(i);
  }
  size_t size() const { return begin.size() - 1; }
  std::span<const uint32_t> operator[](size_t node) const { return {row.data() + begin[node], begin[node + 1] - begin[node]}; }
};

struct Labels {
  std::span<const int32_t> label;
  std::span<const double> weight;  // empty where every weight is 1
  size_t n_classes = 0;

  double weight_of(uint32_t row) const { return weight.empty() ? 1.0 : weight[row]; }
};

// One column's weights, for the triples of node, code and class that occur. Those of parts of the rows add up by key.
struct ClassCells {
  std::vector<int64_t> key;  // ascending: (node · (n_codes + 1) + code + 1) · n_classes + class, where code -1 is a missing value
  std::vector<double> weight;
};

class ClassCounter {
 public:
  ClassCounter(const LevelRows& rows, const Labels& labels) : rows_(rows), labels_(labels) {}

  // is_open: the nodes that are counted.
  template <std::predicate<size_t> IsOpen> ClassCells count(std::span<const int32_t> code, int32_t n_codes, const IsOpen& is_open) {
    const size_t per_node = (size_t(n_codes) + 1) * labels_.n_classes;
    for (size_t node = 0; node < rows_.size(); ++node) {
      if (!is_open(node)) continue;
      const auto base = int64_t(node * per_node);
      if (per_node <= 2 * rows_[node].size()) by_table(rows_[node], code, per_node, base);
      else by_sorting(rows_[node], code, base);
    }
    return std::move(cells_);
  }

 private:
  size_t cell(std::span<const int32_t> code, uint32_t row) const {
    return size_t(code[row] + 1) * labels_.n_classes + size_t(labels_.label[row]);
  }

  void by_table(std::span<const uint32_t> rows, std::span<const int32_t> code, size_t n_cells, int64_t base) {
    table_.assign(n_cells, 0.0);
    for (const uint32_t row : rows) table_[cell(code, row)] += labels_.weight_of(row);
    for (size_t at = 0; at < n_cells; ++at)
      if (table_[at] > 0) append(base + int64_t(at), table_[at]);
  }

  // The cost follows the rows where these are few beside the codes.
  void by_sorting(std::span<const uint32_t> rows, std::span<const int32_t> code, int64_t base) {
    order_.clear();
    for (const uint32_t row : rows) order_.emplace_back(cell(code, row), labels_.weight_of(row));
    std::ranges::sort(order_, {}, &std::pair<size_t, double>::first);
    for (size_t i = 0; i < order_.size();) {
      const size_t at = order_[i].first;
      double sum = 0;
      for (; i < order_.size() && order_[i].first == at; ++i) sum += order_[i].second;
      append(base + int64_t(at), sum);
    }
  }

  void append(int64_t key, double weight) { cells_.key.push_back(key), cells_.weight.push_back(weight); }

  const LevelRows& rows_;
  const Labels& labels_;
  ClassCells cells_;
  std::vector<double> table_;
  std::vector<std::pair<size_t, double>> order_;
};

}  // namespace baytree::tree::counted
