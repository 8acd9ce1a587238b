// What each binding file offers to the module.
#pragma once
#include <nanobind/nanobind.h>

namespace baytree::bind {

void bind_levels(nanobind::module_& module);
void bind_statistics(nanobind::module_& module);
void bind_cuts(nanobind::module_& module);
void bind_fractional(nanobind::module_& module);
void bind_c50(nanobind::module_& module);
void bind_sorted(nanobind::module_& module);
void bind_route(nanobind::module_& module);
void bind_prune(nanobind::module_& module);
void bind_counted(nanobind::module_& module);
void bind_trials(nanobind::module_& module);
void bind_classes(nanobind::module_& module);
void bind_multiway(nanobind::module_& module);
void bind_optimal(nanobind::module_& module);
void bind_streaming(nanobind::module_& module);
void bind_text(nanobind::module_& module);
void bind_bayes(nanobind::module_& module);
void bind_amounts(nanobind::module_& module);
void bind_wrapper(nanobind::module_& module);
void bind_linear(nanobind::module_& module);
void bind_few_classes(nanobind::module_& module);
void bind_splines(nanobind::module_& module);

}  // namespace baytree::bind
