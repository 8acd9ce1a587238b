// Surrogate splits (Breiman et al. 1984): the columns that best predict the branch of a split, for rows with a missing
// value in the split's column.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/sorted/measures.hpp"
#include "tree/sorted/sorting.hpp"
#include "tree/sorted/split.hpp"

namespace baytree::tree::sorted {

constexpr uint8_t kUnassigned = 255;  // branch of a row that is not assigned, or that has reached a leaf

struct Surrogate {
  int32_t column = -1;
  double cut = std::numeric_limits<double>::quiet_NaN();
  bool is_flipped = false;  // the second branch is below the threshold
  std::vector<int32_t> group[2];
  double agree = 0, adjusted = 0;
  int64_t count = 0;

  explicit operator bool() const { return column >= 0; }
  // The branch of a row, or kUnassigned.
  uint8_t side(const ColumnView& view, uint32_t row) const {
    if (!view.is_nominal()) {
      const double x = view[row];
      return std::isnan(x) ? kUnassigned : uint8_t((x < cut) == is_flipped);
    }
    const int32_t code = view.level(row);
    for (uint8_t b = 0; b < 2; ++b)
      if (std::ranges::binary_search(group[b], code)) return b;
    return kUnassigned;
  }
};

// Weights that a split assigns to each branch.
struct BranchWeights {
  double weight[2] = {0, 0};
  bool is_partial = false;  // some rows are assigned to neither branch
  double all() const { return weight[0] + weight[1]; }
  double most() const { return std::max(weight[0], weight[1]); }
};

// Style 0 counts rows with a missing surrogate value as errors, style 1 ignores them.
inline Surrogate judged(Surrogate found, double score, const BranchWeights& primary, const BranchWeights& both, int style) {
  const BranchWeights& base = style == 0 ? primary : both;
  found.agree = score / base.all();
  found.adjusted = (score - base.most()) / (base.all() - base.most());
  if (!(found.adjusted > 0)) found.column = -1;
  return found;
}

// Weight and size of a row. Without weights both are 1, and rows are counted in integers: every split searches every
// column for surrogates.
template <typename R>
concept RowAmounts = requires(const R rows, uint32_t row) {
  { rows.weight(row) } -> std::same_as<typename R::Amount>;
  { rows.size(row) } -> std::same_as<typename R::Amount>;
};
struct UnitRows {
  using Amount = int64_t;
  Amount weight(uint32_t) const { return 1; }
  Amount size(uint32_t) const { return 1; }
};
struct WeightedRows {
  using Amount = double;
  const Target& target;
  double weight(uint32_t row) const { return target.weight_of(row); }
  double size(uint32_t row) const { return target.size_of(row); }
};

// Weight of each side, and total size; an unassigned row adds nothing.
template <typename Amount> struct SideSums {
  Amount weight[2] = {0, 0}, size = 0;
  // Branch-free sums: sides are unpredictable here.
  void add(uint8_t side, Amount w, Amount s) { weight[0] += side == 0 ? w : Amount(0), weight[1] += side == 1 ? w : Amount(0), size += side <= 1 ? s : Amount(0); }
};

// Thresholds between neighbouring values of all rows of the node; only rows that the split has assigned are counted.
template <RowAmounts R>
Surrogate surrogate_cut(std::span<const Entry> known, const ColumnView& view, int32_t column, const Target& target, const R& amounts,
                        std::span<const uint8_t> side, const BranchWeights& primary, int style) {
  using Amount = typename R::Amount;
  const auto row_of = [&](size_t i) { return target.row(tag_of(known[i])); };
  const auto add = [&](SideSums<Amount>& sums, uint32_t row) { sums.add(side[row], amounts.weight(row), amounts.size(row)); };
  SideSums<Amount> all, low;
  for (size_t i = 0; i < known.size(); ++i) add(all, row_of(i));
  const BranchWeights both{{double(all.weight[0]), double(all.weight[1])}};
  Surrogate found;
  Amount best = std::max(all.weight[0], all.weight[1]);
  for (size_t i = 0; i + 1 < known.size(); ++i) {
    add(low, row_of(i));
    if (rank_of(known[i]) == rank_of(known[i + 1]) || low.size < 2) continue;
    if (all.size - low.size < 2) break;
    const Amount straight = low.weight[0] + (all.weight[1] - low.weight[1]);
    const Amount crossed = low.weight[1] + (all.weight[0] - low.weight[0]);
    for (const bool is_flipped : {false, true}) {
      const Amount score = is_flipped ? crossed : straight;
      if (!(score > best)) continue;
      best = score, found.column = column, found.is_flipped = is_flipped;
      found.cut = between(view[row_of(i)], view[row_of(i + 1)], true);
    }
  }
  return found ? judged(std::move(found), double(best), primary, both, style) : found;
}

// Rows of a level on each side.
struct SidesOfLevel {
  BranchWeights assigned;
  double rows[2] = {0, 0};
};

// Sums of each level; that of the missing level stays empty.
template <RowAmounts R>
void sum_sides_of_levels(std::span<const uint32_t> tags, const NarrowLevels& narrow, const Target& target, const R& amounts,
                                  std::span<const uint8_t> side, std::span<SidesOfLevel> level) {
  narrow.with([&](const auto* shifted) {
    for (const uint32_t tag : tags) {
      const uint32_t row = target.row(tag);
      SidesOfLevel& own = level[shifted[row]];
      if (side[row] > 1 || shifted[row] == 0) continue;
      own.assigned.weight[side[row]] += amounts.weight(row), own.rows[side[row]] += amounts.size(row);
    }
  });
}
// Rows of weight 1: one cell for each of the sides 0, 1, 2 and none, without branches.
inline void sum_sides_of_levels(std::span<const uint32_t> tags, const NarrowLevels& narrow, const Target& target, const UnitRows&,
                                std::span<const uint8_t> side, std::span<SidesOfLevel> level) {
  std::vector<uint32_t> cells(4 * level.size(), 0);
  narrow.with([&](const auto* shifted) {
    for (const uint32_t tag : tags) ++cells[4 * size_t(shifted[target.row(tag)]) + (side[target.row(tag)] & 3)];
  });
  for (size_t at = 1; at < level.size(); ++at)
    for (size_t b = 0; b < 2; ++b) level[at].assigned.weight[b] = level[at].rows[b] = cells[4 * at + b];
}

// Each level goes to its heavier side; on a tie, to the heavier side of the split; and if that is tied, too, to rpart's
// right branch, which is the first branch of a mirrored split. A surrogate with fewer than two disagreeing rows is
// rejected, as in rpart.
template <RowAmounts R>
Surrogate surrogate_levels(std::span<const uint32_t> tags, const NarrowLevels& narrow, const ColumnView& view, int32_t column,
                           const Target& target, const R& amounts, std::span<const uint8_t> side, const BranchWeights& primary, int style,
                           bool needs_two_wrong, bool is_mirrored) {
  std::vector<SidesOfLevel> level(size_t(view.levels) + 1);
  sum_sides_of_levels(tags, narrow, target, amounts, side, level);
  // Summed over the levels like the score, so that a surrogate that sends every row to one side gains exactly 0.
  BranchWeights both;
  for (const SidesOfLevel& each : level)
    for (size_t b = 0; b < 2; ++b) both.weight[b] += each.assigned.weight[b];
  Surrogate found;
  found.column = column;
  double score = 0;
  double wrong = 0;
  const bool is_first_heavier = both.weight[0] != both.weight[1] ? both.weight[0] > both.weight[1] : is_mirrored;
  for (size_t c = 0; c + 1 < level.size(); ++c) {
    const auto& [assigned, rows] = level[c + 1];
    if (!(rows[0] + rows[1] > 0)) continue;
    const bool is_first = assigned.weight[0] != assigned.weight[1] ? assigned.weight[0] > assigned.weight[1] : is_first_heavier;
    found.group[!is_first].push_back(int32_t(c));
    score += assigned.most(), wrong += rows[is_first];
  }
  if (!(score > both.most()) || (needs_two_wrong && wrong < 2)) return {};
  return judged(std::move(found), score, primary, both, style);
}

}  // namespace baytree::tree::sorted
