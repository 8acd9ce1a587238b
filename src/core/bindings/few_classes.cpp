// Bindings of logistic regression of several classes on few rows.
#include <optional>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "linear/classes/class_held_out.hpp"

namespace baytree::bindings {
namespace {

using Dense = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using DenseOutput = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Found = nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <typename Array> std::span<const double> flat(const Array& x) { return {x.data(), x.size()}; }

linear::RowRun run_of(const Dense& x, const Vector<int32_t>& label, const Vector<double>& weight, size_t classes) {
  require(label.shape(0) == x.shape(0) && weight.shape(0) == x.shape(0), "rows of classes: the shapes do not fit");
  for (const int32_t each : view(label)) require(each >= 0 && static_cast<size_t>(each) < classes, "rows of classes: no such class");
  return {x.data(), static_cast<std::ptrdiff_t>(x.shape(1)), x.shape(0), x.shape(1), label.data(), weight.data()};
}

nb::tuple newton_of_few_classes(Dense x, Vector<int32_t> label, Vector<double> weight, Vector<double> ridge, Vector<double> lasso, Dense start,
                                double tol, double ideal, int64_t most) {
  const size_t classes = start.shape(0), q = x.shape(1) + 1;
  const auto run = run_of(x, label, weight, classes);
  require(ridge.shape(0) == q && lasso.shape(0) == q && start.shape(1) == q, "newton_of_few_classes: the shapes do not fit");
  std::optional<linear::ClassFit> fit;
  {
    nb::gil_scoped_release unlocked;
    const linear::ClassRows rows(run, classes);
    fit = linear::class_fit(rows, {view(ridge), view(lasso)}, {start.data(), start.data() + start.size()}, {tol, ideal, most});
  }
  if (!fit) return nb::make_tuple();
  nb::list values;
  for (const double each : fit->values) values.append(each);
  return nb::make_tuple(to_numpy(std::move(fit->theta), {classes, q}), fit->violation, fit->steps, nb::tuple(values));
}

void held_out_of_few_classes(Dense x, Vector<int32_t> label, Vector<double> weight, Vector<int64_t> fold, Cube ridge, Cube lasso, Cube theta,
                             Dense aim, int64_t most, DenseOutput loss, Found found) {
  const size_t q = x.shape(1) + 1, folds = aim.shape(0), count = aim.shape(1), classes = theta.shape(1);
  const auto run = run_of(x, label, weight, classes);
  const auto has_shape = [&](const Cube& each) { return each.shape(0) == folds && each.shape(1) == count && each.shape(2) == q; };
  require(fold.shape(0) == run.rows && has_shape(ridge) && has_shape(lasso) && theta.shape(0) == count && theta.shape(2) == q &&
              loss.shape(0) == folds && loss.shape(1) == count && found.size() == folds * count,
          "held_out_of_few_classes: the shapes do not fit");
  nb::gil_scoped_release unlocked;
  const linear::ClassPath path{classes, folds, count, flat(ridge), flat(lasso), flat(theta), flat(aim), most};
  linear::ClassHeldOut(run, view(fold), path).losses({loss.data(), loss.size()}, {found.data(), found.size()});
}

}  // namespace

void bind_few_classes(nb::module_& module) {
  module.def("newton_of_few_classes", &newton_of_few_classes, nb::arg("x").noconvert(), nb::arg("label").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("ridge").noconvert(), nb::arg("lasso").noconvert(), nb::arg("start").noconvert(),
             nb::arg("tol"), nb::arg("ideal"), nb::arg("most"),
             "The optimum of several classes: coefficients [classes, q], violation, steps and objectives; empty where it is not found.");
  module.def("held_out_of_few_classes", &held_out_of_few_classes, nb::arg("x").noconvert(), nb::arg("label").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("fold").noconvert(), nb::arg("ridge").noconvert(), nb::arg("lasso").noconvert(),
             nb::arg("theta").noconvert(), nb::arg("aim").noconvert(), nb::arg("most"), nb::arg("loss").noconvert(),
             nb::arg("found").noconvert(), "Writes the held-out loss of each fold at each strength, of several classes, and whether it was found.");
}

}  // namespace baytree::bindings
