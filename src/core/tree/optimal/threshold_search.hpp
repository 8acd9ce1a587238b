// Optimal tree of a given depth over columns with many thresholds, by branch and bound between neighbouring thresholds.
//
// Every test is a threshold of a column of ranks. A node tries the columns as that of its first test; along a column it
// bisects the thresholds. For each threshold that it looks at, it keeps a lower bound of the cost of either side for each
// column that the next test might have. These bounds hold for other thresholds, too: with k more (or fewer) units of
// weight on a side,
// - a tree of more rows costs at least as much as that of fewer: the same tree serves the fewer rows;
// - a tree of fewer rows costs at least that of more, less k errors: the same tree serves the others.
// So intervals of thresholds are excluded without a look, and only the columns that could still be the best next test
// are swept. (Neighbouring thresholds in this way: Brița, van der Linden and Demirović 2025, for whole subtrees.)
//
// With a minimum weight of a leaf the first rule fails: a leaf of the same tree may be too small for the fewer rows. All bounds
// are therefore of trees without a minimum ("free" trees), which cost no more; only a tree that is taken has to respect it.
//
// Costs are integers as in search.hpp, so that of trees of equal cost the smaller wins; which of the others is found does
// not depend on the order of the rows or the number of threads.
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include "tree/optimal/one_split.hpp"
#include "tree/optimal/search.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::optimal {

// Ranks of the rows along each column: [columns, rows].
struct RankTable {
  std::span<const std::int32_t> ranks;
  std::size_t columns, rows;

  std::int32_t at(std::size_t column, std::uint32_t row) const { return ranks[column * rows + row]; }
};

// The rows of a node in the order of each column.
template <std::signed_integral Count> struct SortedRows {
  std::size_t size = 0;
  std::vector<Ranked> ranked;  // [columns, size]
  std::vector<Count> total;    // [classes]
  std::int64_t weight = 0, lost = 0;

  std::span<const Ranked> along(std::size_t column) const { return {ranked.data() + column * size, size}; }
  void count(const Labels<Count>& labels, std::span<const std::int64_t> lost_of_row) {
    total.assign(labels.classes, 0), weight = lost = 0;
    for (const Ranked& at : along(0)) total[labels.label[at.row]] += labels.weight[at.row], lost += lost_of_row[at.row];
    for (const Count of_class : total) weight += of_class;
  }
};

// Whether a search has to end; shared by its threads.
class Deadline {
 public:
  explicit Deadline(const Limits& limits) : limits_(limits), started_(std::chrono::steady_clock::now()), asked_(started_) {}

  // Only the calling thread may ask the user.
  bool has_passed(bool may_ask) {
    if (is_late_ || is_asked_) return true;
    const auto now = std::chrono::steady_clock::now();
    if (std::chrono::duration<double>(now - started_).count() > limits_.seconds) is_late_ = true;
    if (may_ask && now - asked_ > std::chrono::milliseconds(20)) {
      asked_ = now;
      if (limits_.is_stopped()) is_asked_ = true;
    }
    return is_late_ || is_asked_;
  }
  bool is_late() const { return is_late_; }
  bool is_asked() const { return is_asked_; }

 private:
  const Limits& limits_;
  std::chrono::steady_clock::time_point started_, asked_;
  std::atomic<bool> is_late_ = false, is_asked_ = false;
};

// What every node of a search reads.
template <std::signed_integral Count> struct Problem {
  RankTable table;
  Labels<Count> labels;
  std::vector<std::int64_t> lost;          // [rows], as in `Cells`
  std::vector<std::int32_t> first_test;    // [columns], test number of the lowest threshold of each column
  Prices prices;
  Count least;                             // minimum weight of a leaf
  bool is_free;                            // the minimum excludes no leaf
  bool is_plain;                           // every row has weight 1
};

