// The cuts of two classes that are only counted which may be the best, by looking at few of them.
//
// What a cut gains is convex in the rows of either class on its first side, whatever the impurity, as that is concave. A
// block of cuts is a path through a region of such pairs, so that none of them is worth more than one of its corners.
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
  static constexpr size_t kMany = 8;  // blocks that are first looked at together

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
  // A block of cuts: the first of them, what is on the first side before it, and how far class 0 leads at least and at most.
  struct Block {
    size_t at;
    Sides left;
    double low, high;
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
    ClassWalk walk(size_t at, size_t end) const {
      const bool is_kept = known.size() > ClassWalks::kLeast && end - at == ClassWalks::kRows;
      return is_kept ? walks.at(begin + at) : ClassWalk::of(known.subspan(at, end - at));
    }
  };

  void list_blocks(const Column& column, Sides left) {
    blocks_.clear();
    for (size_t at = 0; at < column.n_cuts;) {
      const size_t end = column.block_end(at);
      const auto [lead, low, high] = column.walk(at, end);
      blocks_.push_back({at, left, left.lead() + low, left.lead() + high});
      left.zero += (double(end - at) + lead) / 2, left.one += (double(end - at) - lead) / 2, at = end;
    }
    blocks_.push_back({column.n_cuts, left, 0, 0});
  }

  // All cuts within `reach` of the best, in order. The ends of a column are looked at first, since they set the bar high.
  void find_near(const Column& column, const auto& worth, double reach) {
    for (const size_t block : {size_t(0), blocks_.size() - 2}) look_at(column, worth, block, [&](double value) { return value >= highest_ - reach; });
    near_.clear();
    each_promising(worth, [&](double top) { return top >= highest_ - reach; },
                   [&](size_t block) { look_at(column, worth, block, [&](double value) { return value >= highest_ - reach; }); });
    std::erase_if(near_, [&](const Cut& cut) { return cut.worth < highest_ - reach; });
  }
  // The first cut of those that are worth most, where estimates are what cuts are worth: no later one can take its place.
  void find_best(const Column& column, const auto& worth) {
    const auto is_higher = [&](double value) { return value > highest_; };
    each_promising(worth, is_higher, [&](size_t block) { look_at(column, worth, block, is_higher); });
    if (!near_.empty()) near_.erase(near_.begin(), near_.end() - 1);
  }

  void each_promising(const auto& worth, const auto& is_promising, const auto& look) const {
    for (size_t from = 0; from + 1 < blocks_.size(); from += kMany) {
      const size_t to = std::min(from + kMany, blocks_.size() - 1);
      if (!is_promising(top(worth, from, to))) continue;
      for (size_t block = from; block < to; ++block)
        if (is_promising(top(worth, block, block + 1))) look(block);
    }
  }
  double top(const auto& worth, size_t from, size_t to) const {
    double low = blocks_[from].low, high = blocks_[from].high;
    for (size_t block = from; block < to; ++block) low = std::min(low, blocks_[block].low), high = std::max(high, blocks_[block].high);
    return worth.top(blocks_[from].left, blocks_[to].left, low, high);
  }

  void look_at(const Column& column, const auto& worth, size_t block, const auto& is_promising) {
    Sides left = blocks_[block].left;
    for (size_t at = blocks_[block].at; at < blocks_[block + 1].at; ++at) {
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
