// Bindings of rows of numbers and marks.
#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/rooms.hpp"
#include "linear/marked_loops.hpp"

namespace baytree::bind {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MarkArray = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Square = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Squares = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// Rows of numbers and marks with their labels and weights; their arrays are kept alive, and checked once.
class PyMarkedRows {
 public:
  PyMarkedRows(Numbers x, MarkArray mark, int32_t none, Vector<int32_t> label, Vector<double> weight)
      : x_(x), mark_(mark), none_(none), label_(label), weight_(weight) {
    const size_t rows = x.shape(0);
    require(mark.shape(0) == rows && label.shape(0) == rows && weight.shape(0) == rows && none >= 0, "marked rows: the shapes do not fit");
    for (size_t i = 0; i < rows * mark.shape(1); ++i)
      require(mark.data()[i] >= 0 && mark.data()[i] <= none, "marked rows: no such mark");
    for (size_t i = 0; i < rows; ++i)
      for (size_t s = 1; s < mark.shape(1); ++s)
        require(mark(i, s - 1) < mark(i, s) || mark(i, s) == none, "marked rows: marks must ascend");
  }

  double slope(Vector<double> coefficient, double start, size_t first, size_t last, Output<double> gradient) const {
    require(coefficient.shape(0) == features() - 1 && gradient.shape(0) == features(), "slope: the shapes do not fit");
    const auto run = run_of(first, last);
    nb::gil_scoped_release unlocked;
    return linear::marked_loops().slope(run, marks(first), {coefficient.data(), start}, gradient.data());
  }

  void curvature(Vector<double> coefficient, double start, Vector<int64_t> fold, size_t first, size_t last, Squares out) const {
    require(coefficient.shape(0) == features() - 1 && fold.shape(0) == x_.shape(0) && out.shape(1) == features() &&
                out.shape(2) == features(),
            "curvature: the shapes do not fit");
    const auto run = run_of(first, last);
    for (size_t i = first; i < last; ++i)
      require(fold(i) >= 0 && static_cast<size_t>(fold(i)) < out.shape(0), "curvature: no such fold");
    nb::gil_scoped_release unlocked;
    linear::marked_loops().curvature(run, marks(first), {coefficient.data(), start}, fold.data() + first, out.data());
  }

  void problems(Vector<int64_t> fold, Vector<int64_t> held_out, Numbers coefficient, size_t first, size_t last,
                Output<double> train, Output<double> held, Square gradient) const {
    const size_t m = held_out.shape(0);
    require(fold.shape(0) == x_.shape(0) && train.shape(0) == m && held.shape(0) == m && m % 8 == 0 &&
                coefficient.shape(0) == features() && coefficient.shape(1) == m && gradient.shape(0) == features() &&
                gradient.shape(1) == m,
            "problems: the shapes do not fit");
    const auto run = run_of(first, last);
    nb::gil_scoped_release unlocked;
    const linear::Problems problems{m, held_out.data(), train.data(), held.data()};
    linear::marked_loops().problems(run, marks(first), fold.data() + first, problems, coefficient.data(), gradient.data());
  }

 private:
  size_t features() const { return x_.shape(1) + static_cast<size_t>(none_) + 1; }

  linear::RowRun run_of(size_t first, size_t last) const {
    require(first <= last && last <= x_.shape(0), "marked rows: no such rows");
    const size_t columns = x_.shape(1);
    return {x_.data() + first * columns, static_cast<std::ptrdiff_t>(columns), last - first, columns, label_.data() + first,
            weight_.data() + first};
  }

  linear::Marks marks(size_t first) const { return {mark_.data() + first * mark_.shape(1), mark_.shape(1), none_}; }

  Numbers x_;
  MarkArray mark_;
  int32_t none_;
  Vector<int32_t> label_;
  Vector<double> weight_;
};

}  // namespace

void bind_marked(nb::module_& module) {
  nb::class_<PyMarkedRows>(module, "MarkedRows", "Rows of numbers and marks with two classes, and what they say of coefficients.")
      .def(nb::init<Numbers, MarkArray, int32_t, Vector<int32_t>, Vector<double>>(), nb::arg("x").noconvert(),
           nb::arg("mark").noconvert(), "none"_a, nb::arg("label").noconvert(), nb::arg("weight").noconvert())
      .def("slope", &PyMarkedRows::slope, nb::arg("coefficient").noconvert(), "start"_a, "first"_a, "last"_a,
           nb::arg("gradient").noconvert(), "Loss of some rows; adds their gradient, the constant last.")
      .def("curvature", &PyMarkedRows::curvature, nb::arg("coefficient").noconvert(), "start"_a, nb::arg("fold").noconvert(),
           "first"_a, "last"_a, nb::arg("out").noconvert(),
           "Adds the second derivatives of some rows to the lower half of the matrix of their fold.")
      .def("problems", &PyMarkedRows::problems, nb::arg("fold").noconvert(), nb::arg("held_out").noconvert(),
           nb::arg("coefficient").noconvert(), "first"_a, "last"_a, nb::arg("train").noconvert(), nb::arg("held").noconvert(),
           nb::arg("gradient").noconvert(), "Several problems at once: adds losses of taught and held-out rows, and gradients.");
}

}  // namespace baytree::bind