// Search of one thread.
template <std::signed_integral Count> class ThresholdSearch {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 8;

  // The cheapest tree that was found, `never` if none is cheaper than asked, and a lower bound of the cost of all free trees.
  struct Answer {
    std::int64_t cost = never, lower = 0;
    std::int32_t shape = -1;
    std::int64_t shallow = 0;  // lower bound of the free trees that are one level less deep
    std::int64_t proved = never;  // only of `along`: lower bound of the trees that respect the minimum weight of a leaf
  };
  using Bounds = std::vector<std::int64_t>;  // [columns], of the trees whose first test is along a column

  ThresholdSearch(const Problem<Count>& problem, Deadline& deadline, bool may_ask)
      : problem_(problem), deadline_(deadline), may_ask_(may_ask), columns_(problem.table.columns), classes_(problem.labels.classes),
        prices_(problem.prices), sweep_(problem.labels, 1), allowed_sweep_(problem.labels, problem.least) {
    for (std::size_t n = 2; problem.is_plain && n <= std::min(classes_, PairSweep::most_classes); ++n) pair_sweeps_.emplace_back(n);
  }

  std::vector<Shape> shapes;
  std::uint64_t searched = 0;  // evaluated thresholds

  // The best tree of at most a depth, if it costs less than `bound`. `lower` are known bounds by column; they are raised.
  Answer solve(const SortedRows<Count>& rows, int depth, std::int64_t bound, Bounds& lower) {
    const std::int64_t leaf = leaf_cost(rows.total), floor = prices_.mistake * rows.lost;
    Answer best{never, leaf, -1, leaf};
    if (leaf < bound) best.cost = bound = leaf;
    if (depth == 0 || leaf <= floor + 2 * prices_.leaf) return best;
    int down = depth;
    while (down && floor + (down + 1) * prices_.leaf >= bound) --down;  // deeper trees have too many leaves
    const std::int64_t deeper = floor + (down + 2) * prices_.leaf;      // lower bound of theirs
    if (down == 0) return best.lower = best.shallow = std::min(leaf, deeper), best;
    Bounds known(columns_);  // of trees of depth `down`
    for (std::size_t g = 0; g < columns_; ++g) known[g] = std::max(lower[g], floor + 2 * prices_.leaf);
    if (down == 1) try_one_split(rows, bound, best, known);
    else try_columns(rows, down, bound, best, known);
    best.lower = std::min(leaf, *std::ranges::min_element(known));
    for (std::size_t g = 0; g < columns_; ++g) {
      if (down < depth) known[g] = std::min(known[g], deeper);
      lower[g] = std::max(lower[g], known[g]);
    }
    if (down < depth) best.shallow = best.lower = std::min(best.lower, deeper);
    return best;
  }

  // The best tree with a first test along a column, if it costs less than `bound`. `shallow` are bounds of trees that are
  // one level less deep, over the same rows.
  Answer along(const SortedRows<Count>& rows, std::size_t f, int depth, std::int64_t bound, const Bounds& shallow) {
    Parts& parts = parts_at(depth);
    list_cuts(rows, f, parts);
    const std::vector<Cut>& cuts = parts.cuts;
    Answer best{never, never, -1, 0, never};
    if (cuts.empty()) return best;
    const auto raise = [&](std::int64_t free, std::int64_t allowed) { best.lower = std::min(best.lower, free), best.proved = std::min(best.proved, allowed); };
    std::deque<View> views;  // references stay valid
    views.push_back(view_of_none(shallow, rows)), views.push_back(view_of_all(shallow, rows));
    std::deque<Interval> open{{0, cuts.size(), 0, 1}};
    while (!open.empty()) {
      Interval here = open.front();
      open.pop_front();
      const View &low = views[here.low], &high = views[here.high];
      const std::int64_t least = bound_between(low, high);
      if (least >= bound || here.first == here.last || deadline_.has_passed(may_ask_)) {
        if (here.first < here.last) raise(least, least);
        continue;
      }
      const std::size_t n_open = here.last - here.first;
      shrink(here, low, high, cuts, bound);
      if (here.last - here.first < n_open) raise(bound, bound);  // those left out cost no less
      if (here.first == here.last) continue;
      const std::size_t middle = (here.first + here.last) / 2;
      views.push_back(view_between(low, high, cuts[middle].weight));
      View& view = views.back();
      evaluate(rows, f, depth, middle, parts, view, bound, best);
      raise(view.cost(), deadline_.has_passed(may_ask_) ? view.cost() : std::max(view.cost(), bound));
      const std::size_t at = views.size() - 1;
      open.push_back({here.first, middle, here.low, at}), open.push_back({middle + 1, here.last, at, here.high});
    }
    best.lower = std::min(best.lower, best.cost), best.proved = std::min(best.proved, best.cost);
    return best;
  }

 private:
  // Threshold after a position in the order of the column, with the weight of the rows up to there.
  struct Cut {
    std::size_t size;
    std::int64_t weight;
    std::int32_t rank;
  };
  // Bounds of one side of a threshold.
  struct SideBounds {
    Bounds by_column;
    std::int64_t leaf = 0;     // cost as a leaf
    std::int64_t shallow = 0;  // bound of trees that are one level less deep, and one leaf more: a test without effect

    std::int64_t least() const { return std::min(leaf, *std::ranges::min_element(by_column)); }
  };
  struct View {
    SideBounds side[2];
    std::int64_t weight = 0;  // of the lower side
    std::int64_t least[2] = {0, 0};

    std::int64_t cost() const { return least[0] + least[1]; }
  };
  // Thresholds [first, last) between two views.
  struct Interval {
    std::size_t first, last, low, high;
  };
  // The thresholds of a column, and the two sides of one of them.
  struct Parts {
    std::vector<Cut> cuts;
    std::vector<Count> below;  // [cuts, classes]
    std::vector<std::uint8_t> of_row;
    SortedRows<Count> rows[2];
    std::vector<Count> total;  // [2, classes]
  };

  std::int64_t leaf_cost(std::span<const Count> total) const {
    std::int64_t all = 0, most = 0;
    for (const Count n : total) all += n, most = std::max<std::int64_t>(most, n);
    return prices_.mistake * (all - most) + prices_.leaf;
  }
  std::int64_t split_cost(Count correct, std::int64_t weight) const {
    return correct < 0 ? never : prices_.mistake * (weight - std::int64_t(correct)) + 2 * prices_.leaf;
  }
  std::int32_t test(std::size_t column, std::int32_t rank) const { return problem_.first_test[column] + rank; }
  std::int32_t stored(const Shape& shape) { return shapes.push_back(shape), std::int32_t(shapes.size()) - 1; }

  void try_one_split(const SortedRows<Count>& rows, std::int64_t bound, Answer& best, Bounds& known) {
    Shape found;
    for (std::size_t g = 0; g < columns_; ++g) {
      OneSplit<Count> split = sweep_.of_all(rows.along(g), rows.total);
      std::int64_t cost = known[g] = split_cost(split.correct, rows.weight);
      if (cost >= bound) continue;
      if (!problem_.is_free) split = allowed_sweep_.of_all(rows.along(g), rows.total), cost = split_cost(split.correct, rows.weight);
      if (cost < bound) best.cost = bound = cost, found.test = test(g, split.rank);
    }
    if (found.test >= 0) best.shape = stored(found);
  }

  void try_columns(const SortedRows<Count>& rows, int depth, std::int64_t bound, Answer& best, Bounds& known) {
    Bounds shallow(columns_, 0);
    const Answer first = solve(rows, depth - 1, bound, shallow);
    best.shallow = first.lower;
    if (first.cost < bound) best.cost = bound = first.cost, best.shape = first.shape;
    std::vector<std::size_t> order(columns_);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, {}, [&](std::size_t g) { return std::pair(known[g], shallow[g]); });
    for (const std::size_t g : order) {
      if (known[g] >= bound) continue;
      const Answer found = along(rows, g, depth, bound, shallow);
      known[g] = std::max(known[g], found.lower);
      if (found.cost < bound) best.cost = bound = found.cost, best.shape = found.shape;
    }
  }

  // All thresholds, and the class weights below each: [cuts, classes].
  void list_cuts(const SortedRows<Count>& rows, std::size_t f, Parts& parts) const {
    const std::span<const Ranked> ranked = rows.along(f);
    parts.cuts.clear(), parts.below.clear(), parts.total.assign(2 * classes_, 0);
    std::int64_t weight = 0;
    for (std::size_t i = 0; i + 1 < ranked.size(); ++i) {
      const std::uint32_t row = ranked[i].row;
      weight += problem_.labels.weight[row], parts.total[problem_.labels.label[row]] += problem_.labels.weight[row];
      if (ranked[i].rank == ranked[i + 1].rank) continue;
      parts.cuts.push_back({i + 1, weight, std::int32_t(ranked[i].rank)});
      parts.below.insert(parts.below.end(), parts.total.begin(), parts.total.begin() + std::ptrdiff_t(classes_));
    }
  }

  // Beyond the ends of a column: no rows on one side, all on the other.
  View view_of_none(const Bounds& shallow, const SortedRows<Count>& rows) const {
    View view;
    const std::int64_t leaf = prices_.leaf;
    view.side[0] = {Bounds(columns_, 2 * leaf), leaf, 2 * leaf};
    view.side[1] = {shallow, leaf_cost(rows.total), 0};
    view.least[0] = leaf, view.least[1] = view.side[1].least();
    return view;
  }
  View view_of_all(const Bounds& shallow, const SortedRows<Count>& rows) const {
    View view = view_of_none(shallow, rows);
    std::swap(view.side[0], view.side[1]), std::swap(view.least[0], view.least[1]);
    view.weight = rows.weight;
    return view;
  }

  // What two views say of a threshold between them.
  View view_between(const View& low, const View& high, std::int64_t weight) const {
    View view;
    view.weight = weight;
    const auto fill = [&](int side, const View& fewer, const View& more, std::int64_t apart) {
      const SideBounds &inner = fewer.side[side], &outer = more.side[side];
      const std::int64_t change = prices_.mistake * apart;
      Bounds& by_column = view.side[side].by_column;
      by_column.resize(columns_);
      for (std::size_t g = 0; g < columns_; ++g)
        by_column[g] = std::max({2 * prices_.leaf, outer.by_column[g] - change, std::min(inner.by_column[g], inner.shallow)});
      view.least[side] = std::max(fewer.least[side], more.least[side] - change);
    };
    fill(0, low, high, high.weight - weight), fill(1, high, low, weight - low.weight);
    return view;
  }

  std::int64_t bound_between(const View& low, const View& high) const {
    const std::int64_t apart = low.least[1] + high.least[0] - prices_.mistake * (high.weight - low.weight);
    return std::max(low.least[0] + high.least[1], apart);
  }

  // Leaves out the thresholds at both ends that are too close to a view to be better than `bound`.
  void shrink(Interval& here, const View& low, const View& high, const std::vector<Cut>& cuts, std::int64_t bound) const {
    const auto is_close = [&](const View& view, std::int64_t apart) { return view.cost() - prices_.mistake * apart >= bound; };
    const auto from = cuts.begin() + std::ptrdiff_t(here.first), to = cuts.begin() + std::ptrdiff_t(here.last);
    const auto first = std::partition_point(from, to, [&](const Cut& cut) { return is_close(low, cut.weight - low.weight); });
    const auto last = std::partition_point(first, to, [&](const Cut& cut) { return !is_close(high, high.weight - cut.weight); });
    here.first = std::size_t(first - cuts.begin()), here.last = std::size_t(last - cuts.begin());
  }

  Parts& parts_at(int depth) {
    while (parts_.size() <= std::size_t(depth)) parts_.push_back(std::make_unique<Parts>());
    Parts& parts = *parts_[std::size_t(depth)];
    parts.of_row.resize(problem_.table.rows);
    return parts;
  }

  void evaluate(const SortedRows<Count>& rows, std::size_t f, int depth, std::size_t at, Parts& parts, View& view, std::int64_t& bound,
                Answer& best) {
    const Cut& cut = parts.cuts[at];
    for (std::size_t c = 0; c < classes_; ++c) {
      parts.total[c] = parts.below[at * classes_ + c];
      parts.total[classes_ + c] = rows.total[c] - parts.total[c];
    }
    for (std::size_t s = 0; s < 2; ++s) {
      view.side[s].leaf = leaf_cost(std::span<const Count>(parts.total).subspan(s * classes_, classes_));
      view.side[s].shallow = depth == 2 ? view.side[s].leaf + prices_.leaf : std::max(view.least[s], prices_.leaf) + prices_.leaf;
      view.least[s] = std::max(view.least[s], view.side[s].least());
    }
    if (view.cost() >= bound) return;
    const bool is_allowed = cut.weight >= problem_.least && rows.weight - cut.weight >= problem_.least;
    if (depth > 2 && !is_allowed) return;
    ++searched;
    divide(rows, f, cut, parts);
    if (depth == 2) evaluate_by_sweeps(rows, f, cut, parts, view, bound, best);
    else evaluate_by_search(rows, f, depth, cut, parts, view, bound, best);
  }

  void divide(const SortedRows<Count>& rows, std::size_t f, const Cut& cut, Parts& parts) const {
    const std::span<const Ranked> ranked = rows.along(f);
    for (std::size_t i = 0; i < ranked.size(); ++i) parts.of_row[ranked[i].row] = i >= cut.size;
  }

  // Sides of one test each: sweeps the columns that might be the best of either side, until the bounds are exact there.
  void evaluate_by_sweeps(const SortedRows<Count>& rows, std::size_t f, const Cut& cut, const Parts& parts, View& view, std::int64_t& bound,
                          Answer& best) {
    swept_.assign(columns_, false);
    const std::int64_t weight[2] = {cut.weight, rows.weight - cut.weight};
    const std::size_t n_present = problem_.is_plain && rows.size <= PairSweep::most_rows ? write_cells(rows, parts) : 0;
    const PairSweep* const sweep = n_present > 1 && n_present <= PairSweep::most_classes ? &pair_sweeps_[n_present - 2] : nullptr;
    for (;;) {
      if (view.cost() >= bound) return;
      std::size_t next = columns_;
      std::size_t column[2];
      for (std::size_t s = 0; s < 2; ++s) {
        const Bounds& bounds = view.side[s].by_column;
        column[s] = std::size_t(std::ranges::min_element(bounds) - bounds.begin());
        if (view.side[s].leaf <= bounds[column[s]]) column[s] = columns_;  // a leaf is best
        else if (!swept_[column[s]]) next = column[s];
      }
      if (next == columns_ && !problem_.is_free) return take_allowed(rows, f, cut, parts, view, bound, best);
      if (next == columns_) {
        best.cost = bound = view.cost();
        std::int32_t child[2] = {-1, -1};
        for (std::size_t s = 0; s < 2; ++s)
          if (column[s] < columns_)
            child[s] = stored({test(column[s], sweep_.of_parts(rows.along(column[s]), parts.of_row.data(), parts.total)[s].rank), -1, -1});
        best.shape = stored({test(f, cut.rank), child[0], child[1]});
        return;
      }
      std::array<Count, 2> correct;
      if (sweep) {
        correct = sweep->most_correct<Count>(rows.along(next), cells_.data(), cell_total_);
      } else {
        const auto splits = sweep_.of_parts(rows.along(next), parts.of_row.data(), parts.total);
        correct = {splits[0].correct, splits[1].correct};
      }
      swept_[next] = true;
      for (std::size_t s = 0; s < 2; ++s) {
        view.side[s].by_column[next] = split_cost(correct[s], weight[s]);
        view.least[s] = std::max(view.least[s], view.side[s].least());
      }
    }
  }

  // The best tree with a leaf or one test on either side among those with enough weight in each leaf. The bounds of the view
  // tell the columns that may be the next test.
  void take_allowed(const SortedRows<Count>& rows, std::size_t f, const Cut& cut, const Parts& parts, const View& view, std::int64_t& bound, Answer& best) {
    const std::int64_t weight[2] = {cut.weight, rows.weight - cut.weight};
    if (weight[0] < problem_.least || weight[1] < problem_.least) return;
    std::int64_t cost[2] = {view.side[0].leaf, view.side[1].leaf};
    Shape found[2];
    order_.resize(columns_);
    std::iota(order_.begin(), order_.end(), std::size_t(0));
    const auto bound_of = [&](std::size_t g) { return std::min(view.side[0].by_column[g] - view.least[0], view.side[1].by_column[g] - view.least[1]); };
    std::ranges::stable_sort(order_, {}, bound_of);
    for (const std::size_t g : order_) {
      const auto may_matter = [&](std::size_t s) {
        return view.side[s].by_column[g] < std::min(cost[s], bound - view.least[1 - s]);
      };
      if (!may_matter(0) && !may_matter(1)) continue;
      const auto splits = allowed_sweep_.of_parts(rows.along(g), parts.of_row.data(), parts.total);
      for (std::size_t s = 0; s < 2; ++s) {
        const std::int64_t split = split_cost(splits[s].correct, weight[s]);
        if (split < cost[s]) cost[s] = split, found[s].test = test(g, splits[s].rank);
      }
    }
    if (cost[0] + cost[1] >= bound) return;
    best.cost = bound = cost[0] + cost[1];
    std::int32_t child[2] = {-1, -1};
    for (std::size_t s = 0; s < 2; ++s)
      if (found[s].test >= 0) child[s] = stored(found[s]);
    best.shape = stored({test(f, cut.rank), child[0], child[1]});
  }

  // What the sweeps read of each row: its part, and its class among those that are present. Returns the number of these.
  std::size_t write_cells(const SortedRows<Count>& rows, const Parts& parts) {
    place_.resize(classes_), cell_total_.clear();
    std::uint32_t present = 0;
    for (std::size_t c = 0; c < classes_; ++c)
      if (rows.total[c] > 0) place_[c] = present++;
    for (std::size_t part = 0; part < 2; ++part)
      for (std::size_t c = 0; c < classes_; ++c)
        if (rows.total[c] > 0) cell_total_.push_back(parts.total[part * classes_ + c]);
    cells_.resize(problem_.table.rows);
    for (const Ranked& at : rows.along(0)) cells_[at.row] = parts.of_row[at.row] * present + place_[problem_.labels.label[at.row]];
    return present;
  }

  // Deeper sides: the side with the more expensive leaf first, and the other one only if it may still matter.
  void evaluate_by_search(const SortedRows<Count>& rows, std::size_t f, int depth, const Cut& cut, Parts& parts, View& view, std::int64_t& bound,
                          Answer& best) {
    if (view.cost() >= bound) return;
    split(rows, cut, parts);
    Answer found[2];
    const std::size_t first = view.side[1].leaf > view.side[0].leaf;
    for (const std::size_t s : {first, 1 - first}) {
      const std::int64_t other = s == first ? view.least[1 - s] : found[first].cost;
      found[s] = solve(parts.rows[s], depth - 1, bound - other, view.side[s].by_column);
      view.least[s] = std::max(view.least[s], found[s].lower);
      view.side[s].shallow = found[s].shallow + prices_.leaf;
      if (found[s].cost == never) break;
    }
    if (found[0].cost == never || found[1].cost == never || found[0].cost + found[1].cost >= bound) return;
    best.cost = bound = found[0].cost + found[1].cost;
    best.shape = stored({test(f, cut.rank), found[0].shape, found[1].shape});
  }

  void split(const SortedRows<Count>& rows, const Cut& cut, Parts& parts) const {
    for (std::size_t s = 0; s < 2; ++s) {
      parts.rows[s].size = s ? rows.size - cut.size : cut.size;
      parts.rows[s].ranked.resize(columns_ * parts.rows[s].size);
    }
    for (std::size_t g = 0; g < columns_; ++g) {
      Ranked* to[2] = {parts.rows[0].ranked.data() + g * parts.rows[0].size, parts.rows[1].ranked.data() + g * parts.rows[1].size};
      for (const Ranked& at : rows.along(g)) *to[parts.of_row[at.row]]++ = at;
    }
    for (auto& side : parts.rows) side.count(problem_.labels, problem_.lost);
  }

  const Problem<Count>& problem_;
  Deadline& deadline_;
  bool may_ask_;
  std::size_t columns_, classes_;
  Prices prices_;
  SplitSweep<Count> sweep_, allowed_sweep_;  // for free trees, and with the minimum weight
  std::vector<PairSweep> pair_sweeps_;  // for 2, 3, ... classes
  std::vector<std::unique_ptr<Parts>> parts_;  // by depth
  std::vector<std::uint8_t> swept_;  // [columns]
  std::vector<std::size_t> order_;   // [columns]
  std::vector<std::uint32_t> cells_;  // [rows], part and class
  std::vector<std::uint32_t> place_;  // [classes], among those that are present
  std::vector<Count> cell_total_;     // [parts, present classes]
};

