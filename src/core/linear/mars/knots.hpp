// The candidate knots of one column and one parent term, and statistics of the hinge at each knot.
//
// A hinge is h = b max(0, x - t) with parent column b and knot t. Going down the sorted rows from one knot to the next,
// the product of h with any column q is an integral: with s = Σ b q over the rows above t, h'q grows by s dt. So one
// pass over the rows gives h'q at every knot, and a new column of the basis requires no pass over the old ones.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace baytree::linear::mars {

// A column in ascending order of its values; `row` holds the row of each value.
struct Sorted {
  std::span<const double> x;
  std::span<const std::int32_t> row;
  std::size_t size() const { return x.size(); }
  // First rank above the minimum. The rows at the minimum contribute nothing to any hinge; for a one-hot column these
  // are most rows.
  std::size_t above_least() const { return static_cast<std::size_t>(std::ranges::upper_bound(x, x[0]) - x.begin()); }
};

// Writes the values of a column and their rows in ascending order (stable). One-hot columns have two values and are
// partitioned instead.
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

// Ranks that may be knots: from `end` up, starting with the `first`-th that counts, then every `step`-th.
struct Spans {
  std::size_t end, first, step;
};

// The rows above the minimum of x where the parent is not 0, in descending order of x.
struct Support {
  std::vector<double> x, b;
  std::vector<std::int32_t> rank;
  std::size_t size = 0;

  void of(const Sorted& column, std::span<const double> parent) {
    const std::size_t n = column.size(), least = column.above_least();
    x.resize(n - least + 1), b.resize(n - least + 1), rank.resize(n - least + 1);
    size = 0;
    for (std::size_t i = n; i-- > least;) {  // branch-free: zeros of a parent are unpredictable
      const double value = parent[static_cast<std::size_t>(column.row[i])];
      x[size] = column.x[i], b[size] = value, rank[size] = static_cast<std::int32_t>(i);
      size += value != 0;
    }
  }
};

// Knots from the highest to the lowest, followed by the linear term, which is the hinge with its knot at the minimum of
// x.
struct Knots {
  std::vector<std::int32_t> rank;    // [knots]
  std::vector<std::size_t> above;    // rows of the support above each knot, and above that of the linear term
  std::vector<double> t;             // [knots + 1]
  std::vector<double> spread;        // S = |h|^2, of the centred h if rows are unweighted; [knots + 1]
  std::vector<double> with_line;     // h'u with u the hinge of the linear term; [knots]
  std::vector<double> explained;     // sum over q of (h'q)^2; [knots + 1]
  std::vector<double> shared;        // sum over q of (h'q)(u'q); [knots]
  std::vector<double> pull;          // h'y minus the part explained by the basis; [responses, knots + 1]
  std::size_t done = 0;              // columns of the basis that are included
  bool has_line = true;

  std::size_t size() const { return rank.size(); }
  std::size_t bytes() const {
    return rank.capacity() * 4 + 8 * (above.size() + t.size() + spread.size() + with_line.size() + explained.size() + shared.size() + pull.size());
  }
};

// h'q of `width` columns at every knot and at the linear term; `row_at(rank)` returns the values of a row. out [knots +
// 1, width]
template <std::size_t kWidth, typename RowAt>
void integrate(const Support& rows, const Knots& knots, std::size_t width, const RowAt& row_at, double* sum, double* area,
               double* out) {
  const std::size_t w = kWidth ? kWidth : width;
  for (std::size_t c = 0; c < w; ++c) sum[c] = area[c] = 0;
  double at = rows.size ? rows.x[0] : 0.0;
  std::size_t i = 0;
  for (std::size_t k = 0; k < knots.t.size(); ++k) {
    for (; i < knots.above[k]; ++i) {
      const double* const q = row_at(rows.rank[i]);
      const double down = at - rows.x[i], b = rows.b[i];
      for (std::size_t c = 0; c < w; ++c) {
        area[c] += sum[c] * down;
        sum[c] += b * q[c];
      }
      at = rows.x[i];
    }
    const double down = at - knots.t[k];
    for (std::size_t c = 0; c < w; ++c) out[k * w + c] = area[c] + sum[c] * down;
  }
}

