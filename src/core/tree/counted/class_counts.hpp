// Class counts for one depth of a tree: weight of every code and class of a column at each open node.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace baytree::tree::counted {

struct Labels {
  std::span<const int32_t> label;
  std::span<const double> weight;  // empty if every weight is 1
  size_t n_classes = 0;

  double weight_of(uint32_t row) const { return weight.empty() ? 1.0 : weight[row]; }
};

// The rows of the nodes of one depth, contiguous per node and in table order, and their classes.
struct LevelRows {
  struct Row {
    uint32_t row;
    int32_t label;
  };
  std::vector<Row> row;
  std::vector<size_t> begin;  // [n_nodes + 1]

  // place: [n_rows], the node of each row, -1 for none of these.
  LevelRows(std::span<const int32_t> place, std::span<const int32_t> label, size_t n_nodes) : begin(n_nodes + 1) {
    for (const int32_t node : place)
      if (node >= 0) ++begin[size_t(node) + 1];
    for (size_t node = 0; node < n_nodes; ++node) begin[node + 1] += begin[node];
    row.resize(begin.back());
    std::vector<size_t> next(begin);
    for (size_t i = 0; i < place.size(); ++i)
      if (place[i] >= 0) row[next[size_t(place[i])]++] = {uint32_t(i), label[i]};
  }
  size_t size() const { return begin.size() - 1; }
  std::span<const Row> operator[](size_t node) const { return {row.data() + begin[node], begin[node + 1] - begin[node]}; }
};

// Weights of one column for the triples of node, code and class that occur. Weights of parts of the rows add up by key.
struct ClassCells {
  std::vector<int64_t> key;  // ascending: (node · (n_codes + 1) + code + 1) · n_classes + class, where code -1 is a missing value
  std::vector<double> weight;

  void append(int64_t at, double sum) { key.push_back(at), weight.push_back(sum); }
};

// Class weights of one column for the pairs of node and code that occur.
struct CodeCells {
  std::vector<int64_t> key;  // ascending: node · (n_codes + 1) + code + 1
  std::vector<double> sums;  // [n_cells, n_classes]
};

// Zero weights are dropped.
inline CodeCells by_code(const ClassCells& cells, size_t n_classes) {
  CodeCells codes;
  for (size_t i = 0; i < cells.key.size(); ++i) {
    if (!(cells.weight[i] > 0)) continue;
    const int64_t key = cells.key[i] / int64_t(n_classes);
    if (codes.key.empty() || codes.key.back() != key) codes.key.push_back(key), codes.sums.resize(codes.sums.size() + n_classes);
    codes.sums[(codes.key.size() - 1) * n_classes + size_t(cells.key[i] - key * int64_t(n_classes))] = cells.weight[i];
  }
  return codes;
}

struct CodeSpans {
  std::span<const int64_t> key;
  std::span<const double> sums;
};

// Sum of two parts of the rows.
inline CodeCells added(const CodeSpans& left, const CodeSpans& right, size_t width) {
  CodeCells both;
  both.key.reserve(left.key.size() + right.key.size()), both.sums.reserve((left.key.size() + right.key.size()) * width);
  const auto add = [&](const CodeSpans& part, size_t at) {
    for (size_t s = 0; s < width; ++s) both.sums[both.sums.size() - width + s] += part.sums[at * width + s];
  };
  for (size_t i = 0, j = 0; i < left.key.size() || j < right.key.size();) {
    const bool is_left = i < left.key.size() && (j == right.key.size() || left.key[i] <= right.key[j]);
    const int64_t key = is_left ? left.key[i] : right.key[j];
    both.key.push_back(key), both.sums.resize(both.sums.size() + width);
    if (is_left) add(left, i++);
    if (j < right.key.size() && right.key[j] == key) add(right, j++);
  }
  return both;
}

// Counts one column after the other. Nodes with many rows per cell are counted in a table; the rows of the others are
// sorted together, so that the cost depends on the rows.
class ClassCounter {
 public:
  ClassCounter(const LevelRows& rows, const Labels& labels) : rows_(rows), labels_(labels), next_(rows.size() + 1) {}

