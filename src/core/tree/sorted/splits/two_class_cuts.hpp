// The cuts of two classes that are only counted which may be the best, by looking at few of them.
//
// What a cut gains is convex in the rows of either class on its first side, whatever the impurity, as that is concave. A
// block of cuts is a path through a region of such pairs, so that none of them is worth more than one of its corners. Blocks of many
// rows are looked at first, and only those that can hold the best in parts: a node costs about the logarithm of its rows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "tree/sorted/rows/class_walks.hpp"
#include "tree/sorted/splits/cut_estimates.hpp"
#include "tree/sorted/splits/split.hpp"

namespace baytree::tree::sorted {

template <typename M>
concept ConvexMeasure = EstimatedMeasure<M> && Measure<M>;

// Nothing is known of the cuts of another measure.
template <typename M> struct TwoClassCuts {};

template <ConvexMeasure M> class TwoClassCuts<M> {
 public:
  static constexpr size_t kFew = 256;  // up to so many cuts each is looked at in no more time

  // As `scan`, of rows that start at place `begin` of a column that `walks` are of; nothing where too many cuts come near the
  // best to tell which of them wins.
  std::optional<bool> run(std::span<const Entry> known, size_t begin, const ClassWalks& walks, M& measure, std::span<const double> total,
                          std::span<const double> first, bool may_take_all, Limits limits, Split& best) {
    const Column column{known, begin, walks, known.size() - (may_take_all ? 0 : 1), limits.min_leaf, total.back()};
    list_blocks(column, {first[0], first[1]});
    const auto by = [&]<typename Terms>(const Terms& terms) -> std::optional<bool> {
      if constexpr (std::same_as<Terms, NoTerms>) return std::nullopt;
      else return run_by<Terms>(Worth<Terms>(terms, measure, total), column, measure, best);
    };
    return std::visit(by, measure.terms());
  }

 private:
  struct Column;

  template <typename Terms> std::optional<bool> run_by(const auto& worth, const Column& column, M& measure, Split& best) {
    const double rounding = Terms::is_exact ? 0 : 64 * std::numeric_limits<double>::epsilon() * worth.terms.size;
    const double gap = measure.slack() + 2 * rounding;
    near_.clear(), highest_ = kNone;
    if constexpr (Terms::is_exact) find_best(column, worth);
    else find_near(column, worth, kGaps * gap);
    if (near_.empty()) return false;
    const auto bar = bar_of(gap);
    if (!bar) return std::nullopt;
    return judge(measure, *bar, measure.slack() - 2 * rounding, best);
  }

  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  static constexpr double kGaps = 1024;

  // Rows of either class on the first side.
  struct Sides {
    double zero, one;
    double rows() const { return zero + one; }
    double lead() const { return zero - one; }
  };
  struct Cut {
    double worth;
    uint32_t last;
    Sides left;
  };
  // A block of cuts: the first of them and the first after them, what is on the first side before them, and how far class 0 then leads.
  struct Block {
    size_t at, end;
    int level;  // -1: it has no parts
    Sides left;
    ClassWalk walk;

    Sides right() const {
      const auto rows = double(end - at);
      return {left.zero + (rows + walk.end) / 2, left.one + (rows - walk.end) / 2};
    }
  };

  template <typename Terms> struct Worth {
    Worth(const Terms& of, const M& measure, std::span<const double> all)
        : terms(of), total{all[0], all[1]}, parent{measure.parent_mass(0), measure.parent_mass(1)} {}
    double operator()(Sides left) const { return worth(sides(left), left.rows()); }
    // No cut from one side to the other with leads between these is worth more. The region is a rectangle in the rows of either
    // class, and one in rows and lead; the corners of the latter may lie where there are no rows.
    double top(Sides from, Sides to, double low, double high) const {
      const double first = from.rows() + 1, last = std::max(first, std::min(to.rows(), total.rows() - 1));
      const double most = most_of_sides(from, to, low, high);
      return std::max(worth(most, first), worth(most, last));  // what is divided by is least at one end
    }
    Terms terms;

   private:
    double most_of_sides(Sides from, Sides to, double low, double high) const {
      const double by_class = most({from, to, {from.zero, to.one}, {to.zero, from.one}});
      const Sides corners[4] = {turned(from.rows(), low), turned(from.rows(), high), turned(to.rows(), low), turned(to.rows(), high)};
      if (!std::ranges::all_of(corners, [&](Sides corner) { return is_there(corner); })) return by_class;
      return std::min(by_class, most({corners[0], corners[1], corners[2], corners[3]}));
    }
    double worth(double of_sides, double rows) const { return terms.worth(of_sides, rows, total.rows() - rows); }
    double sides(Sides left) const { return side(left.zero, left.one) + side(total.zero - left.zero, total.one - left.one); }
    double side(double zero, double one) const {
      const double sum = terms.enter(terms.enter(0, 0, terms.term(zero, parent.zero)), 0, terms.term(one, parent.one));
      return terms.side(sum, zero + one);
    }
    double most(std::initializer_list<Sides> corners) const {
      double top = kNone;
      for (const Sides corner : corners) top = std::max(top, sides(corner));
      return top;
    }
    static Sides turned(double rows, double lead) { return {(rows + lead) / 2, (rows - lead) / 2}; }
    bool is_there(Sides side) const { return side.zero >= 0 && side.one >= 0 && side.zero <= total.zero && side.one <= total.one; }
    Sides total, parent;
  };

  struct Column {
    std::span<const Entry> known;
    size_t begin;
    const ClassWalks& walks;
    size_t n_cuts;
    double min_leaf, size;

    size_t block_end(size_t at) const { return std::min(n_cuts, at + ClassWalks::kRows - (begin + at) % ClassWalks::kRows); }
    bool is_cut(size_t at, double below) const {
      if (at + 1 < known.size() && rank_of(known[at]) == rank_of(known[at + 1])) return false;
      return below >= min_leaf && size - below >= min_leaf;
    }
    // The largest block that starts here; those at the ends of the column are small.
    Block block(size_t at, Sides left) const {
      const int level = at > 0 ? walks.level_at(begin + at, n_cuts - at - 1) : -1;
      if (level >= 0) return part(level, at, left);
      const size_t end = block_end(at);
      return {at, end, -1, left, ClassWalk::of(known.subspan(at, end - at))};
    }
    Block part(int level, size_t at, Sides left) const {
      return {at, at + ClassWalks::rows_of(level), level, left, walks.at(level, begin + at)};
    }
  };

  void list_blocks(const Column& column, Sides left) {
    blocks_.clear();
    for (size_t at = 0; at < column.n_cuts; at = blocks_.back().end) {
      blocks_.push_back(column.block(at, left));
      left = blocks_.back().right();
    }
  }

  // All cuts within `reach` of the best, in order. The ends of a column are looked at first, since they set the bar high.
  void find_near(const Column& column, const auto& worth, double reach) {
    const auto is_near = [&](double value) { return value >= highest_ - reach; };
    look_at(column, worth, blocks_.front(), is_near);
    look_at(column, worth, blocks_.back(), is_near);
    near_.clear();
    for (const Block& block : blocks_) look_within(column, worth, block, is_near);
    std::erase_if(near_, [&](const Cut& cut) { return cut.worth < highest_ - reach; });
  }
  // The first cut of those that are worth most, where estimates are what cuts are worth: no later one can take its place.
  void find_best(const Column& column, const auto& worth) {
    const auto is_higher = [&](double value) { return value > highest_; };
    for (const Block& block : blocks_) look_within(column, worth, block, is_higher);
    if (!near_.empty()) near_.erase(near_.begin(), near_.end() - 1);
  }

  // At those parts of a block that may hold a cut that is promising.
  void look_within(const Column& column, const auto& worth, const Block& block, const auto& is_promising) {
    const double lead = block.left.lead();
    if (!is_promising(worth.top(block.left, block.right(), lead + block.walk.low, lead + block.walk.high))) return;
    if (block.level < 1) return look_at(column, worth, block, is_promising);
    Sides left = block.left;
    for (size_t at = block.at; at < block.end; at += ClassWalks::rows_of(block.level - 1)) {
      const Block part = column.part(block.level - 1, at, left);
      look_within(column, worth, part, is_promising);
      left = part.right();
    }
  }

  void look_at(const Column& column, const auto& worth, const Block& block, const auto& is_promising) {
    Sides left = block.left;
    for (size_t at = block.at; at < block.end; ++at) {
      (column.known[at] & 1 ? left.one : left.zero) += 1;
      if (!column.is_cut(at, left.rows())) continue;
      const double value = worth(left);
      if (!is_promising(value)) continue;
      highest_ = std::max(highest_, value);
      near_.push_back({value, uint32_t(at), left});
    }
  }

  // The lowest worth above a gap; nothing where there is none within reach.
  std::optional<double> bar_of(double gap) {
    worths_.clear();
    for (const Cut& cut : near_)
      if (worths_.empty() || cut.worth != worths_.back()) worths_.push_back(cut.worth);
    std::ranges::sort(worths_, std::greater<>());
    for (size_t i = 0; i + 1 < worths_.size(); ++i)
      if (worths_[i] - worths_[i + 1] > gap) return worths_[i];
    if (worths_.size() == 1 || worths_.back() - gap > highest_ - kGaps * gap) return worths_.back();
    return std::nullopt;
  }

  // In order, as the criterion itself judges; a cut that is estimated `alike` to one that was taken cannot take its place.
  bool judge(M& measure, double bar, double alike, Split& best) const {
    const double slack = measure.slack();
    double taken = kNone;
    for (const Cut& cut : near_) {
      if (cut.worth < bar || cut.worth - taken <= alike) continue;
      const double left[3] = {cut.left.zero, cut.left.one, cut.left.rows()};
      const double value = measure.value(left);
      if (value < best.score.value - slack || !(value == value)) continue;
      const Score score = measure.score(left, value);
      if (!is_better(score, best.score, slack)) continue;
      best.score = score, best.last = cut.last, taken = cut.worth;
    }
    return taken > kNone;
  }

  std::vector<Block> blocks_;
  std::vector<Cut> near_;
  std::vector<double> worths_;
  double highest_ = kNone;
};

}  // namespace baytree::tree::sorted
