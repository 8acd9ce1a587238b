// Largest correct weights of single splits of two parts of the rows, for rows of weight 1, few classes and no least weight.
//
// With a_c rows of class c up to a threshold and t_c in all, two leaves of classes c and d are right for a_c + t_d − a_d
// rows. So what matters of a column are the extremes of a_c − a_d over the thresholds, for each pair of classes: sums of
// −1, 0 and 1 without a branch, in lanes of a vector.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/dispatch.hpp"

namespace baytree::tree::optimal {

// A row in the order of a column; rows of one rank are on the same side of every threshold.
struct Ranked {
  std::uint32_t row, rank;
};

struct PairSweepLoops {
  std::size_t lanes;  // of a vector
  // Adds steps[cells[row]] row by row; extremes of the sums over all thresholds. `width` is the number of vectors of a step.
  void (*sweep)(std::span<const Ranked> rows, const std::uint32_t* cells, const std::int16_t* steps, std::size_t width, std::int16_t* low,
                std::int16_t* high);
};

// The loops for this machine.
extern const PairSweepLoops pair_sweep_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const PairSweepLoops pair_sweep_loops_v3, pair_sweep_loops_v4;
inline const PairSweepLoops& pair_sweep_loops() {
  static const PairSweepLoops& best = simd::loops_in_use(pair_sweep_loops_baseline, pair_sweep_loops_v3, pair_sweep_loops_v4);
  return best;
}
#else
inline const PairSweepLoops& pair_sweep_loops() { return pair_sweep_loops_baseline; }
#endif

class PairSweep {
 public:
  static constexpr std::size_t most_classes = 8, most_rows = 32767;

  explicit PairSweep(std::size_t classes)
      : loops_(pair_sweep_loops()), classes_(classes), width_((classes * (classes - 1) + loops_.lanes - 1) / loops_.lanes) {
    const std::size_t n = width_ * loops_.lanes;
    steps_.resize(2 * classes * n);
    for (std::size_t part = 0, lane = 0; part < 2; ++part)
      for (std::size_t c = 0; c < classes; ++c)
        for (std::size_t d = c + 1; d < classes; ++d, ++lane)
          steps_[(part * classes + c) * n + lane] = 1, steps_[(part * classes + d) * n + lane] = -1;
  }

  // `cells[row]` is part * classes + label; `total` are the rows of each cell.
  template <std::signed_integral Count>
  std::array<Count, 2> most_correct(std::span<const Ranked> rows, const std::uint32_t* cells, std::span<const Count> total) const {
    std::array<std::int16_t, 64> low, high;
    loops_.sweep(rows, cells, steps_.data(), width_, low.data(), high.data());
    std::array<Count, 2> most{};
    for (std::size_t part = 0, lane = 0; part < 2; ++part)
      for (std::size_t c = 0; c < classes_; ++c)
        for (std::size_t d = c + 1; d < classes_; ++d, ++lane)
          most[part] = std::max({most[part], Count(total[part * classes_ + d] + high[lane]), Count(total[part * classes_ + c] - low[lane])});
    return most;
  }

 private:
  const PairSweepLoops& loops_;
  std::size_t classes_, width_;
  std::vector<std::int16_t> steps_;  // [parts and classes, width, lanes]
};

}  // namespace baytree::tree::optimal
