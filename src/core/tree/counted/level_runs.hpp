// Very many levels in fewer runs of similar outcome and weight.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace baytree::tree::counted {

// The run of each level, in the order of their outcomes; of equal ones, in their own. Runs are numbered in the order of their first levels.
inline std::vector<int32_t> level_runs(std::span<const double> outcome, std::span<const double> weight, size_t most) {
  std::vector<size_t> order(outcome.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::stable_sort(order, {}, [&](size_t level) { return outcome[level]; });
  std::vector<double> middle(order.size());  // of the weight that a level adds to those before it
  double reached = 0;
  for (const size_t level : order) reached += weight[level], middle[level] = reached - weight[level] / 2;
  const double end = middle[order.back()], n = static_cast<double>(most);
  std::vector<int32_t> run(order.size()), number(most, -1);
  int32_t n_runs = 0;
  for (size_t level = 0; level < run.size(); ++level) {
    int32_t& own = number[static_cast<size_t>(std::min(middle[level] / end * n, n - 1))];
    if (own < 0) own = n_runs++;
    run[level] = own;
  }
  return run;
}

}  // namespace baytree::tree::counted
