// What the best cut between two codes of a column is worth.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tree/criteria.hpp"

namespace baytree::tree::counted {

// counts: [n_codes, n_classes]. 0 where no cut leaves `min_leaf` on both sides.
inline double best_cut_worth(std::span<const double> counts, size_t n_classes, std::string_view criterion, double min_leaf) {
  std::vector<double> whole(n_classes, 0.0), sides(2 * n_classes);
  for (size_t i = 0; i < counts.size(); ++i) whole[i % n_classes] += counts[i];
  std::ranges::copy(whole, sides.begin() + std::ptrdiff_t(n_classes));
  return Criteria::with(criterion, [&]<Criterion C>() -> double {
    double best = 0;
    if constexpr (ClassCriterion<C> && C::suits.binary) {
      const C worth{std::span<const double>(whole)};
      const Children children{sides, n_classes};
      for (size_t at = 0; at + n_classes < counts.size(); at += n_classes) {
        for (size_t k = 0; k < n_classes; ++k) sides[k] += counts[at + k], sides[n_classes + k] = whole[k] - sides[k];
        if (std::min(total(children[0]), total(children[1])) >= min_leaf) best = std::max(best, worth(children));
      }
    }
    return best;
  });
}

}  // namespace baytree::tree::counted
