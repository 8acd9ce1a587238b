// The best cut of a sorted column by looking at few of its cuts: blocks of many rows are looked at first, and only those that can hold
// the best in parts, so that a node costs about the logarithm of its rows.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "tree/sorted/bounded/cut_bounds.hpp"
#include "tree/sorted/bounded/passed_rows.hpp"
#include "tree/sorted/rows/class_walks.hpp"
#include "tree/sorted/splits/measures.hpp"
#include "tree/sorted/splits/split.hpp"

namespace baytree::tree::sorted {

class BoundedCuts {
 public:
  // As `scan`, where masses are whole numbers; nothing where too many cuts come near the best to tell which of them wins.
  std::optional<bool> run(const ColumnCuts& cuts, ClassMeasure& measure, Split& best) {
    passed_.enter(cuts, measure);
    const auto by = [&]<typename Bound>(const Bound& bound) -> std::optional<bool> {
      if constexpr (std::same_as<Bound, NoBound>) return std::nullopt;
      else return run_by(bound, cuts, measure, best);
    };
    return std::visit(by, measure.bound(passed_.share(), passed_.inverse_share()));
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  static constexpr double kGaps = 1024;

  struct ListedBlock : CutBlock {
    double top;     // no cut in it is worth more
    double at_end;  // nor the last of them than this
  };
  struct Cut {
    double value;
    uint32_t last;
  };

  std::optional<bool> run_by(const auto& bound, const ColumnCuts& cuts, ClassMeasure& measure, Split& best) {
    passed_.set_own_branch(bound, measure.own_branch());
    const double slack = measure.slack(), reach = kGaps * slack;
    list_blocks(bound, cuts, measure);
    find_highest(bound, cuts, measure);
    find_near(bound, cuts, measure, reach);
    if (near_.empty()) return false;
    const auto bar = bar_of(slack, highest_ - reach);
    return bar ? std::optional(judge(measure, *bar, best)) : std::nullopt;
  }

  void list_blocks(const auto& bound, const ColumnCuts& cuts, const ClassMeasure& measure) {
    blocks_.clear(), starts_.clear();
    for (size_t at = 0; at < cuts.size(); at = blocks_.back().end) {
      const CutBlock block = block_at(cuts, at);
      starts_.insert(starts_.end(), passed_.mass().begin(), passed_.mass().end());
      blocks_.push_back({block, block.level < 0 ? std::numeric_limits<double>::infinity() : passed_.top(bound, cuts, block), 0});
      if (block.level >= 0) passed_.pass(cuts, block);
      else passed_.pass(rows_of(cuts, block), measure);
      blocks_.back().at_end = block.end < cuts.size() ? passed_.top(bound) : kNone;
    }
  }
  // The largest block that starts here; those at the ends of the column are small.
  static CutBlock block_at(const ColumnCuts& cuts, size_t at) {
    const size_t place = cuts.begin + at, left = cuts.size() - at;
    const int level = at > 0 ? cuts.walks.level_at(place, left - 1) : -1;
    const size_t rows = level >= 0 ? ClassWalks::rows_of(level) : std::min(left, ClassWalks::kRows - place % ClassWalks::kRows);
    return {at, at + rows, level};
  }
  static std::span<const Entry> rows_of(const ColumnCuts& cuts, const CutBlock& block) {
    return cuts.known.subspan(block.at, block.end - block.at);
  }
  void go_to(size_t block) {
    const size_t classes = passed_.share().size();
    passed_.go_to(std::span<const double>(starts_).subspan(block * classes, classes));
  }

  // Where the ends of blocks are worth most, and at the upper end of the column: the lower one is looked at first in any case.
  void find_highest(const auto& bound, const ColumnCuts& cuts, ClassMeasure& measure) {
    highest_ = kNone;
    const auto is_higher = [&](double value) { return value > highest_; };
    const auto raise = [&](double value, size_t) { highest_ = value; };
    const auto highest = size_t(std::ranges::max_element(blocks_, {}, &ListedBlock::at_end) - blocks_.begin());
    for (const size_t listed : {highest, blocks_.size() - 1}) {
      go_to(listed);
      const CutBlock block = highest_part(bound, cuts, blocks_[listed]);
      look_at(bound, cuts, measure, block, is_higher, raise);
    }
  }
  // Rows before it pass.
  CutBlock highest_part(const auto& bound, const ColumnCuts& cuts, CutBlock block) {
    while (block.level > 0) {
      const size_t rows = ClassWalks::rows_of(block.level - 1);
      before_.assign(passed_.mass().begin(), passed_.mass().end());
      size_t best = block.at;
      double highest = kNone;
      for (size_t at = block.at; at < block.end; at += rows) {
        passed_.pass(cuts, {at, at + rows, block.level - 1});
        if (const double here = passed_.top(bound); here > highest) highest = here, best = at;
      }
      passed_.go_to(before_);
      for (size_t at = block.at; at < best; at += rows) passed_.pass(cuts, {at, at + rows, block.level - 1});
      block = {best, best + rows, block.level - 1};
    }
    return block;
  }

  // In order, the cuts within `reach` of the best that are worth more than all before: others cannot be taken. Where fractions tell
  // equals apart, these count as more.
  void find_near(const auto& bound, const ColumnCuts& cuts, ClassMeasure& measure, double reach) {
    near_.clear(), left_.clear();
    double record = kNone;
    const bool has_fractions = measure.has_fractions();
    const double alike = has_fractions ? measure.slack() : 0.0;
    const auto is_near = [&](double value) { return value >= highest_ - reach && (value > record - alike); };
    const auto keep = [&](double value, size_t at) {
      highest_ = std::max(highest_, value), record = std::max(record, value);
      near_.push_back({value, uint32_t(at)});
      left_.insert(left_.end(), judged_.begin(), judged_.end());
    };
    for (size_t block = 0; block < blocks_.size(); ++block) {
      if (!is_near(blocks_[block].top)) continue;
      go_to(block);
      look_within(bound, cuts, measure, blocks_[block], is_near, keep);
    }
  }

  // At those parts of a block that may hold a cut that is promising; the block passes.
  void look_within(const auto& bound, const ColumnCuts& cuts, ClassMeasure& measure, const CutBlock& block, const auto& is_promising, const auto& keep) {
    if (block.level < 1) return look_at(bound, cuts, measure, block, is_promising, keep);
    const size_t rows = ClassWalks::rows_of(block.level - 1);
    for (size_t at = block.at; at < block.end; at += rows) {
      const CutBlock part{at, at + rows, block.level - 1};
      if (is_promising(passed_.top(bound, cuts, part))) look_within(bound, cuts, measure, part, is_promising, keep);
      else passed_.pass(cuts, part);
    }
  }
  void look_at(const auto& bound, const ColumnCuts& cuts, ClassMeasure& measure, const CutBlock& block, const auto& is_promising, const auto& keep) {
    for (size_t at = block.at; at < block.end; ++at) {
      const uint32_t tag = tag_of(cuts.known[at]);
      passed_.pass(measure.place_of(tag), measure.mass_of(tag));
      const double below = measure.counts_rows() ? cuts.first.back() + double(at + 1) : passed_.all();
      if (!cuts.is_cut(at) || !cuts.is_large_enough(below) || !is_promising(passed_.top(bound))) continue;
      if constexpr (requires { passed_.nearly(bound); })
        if (!is_promising(passed_.nearly(bound))) continue;
      judged_.assign(passed_.mass().begin(), passed_.mass().end());
      judged_.push_back(below);
      if (const double value = measure.value(judged_); is_promising(value)) keep(value, at);
    }
  }

  // The lowest value above a gap; nothing where there is none down to `floor`. What lies below a gap that is wider than slack can
  // neither win nor bear on which of those above it does.
  std::optional<double> bar_of(double gap, double floor) {
    values_.clear();
    for (const Cut& cut : near_)
      if (cut.value >= floor && (values_.empty() || cut.value != values_.back())) values_.push_back(cut.value);
    std::ranges::sort(values_, std::greater<>());
    for (size_t i = 0; i + 1 < values_.size(); ++i)
      if (values_[i] - values_[i + 1] > gap) return values_[i];
    return values_.back() - gap > floor ? std::optional(values_.back()) : std::nullopt;
  }

  // In order, as `scan` would have come upon them.
  bool judge(const ClassMeasure& measure, double bar, Split& best) const {
    const size_t width = measure.width();
    const double slack = measure.slack();
    bool is_improved = false;
    for (size_t i = 0; i < near_.size(); ++i) {
      if (near_[i].value < bar || near_[i].value < best.score.value - slack) continue;
      const Score score = measure.score(std::span<const double>(left_).subspan(i * width, width), near_[i].value);
      if (!is_better(score, best.score, slack)) continue;
      best.score = score, best.last = near_[i].last, is_improved = true;
    }
    return is_improved;
  }

  PassedRows passed_;
  std::vector<ListedBlock> blocks_;
  std::vector<double> starts_;  // [n_blocks, n_classes], what has passed before each
  std::vector<Cut> near_;
  std::vector<double> left_;    // [n_near, n_classes + 1], what is on the first side of each
  std::vector<double> judged_, before_, values_;
  double highest_ = kNone;
};

}  // namespace baytree::tree::sorted
