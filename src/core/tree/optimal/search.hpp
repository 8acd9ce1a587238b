// Optimal tree of a given depth by branch and bound over the tests; the last two levels are derived from counts of
// pairs of tests.
//
// Costs are integers: weight of the errors, plus a price per leaf that is slightly above the requested one, so that of
// trees of equal cost the smaller wins. Remaining ties go to the earlier test, node by node from the root, whatever the
// order of the search. Bounds:
// - rows with identical test results (`Cell::lost`);
// - a tree of depth d has more than d leaves, each at its price;
// - a superset of rows, except for a few, costs at least as much, minus their weight (similar support, Hu et al. 2020);
// - branches with the same tests in another order are cached.
#pragma once
#include <chrono>
#include <functional>
#include <memory>

#include "tree/optimal/branch_cache.hpp"
#include "tree/optimal/depth_two.hpp"

namespace baytree::tree::optimal {

struct Limits {
  int max_depth;
  std::int64_t least;                // minimum weight of a leaf
  double seconds;                    // time limit
  std::function<bool()> is_stopped;  // called from time to time
};

struct Found {
  std::vector<Shape> shapes;  // the last one is the root; empty if the tree is a leaf
  std::int64_t cost, lower;   // of the tree, and lower bound over all trees
  std::uint64_t searched;     // number of evaluated sets of rows
  bool is_stopped_by_time, is_stopped_by_user;
};

template <std::signed_integral Count> class Search {
 public:
  Search(const RowBits& rows, std::span<const std::int32_t> label, std::span<const std::int64_t> weight, std::size_t classes,
         Prices prices, const Limits& limits)
      : tests_(rows.tests), classes_(classes), prices_(prices), limits_(limits), least_(Count(limits.least)), cells_(rows, label, weight),
        part_(tests_, classes), judge_(tests_, classes, prices, least_), other_judge_(tests_, classes, prices, least_) {
    std::int64_t lightest = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t w : weight) if (w > 0) lightest = std::min(lightest, w);
    is_monotone_ = limits.least <= lightest;
  }

  Found run() {
    std::vector<std::uint32_t> all(cells_.size());
    std::iota(all.begin(), all.end(), 0u);
    started_ = asked_ = std::chrono::steady_clock::now();
    Answer best = leaf_answer(all, std::numeric_limits<std::int64_t>::max());
    const int deepest = tests_ ? limits_.max_depth : 0;
    best.lower = deepest ? std::min(best.cost, lost(all) + prices_.leaf) : best.cost;
    for (int depth = std::min(deepest, 2); depth > 0 && depth <= deepest && !is_stopped(); ++depth) {
      Answer found = solve(all, depth, Branch(), best.cost + 1);  // of ties the canonical one of this depth
      if (!found.is_found) found.cost = best.cost, found.shape = best.shape;
      found.lower = depth < deepest ? best.lower : std::min(found.lower, found.cost);
      best = found;
    }
    Found out{{}, best.cost, best.lower, searched_, is_late_, is_asked_};
    copy(best.shape, out.shapes);
    return out;
  }

 private:
  struct Answer {
    bool is_found = false;
    std::int64_t cost = 0, lower = 0;
    std::int32_t shape = -1;
  };
  using Set = std::vector<std::uint32_t>;  // cells, ascending

  // State of a node while its tests are tried.
  struct Trial {
    const PairTable<Count>& all;
    int depth;
    const Branch& branch;
    Answer best;  // its cost is the bound if nothing is found
    std::int32_t test = -1;
    std::vector<std::int64_t> both;          // [tests, tests], weight of the rows where both hold
    std::vector<std::int64_t> lost;          // [tests, 2], weight misclassified by every tree, on either side
    std::vector<std::int64_t> low, high;     // lower bounds of the sides of tried tests
    std::vector<std::size_t> tried;
    std::int64_t weight = 0, all_lost = 0;

    // The earlier test wins ties.
    std::int64_t limit(std::size_t t) const { return best.cost + (test >= 0 && t < std::size_t(test) ? 1 : 0); }
    void take(std::size_t t, std::int64_t cost, std::int32_t shape) {
      best.is_found = true, best.cost = cost, best.shape = shape, test = std::int32_t(t);
    }
  };

