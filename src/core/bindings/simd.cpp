// Bindings of the instruction sets: those supported, and the one in use.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "simd/dispatch.hpp"

namespace baytree::bindings {
namespace {

std::string simd_level() { return std::string(simd::name_of(simd::level_in_use())); }

std::vector<std::string> simd_levels() {
  std::vector<std::string> names;
  for (const simd::Level level : simd::levels_here()) names.emplace_back(simd::name_of(level));
  return names;
}

}  // namespace

void bind_simd(nanobind::module_& module) {
  module.def("simd_level", &simd_level, "The instruction set of the vector loops: the best one, or what BAYTREE_SIMD names.");
  module.def("simd_levels", &simd_levels, "The instruction sets that this machine has, the least one first.");
}

}  // namespace baytree::bindings
