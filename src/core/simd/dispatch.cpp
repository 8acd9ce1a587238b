// Detection of the instruction set. This file is compiled for the baseline, since it runs before the instruction set is
// known.
#include "simd/dispatch.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace baytree::simd {
namespace {

// An unsupported level is rejected: its instructions would crash the process.
Level level_asked_for(std::string_view asked) {
  const std::vector<Level> levels = levels_here();
  if (asked.empty()) return levels.back();
  std::string known;
  for (const Level level : levels) {
    if (name_of(level) == asked) return level;
    known += (known.empty() ? "" : ", ") + std::string(name_of(level));
  }
  throw std::invalid_argument("BAYTREE_SIMD=" + std::string(asked) + ": this machine has " + known +
                              "; name one of these, or unset the variable");
}

}  // namespace

std::string_view name_of(Level level) {
  constexpr std::string_view names[] = {"baseline", "v3", "v4"};
  return names[static_cast<int>(level)];
}

std::vector<Level> levels_here() {
  std::vector<Level> levels{Level::baseline};
#if defined(BAYTREE_X86_LEVELS)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return levels;
  levels.push_back(Level::v3);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
    levels.push_back(Level::v4);
#endif
  return levels;
}

Level level_in_use() {
  static const Level level = [] {
    const char* const asked = std::getenv("BAYTREE_SIMD");
    return level_asked_for(asked == nullptr ? "" : asked);
  }();
  return level;
}

}  // namespace baytree::simd
