// Partition of unordered levels into two groups: exact by an ordering where one exists, by branch and bound (CART) or
// exhaustive search for few levels, else by a heuristic ordering.
#pragma once
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "tree/sorted/best_groups.hpp"
#include "tree/sorted/level_counts.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/split.hpp"

namespace baytree::tree::sorted {

// First principal component of the levels' class proportions, weighted by their weight (Coppersmith, Hong, Hosking
// 1999).
inline std::vector<double> component_keys(const Levels& levels, const PresentClasses& present) {
  const size_t n = levels.size(), classes = present.size();
  std::vector<double> share(n * classes), mass(n), mean(classes, 0.0), scatter(classes * classes, 0.0);
  double whole = 0;
  for (size_t i = 0; i < n; ++i) {
    mass[i] = total(levels[i].first(classes)), whole += mass[i];
    for (size_t k = 0; k < classes; ++k) {
      share[i * classes + k] = mass[i] > 0 ? levels[i][k] / mass[i] : 0.0;
      mean[k] += levels[i][k];
    }
  }
  for (auto& m : mean) m /= whole > 0 ? whole : 1.0;
  for (size_t i = 0; i < n; ++i)
    for (size_t a = 0; a < classes; ++a)
      for (size_t b = 0; b < classes; ++b)
        scatter[a * classes + b] += mass[i] * (share[i * classes + a] - mean[a]) * (share[i * classes + b] - mean[b]);
  std::vector<double> axis(classes), next(classes);
  for (size_t k = 0; k < classes; ++k) axis[k] = 1.0 + double(present[k]) / double(present.of_all());
  for (int step = 0; step < 64; ++step) {
    double length = 0;
    for (size_t a = 0; a < classes; ++a) {
      next[a] = 0;
      for (size_t b = 0; b < classes; ++b) next[a] += scatter[a * classes + b] * axis[b];
      length = std::max(length, std::abs(next[a]));
    }
    if (length <= 0) break;
    for (size_t a = 0; a < classes; ++a) axis[a] = next[a] / length;
  }
  std::vector<double> key(n, 0.0);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < classes; ++k) key[i] += share[i * classes + k] * axis[k];
  return key;
}

template <Measure M> std::vector<uint32_t> level_order(const Levels& levels, const M& measure) {
  std::vector<double> key(levels.size());
  if (measure.is_ordered())
    for (size_t i = 0; i < levels.size(); ++i) key[i] = measure.order_key(levels[i]);
  else if constexpr (requires { measure.present(); }) key = component_keys(levels, measure.present());
  std::vector<uint32_t> order(levels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
  return order;
}

// Keeps the grouping whose complement has this statistic if it is the best so far.
template <Measure M>
bool improves(M& measure, std::span<const double> left, std::span<const double> total, Limits limits, Split& best) {
  const size_t size = left.size() - 1;
  if (left[size] < limits.min_leaf || total[size] - left[size] < limits.min_leaf) return false;
  if constexpr (requires { measure.is_below(left, 0.0); })
    if (measure.is_below(left, best.score.value)) return false;
  const double value = measure.value(left), slack = measure.slack();
  if (value < best.score.value - slack || !(value == value)) return false;
  const Score score = measure.score(left, value);
  if (!is_better(score, best.score, slack)) return false;
  best.score = score;
  return true;
}

// Splits after each level in the order of the keys; exact for two classes and for numeric targets.
template <Measure M>
bool group_in_order(const Levels& levels, M& measure, std::span<const double> total, Limits limits, Split& best) {
  const auto order = level_order(levels, measure);
  std::vector<double> left = measure.nothing();
  size_t taken = 0;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    const auto statistic = levels[order[i]];
    for (size_t j = 0; j < left.size(); ++j) left[j] += statistic[j];
    if (improves(measure, left, total, limits, best)) taken = i + 1;
  }
  if (!taken) return false;
  for (auto& group : best.group) group.clear();
  for (size_t i = 0; i < order.size(); ++i) best.group[i >= taken].push_back(levels.code[order[i]]);
  for (auto& group : best.group) std::sort(group.begin(), group.end());
  return true;
}

