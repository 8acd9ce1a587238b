// A column of features in the order of its values.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace baytree::linear::splines {

// A column in ascending order of its values; `row` is where each of them stands in the table.
struct Sorted {
  std::span<const double> x;
  std::span<const std::int32_t> row;
  std::size_t size() const { return x.size(); }
  // The first rank above the least value. What lies there adds nothing to any hinge, and of a mark that is most of the rows.
  std::size_t above_least() const { return static_cast<std::size_t>(std::ranges::upper_bound(x, x[0]) - x.begin()); }
};

// Writes the values of a column and their rows in ascending order, equals as they come. Marks of levels, which are most columns of a table
// with levels, have two values: these are dealt to two sides.
inline void sort_column(std::span<const double> x, std::span<double> sorted, std::span<std::int32_t> row) {
  const auto [least, most] = std::ranges::minmax(x);
  const auto n_least = static_cast<std::size_t>(std::ranges::count(x, least));
  if (n_least + static_cast<std::size_t>(std::ranges::count(x, most)) >= x.size()) {
    std::size_t next[2] = {0, n_least};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t at = next[x[i] != least]++;
      sorted[at] = x[i], row[at] = static_cast<std::int32_t>(i);
    }
    return;
  }
  std::vector<std::pair<double, std::int32_t>> order(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) order[i] = {x[i], static_cast<std::int32_t>(i)};
  std::ranges::sort(order);
  for (std::size_t i = 0; i < x.size(); ++i) sorted[i] = order[i].first, row[i] = order[i].second;
}

}  // namespace baytree::linear::splines
