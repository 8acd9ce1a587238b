// The winner of a step of MARS's forward pass, among the candidates of all pairs of a parent and a column.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree::linear::splines {

// The candidates of all pairs as [columns, parents].
struct Candidates {
  std::span<const double> line, knot;
  std::span<const std::int32_t> rank;
  std::span<const std::uint8_t> has_line, is_tried;
  std::size_t parents = 0;

  std::size_t columns() const { return parents ? line.size() / parents : 0; }
};

struct Leader {
  double gain = 0;  // 0: nobody leads
  std::size_t parent = 0, column = 0;
  std::int32_t rank = -1;   // of the knot; -1 for a line
  bool has_mirror = false;  // whether the last knot that led has a mirror; a line as a hinge takes after it
};

// Parents come first, then columns; a later candidate leads where it is better by more than a share.
inline Leader leader_of(const Candidates& all, double share) {
  Leader found;
  for (std::size_t k = 0; k < all.parents; ++k)
    for (std::size_t j = 0; j < all.columns(); ++j) {
      const std::size_t pair = j * all.parents + k;
      if (all.line[pair] > found.gain * share) found = {all.line[pair], k, j, -1, found.has_mirror};
      if (all.knot[pair] > found.gain * share) found = {all.knot[pair], k, j, all.rank[pair], all.has_line[pair] != 0};
    }
  return found;
}

// What each parent gave at best; -1 where no column was tried beside it.
inline std::vector<double> best_of_parents(const Candidates& all) {
  std::vector<double> best(all.parents, -1.0);
  for (std::size_t pair = 0; pair < all.line.size(); ++pair)
    if (all.is_tried[pair]) best[pair % all.parents] = std::max({best[pair % all.parents], all.line[pair], all.knot[pair]});
  return best;
}

}  // namespace baytree::linear::splines
