// Bindings of wrapper selection for models that add up.
#include "bayes/wrapper_scores.hpp"
#include "bind/arrays.hpp"
#include "bind/rooms.hpp"

namespace baytree::bind {
namespace {

using namespace bayes;
using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void count_right_with(const Scores& base, const Scores& effect, const Vector<std::int32_t>& label,
                      const Vector<std::int64_t>& start, const Vector<std::int32_t>& fallback, const Output<std::int64_t>& right) {
  const std::size_t n_rows = base.shape(0), n_classes = base.shape(1), n_batches = fallback.shape(0);
  if (effect.shape(0) != n_rows || effect.shape(1) != n_classes || label.shape(0) != n_rows)
    throw nb::value_error("effects and labels do not fit the scores");
  if (start.shape(0) != n_batches + 1 || right.shape(0) != n_batches) throw nb::value_error("the batches do not fit");
  const auto bounds = view(start);
  for (std::size_t b = 0; b < n_batches; ++b)
    if (bounds[b] < 0 || bounds[b] > bounds[b + 1] || static_cast<std::size_t>(bounds[b + 1]) > n_rows)
      throw nb::value_error("a batch lies outside the rows");
  nb::gil_scoped_release released;
  for (std::size_t b = 0; b < n_batches; ++b) {
    const Batch batch{static_cast<std::size_t>(bounds[b]), static_cast<std::size_t>(bounds[b + 1]), fallback.data()[b]};
    right.data()[b] = n_classes == 2 ? count_right_of_two(base.data(), effect.data(), view(label), batch)
                                     : count_right(base.data(), effect.data(), view(label), n_classes, batch);
  }
}

}  // namespace

void bind_wrapper(nb::module_& module) {
  module.def("count_right_with", &count_right_with, "base"_a.noconvert(), "effect"_a.noconvert(), "label"_a.noconvert(),
             "start"_a.noconvert(), "fallback"_a.noconvert(), "right"_a.noconvert(),
             "How many rows of each batch base + effect predicts right.");
}

}  // namespace baytree::bind
