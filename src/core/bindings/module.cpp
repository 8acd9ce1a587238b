// The module `baytree._core`. Each room binds its kernels in thin files of bindings/: check, release the GIL, call.
#include <atomic>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "simd/dispatch.hpp"

namespace baytree::bindings {
namespace {

// A function's own, so that there is no global to be initialised before or after others.
std::atomic<unsigned long>& main_thread() {
  static std::atomic<unsigned long> ident{0};
  return ident;
}

// Now and in every child that is forked: there the thread that forked is the main one.
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
  nanobind::set_leak_warnings(false);  // a tree that lives until the end of the process keeps its router that long
  module.doc() = "Kernels of baytree: rows in, statistics out.";
  note_main_thread();
  baytree::simd::level_in_use();  // refuses what it cannot run before anything is asked
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
  bind_few_classes(module);
  bind_mars(module);
}
