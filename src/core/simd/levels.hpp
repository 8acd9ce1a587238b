// The instruction sets that the vector loops are compiled for, by the names of x86-64's levels. What these names hold on other
// machines is the baseline alone, to which NEON belongs.
#pragma once
#include <string_view>
#include <vector>

#include "simd/dispatch.hpp"

namespace baytree::simd {

std::string_view name_of(Level level);

// The levels that this machine has, the least one first.
std::vector<Level> levels_here();

}  // namespace baytree::simd