  // is_open: whether a node is to be counted.
  template <std::predicate<size_t> IsOpen> ClassCells count(std::span<const int32_t> code, int32_t n_codes, const IsOpen& is_open) {
    const size_t per_node = (size_t(n_codes) + 1) * labels_.n_classes;
    const auto is_dense = [&](size_t node) { return per_node <= kNarrow || per_node <= 2 * rows_[node].size(); };
    sort_rows(code, per_node, [&](size_t node) { return is_open(node) && !is_dense(node); });
    ClassCells cells;
    for (size_t node = 0, begin = 0; node < rows_.size(); begin = next_[node++]) {
      if (!is_open(node)) continue;
      if (is_dense(node)) read_table(node, code, per_node, cells);
      else read_sorted({sorted_.data() + begin, next_[node] - begin}, int64_t(node * per_node), cells);
    }
    return cells;
  }

 private:
  struct Entry {
    size_t cell;
    uint32_t row, node;
  };

  size_t cell(std::span<const int32_t> code, const LevelRows::Row& row) const {
    return size_t(code[row.row] + 1) * labels_.n_classes + size_t(row.label);
  }

  // Sorts the rows of the chosen nodes by node and cell; next_[node] is where those of a node end.
  template <std::predicate<size_t> IsChosen> void sort_rows(std::span<const int32_t> code, size_t n_cells, const IsChosen& is_chosen) {
    given_.clear();
    for (size_t node = 0; node < rows_.size(); ++node) {
      next_[node] = given_.size();
      if (!is_chosen(node)) continue;
      for (const auto& row : rows_[node]) given_.push_back({cell(code, row), row.row, uint32_t(node)});
    }
    sort_by_cell(n_cells);
    sorted_.resize(given_.size());
    for (const Entry& entry : given_) sorted_[next_[entry.node]++] = entry;
  }

  void sort_by_cell(size_t n_cells) {
    if (n_cells > 32 * given_.size()) {
      std::ranges::stable_sort(given_, {}, &Entry::cell);  // weights are added in the order of the rows
      return;
    }
    start_.assign(n_cells + 1, 0);
    for (const Entry& entry : given_) ++start_[entry.cell + 1];
    for (size_t at = 0; at < n_cells; ++at) start_[at + 1] += start_[at];
    sorted_.resize(given_.size());
    for (const Entry& entry : given_) sorted_[start_[entry.cell]++] = entry;
    std::swap(given_, sorted_);
  }

  void read_table(size_t node, std::span<const int32_t> code, size_t n_cells, ClassCells& cells) {
    if (labels_.weight.empty()) return read_counts(node, code, n_cells, cells);
    table_.assign(n_cells, 0.0);
    for (const auto& row : rows_[node]) table_[cell(code, row)] += labels_.weight[row.row];
    for (size_t at = 0; at < n_cells; ++at)
      if (table_[at] > 0) cells.append(int64_t(node * n_cells + at), table_[at]);
  }

  // Two alternating tables, so that a row does not wait for the store of the previous one.
  void read_counts(size_t node, std::span<const int32_t> code, size_t n_cells, ClassCells& cells) {
    start_.assign(2 * n_cells, 0);
    uint32_t *even = start_.data(), *odd = even + n_cells;
    const auto rows = rows_[node];
    for (size_t i = 0; i + 1 < rows.size(); i += 2) ++even[cell(code, rows[i])], ++odd[cell(code, rows[i + 1])];
    if (rows.size() % 2) ++even[cell(code, rows.back())];
    for (size_t at = 0; at < n_cells; ++at)
      if (even[at] + odd[at]) cells.append(int64_t(node * n_cells + at), double(even[at] + odd[at]));
  }

  void read_sorted(std::span<const Entry> entries, int64_t base, ClassCells& cells) const {
    for (size_t i = 0; i < entries.size();) {
      const size_t at = entries[i].cell;
      double sum = 0;
      for (; i < entries.size() && entries[i].cell == at; ++i) sum += labels_.weight_of(entries[i].row);
      cells.append(base + int64_t(at), sum);
    }
  }

  static constexpr size_t kNarrow = 64;  // cells of a node
  const LevelRows& rows_;
  const Labels& labels_;
  std::vector<double> table_;
  std::vector<Entry> given_, sorted_;
  std::vector<uint32_t> start_;
  std::vector<size_t> next_;
};

}  // namespace baytree::tree::counted
