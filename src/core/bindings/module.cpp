// The extension module `baytree._core`. Each file of bindings/ registers kernels of one family; a binding checks its
// arguments, releases the GIL and calls the kernel.
#include <atomic>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "simd/dispatch.hpp"

namespace baytree::bindings {
namespace {

// Local static: no global whose initialisation order matters.
std::atomic<unsigned long>& main_thread() {
  static std::atomic<unsigned long> ident{0};
  return ident;
}

// Records the main thread now and in every forked child, where the forking thread becomes the main thread.
void note_main_thread() {
  const auto note = [] { main_thread() = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident")); };
  note();
  const nb::object os = nb::module_::import_("os");
  if (nb::hasattr(os, "register_at_fork")) os.attr("register_at_fork")("after_in_child"_a = nb::cpp_function(note));
}

}  // namespace

bool is_main_thread() { return PyThread_get_thread_ident() == main_thread(); }

}  // namespace baytree::bindings

NB_MODULE(_core, module) {
  using namespace baytree::bindings;
  nanobind::set_leak_warnings(false);  // trees that live until the end of the process keep their routers alive
  module.doc() = "Kernels of baytree: rows in, statistics out.";
  note_main_thread();
  baytree::simd::level_in_use();  // fails early if BAYTREE_SIMD names an unsupported level
  bind_simd(module);
  bind_statistics(module);
  bind_cuts(module);
  bind_fractional(module);
  bind_c50(module);
  bind_sorted(module);
  bind_routing(module);
  bind_pruning(module);
  bind_counted(module);
  bind_chaid(module);
  bind_class_tests(module);
  bind_multiway(module);
  bind_optimal(module);
  bind_streaming(module);
  bind_text(module);
  bind_densities(module);
  bind_counts(module);
  bind_subset_scores(module);
  bind_linear(module);
  bind_logistic(module);
  bind_mars(module);
}