  // The best tree of a depth over a set, if it costs less than `bound`.
  Answer solve(const Set& set, int depth, const Branch& branch, std::int64_t bound) {
    if (const Known* known = seen_.find(branch, depth)) {
      if (known->lower >= bound) return {false, 0, known->lower, -1};
      if (known->is_exact && known->has_shape) return {true, known->lower, known->lower, known->shape};
    }
    const Answer leaf = leaf_answer(set, bound);
    const std::int64_t least = lost(set);
    if (depth == 0 || leaf.lower <= least + 2 * prices_.leaf) return leaf;  // its lower bound is its exact cost here
    int down = depth;
    while (down && least + (down + 1) * prices_.leaf >= bound) --down;  // deeper trees have too many leaves
    if (down == 0) return leaf.is_found ? leaf : Answer{false, 0, std::min(leaf.cost, least + 2 * prices_.leaf), -1};
    Answer found = down == 1 ? one_level(set, leaf, bound) : down == 2 ? two_levels(set, leaf, bound) : more_levels(set, down, branch, leaf, bound);
    if (!found.is_found && down < depth) found.lower = std::min(found.lower, least + (down + 2) * prices_.leaf);
    if (!is_ended_) seen_.keep(branch, depth, {found.lower, found.is_found, found.shape, found.is_found});
    return found;
  }

  Answer leaf_answer(const Set& set, std::int64_t bound) const {
    std::vector<std::int64_t> of_class(classes_);
    for (const std::uint32_t cell : set) of_class[std::size_t(cells_[cell].label)] += cells_[cell].unit;
    const std::int64_t all = std::accumulate(of_class.begin(), of_class.end(), std::int64_t(0));
    const std::int64_t cost = prices_.mistake * (all - *std::max_element(of_class.begin(), of_class.end())) + prices_.leaf;
    return {cost < bound, cost, cost, -1};
  }
  std::int64_t lost(const Set& set) const {
    std::int64_t sum = 0;
    for (const std::uint32_t cell : set) sum += cells_[cell].lost;
    return prices_.mistake * sum;
  }

  Answer one_level(const Set& set, const Answer& leaf, std::int64_t bound) {
    PairTable<Count>& pairs = counted(set, 1);
    judge_.judge_one_level(pairs), ++searched_;
    return judged(leaf, bound);
  }
  Answer two_levels(const Set& set, const Answer& leaf, std::int64_t bound) {
    PairTable<Count>& pairs = counted(set, 2);
    judge_.judge(pairs, nullptr), ++searched_;
    return judged(leaf, bound);
  }
  // The best of the evaluated trees, including a leaf, if it costs less than the bound.
  Answer judged(const Answer& leaf, std::int64_t bound) {
    const std::int64_t cost = judge_.cost();
    if (cost >= bound) return {false, 0, cost, -1};
    return {true, cost, cost, cost == leaf.cost ? -1 : judge_.shape(shapes_)};
  }

  Answer more_levels(const Set& set, int depth, const Branch& branch, const Answer& leaf, std::int64_t bound) {
    PairTable<Count>& pairs = counted(set, depth);
    judge_.judge(pairs, nullptr), ++searched_;
    Trial trial = begun(set, pairs, depth, branch);
    trial.best = leaf.is_found ? leaf : Answer{false, bound, bound, -1};
    if (judge_.test() >= 0 && judge_.cost() < trial.best.cost) trial.take(std::size_t(judge_.test()), judge_.cost(), judge_.shape(shapes_));
    const std::vector<std::size_t> order = depth == 3 ? in_columns() : by_cost();
    std::size_t next = 0;
    Walk walk;
    for (; next < order.size() && !is_stopped(); ++next) {
      if (depth == 3) try_above_pairs(set, trial, order[next], walk);
      else try_above(set, trial, order[next]);
    }
    return closed(trial, std::span(order).subspan(is_ended_ && next ? next - 1 : next));
  }

