// Tests of a nominal column: one branch per level, one level against the rest, or groups of levels; and the best test
// of any column.
#pragma once
#include <algorithm>
#include <cmath>
#include <span>

#include "tree/fractional/gain.hpp"
#include "tree/fractional/nodes.hpp"
#include "tree/fractional/numeric_test.hpp"

namespace baytree::tree::fractional {

// Maps levels to rows of a small table, so that counting does not need a table of all levels.
struct LevelIndex {
  std::vector<int32_t> row_of;   // level -> row of the table, -1: not seen
  std::vector<int32_t> present;  // levels seen, ascending after counting
};

// Class weights of the levels that occur among the cases, in level order, summed in `Sum`, for the k classes that
// occur.
template <std::floating_point Sum, std::floating_point Real>
Branches<Sum> tabulate(const Cases<Real>& cases, size_t k, std::span<const int32_t> place, std::span<const int32_t> code, int32_t levels,
                       LevelIndex& index) {
  if (index.row_of.size() < static_cast<size_t>(levels)) index.row_of.resize(static_cast<size_t>(levels), -1);
  index.present.clear();
  for (const Case<Real>& it : cases.all)
    if (const int32_t level = code[it.row]; level >= 0 && index.row_of[level] < 0) {
      index.row_of[level] = 0;
      index.present.push_back(level);
    }
  std::sort(index.present.begin(), index.present.end());
  for (size_t b = 0; b < index.present.size(); ++b) index.row_of[index.present[b]] = static_cast<int32_t>(b);

  Branches<Sum> split{.table = std::vector<Sum>(index.present.size() * k), .weight = std::vector<Sum>(index.present.size()),
                      .known = std::vector<Sum>(k), .absent = std::vector<Sum>(k), .missing = 0, .n_classes = k};
  for (const auto [row, label, weight] : cases.all) {
    const int32_t level = code[row];
    const auto c = static_cast<size_t>(place[label]);
    if (level < 0) {
      split.missing += weight;
      split.absent[c] += weight;
      continue;
    }
    const auto b = static_cast<size_t>(index.row_of[level]);
    split.table[b * k + c] += weight;
    split.weight[b] += weight;
    split.known[c] += weight;
  }
  for (const int32_t level : index.present) index.row_of[level] = -1;
  return split;
}

// One branch per level.
template <std::floating_point Real>
ColumnTest<Real> each_level(const NodeCases<Real>& at, const Branches<Real>& split, int32_t levels) {
  ColumnTest<Real> test;
  if (!has_two_branches(at, split)) return test;
  test.is_valid = true;
  test.gain = test.raw_gain = at.worth.gain(at, split);
  test.info = info_of(at, split);
  test.branches = levels;
  return test;
}

// Two branches: this level and all others.
template <std::floating_point Real>
Branches<Real> against_rest(const Branches<Real>& split, size_t b) {
  const auto k = split.n_classes;
  Branches<Real> two{.table = std::vector<Real>(2 * k), .weight = std::vector<Real>(2), .known = split.known,
                     .absent = split.absent, .missing = split.missing, .n_classes = k};
  for (size_t other = 0; other < split.weight.size(); ++other) {
    const size_t side = other == b ? 0 : 1;
    two.weight[side] += split.weight[other];
    for (size_t c = 0; c < k; ++c) two.table[side * k + c] += split.row(other)[c];
  }
  return two;
}

// The level whose test against the rest has the best gain ratio; the first one wins ties.
template <std::floating_point Real>
ColumnTest<Real> best_level(const NodeCases<Real>& at, const Branches<Real>& split, std::span<const int32_t> present) {
  ColumnTest<Real> best;
  for (size_t b = 0; b < present.size(); ++b) {
    if (!at.rules.reaches(split.weight[b], at.rules.min_side)) continue;
    const Branches<Real> two = against_rest(split, b);
    if (!at.rules.reaches(two.weight[1], at.rules.min_side)) continue;
    ColumnTest<Real> test;
    test.is_valid = true;
    test.gain = test.raw_gain = at.worth.gain(at, two);
    test.info = info_of(at, two);
    test.level = present[b];
    test.branches = 2;
    test.cuts = best.cuts + 1;
    const bool better = at.rules.by_ratio ? at.rules.greater(test.ratio(), best.ratio()) : at.rules.greater(test.gain, best.gain);
    if (!best.is_valid || better) best = std::move(test);
    else best.cuts = test.cuts;
  }
  return best;
}

// Groups of levels: greedy merging of pairs as long as the gain ratio of the column does not decrease.

// Merged levels. Very rare levels are set aside and share one last branch.
struct LevelGroups {
  std::vector<std::vector<int32_t>> levels;
  std::vector<std::vector<double>> counts;  // [n_groups][n_classes]
  std::vector<double> weight;
  std::vector<double> aside_counts;  // of the levels put aside
  size_t size() const { return levels.size(); }

