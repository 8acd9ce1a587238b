// Rows as codes of their columns, all of one width: where they come to rest in a tree of tests on codes, and how often each code occurs
// with each class there.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::tree::counted {

template <typename C>
concept Code = std::same_as<C, uint8_t> || std::same_as<C, uint16_t> || std::same_as<C, uint32_t>;

// A row at node k whose code in column[k] is c goes to child[start[k] + c]; where that or column[k] is negative, it rests at k.
struct CodeTests {
  std::span<const int32_t> column;  // [n_nodes]
  std::span<const int64_t> start;   // [n_nodes]
  std::span<const int32_t> child;
};

// place: what `place_of` says of the node where each row comes to rest. codes: [n_columns, n_rows].
template <Code C>
void coded_places(std::span<const C> codes, const CodeTests& tests, std::span<const int32_t> place_of, std::span<int32_t> place) {
  const size_t n = place.size();
  for (size_t row = 0; row < n; ++row) {
    size_t at = 0;
    while (tests.column[at] >= 0) {
      const C code = codes[size_t(tests.column[at]) * n + row];
      const int32_t child = tests.child[size_t(tests.start[at]) + code];
      if (child < 0) break;
      at = size_t(child);
    }
    place[row] = place_of[at];
  }
}

// The rows that are counted: those with a place.
struct CountedRows {
  std::vector<uint32_t> row, place, label;

  CountedRows(std::span<const int32_t> places, std::span<const int32_t> labels) {
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0) row.push_back(uint32_t(i)), place.push_back(uint32_t(places[i])), label.push_back(uint32_t(labels[i]));
  }
};

// Adds the amount of each counted row to its cell: [n_places, n_codes, n_classes], of one column.
template <Code C, typename Cell, std::invocable<uint32_t> AmountOf>
void count_codes(const C* codes, const CountedRows& rows, size_t n_codes, size_t n_classes, const AmountOf& amount_of, Cell* cells) {
  for (size_t i = 0; i < rows.row.size(); ++i)
    cells[(rows.place[i] * n_codes + codes[rows.row[i]]) * n_classes + rows.label[i]] += amount_of(rows.row[i]);
}

}  // namespace baytree::tree::counted
