// Training columns of a fractional tree; numeric columns are ranked once.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "util/thread_pool.hpp"

namespace baytree::tree::fractional {

// A column of the table: doubles with NaN, or codes below `levels` with -1.
struct GivenColumn {
  std::span<const double> value;
  std::span<const int32_t> code;
  int32_t levels = 0;
  bool is_ordered = false;  // levels that are split between neighbours; only C5.0 uses it
  bool is_numeric() const { return levels == 0; }
};

// A numeric column by rank. `measured` are the distinct values in the precision of the convention.
struct RankedColumn {
  std::vector<double> distinct;  // ascending, as given
  std::vector<double> measured;
  std::vector<int32_t> rank;   // [n_rows], -1 = missing
  std::vector<int32_t> order;  // rows with a known value, ascending by value, then by row
  double min_gap = 0;
  bool is_single = false;  // measured in float32
};

// float32 is used only if it distinguishes all values of the column.
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

// Quinlan's minimum gap between neighbouring values; not applied if all values lie within 1e-3.
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

struct Training {
  std::vector<GivenColumn> columns;
  std::vector<RankedColumn> ranked;  // of the numeric columns, in order
  std::vector<int32_t> stripe;       // [n_columns], index in `ranked`; -1: nominal
  std::span<const int32_t> label;    // [n_rows]
  std::span<const double> weight;    // [n_rows]
  size_t n_classes = 0;
};

inline Training prepare(std::vector<GivenColumn> columns, std::span<const int32_t> label, std::span<const double> weight,
                        size_t n_classes, bool single, Workers& workers) {
  Training training{.columns = std::move(columns), .ranked = {}, .stripe = {}, .label = label, .weight = weight, .n_classes = n_classes};
  std::vector<size_t> numeric;
  for (size_t j = 0; j < training.columns.size(); ++j) {
    const bool is_numeric = training.columns[j].is_numeric();
    training.stripe.push_back(is_numeric ? static_cast<int32_t>(numeric.size()) : -1);
    if (is_numeric) numeric.push_back(j);
  }
  training.ranked.resize(numeric.size());
  workers.run(numeric.size(), [&](size_t piece, int) {
    training.ranked[piece] = rank_column(training.columns[numeric[piece]].value, single);
  });
  return training;
}

}  // namespace baytree::tree::fractional