  // The union takes the position of the earlier group.
  void unite(size_t a, size_t b) {
    levels[a].insert(levels[a].end(), levels[b].begin(), levels[b].end());
    for (size_t c = 0; c < counts[a].size(); ++c) counts[a][c] += counts[b][c];
    weight[a] += weight[b];
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(b));
    counts.erase(counts.begin() + static_cast<std::ptrdiff_t>(b));
    weight.erase(weight.begin() + static_cast<std::ptrdiff_t>(b));
  }
};

inline constexpr double kAside = 0.5;          // weight up to which a level is set aside
inline constexpr double kSameShare = 1e-3;     // proportions closer than this are equal
inline constexpr size_t kMaxGroups = 64;       // for more groups only neighbours by class proportion are merged

inline bool have_same_shares(const LevelGroups& groups, size_t a, size_t b) {
  for (size_t c = 0; c < groups.counts[a].size(); ++c)
    if (std::abs(groups.counts[a][c] / groups.weight[a] - groups.counts[b][c] / groups.weight[b]) > kSameShare) return false;
  return true;
}

inline void unite_same_shares(LevelGroups& groups) {
  for (size_t a = 0; a < groups.size(); ++a)
    for (size_t b = a + 1; b < groups.size() && groups.size() > 2;) {
      if (have_same_shares(groups, a, b)) groups.unite(a, b);
      else ++b;
    }
}

// Limits the pair search: the order by the proportion of the first class is cut into runs.
inline void unite_neighbours(LevelGroups& groups, size_t most = kMaxGroups) {
  if (groups.size() <= most) return;
  std::vector<size_t> order(groups.size());
  for (size_t g = 0; g < order.size(); ++g) order[g] = g;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return groups.counts[a][0] / groups.weight[a] < groups.counts[b][0] / groups.weight[b];
  });
  LevelGroups fewer{.levels = {}, .counts = {}, .weight = {}, .aside_counts = groups.aside_counts};
  for (size_t place = 0; place < order.size(); ++place) {
    const size_t g = order[place], run = place * most / order.size();
    if (run == fewer.size()) {
      fewer.levels.emplace_back();
      fewer.counts.emplace_back(groups.counts[g].size());
      fewer.weight.push_back(0);
    }
    fewer.levels[run].insert(fewer.levels[run].end(), groups.levels[g].begin(), groups.levels[g].end());
    for (size_t c = 0; c < groups.counts[g].size(); ++c) fewer.counts[run][c] += groups.counts[g][c];
    fewer.weight[run] += groups.weight[g];
  }
  groups = std::move(fewer);
}

// One group per level; levels of weight up to `aside` are set aside.
template <std::floating_point Real>
LevelGroups single_levels(const Branches<Real>& split, std::span<const int32_t> present, double aside) {
  LevelGroups groups;
  groups.aside_counts.resize(split.n_classes);
  for (size_t b = 0; b < present.size(); ++b) {
    const auto row = split.row(b);
    if (static_cast<double>(split.weight[b]) <= aside) {
      for (size_t c = 0; c < row.size(); ++c) groups.aside_counts[c] += row[c];
      continue;
    }
    groups.levels.push_back({present[b]});
    groups.counts.emplace_back(row.begin(), row.end());
    groups.weight.push_back(split.weight[b]);
  }
  return groups;
}

template <std::floating_point Real>
Branches<Real> as_branches(const LevelGroups& groups, const Branches<Real>& split, bool has_aside) {
  const size_t k = split.n_classes, n = groups.size() + (has_aside ? 1 : 0);
  Branches<Real> united{.table = std::vector<Real>(n * k), .weight = std::vector<Real>(n), .known = split.known,
                        .absent = split.absent, .missing = split.missing, .n_classes = k};
  for (size_t g = 0; g < n; ++g) {
    const auto& counts = g < groups.size() ? groups.counts[g] : groups.aside_counts;
    for (size_t c = 0; c < k; ++c) {
      united.table[g * k + c] = static_cast<Real>(counts[c]);
      united.weight[g] += static_cast<Real>(counts[c]);
    }
  }
  return united;
}

