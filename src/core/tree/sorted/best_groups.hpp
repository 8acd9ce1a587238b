// The best two groups of levels for three and more classes, by branch and bound.
//
// The worth of a grouping is h(L) + h(R), where h is a sum of terms of a side's class masses: convex and homogeneous, so
// that h(a + b) <= h(a) + h(b). If some levels are already in A and B, the others add at most the worth of their own best
// grouping: h(A ∪ C) + h(B ∪ D) <= h(A) + h(B) + h(C) + h(D). So the best groupings of the last level, of the last two,
// ... are found first, and each of them bounds the next search (Russian doll search; for squares, where h is that of
// 2-means clustering: Brusco 2006). The worth is approximate: the search finds every grouping that rounding might make
// the best, and its caller decides among them.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace baytree::tree::sorted {

// Levels with equal statistics: their masses by class, together with the number of rows, and how many there are.
struct LevelKind {
  std::vector<double> mass;  // [n_classes], of one of them
  double size = 0;           // of one of them
  uint32_t copies = 1;
};

template <typename Terms> class GroupSearch {
 public:
  // `parent` are the class masses of all levels; a side must have `min_leaf`, in sizes.
  GroupSearch(const Terms& terms, std::span<const LevelKind> kinds, std::span<const double> parent, double min_leaf,
              const std::function<void()>& pause)
      : terms_(terms), parent_(parent), min_leaf_(min_leaf), pause_(pause), n_(kinds.size()), classes_(parent.size()),
        order_(ordered(kinds)), left_((n_ + 1) * classes_), right_(left_.size()), rest_(n_ + 1), size_after_(n_ + 1), taken_(n_) {
    for (const uint32_t kind : order_) kinds_.push_back(kinds[kind]);
    for (size_t i = n_; i-- > 0;) size_after_[i] = size_after_[i + 1] + kinds_[i].size * kinds_[i].copies;
    gap_ = 512 * double(n_ + classes_) * std::numeric_limits<double>::epsilon() * terms.size;
  }

  // Calls found(number of levels of each kind in the first group) for every grouping that is within rounding of the best
  // one so far; each is called as itself or as its complement.
  template <std::invocable<std::vector<uint32_t>> Found> void run(const Found& found) {
    std::vector<double> left(classes_), right(classes_);
    for (size_t i = n_; i-- > 0;) rest_[i] = best_of_last(i, left, right);
    if (rest_[0] <= side(parent_) + gap_) return;  // every level has the same class proportions
    highest_ = -std::numeric_limits<double>::infinity();
    const auto leaf = [&](double worth) {
      highest_ = std::max(highest_, worth);
      std::vector<uint32_t> of_kind(n_);
      for (size_t i = 0; i < n_; ++i) of_kind[order_[i]] = taken_[i];
      found(of_kind);
    };
    start(0);
    extend<false>(0, 0, {}, {}, leaf);
  }

 private:
  // Worth and size of a side.
  struct Side {
    double worth = 0, size = 0;
  };
  struct Choice {
    uint32_t taken;
    Side left, right;
  };

  double side(std::span<const double> mass) const {
    double sum = 0, whole = 0;
    for (size_t k = 0; k < classes_; ++k) sum += terms_.term(mass[k], parent_[k]), whole += mass[k];
    return terms_.side(sum, whole);
  }

  // Levels that a search should decide first: those whose separation from all others is worth most.
  std::vector<uint32_t> ordered(std::span<const LevelKind> kinds) const {
    std::vector<double> gain(kinds.size()), alone(classes_), others(classes_);
    for (size_t i = 0; i < kinds.size(); ++i) {
      for (size_t k = 0; k < classes_; ++k) alone[k] = kinds[i].copies * kinds[i].mass[k], others[k] = parent_[k] - alone[k];
      gain[i] = side(alone) + side(others);
    }
    std::vector<uint32_t> order(kinds.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, std::greater<>(), [&](uint32_t i) { return gain[i]; });
    return order;
  }

  // Worth of the best grouping of the kinds from `first` on, without a least size. `left` and `right` are the masses of
  // the best grouping of the later kinds, then of these.
  double best_of_last(size_t first, std::vector<double>& left, std::vector<double>& right) {
    const LevelKind& kind = kinds_[first];
    const auto added = [&](std::vector<double> to) {
      for (size_t k = 0; k < classes_; ++k) to[k] += kind.copies * kind.mass[k];
      return to;
    };
    const std::vector<double> longer_left = added(left), longer_right = added(right);
    const double on_left = side(longer_left) + side(right), on_right = side(left) + side(longer_right);
    if (on_left > on_right) left = longer_left;
    else right = longer_right;
    highest_ = std::max(on_left, on_right);
    rest_[first] = std::numeric_limits<double>::infinity();  // nothing is known yet
    start(first);
    extend<true>(first, first, {}, {}, [&](double worth) {
      if (!(worth > highest_)) return;
      highest_ = worth;
      left.assign(left_.end() - std::ptrdiff_t(classes_), left_.end()), right.assign(right_.end() - std::ptrdiff_t(classes_), right_.end());
    });
    return highest_;
  }

  void start(size_t first) {
    std::fill_n(left_.begin() + std::ptrdiff_t(first * classes_), classes_, 0.0);
    std::fill_n(right_.begin() + std::ptrdiff_t(first * classes_), classes_, 0.0);
  }

  // Groups the kinds from `at` on. A bound has no least size, so there levels of one kind stay together.
  template <bool kIsBound> void extend(size_t at, size_t first, Side left, Side right, const auto& leaf) {
    if (left.worth + right.worth + rest_[at] < highest_ - (kIsBound ? 0 : gap_)) return;
    if constexpr (!kIsBound)
      if (left.size + size_after_[at] < min_leaf_ || right.size + size_after_[at] < min_leaf_) return;
    if (at == n_) return leaf(left.worth + right.worth);
    if ((++steps_ & 0xFFFF) == 0) pause_();
    const uint32_t copies = kinds_[at].copies, step = kIsBound ? copies : 1;
    const uint32_t least = at == first ? (kIsBound ? copies : (copies + 1) / 2) : 0;  // the complement is worth as much
    std::array<Choice, kMostLevels + 1> choices;
    size_t n_choices = 0;
    for (uint32_t taken = least; taken <= copies; taken += step)
      choices[n_choices++] = {taken, grown(left_, at, left, taken), grown(right_, at, right, copies - taken)};
    std::sort(choices.begin(), choices.begin() + std::ptrdiff_t(n_choices), [](const Choice& a, const Choice& b) {
      return a.left.worth + a.right.worth > b.left.worth + b.right.worth;
    });
    for (size_t i = 0; i < n_choices; ++i) {
      const Choice& choice = choices[i];
      taken_[at] = choice.taken;
      grown(left_, at, left, choice.taken), grown(right_, at, right, copies - choice.taken);
      extend<kIsBound>(at + 1, first, choice.left, choice.right, leaf);
    }
  }

  // A side with more levels of a kind; its masses are stored after those without them.
  Side grown(std::vector<double>& masses, size_t at, const Side& before, uint32_t more) const {
    const double* const from = masses.data() + at * classes_;
    double* const to = masses.data() + (at + 1) * classes_;
    if (more == 0) return std::copy_n(from, classes_, to), before;
    const LevelKind& kind = kinds_[at];
    for (size_t k = 0; k < classes_; ++k) to[k] = from[k] + more * kind.mass[k];
    return {side({to, classes_}), before.size + more * kind.size};
  }

  static constexpr size_t kMostLevels = 64;
  const Terms& terms_;
  std::span<const double> parent_;
  double min_leaf_;
  const std::function<void()>& pause_;
  size_t n_, classes_;
  std::vector<uint32_t> order_;
  std::vector<LevelKind> kinds_;          // in the order of the search
  std::vector<double> left_, right_;      // [n_kinds + 1, n_classes], masses of the groups before each kind
  std::vector<double> rest_;              // [n_kinds + 1], worth of the best grouping of the later kinds
  std::vector<double> size_after_;        // [n_kinds + 1]
  std::vector<uint32_t> taken_;           // levels of each kind in the first group
  double highest_ = 0, gap_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace baytree::tree::sorted