// Search of the whole table. Columns at the root are tried in rounds; those of a round share one bound, so that the tree
// does not depend on the number of threads.
template <std::signed_integral Count> class TableSearch {
 public:
  TableSearch(const RankTable& table, std::span<const std::int32_t> label, std::span<const std::int64_t> weight, std::size_t classes,
              Prices prices, const Limits& limits, int threads)
      : limits_(limits), deadline_(limits), workers_(threads, [this] { return deadline_.has_passed(true), false; }) {
    problem_ = {table, {{label.begin(), label.end()}, {weight.begin(), weight.end()}, classes}, lost_weights(table, label, weight, classes),
                {}, prices, Count(limits.least), limits.least <= *std::ranges::min_element(weight), false};
    problem_.is_plain = *std::ranges::max_element(weight) == 1;
    rows_.size = table.rows, rows_.ranked.resize(table.columns * table.rows);
    std::int32_t tests = 0;
    for (std::size_t g = 0; g < table.columns; ++g) {
      problem_.first_test.push_back(tests);
      tests += sort_along(g);
    }
    rows_.count(problem_.labels, problem_.lost);
    for (int worker = 0; worker < threads; ++worker) searches_.push_back(std::make_unique<ThresholdSearch<Count>>(problem_, deadline_, worker == 0));
  }

  // The best tree, if it costs less than a tree that is already known; else no tree at the known cost.
  Found run(std::int64_t known_cost) {
    const Prices prices = problem_.prices;
    const std::int64_t floor = prices.mistake * rows_.lost;
    typename ThresholdSearch<Count>::Bounds shallow(problem_.table.columns, 0);
    Answer best = searches_[0]->solve(rows_, std::min(limits_.max_depth, 1), ThresholdSearch<Count>::never, shallow);
    copy(best, *searches_[0]);
    std::int64_t lower = best.cost;
    if (known_cost <= best.cost) best.cost = known_cost, shapes_.clear();
    for (int depth = 2; depth <= limits_.max_depth; ++depth) {
      if (floor + (depth + 1) * prices.leaf >= best.cost) break;  // deeper trees have too many leaves
      std::tie(lower, shallow) = try_columns(depth, best, shallow);
      if (deadline_.has_passed(true)) {
        if (depth < limits_.max_depth) lower = std::min(best.cost, floor + 2 * prices.leaf);
        break;
      }
    }
    std::uint64_t searched = 1;
    for (const auto& search : searches_) searched += search->searched;
    return {shapes_, best.cost, std::min(lower, best.cost), searched, deadline_.is_late(), deadline_.is_asked()};
  }

 private:
  using Answer = typename ThresholdSearch<Count>::Answer;
  using Bounds = typename ThresholdSearch<Count>::Bounds;

  // Trees of a depth: improves the best one, and returns lower bounds for all of them and by column.
  std::pair<std::int64_t, Bounds> try_columns(int depth, Answer& best, const Bounds& shallow) {
    const std::size_t columns = shallow.size();
    std::vector<std::size_t> order(columns);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, {}, [&](std::size_t g) { return shallow[g]; });
    Bounds known(columns, problem_.prices.mistake * rows_.lost + 2 * problem_.prices.leaf);  // of free trees
    std::int64_t lower = best.cost;
    for (std::size_t first = 0, width = 1; first < columns; first += width, width = std::max<std::size_t>(1, first)) {
      const std::size_t n = std::min(width, columns - first);
      std::vector<std::pair<Answer, int>> found(n);
      workers_.run(n, [&](std::size_t i, int worker) {
        found[i] = {searches_[std::size_t(worker)]->along(rows_, order[first + i], depth, best.cost, shallow), worker};
      });
      for (std::size_t i = 0; i < n; ++i) {
        const auto& [answer, worker] = found[i];
        known[order[first + i]] = std::max(known[order[first + i]], answer.lower);
        lower = std::min(lower, answer.proved);
        if (answer.cost < best.cost) best = answer, copy(best, *searches_[std::size_t(worker)]);
      }
    }
    return {std::min(best.cost, lower), known};
  }

  // Keeps a tree, children before parents, so that the root is last.
  void copy(const Answer& answer, const ThresholdSearch<Count>& from) {
    shapes_.clear();
    copy(answer.shape, from.shapes);
  }
  std::int32_t copy(std::int32_t shape, const std::vector<Shape>& from) {
    if (shape < 0) return -1;
    const Shape& node = from[std::size_t(shape)];
    const std::int32_t low = copy(node.low, from), high = copy(node.high, from);
    shapes_.push_back({node.test, low, high});
    return std::int32_t(shapes_.size()) - 1;
  }

  // Sorts the rows along a column; returns its number of thresholds.
  std::int32_t sort_along(std::size_t column) {
    const RankTable& table = problem_.table;
    std::vector<std::uint32_t> start(table.rows + 2, 0);
    std::int32_t highest = 0;
    for (std::uint32_t row = 0; row < table.rows; ++row) ++start[std::size_t(table.at(column, row)) + 1], highest = std::max(highest, table.at(column, row));
    std::partial_sum(start.begin(), start.end(), start.begin());
    for (std::uint32_t row = 0; row < table.rows; ++row) {
      const auto rank = std::uint32_t(table.at(column, row));
      rows_.ranked[column * table.rows + start[rank]++] = {row, rank};
    }
    return highest;
  }

  static std::vector<std::int64_t> lost_weights(const RankTable& table, std::span<const std::int32_t> label, std::span<const std::int64_t> weight,
                                                std::size_t classes) {
    std::vector<std::uint64_t> hash(table.rows, 0);
    for (std::size_t g = 0; g < table.columns; ++g)
      for (std::uint32_t row = 0; row < table.rows; ++row) hash[row] = (hash[row] ^ std::uint64_t(table.at(g, row))) * 0x9E3779B97F4A7C15u;
    std::vector<std::uint32_t> order(table.rows);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return hash[row]; });
    const auto are_equal = [&](std::uint32_t a, std::uint32_t b) {
      for (std::size_t g = 0; g < table.columns; ++g)
        if (table.at(g, a) != table.at(g, b)) return false;
      return true;
    };
    std::vector<std::int64_t> lost(table.rows, 0), of_class;
    for (std::size_t first = 0, last; first < order.size(); first = last) {
      of_class.assign(classes, 0);
      std::int64_t all = 0;
      for (last = first; last < order.size() && are_equal(order[first], order[last]); ++last)
        of_class[std::size_t(label[order[last]])] += weight[order[last]], all += weight[order[last]];
      lost[order[first]] = all - *std::ranges::max_element(of_class);
    }
    return lost;
  }

  const Limits& limits_;
  Deadline deadline_;
  Workers workers_;
  Problem<Count> problem_;
  SortedRows<Count> rows_;
  std::vector<std::unique_ptr<ThresholdSearch<Count>>> searches_;  // by thread
  std::vector<Shape> shapes_;
};

}  // namespace baytree::tree::optimal