// Greedy merging of levels into groups, scored by the gain ratio.
template <std::floating_point Real>
ColumnTest<Real> best_groups(const NodeCases<Real>& at, const Branches<Real>& split, std::span<const int32_t> present, int32_t levels) {
  LevelGroups groups = single_levels(split, present, kAside);
  ColumnTest<Real> test;
  if (groups.size() < 2) return test;
  const bool has_aside = groups.size() < static_cast<size_t>(levels);
  if (groups.size() <= 4 * kMaxGroups) unite_same_shares(groups);
  unite_neighbours(groups);

  const auto judge = [&](const LevelGroups& these) {
    const Branches<Real> united = as_branches(these, split, has_aside);
    if (!has_two_branches(at, united)) return -1.0;
    const double gain = at.worth.gain(at, united), info = info_of(at, united);
    return at.rules.by_ratio ? (info > 0 ? gain / info : 0.0) : gain;
  };
  const auto is_counted = [&](double weight) { return weight > at.rules.min_side / 2; };
  double current = judge(groups);
  while (groups.size() > 2 && std::count_if(groups.weight.begin(), groups.weight.end(), is_counted) > 2) {
    double best = -1;
    std::pair<size_t, size_t> pair;
    for (size_t a = 0; a < groups.size(); ++a)
      for (size_t b = a + 1; b < groups.size(); ++b) {
        LevelGroups tried = groups;
        tried.unite(a, b);
        const double value = judge(tried);
        if (value >= best) best = value, pair = {a, b};
      }
    if (best < current) break;
    groups.unite(pair.first, pair.second);
    current = best;
  }

  const Branches<Real> united = as_branches(groups, split, has_aside);
  if (!has_two_branches(at, united)) return test;
  test.is_valid = true;
  test.gain = test.raw_gain = at.worth.gain(at, united);
  test.info = info_of(at, united);
  test.branches = static_cast<int32_t>(groups.size()) + (has_aside ? 1 : 0);
  test.group.assign(static_cast<size_t>(levels), test.branches - 1);
  for (size_t g = 0; g < groups.size(); ++g)
    for (const int32_t level : groups.levels[g]) test.group[level] = static_cast<int32_t>(g);
  return test;
}

// Removes the levels that an ancestor on the same column sends to another branch, and a last branch without levels.
inline void drop_excluded_levels(Growth& tree) {
  std::vector<int32_t> parent(tree.node.size(), -1);
  for (size_t id = 0; id < tree.node.size(); ++id) {
    Node& node = tree.node[id];
    for (int32_t b = 0; b < node.branches; ++b) parent[static_cast<size_t>(node.first + b)] = static_cast<int32_t>(id);
    if (node.test != Test::groups) continue;
    int32_t* map = tree.branch_of.data() + node.group;
    for (auto below = static_cast<int32_t>(id); parent[below] >= 0; below = parent[below]) {
      const Node& above = tree.node[parent[below]];
      if (above.test != Test::groups || above.column != node.column) continue;
      for (int32_t level = 0; level < node.levels; ++level)
        if (tree.branch_of[static_cast<size_t>(above.group + level)] != below - above.first) map[level] = -1;
    }
    const bool is_last_empty = std::find(map, map + node.levels, node.branches - 1) == map + node.levels;
    if (is_last_empty && node.branches > 2) --node.branches;
  }
}

// The best test of a column at a node.

template <std::floating_point Real>
ColumnTest<Real> best_test_of_known(const NodeCases<Real>& at, const Worth<Real>& of_cuts, const Training& from, size_t column,
                                    LevelIndex& index) {
  const GivenColumn& given = from.columns[column];
  if (given.is_numeric()) {
    const auto stripe = static_cast<size_t>(from.stripe[column]);
    return best_cut(at.judged_by(of_cuts), from.ranked[stripe], at.cases.sorted(stripe));
  }
  const Branches<Real> split = tabulate<Real>(at.cases, at.counts.size(), at.place, given.code, given.levels, index);
  if (at.rules.binary) return best_level(at, split, std::span<const int32_t>(index.present));
  if (at.rules.grouped && given.levels > 2) return best_groups(at, split, std::span<const int32_t>(index.present), given.levels);
  return each_level(at, split, given.levels);
}

// A branch of missing values counts as one.
template <std::floating_point Real>
ColumnTest<Real> best_test(const NodeCases<Real>& at, const Worth<Real>& of_cuts, const Training& from, size_t column, LevelIndex& index) {
  ColumnTest<Real> test = best_test_of_known(at, of_cuts, from, column, index);
  const GivenColumn& given = from.columns[column];
  const auto is_missing = [&](const Case<Real>& it) {
    return given.is_numeric() ? std::isnan(given.value[it.row]) : given.code[it.row] < 0;
  };
  if (at.rules.missing == MissingValues::category && std::any_of(at.cases.all.begin(), at.cases.all.end(), is_missing)) ++test.branches;
  return test;
}

}  // namespace baytree::tree::fractional
