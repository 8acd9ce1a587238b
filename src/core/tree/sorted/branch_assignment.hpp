// Assignment of the rows of a split node to its branches: by the split, by surrogates, or with the majority.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/criteria.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/partitioned_rows.hpp"
#include "tree/sorted/settings.hpp"
#include "tree/sorted/split.hpp"
#include "tree/sorted/surrogates.hpp"

namespace baytree::tree::sorted {

class BranchAssigner {
 public:
  BranchAssigner(std::span<const ColumnView> columns, const Target& target, const Settings& settings, PartitionedRows& partitioned)
      : columns_(columns), target_(target), settings_(settings), partitioned_(partitioned), side_(partitioned.side()) {}

  bool is_significant(const Node& node, const Split& split) const {
    const size_t classes = node.present.size();
    std::vector<double> side(3 * classes, 0.0), parent(classes, 0.0);
    const ColumnView& view = columns_[size_t(split.column)];
    const auto place_of = [&](uint32_t tag) {
      return size_t(std::ranges::lower_bound(node.present, int32_t(target_.class_of(tag))) - node.present.begin());
    };
    for (const uint32_t tag : partitioned_.tags(node)) {
      const uint8_t b = branch(split, view, target_.row(tag));
      if (b < 3) side[b * classes + place_of(tag)] += target_.weight_of(target_.row(tag));
    }
    for (size_t i = 0; i < side.size(); ++i) parent[i % classes] += side[i];
    const auto present = size_t(std::ranges::count_if(parent, [](double m) { return m > 0; }));
    const size_t children = split.has_own_branch ? 3 : 2;
    const double statistic = ChiSquared(parent)({{side.data(), children * classes}, classes});
    const size_t df = (present - 1) * (children - 1);
    return df > 0 && statistic >= settings_.critical[std::min(df, settings_.critical.size() - 1)];
  }

  // The branch of a row by the split alone, or kUnassigned.
  uint8_t branch(const Split& split, const ColumnView& view, uint32_t row) const {
    uint8_t side = kUnassigned;
    if (!view.is_nominal()) {
      const double x = view[row];
      if (!std::isnan(x)) side = settings_.is_cart ? !(x < split.cut) : !(x <= split.cut);
    } else {
      const int32_t code = view.level(row);
      for (uint8_t b = 0; b < 2; ++b)
        if (std::ranges::binary_search(split.group[b], code)) side = b;
    }
    return side == kUnassigned && split.missing >= 0 ? uint8_t(split.missing) : side;
  }

  // Calls visit(side, tag) for the rows that the split itself sends to the first or second branch, in table order.
  template <std::invocable<size_t, uint32_t> Visit> void each_side(const Node& node, const Visit& visit) const {
    const ColumnView& view = columns_[size_t(node.split.column)];
    const auto each = [&](const auto& side_of) {
      for (const uint32_t tag : partitioned_.tags(node))
        if (const uint8_t side = side_of(target_.row(tag)); side < 2) visit(size_t(side), tag);
    };
    if (!view.is_nominal()) return each([&](uint32_t row) { return branch(node.split, view, row); });
    const std::vector<uint8_t> side_of_level = sides_of_levels(node.split, view.levels);
    partitioned_.levels(size_t(node.split.column)).with([&](const auto* shifted) { each([&](uint32_t row) { return side_of_level[shifted[row]]; }); });
  }

  // The same in any order: for a threshold, in the order of its column.
  template <std::invocable<size_t, uint32_t> Visit> void each_counted_side(const Node& node, const Visit& visit) const {
    if (columns_[size_t(node.split.column)].is_nominal()) return each_side(node, visit);
    const auto all = partitioned_.entries(node, size_t(node.split.column));
    const size_t n_known = known_in(all), n_first = size_t(node.split.last) + 1;
    for (size_t i = 0; i < n_known; ++i) visit(size_t(i >= n_first), tag_of(all[i]));
    if (node.split.missing < 0 || node.split.missing > 1) return;
    for (size_t i = n_known; i < all.size(); ++i) visit(size_t(node.split.missing), tag_of(all[i]));
  }

  BranchWeights assign_by_split(Node& node) {
    const Split& split = node.split;
    const ColumnView& view = columns_[size_t(split.column)];
    if (!view.is_nominal()) assign_by_cut(node);
    else assign_by_level(node, view.levels);
    BranchWeights assigned;
    if (!settings_.is_known_only()) return assigned;
    for (const uint32_t tag : partitioned_.tags(node)) {
      const uint32_t row = target_.row(tag);
      if (side_[row] < 2) assigned.weight[side_[row]] += target_.weight_of(row);
      else assigned.is_partial = true;
    }
    return assigned;
  }

