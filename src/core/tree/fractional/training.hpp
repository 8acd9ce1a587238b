// The rows a fractional tree grows from: columns sorted once, and the cases (row, weight) that reach a node.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace baytree::tree::fractional {

// A column as the table gives it: numbers with NaN, or codes with -1 below `levels`.
struct GivenColumn {
  std::span<const double> value;
  std::span<const int32_t> code;
  int32_t levels = 0;
  bool is_numeric() const { return levels == 0; }
};

// A numeric column by rank. `measured` are the distinct values as the convention sees them.
struct RankedColumn {
  std::vector<double> distinct;  // ascending, as given
  std::vector<double> measured;
  std::vector<int32_t> rank;   // [n_rows], -1 = missing
  std::vector<int32_t> order;  // rows with a value, ascending by value, then by row
  double min_gap = 0;
  bool is_single = false;  // measured in float32
};

// float32 is used only where it tells all values of the column apart: otherwise it would forget a difference.
inline bool measure_in_single(RankedColumn& column) {
  std::vector<double> rounded(column.distinct);
  for (double& value : rounded) value = static_cast<double>(static_cast<float>(value));
  for (size_t i = 0; i < rounded.size(); ++i) {
    const bool is_merged = i > 0 && rounded[i] <= rounded[i - 1];
    if (is_merged || (std::isfinite(column.distinct[i]) && !std::isfinite(rounded[i]))) return false;
  }
  column.measured = std::move(rounded);
  return true;
}

// Quinlan's smallest gap between neighbouring values. It means nothing to a column whose values all lie within 1e-3.
inline double smallest_gap(const std::vector<double>& distinct) {
  return distinct.size() > 1 && distinct.back() - distinct.front() >= 1e-3 ? 1e-5 : 0;
}

inline RankedColumn rank_column(std::span<const double> value, bool single) {
  struct Entry {
    double value;
    int32_t row;
  };
  std::vector<Entry> entries;
  entries.reserve(value.size());
  for (size_t row = 0; row < value.size(); ++row)
    if (!std::isnan(value[row])) entries.push_back({value[row], static_cast<int32_t>(row)});
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.value < b.value || (a.value == b.value && a.row < b.row);
  });
  RankedColumn column;
  column.rank.assign(value.size(), -1);
  column.order.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (column.distinct.empty() || entry.value > column.distinct.back()) column.distinct.push_back(entry.value);
    column.rank[entry.row] = static_cast<int32_t>(column.distinct.size()) - 1;
    column.order.push_back(entry.row);
  }
  column.is_single = single && measure_in_single(column);
  if (!column.is_single) column.measured = column.distinct;
  column.min_gap = smallest_gap(column.distinct);
  return column;
}

// A case of a node in the order of one numeric column.
struct Placed {
  int32_t item;  // position among the node's cases
  int32_t rank;  // of its value in the column
};

// A row at a node, with the part of its weight that is there.
template <typename Real>
struct Case {
  int32_t row;
  int32_t label;
  Real weight;
};

// The cases of one node in row order, and for each numeric column the known ones in value order.
template <typename Real>
struct Cases {
  std::vector<Case<Real>> all;
  std::vector<Placed> placed;  // [n_numeric, size()]: the first known[j] of stripe j
  std::vector<int32_t> known;  // [n_numeric]
  size_t size() const { return all.size(); }
  const Case<Real>& operator[](size_t i) const { return all[i]; }
  std::span<const Placed> sorted(size_t stripe) const {
    return {placed.data() + stripe * size(), static_cast<size_t>(known[stripe])};
  }
};

template <typename Real>
Cases<Real> cases_of(std::span<const int32_t> rows, std::span<const int32_t> label, std::span<const double> weight) {
  Cases<Real> cases;
  cases.all.reserve(rows.size());
  for (const int32_t row : rows) cases.all.push_back({row, label[row], static_cast<Real>(weight[row])});
  return cases;
}

// Weight per class.
template <typename Real>
std::vector<Real> class_weights(const Cases<Real>& cases, size_t n_classes) {
  std::vector<Real> counts(n_classes);
  for (const Case<Real>& it : cases.all) counts[it.label] += it.weight;
  return counts;
}

}  // namespace baytree::tree::fractional
