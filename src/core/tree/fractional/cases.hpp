// The cases of a node: rows, each with the part of its weight that is there.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/fractional/training.hpp"

namespace baytree::tree::fractional {

// A case of a node in the order of one numeric column.
struct OrderedCase {
  int32_t item;  // position among the node's cases
  int32_t rank;  // of its value in the column
};

// A row at a node, with the part of its weight that is there.
template <std::floating_point Real>
struct Case {
  int32_t row;
  int32_t label;
  Real weight;
};

// The cases of one node in row order, and for each numeric column the known ones in value order.
template <std::floating_point Real>
struct Cases {
  std::vector<Case<Real>> all;
  std::vector<OrderedCase> ordered;  // [n_numeric, size()]: the first known[j] of stripe j
  std::vector<int32_t> known;  // [n_numeric]
  size_t size() const { return all.size(); }
  const Case<Real>& operator[](size_t i) const { return all[i]; }
  std::span<const OrderedCase> sorted(size_t stripe) const {
    return {ordered.data() + stripe * size(), static_cast<size_t>(known[stripe])};
  }
};

template <std::floating_point Real>
Cases<Real> cases_of(std::span<const int32_t> rows, std::span<const int32_t> label, std::span<const double> weight) {
  Cases<Real> cases;
  cases.all.reserve(rows.size());
  for (const int32_t row : rows) cases.all.push_back({row, label[row], static_cast<Real>(weight[row])});
  return cases;
}

// All cases of these rows, in the order of every numeric column.
template <std::floating_point Real>
Cases<Real> root_cases(const Training& from, std::span<const int32_t> rows) {
  Cases<Real> cases = cases_of<Real>(rows, from.label, from.weight);
  std::vector<int32_t> item(from.label.size(), -1);
  for (size_t i = 0; i < rows.size(); ++i) item[rows[i]] = static_cast<int32_t>(i);
  cases.ordered.resize(from.ranked.size() * rows.size());
  cases.known.resize(from.ranked.size());
  for (size_t stripe = 0; stripe < from.ranked.size(); ++stripe) {
    const RankedColumn& column = from.ranked[stripe];
    OrderedCase* ordered = cases.ordered.data() + stripe * rows.size();
    for (const int32_t row : column.order)
      if (item[row] >= 0) ordered[cases.known[stripe]++] = {item[row], column.rank[row]};
  }
  return cases;
}

}  // namespace baytree::tree::fractional
