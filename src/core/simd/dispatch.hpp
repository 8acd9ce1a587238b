// Which copy of a table of loops runs here: each is compiled once per instruction set, the best one is taken at run time.
#pragma once

namespace baytree::simd {

#if defined(BAYTREE_X86_LEVELS)
template <typename Loops> const Loops& best_for_this_machine(const Loops& baseline, const Loops& v3, const Loops& v4) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return v4;
  return __builtin_cpu_supports("avx2") ? v3 : baseline;
}
#endif

}  // namespace baytree::simd
