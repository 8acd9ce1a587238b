// The module `baytree._core`. Each room binds its kernels in thin files of bind/: check, release the GIL, call.
#include "bind/rooms.hpp"
#include "simd/dispatch.hpp"

NB_MODULE(_core, module) {
  using namespace baytree::bind;
  nanobind::set_leak_warnings(false);  // a tree that lives until the end of the process keeps its router that long
  module.doc() = "Kernels of baytree: rows in, statistics out.";
  baytree::simd::level_in_use();  // refuses what it cannot run before anything is asked
  bind_levels(module);
  bind_statistics(module);
  bind_cuts(module);
  bind_fractional(module);
  bind_c50(module);
  bind_sorted(module);
  bind_route(module);
  bind_prune(module);
  bind_counted(module);
  bind_classes(module);
  bind_multiway(module);
  bind_optimal(module);
  bind_streaming(module);
  bind_text(module);
  bind_bayes(module);
  bind_amounts(module);
  bind_wrapper(module);
  bind_linear(module);
  bind_marked(module);
  bind_few_classes(module);
  bind_splines(module);
}