// Squares of the hinges that are not known yet, and their products with the linear term. `found` [knots and linear
// term, responses + 1] has sums of b in its last column; `number` of rows, 0 if hinges are not centred.
inline void measure(const Support& rows, std::span<const double> found, std::size_t responses, double number, Knots& knots) {
  const std::size_t n = knots.size(), width = responses + 1;
  const double of_line = found[n * width + responses], low = knots.t[n];
  double weight = 0, first = 0, square = 0, at = rows.size ? rows.x[0] : 0.0;
  const auto go_down = [&](double to) {
    const double down = at - to;
    square += down * (2 * first + down * weight);
    first += down * weight;
    at = to;
  };
  for (std::size_t k = 0, i = 0; k <= n; ++k) {
    for (; i < knots.above[k]; ++i) {
      go_down(rows.x[i]);
      weight += rows.b[i] * rows.b[i];
    }
    go_down(knots.t[k]);
    const double mean = number > 0 ? found[k * width + responses] / number : 0.0;
    if (k < n) knots.with_line[k] = square + (knots.t[k] - low) * first - mean * of_line;
    if (k == n || number == 0) knots.spread.push_back(square - mean * found[k * width + responses]);
  }
}

// Places the knots and computes the statistics of their hinges. A knot at the maximum is a zero hinge, and a knot equal
// to the previous one has the same gain; neither can win, so a one-hot column has one knot. The order of operations in
// the centred sum of squares is part of the algorithm: among equal values only rounding decides whether a rank counts,
// so nothing may be fused or rearranged.
inline void place_centred(const Sorted& column, std::span<const double> parent, const Spans& spans, Knots& out) {
  const std::size_t n = column.size();
  const double number = static_cast<double>(n);
  double s = 0, s2 = 0, sx = 0, s2x = 0, u = 0, spread = 0;
  std::size_t counted = 0, next = spans.first;
  for (std::size_t i = n - 1; i-- > spans.end;) {
    const double x1 = column.x[i + 1], x0 = column.x[i], b1 = parent[static_cast<std::size_t>(column.row[i + 1])];
    s += b1;
    s2 += b1 * b1;
    sx += b1 * x1;
    s2x += b1 * b1 * x1;
    const double old = u;
    u = sx - s * x0;
    spread += (x1 - x0) * (2 * s2x - s2 * (x0 + x1)) + (old * old - u * u) / number;
    if (b1 > 0 && spread > 0 && ++counted == next) {
      next += spans.step;
      const bool is_same = !out.rank.empty() && column.x[static_cast<std::size_t>(out.rank.back())] == x0 && out.spread.back() == spread;
      if (is_same || x0 == column.x[n - 1]) continue;
      out.rank.push_back(static_cast<std::int32_t>(i));
      out.spread.push_back(spread);
      if (x0 == 0 && column.x[0] == 0) return;  // nothing more is added to any sum
    }
  }
}

// The same for weighted rows, whose hinges are not centred: every rank with a row of the parent above it counts.
inline void place_weighted(const Sorted& column, std::span<const double> parent, const Spans& spans, Knots& out) {
  std::size_t counted = 0, next = spans.first;
  for (std::size_t i = column.size() - 1; i-- > spans.end;)
    if (parent[static_cast<std::size_t>(column.row[i + 1])] > 0 && ++counted == next) {
      next += spans.step;
      const bool is_same = !out.rank.empty() && column.x[static_cast<std::size_t>(out.rank.back())] == column.x[i];
      if (!is_same && column.x[i] != column.x.back()) out.rank.push_back(static_cast<std::int32_t>(i));
    }
}

}  // namespace baytree::linear::mars
