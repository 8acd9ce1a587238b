// Partition of the cases of a node among its branches, preserving the order of every column, so that nothing is sorted
// again.
#pragma once
#include <algorithm>
#include <cstddef>

#include "tree/fractional/cases.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::fractional {

// A test that would need too much memory, because its column has too many levels.
struct TooManyBranches {
  int32_t column;
};

// Rejects tests whose branches, or fractions per branch, are out of proportion to the rows.
inline void refuse_explosion(int32_t column, size_t nodes, size_t rows, size_t branches, std::span<const int32_t> direction) {
  constexpr size_t kNodes = 1 << 22, kFractions = 1 << 27;
  const auto spread = static_cast<size_t>(std::count(direction.begin(), direction.end(), -1));
  if (nodes + branches > kNodes + 4 * rows || spread * branches > kFractions) throw TooManyBranches{column};
}

// The cases of each branch. A case without a branch is in every branch that has a known case, in proportion to its
// known weight.
template <std::floating_point Real>
class Partition {
 public:
  // `otherwise` are the proportions to use if no case has a known value.
  Partition(const Cases<Real>& parent, std::span<const int32_t> direction, std::vector<Real> otherwise)
      : parent_(parent), direction_(direction), children(otherwise.size()), known(otherwise.size()), share(otherwise.size()), place_(parent.size()) {
    weigh(otherwise);
    deal();
  }

  // With known proportions; a branch of proportion 0 gets no missing values.
  Partition(const Cases<Real>& parent, std::span<const int32_t> direction, std::vector<Real> known_weight, std::vector<Real> shares)
      : parent_(parent), direction_(direction), children(shares.size()), known(std::move(known_weight)), share(std::move(shares)), place_(parent.size()) {
    for (size_t b = 0; b < share.size(); ++b)
      if (share[b] > 0) reached_.push_back(b);
    deal();
  }

  // Derives the value orders of the branches that will be split again.
  void order(std::span<const size_t> open, Workers& workers) {
    const size_t stripes = parent_.known.size();
    std::vector<int32_t> open_at(children.size(), -1);
    for (size_t o = 0; o < open.size(); ++o) {
      open_at[open[o]] = static_cast<int32_t>(o);
      Cases<Real>& child = children[open[o]];
      child.ordered.resize(stripes * child.size());
      child.known.resize(stripes);
    }
    workers.run(stripes, [&](size_t stripe, int) { carry(stripe, open, open_at); });
  }

 private:
  const Cases<Real>& parent_;
  const std::span<const int32_t> direction_;

 public:
  std::vector<Cases<Real>> children;
  std::vector<Real> known;  // [n_branches], weight of the cases with a value
  std::vector<Real> share;  // [n_branches], proportion of the known weight

 private:
  void weigh(const std::vector<Real>& otherwise) {
    for (size_t i = 0; i < parent_.size(); ++i)
      if (direction_[i] >= 0) known[direction_[i]] += parent_[i].weight;
    const bool is_known = std::any_of(direction_.begin(), direction_.end(), [](int32_t branch) { return branch >= 0; });
    const std::vector<Real>& weight = is_known ? known : otherwise;
    Real total = 0;
    for (const Real part : weight) total += part;
    for (size_t b = 0; b < share.size(); ++b) {
      share[b] = total > 0 ? weight[b] / total : Real(0);
      if (weight[b] > 0) reached_.push_back(b);
    }
  }

  void deal() {
    for (size_t i = 0; i < parent_.size(); ++i) {
      if (direction_[i] >= 0) {
        place_[i] = add(static_cast<size_t>(direction_[i]), i, parent_[i].weight);
        continue;
      }
      place_[i] = static_cast<int32_t>(spread_place_.size());
      for (const size_t b : reached_) spread_place_.push_back(add(b, i, static_cast<Real>(parent_[i].weight * share[b])));
    }
  }

  int32_t add(size_t branch, size_t i, Real weight) {
    children[branch].all.push_back({parent_[i].row, parent_[i].label, weight});
    return static_cast<int32_t>(children[branch].size()) - 1;
  }

  void carry(size_t stripe, std::span<const size_t> open, std::span<const int32_t> open_at) {
    std::vector<OrderedCase*> end;
    for (const size_t b : open) end.push_back(children[b].ordered.data() + stripe * children[b].size());
    for (const OrderedCase placed : parent_.sorted(stripe)) {
      const int32_t branch = direction_[placed.item];
      if (branch >= 0) {
        if (open_at[branch] >= 0) *end[open_at[branch]]++ = {place_[placed.item], placed.rank};
        continue;
      }
      for (size_t r = 0; r < reached_.size(); ++r) {
        const int32_t o = open_at[reached_[r]];
        if (o >= 0) *end[o]++ = {spread_place_[static_cast<size_t>(place_[placed.item]) + r], placed.rank};
      }
    }
    for (size_t o = 0; o < open.size(); ++o) {
      Cases<Real>& child = children[open[o]];
      child.known[stripe] = static_cast<int32_t>(end[o] - child.ordered.data() - static_cast<std::ptrdiff_t>(stripe * child.size()));
    }
  }

  std::vector<size_t> reached_;         // branches with a known case
  std::vector<int32_t> place_;          // [n_cases], index in its branch, or start of its indices in spread_place_
  std::vector<int32_t> spread_place_;   // indices of the cases without a branch, one per reached branch
};

}  // namespace baytree::tree::fractional
