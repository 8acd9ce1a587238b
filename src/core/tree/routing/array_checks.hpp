// Validation of tree arrays. Checks run in a fixed order and report the first fault, so that a corrupt file always
// gives the same message.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace baytree::tree::routing {

// Arrays with one entry per node, except branch_of, which nominal tests use, and value [nodes, outputs].
struct NodeArrays {
  std::span<const std::int32_t> column, start, levels, first, branches, missing, prediction, branch_of;
  std::span<const double> cut, share, value;
  std::size_t outputs;

  std::size_t size() const { return column.size(); }
  bool is_split(std::size_t i) const { return column[i] >= 0; }
  std::int64_t end(std::size_t i) const { return std::int64_t{start[i]} + levels[i]; }
};

enum class Fault : int {
  none, negative_column, negative_place, reads_past, no_test,
  no_branch, child_before_parent, overlap, not_filled,
  missing_nowhere, one_branch, negative_branch, level_nowhere,
  share_beyond, not_finite, unknown_class, end
};

namespace detail {

inline void note(Fault& least, bool holds, Fault fault) {
  if (!holds) least = std::min(least, fault);
}

inline Fault of_tests(const NodeArrays& all) {
  Fault least = Fault::end;
  for (std::size_t i = 0; i < all.size(); ++i) {
    note(least, all.column[i] >= -1, Fault::negative_column);
    note(least, all.start[i] >= 0 && all.levels[i] >= 0, Fault::negative_place);
    note(least, all.end(i) <= static_cast<std::int64_t>(all.branch_of.size()), Fault::reads_past);
    note(least, !all.is_split(i) || all.levels[i] != 0 || !std::isnan(all.cut[i]), Fault::no_test);
  }
  return least;
}

// Sorted by first child, the children of all splits are consecutive, from node 1 to the last.
inline Fault of_children(const NodeArrays& all) {
  Fault least = Fault::end;
  std::vector<std::pair<std::int64_t, std::int64_t>> children;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all.is_split(i)) continue;
    note(least, all.branches[i] >= 1, Fault::no_branch);
    note(least, all.first[i] > static_cast<std::int64_t>(i), Fault::child_before_parent);
    children.emplace_back(all.first[i], all.branches[i]);
  }
  std::sort(children.begin(), children.end());
  std::int64_t next = 1;
  for (const auto& [first, branches] : children) {
    note(least, first == next, Fault::overlap);
    next += branches;
  }
  note(least, next == static_cast<std::int64_t>(all.size()), Fault::not_filled);
  return least;
}

inline Fault of_branches(const NodeArrays& all) {
  Fault least = Fault::end;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all.is_split(i)) continue;
    note(least, all.missing[i] >= -2 && all.missing[i] < all.branches[i], Fault::missing_nowhere);
    note(least, all.levels[i] != 0 || all.branches[i] >= 2, Fault::one_branch);
    for (std::int64_t at = all.start[i]; at < all.end(i); ++at)
      note(least, all.branch_of[static_cast<std::size_t>(at)] < all.branches[i], Fault::level_nowhere);
  }
  for (const std::int32_t branch : all.branch_of) note(least, branch >= -1, Fault::negative_branch);
  return least;
}

inline Fault of_outcomes(const NodeArrays& all) {
  Fault least = Fault::end;
  for (const double share : all.share) note(least, share >= 0 && share <= 1 + 1e-9, Fault::share_beyond);
  for (const double value : all.value) note(least, std::isfinite(value), Fault::not_finite);
  for (const std::int32_t code : all.prediction) note(least, code >= 0 && static_cast<std::size_t>(code) < all.outputs, Fault::unknown_class);
  return least;
}

}  // namespace detail

inline Fault fault_of(const NodeArrays& all) {
  for (const auto check : {detail::of_tests, detail::of_children, detail::of_branches, detail::of_outcomes})  // in this order
    if (const Fault found = check(all); found != Fault::end) return found;
  return Fault::none;
}

}  // namespace baytree::tree::routing
