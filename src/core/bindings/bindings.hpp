// Registration functions of the binding files.
#pragma once
#include <nanobind/nanobind.h>

namespace baytree::bindings {

void bind_simd(nanobind::module_& module);
void bind_statistics(nanobind::module_& module);
void bind_cuts(nanobind::module_& module);
void bind_fractional(nanobind::module_& module);
void bind_c50(nanobind::module_& module);
void bind_sorted(nanobind::module_& module);
void bind_routing(nanobind::module_& module);
void bind_pruning(nanobind::module_& module);
void bind_counted(nanobind::module_& module);
void bind_chaid(nanobind::module_& module);
void bind_class_tests(nanobind::module_& module);
void bind_multiway(nanobind::module_& module);
void bind_optimal(nanobind::module_& module);
void bind_streaming(nanobind::module_& module);
void bind_text(nanobind::module_& module);
void bind_densities(nanobind::module_& module);
void bind_counts(nanobind::module_& module);
void bind_subset_scores(nanobind::module_& module);
void bind_linear(nanobind::module_& module);
void bind_logistic(nanobind::module_& module);
void bind_mars(nanobind::module_& module);

}  // namespace baytree::bindings