  // Tests with enough weight on both sides, ordered so that consecutive tests differ little: the best test of depth two
  // first, the others in order of columns and thresholds.
  std::vector<std::size_t> in_columns() const {
    std::vector<std::size_t> order;
    const std::int32_t first = judge_.test();
    if (first >= 0) order.push_back(std::size_t(first));
    for (std::size_t t = 0; t < tests_; ++t)
      if (std::int32_t(t) != first && judge_.cost(t) < TwoLevels<Count>::unreached) order.push_back(t);
    return order;
  }
  // The same, ordered by the cost of the best tree of depth two with that first test.
  std::vector<std::size_t> by_cost() const {
    std::vector<std::size_t> order;
    for (std::size_t t = 0; t < tests_; ++t) if (judge_.cost(t) < TwoLevels<Count>::unreached) order.push_back(t);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return judge_.cost(a) < judge_.cost(b); });
    return order;
  }

  Trial begun(const Set& set, const PairTable<Count>& pairs, int depth, const Branch& branch) const {
    Trial trial{pairs, depth, branch, {}, -1, std::vector<std::int64_t>(tests_ * tests_), std::vector<std::int64_t>(2 * tests_),
                std::vector<std::int64_t>(tests_), std::vector<std::int64_t>(tests_), {}};
    for (std::size_t c = 0; c < classes_; ++c) {
      trial.weight += pairs.total()[c];
      for (std::size_t i = 0; i < tests_; ++i) {
        const std::span<const Count> row = pairs.row(c, i);
        for (std::size_t j = i; j < tests_; ++j) trial.both[i * tests_ + j] += row[j];
      }
    }
    for (const std::uint32_t cell : set) {
      const std::int64_t lost = cells_[cell].lost;
      if (!lost) continue;
      trial.all_lost += lost;
      for (std::size_t t = 0; t < tests_; ++t) trial.lost[2 * t + (cells_.holds(cell, t) ? 1 : 0)] += lost;
    }
    return trial;
  }

  // Result after the trials: exact if all tests were tried.
  Answer closed(Trial& trial, std::span<const std::size_t> untried) {
    Answer best = trial.best;
    best.lower = best.cost;
    if (!is_ended_) return best;
    for (const std::size_t t : untried) best.lower = std::min(best.lower, side_bound(trial, t, false) + side_bound(trial, t, true));
    return best;
  }

  std::int64_t both(const Trial& trial, std::size_t a, std::size_t b) const { return trial.both[std::min(a, b) * tests_ + std::max(a, b)]; }

  // Lower bound of the cost of the rows on one side of a test.
  std::int64_t side_bound(const Trial& trial, std::size_t t, bool holds) const {
    const std::int64_t least = prices_.mistake * trial.lost[2 * t + (holds ? 1 : 0)];
    std::int64_t bound = std::min(leaf_cost(trial.all, t, holds), least + 2 * prices_.leaf);
    if (const Known* known = seen_.find(trial.branch.with(t, holds), trial.depth - 1)) bound = std::max(bound, known->lower);
    if (!is_monotone_) return bound;  // with fewer rows, a leaf may become too small
    const std::int64_t mine = both(trial, t, t);
    for (const std::size_t a : trial.tried) {
      const std::int64_t shared = both(trial, t, a), his = both(trial, a, a);
      const std::int64_t in_high = holds ? shared : his - shared;                                   // where `a` holds
      const std::int64_t in_low = holds ? mine - shared : trial.weight - mine - (his - shared);     // and where not
      bound = std::max(bound, trial.high[a] - prices_.mistake * (his - in_high));
      bound = std::max(bound, trial.low[a] - prices_.mistake * (trial.weight - his - in_low));
    }
    return bound;
  }

  // Cost of the rows on one side of a test as a leaf.
  std::int64_t leaf_cost(const PairTable<Count>& pairs, std::size_t t, bool holds) const {
    std::int64_t all = 0, most = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      const std::int64_t here = pairs.row(c, t)[t], n = holds ? here : pairs.total()[c] - here;
      all += n, most = std::max(most, n);
    }
    return prices_.mistake * (all - most) + prices_.leaf;
  }

  void tried(Trial& trial, std::size_t t, std::int64_t low, std::int64_t high) const {
    trial.low[t] = low, trial.high[t] = high, trial.tried.push_back(t);
  }

  // More than three levels left: both sides are solved one after the other, the more expensive one first.
  void try_above(const Set& set, Trial& trial, std::size_t t) {
    std::int64_t bound[2] = {side_bound(trial, t, false), side_bound(trial, t, true)};
    const std::int64_t limit = trial.limit(t);
    if (bound[0] + bound[1] >= limit) return;
    Set side[2];
    for (const std::uint32_t cell : set) side[cells_.holds(cell, t) ? 1 : 0].push_back(cell);
    const int first = error(side[1]) > error(side[0]) ? 1 : 0;
    Answer found[2];
    bool is_whole = true;
    for (const int k : {first, 1 - first}) {
      found[k] = solve(side[k], trial.depth - 1, trial.branch.with(t, k == 1), limit - bound[1 - k]);
      if (is_ended_ && !found[k].is_found) return;
      if (!is_ended_) bound[k] = std::max(bound[k], found[k].lower);
      if (!(is_whole = found[k].is_found)) break;
      if (is_ended_) bound[k] = found[k].cost;  // maximum cost of the other side
    }
    if (!is_ended_) tried(trial, t, bound[0], bound[1]);
    if (!is_whole || found[0].cost + found[1].cost >= limit) return;
    shapes_.push_back({std::int32_t(t), found[0].shape, found[1].shape});
    trial.take(t, found[0].cost + found[1].cost, std::int32_t(shapes_.size()) - 1);
  }
  std::int64_t error(const Set& set) const { return leaf_answer(set, 0).cost; }

  // Which rows are counted in `part_`: those where a test holds, or does not; initially none.
  struct Walk {
    std::int32_t test = -1;
    bool holds = true;
  };

  // Three levels left: the pair counts of one side are updated from the previous side by adding and removing rows;
  // those of the other side are the difference from all.
  void try_above_pairs(const Set& set, Trial& trial, std::size_t t, Walk& walk) {
    const std::int64_t bound[2] = {side_bound(trial, t, false), side_bound(trial, t, true)};
    const std::int64_t limit = trial.limit(t);
    if (bound[0] + bound[1] >= limit) return;
    go(set, trial, t, walk);
    const bool side = walk.holds;
    judge_.judge(part_, nullptr), ++searched_;
    const std::int64_t mine = judge_.cost();
    keep(trial, t, side, mine);
    if (mine + bound[!side] >= limit) return tried(trial, t, side ? bound[0] : mine, side ? mine : bound[1]);
    other_judge_.judge(trial.all, &part_), ++searched_;
    const std::int64_t his = other_judge_.cost();
    keep(trial, t, !side, his);
    tried(trial, t, side ? his : mine, side ? mine : his);
    if (mine + his >= limit) return;
    const std::int32_t shape = judge_.shape(shapes_), other = other_judge_.shape(shapes_);
    shapes_.push_back({std::int32_t(t), side ? other : shape, side ? shape : other});
    trial.take(t, mine + his, std::int32_t(shapes_.size()) - 1);
  }
  void keep(const Trial& trial, std::size_t t, bool holds, std::int64_t cost) {
    seen_.keep(trial.branch.with(t, holds), trial.depth - 1, {cost, true, -1, false});
  }

  // Updates `part_` to the pair counts of one side of a test, whichever is closer.
  void go(const Set& set, const Trial& trial, std::size_t t, Walk& walk) {
    const std::int64_t high = both(trial, t, t), low = trial.weight - high;
    std::int64_t to_high = high, to_low = low;
    bool is_near = false;
    if (walk.test >= 0) {
      const std::int64_t here = both(trial, std::size_t(walk.test), std::size_t(walk.test)), shared = both(trial, t, std::size_t(walk.test));
      const std::int64_t apart = here + high - 2 * shared;  // weight of the rows on which the two tests differ
      const std::int64_t near_high = walk.holds ? apart : trial.weight - apart;
      is_near = std::min(near_high, trial.weight - near_high) < std::min(high, low);
      if (is_near) to_high = near_high, to_low = trial.weight - near_high;
    }
    const bool holds = to_high <= to_low;
    more_.clear(), less_.clear();
    for (const std::uint32_t cell : set) {
      const bool is_wanted = cells_.holds(cell, t) == holds;
      const bool is_there = is_near && cells_.holds(cell, std::size_t(walk.test)) == walk.holds;
      if (is_wanted && !is_there) more_.push_back(cell);
      if (is_there && !is_wanted) less_.push_back(cell);
    }
    if (!is_near) part_.clear();
    part_.add(cells_, more_, 1, room_), part_.add(cells_, less_, -1, room_);
    walk = {std::int32_t(t), holds};
  }

  // Pair counts of a set, in the table of its depth; the tables of the ancestors stay valid.
  PairTable<Count>& counted(const Set& set, int depth) {
    while (tables_.size() <= std::size_t(depth)) tables_.emplace_back();
    auto& table = tables_[std::size_t(depth)];
    if (!table) table = std::make_unique<PairTable<Count>>(tests_, classes_);
    table->clear();
    table->add(cells_, set, 1, room_);
    return *table;
  }

  // Checks the time limit and, from time to time, for an interrupt.
  bool is_stopped() {
    if (is_ended_) return true;
    const auto now = std::chrono::steady_clock::now();
    is_late_ = std::chrono::duration<double>(now - started_).count() > limits_.seconds;
    if (now - asked_ > std::chrono::milliseconds(20)) asked_ = now, is_asked_ = limits_.is_stopped();
    return is_ended_ = is_late_ || is_asked_;
  }

  // Copies a tree, children before parents, so that the root is last.
  std::int32_t copy(std::int32_t from, std::vector<Shape>& to) const {
    if (from < 0) return -1;
    const Shape& shape = shapes_[std::size_t(from)];
    const std::int32_t low = copy(shape.low, to), high = copy(shape.high, to);
    to.push_back({shape.test, low, high});
    return std::int32_t(to.size()) - 1;
  }

  std::size_t tests_, classes_;
  Prices prices_;
  const Limits& limits_;
  Count least_;
  Cells cells_;
  PairTable<Count> part_;
  TwoLevels<Count> judge_, other_judge_;
  Seen seen_;
  std::vector<std::unique_ptr<PairTable<Count>>> tables_;  // by depth
  std::vector<Shape> shapes_;
  std::vector<std::uint64_t> room_;
  Set more_, less_;
  std::chrono::steady_clock::time_point started_, asked_;
  std::uint64_t searched_ = 0;
  bool is_monotone_ = true, is_late_ = false, is_asked_ = false, is_ended_ = false;
};

}  // namespace baytree::tree::optimal
