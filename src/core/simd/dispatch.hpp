// Which instruction set runs.
#pragma once
#include <string_view>
#include <vector>

namespace baytree::simd {

// Which copy of a table of loops runs here: each is compiled once per instruction set (levels.hpp says which there are).

enum class Level { baseline, v3, v4 };

// The best level that this machine has, or the one that the environment variable BAYTREE_SIMD names, so that every copy can be
// tried and timed anywhere.
Level level_in_use();

#if defined(BAYTREE_X86_LEVELS)
template <typename Loops> const Loops& loops_in_use(const Loops& baseline, const Loops& v3, const Loops& v4) {
  switch (level_in_use()) {
    case Level::v4: return v4;
    case Level::v3: return v3;
    case Level::baseline: break;
  }
  return baseline;
}
#endif

// The instruction sets that the vector loops are compiled for, by the names of x86-64's levels. What these names hold on other
// machines is the baseline alone, to which NEON belongs.

std::string_view name_of(Level level);

// The levels that this machine has, the least one first.
std::vector<Level> levels_here();

}  // namespace baytree::simd