// Tries all 2^(k-1) - 1 groupings in the order of the binary-reflected Gray code: one level moves at each step,
// the first one every second time, the last one never.
template <Measure M>
bool group_by_trying_all(const Levels& levels, M& measure, std::span<const double> total, Limits limits,
                         const std::function<void()>& pause, Split& best) {
  std::vector<double> left = measure.nothing();
  uint64_t out = 0, taken = 0;
  const uint64_t last = uint64_t(1) << (levels.size() - 1);
  for (uint64_t step = 1; step < last; ++step) {
    const int level = std::countr_zero(step);
    out ^= uint64_t(1) << level;
    const double sign = out >> level & 1 ? 1.0 : -1.0;
    const auto statistic = levels[size_t(level)];
    for (size_t j = 0; j < left.size(); ++j) left[j] += sign * statistic[j];
    if (improves(measure, left, total, limits, best)) taken = out;
    if ((step & 0xFFFF) == 0) pause();
  }
  if (!taken) return false;
  for (auto& group : best.group) group.clear();
  for (size_t i = 0; i < levels.size(); ++i) best.group[~taken >> i & 1].push_back(levels.code[i]);
  return true;
}

// Levels with equal statistics are of one kind, numbered as they first occur.
template <Measure M> struct LevelKinds {
  std::vector<LevelKind> kinds;
  std::vector<uint32_t> of;  // [n_levels]

  LevelKinds(const Levels& levels, const M& measure) {
    std::vector<size_t> example;
    for (size_t i = 0; i < levels.size(); ++i) {
      const auto is_like = [&](size_t j) { return std::ranges::equal(levels[i], levels[j]); };
      const auto at = size_t(std::ranges::find_if(example, is_like) - example.begin());
      of.push_back(uint32_t(at));
      if (at < example.size()) {
        ++kinds[at].copies;
        continue;
      }
      example.push_back(i);
      LevelKind kind{.size = levels[i].back()};
      for (size_t k = 0; k < measure.classes(); ++k) kind.mass.push_back(measure.mass_in(levels[i], k));
      kinds.push_back(std::move(kind));
    }
  }

  // The first group in the order of `group_by_trying_all` that has `taken` levels of each kind, as bits of the levels,
  // and its place in that order; no bits if the last level, which never moves, would be in it.
  struct Group {
    uint64_t bits = 0, place = 0;
  };
  Group first_group(std::vector<uint32_t> taken) const {
    std::vector<uint32_t> left(kinds.size());
    for (size_t kind = 0; kind < kinds.size(); ++kind) left[kind] = kinds[kind].copies;
    const auto may_stay = [&](size_t kind) { return left[kind] > taken[kind]; };
    if (!may_stay(of.back())) return {};
    --left[of.back()];
    Group group;
    bool is_odd = false;  // a bit of the place is the parity of the bits from there upwards
    for (size_t i = of.size() - 1; i-- > 0;) {
      const uint32_t kind = of[i];
      const bool is_in = is_odd ? taken[kind] > 0 : !may_stay(kind);
      --left[kind], taken[kind] -= is_in, is_odd ^= is_in;
      group.bits |= uint64_t(is_in) << i, group.place |= uint64_t(is_odd) << i;
    }
    return group;
  }
};

// The grouping that `group_by_trying_all` finds, for a measure that compares plain values and has approximate scores.
template <Measure M>
bool group_by_bounds(const Levels& levels, M& measure, std::span<const double> total, Limits limits,
                     const std::function<void()>& pause, Split& best) {
  const LevelKinds<M> level_kinds(levels, measure);
  std::vector<double> parent(measure.classes());
  for (size_t k = 0; k < parent.size(); ++k) parent[k] = measure.parent_mass(k);
  typename LevelKinds<M>::Group found;
  const auto judge = [&](const std::vector<uint32_t>& taken) {
    const auto group = level_kinds.first_group(taken);
    if (!group.bits) return;
    std::vector<double> left = measure.nothing();
    for (size_t i = 0; i < levels.size(); ++i)
      for (size_t j = 0; j < left.size() && group.bits >> i & 1; ++j) left[j] += levels[i][j];
    const size_t size = left.size() - 1;
    if (left[size] < limits.min_leaf || total[size] - left[size] < limits.min_leaf) return;
    const double value = measure.value(left);
    if (value > best.score.value || (value == best.score.value && found.bits && group.place < found.place))
      best.score = measure.score(left, value), found = group;
  };
  std::visit([&](const auto& terms) {
    GroupSearch search(terms, level_kinds.kinds, parent, limits.min_leaf, pause);
    search.run([&](std::vector<uint32_t> taken) {
      judge(taken);
      for (size_t kind = 0; kind < taken.size(); ++kind) taken[kind] = level_kinds.kinds[kind].copies - taken[kind];
      judge(taken);
    });
  }, measure.terms());
  if (!found.bits) return false;
  for (auto& group : best.group) group.clear();
  for (size_t i = 0; i < levels.size(); ++i) best.group[~found.bits >> i & 1].push_back(levels.code[i]);
  return true;
}

}  // namespace baytree::tree::sorted