  Surrogate surrogate(const Node& node, int32_t column, const BranchWeights& assigned) const {
    if (!node.split || column == node.split.column) return {};
    if (settings_.direction(size_t(column))) return {};  // a surrogate would not respect the monotone direction of its own column
    return target_.weight ? surrogate_by(node, column, assigned, WeightedRows{target_}) : surrogate_by(node, column, assigned, UnitRows{});
  }

  void keep_best(Node& node, std::span<Surrogate> candidates) const {
    std::vector<Surrogate*> found;
    for (Surrogate& each : candidates)
      if (each) found.push_back(&each);
    std::ranges::stable_sort(found, [](const Surrogate* a, const Surrogate* b) { return a->agree > b->agree; });
    for (size_t i = 0; i < found.size() && i < size_t(settings_.max_surrogates); ++i)
      node.surrogates.push_back(std::move(*found[i]));
  }

  // Assigns the rows that the split cannot assign: by surrogates, then with the majority; else they stay at this node.
  void assign_missing(Node& node, const BranchWeights& assigned) {
    if (!settings_.is_known_only()) return;
    const bool is_large = settings_.absent == Absent::kLargest;
    const int use = is_large ? 2 : settings_.is_cart && settings_.max_surrogates == 0 ? 0 : settings_.use_surrogate;
    uint8_t last_resort = kUnassigned;
    if (use == 2 && (assigned.weight[0] != assigned.weight[1] || !settings_.is_cart)) last_resort = assigned.weight[1] > assigned.weight[0];
    for (const uint32_t tag : partitioned_.tags(node)) {
      const uint32_t row = target_.row(tag);
      if (side_[row] != kUnassigned) continue;
      if (use > 0) side_[row] = assign_by_surrogate(node, row);
      if (side_[row] == kUnassigned) side_[row] = last_resort;
    }
  }

  int32_t branch_of_missing(const Node& node, const std::vector<Node>& children) const {
    if (node.split.missing >= 0) return node.split.missing;
    if (settings_.is_cart) {
      const double first = size(children[0]), second = size(children[1]);
      return settings_.use_surrogate < 2 || first == second ? -1 : int32_t(second > first);
    }
    return children[1].weight > children[0].weight;
  }

 private:
  template <RowAmounts R> Surrogate surrogate_by(const Node& node, int32_t column, const BranchWeights& assigned, const R& amounts) const {
    const ColumnView& view = columns_[size_t(column)];
    const int style = settings_.surrogate_style;
    if (view.is_nominal()) {
      const NarrowLevels& levels = partitioned_.levels(size_t(column));
      return surrogate_levels(partitioned_.tags(node), levels, view, column, target_, amounts, side_, assigned, style, settings_.is_cart,
                              node.split.is_mirrored);
    }
    const auto all = partitioned_.entries(node, size_t(column));
    return surrogate_cut(all.first(known_in(all)), view, column, target_, amounts, side_, assigned, style);
  }

  double size(const Node& node) const { return target_.counts_rows ? double(node.rows) : node.weight; }

  // Writes only the rows whose stored branch changes: few, if few rows are split off.
  void assign_by_cut(const Node& node) {
    const auto all = partitioned_.entries(node, size_t(node.split.column));
    const size_t n_known = known_in(all), n_first = size_t(node.split.last) + 1;
    const auto mark = [&](std::span<const Entry> entries, uint8_t side) {
      if (side == node.side) return;
      for (const Entry e : entries) side_[target_.row(tag_of(e))] = side;
    };
    mark(all.first(n_first), 0), mark(all.subspan(n_first, n_known - n_first), 1);
    mark(all.subspan(n_known), uint8_t(node.split.missing >= 0 ? node.split.missing : kUnassigned));
  }
  // Branch of the missing level and of each level.
  static std::vector<uint8_t> sides_of_levels(const Split& split, int32_t levels) {
    std::vector<uint8_t> side_of(size_t(levels) + 1, kUnassigned);
    if (split.missing >= 0) side_of[0] = uint8_t(split.missing);
    for (uint8_t b = 0; b < 2; ++b)
      for (const int32_t code : split.group[b]) side_of[size_t(code) + 1] = b;
    return side_of;
  }
  void assign_by_level(const Node& node, int32_t levels) {
    const std::vector<uint8_t> side_of = sides_of_levels(node.split, levels);
    partitioned_.levels(size_t(node.split.column)).with([&](const auto* shifted) {
      for (const uint32_t tag : partitioned_.tags(node)) side_[target_.row(tag)] = side_of[shifted[target_.row(tag)]];
    });
  }
  uint8_t assign_by_surrogate(Node& node, uint32_t row) const {
    for (Surrogate& each : node.surrogates)
      if (const uint8_t side = each.side(columns_[size_t(each.column)], row); side != kUnassigned) {
        ++each.count;
        return side;
      }
    return kUnassigned;
  }

  std::span<const ColumnView> columns_;
  const Target& target_;
  const Settings& settings_;
  PartitionedRows& partitioned_;
  std::span<uint8_t> side_;
};

}  // namespace baytree::tree::sorted
