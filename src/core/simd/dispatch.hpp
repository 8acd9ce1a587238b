// Run-time choice of the instruction set of the vector loops.
//
// Each table of loops is compiled once per instruction set (Level); `loops_in_use` returns the table for this machine.
#pragma once
#include <string_view>
#include <vector>

namespace baytree::simd {

enum class Level { baseline, v3, v4 };

// The best level of this machine, or the one named by the environment variable BAYTREE_SIMD, so that every level can be
// tested.
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

// Levels are named after the micro-architecture levels of x86-64. Other machines have only the baseline (on ARM64 it
// includes NEON).

std::string_view name_of(Level level);

// The levels that this machine supports, lowest first.
std::vector<Level> levels_here();

}  // namespace baytree::simd
