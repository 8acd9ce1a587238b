// What is on the first side of a column's cuts while its rows pass, and how far that is from the shares of the node.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/bounded/cut_bounds.hpp"
#include "tree/sorted/rows/class_walks.hpp"
#include "tree/sorted/splits/measures.hpp"

namespace baytree::tree::sorted {

// Rows of a node in a column, which start at place `begin` of it, and what is on the first side before them.
struct ColumnCuts {
  std::span<const Entry> known;
  size_t begin;
  const ClassWalks& walks;
  std::span<const double> total, first;
  bool may_take_all;
  double min_leaf;

  size_t size() const { return known.size() - (may_take_all ? 0 : 1); }
  bool is_cut(size_t at) const { return at + 1 == known.size() || rank_of(known[at]) != rank_of(known[at + 1]); }
  bool is_large_enough(double below) const { return below >= min_leaf && total.back() - below >= min_leaf; }
};

// A block of cuts: the first of them and the first after them.
struct CutBlock {
  size_t at, end;
  int level;  // -1: it has no parts, nor is anything known of it
};

class PassedRows {
 public:
  void enter(const ColumnCuts& cuts, const ClassMeasure& measure) {
    classes_ = measure.classes(), total_ = cuts.total.first(classes_), all_of_known_ = total(total_);
    has_own_branch_ = !measure.own_branch().empty();
    for (auto* each : {&share_, &inverse_, &apart_, &low_, &high_, &other_low_, &other_high_}) each->resize(classes_);
    for (size_t k = 0; k < classes_; ++k) {
      share_[k] = measure.parent_mass(k) / measure.whole(), inverse_[k] = share_[k] > 0 ? 1 / share_[k] : 0.0;
      apart_[k] = cuts.total[k] - all_of_known_ * share_[k];
    }
    go_to(cuts.first.first(classes_));
  }

  std::span<const double> share() const { return share_; }
  std::span<const double> inverse_share() const { return inverse_; }
  std::span<const double> mass() const { return mass_; }
  double all() const { return all_; }
  void go_to(std::span<const double> masses) { mass_.assign(masses.begin(), masses.end()), all_ = total(mass_); }
  void pass(size_t of_class, double mass) { mass_[of_class] += mass, all_ += mass; }
  void pass(const ColumnCuts& cuts, const CutBlock& block) {
    const double* masses = cuts.walks.masses(block.level, cuts.begin + block.at);
    for (size_t k = 0; k < classes_; ++k) pass(k, masses[k]);
  }

  void pass(std::span<const Entry> rows, const ClassMeasure& measure) {
    for (const Entry e : rows) pass(measure.place_of(tag_of(e)), measure.mass_of(tag_of(e)));
  }

  // What no cut of a block is worth more than, by its masses and by how far its classes stray in it. The block is still to pass.
  double top(const auto& bound, const ColumnCuts& cuts, const CutBlock& block) {
    const size_t place = cuts.begin + block.at;
    const double* masses = cuts.walks.masses(block.level, place);
    const ClassStray* stray = cuts.walks.strays(block.level, place);
    const double all = total({masses, classes_});
    for (size_t k = 0; k < classes_; ++k) {
      const double drift = (cuts.walks.share(k) - share_[k]) * all, here = excess(k);
      low_[k] = here + std::max(-share_[k] * (all - masses[k]), stray[k].low + std::min(0.0, drift));
      high_[k] = here + std::min(masses[k] * (1 - share_[k]), stray[k].high + std::max(0.0, drift));
    }
    return worth(bound, all_, all_ + all);
  }
  // What the cut here is not worth more than.
  double top(const auto& bound) {
    for (size_t k = 0; k < classes_; ++k) low_[k] = high_[k] = excess(k);
    return worth(bound, all_, all_);
  }
  // What it is worth but for rounding, where logarithms tell.
  double nearly(const auto& bound) const
    requires requires(std::span<const double> masses) { bound.of_cut(masses, masses); }
  {
    return bound.of_cut(mass_, total_);
  }
  // Rows with a branch of their own add as much to every cut.
  void set_own_branch(const auto& bound, std::span<const double> masses) {
    const double all = total(masses);
    own_branch_ = 0;
    if (!(all > 0)) return;
    for (size_t k = 0; k < classes_; ++k) low_[k] = high_[k] = masses[k] - share_[k] * all;
    own_branch_ = bound.child({{all, all}, low_, high_});
  }

 private:
  double excess(size_t k) const { return mass_[k] - share_[k] * all_; }
  // Of cuts with masses from one number to the other on the first side, which stray from `low_` to `high_`.
  double worth(const auto& bound, double from, double to) {
    const Side first{{from, to}, low_, high_};
    const Span second{all_of_known_ - to, all_of_known_ - from};
    if (!has_own_branch_) return bound.both(first, second) + bound.rounding;
    for (size_t k = 0; k < classes_; ++k) other_low_[k] = apart_[k] - high_[k], other_high_[k] = apart_[k] - low_[k];
    return bound(first, Side{second, other_low_, other_high_}, own_branch_) + bound.rounding;
  }

  size_t classes_ = 0;
  std::span<const double> total_;               // [n_classes], of both sides
  std::vector<double> mass_, share_, inverse_;  // [n_classes]
  std::vector<double> apart_;                   // [n_classes], how far the masses of both sides are from their shares, where others have a branch of their own
  std::vector<double> low_, high_, other_low_, other_high_;
  double all_ = 0, all_of_known_ = 0, own_branch_ = 0;
  bool has_own_branch_ = false;
};

}  // namespace baytree::tree::sorted
