#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <variant>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "linear/logistic/compressed_rows.hpp"
#include "linear/logistic/dense_rows.hpp"
#include "linear/logistic/newton.hpp"

namespace baytree::bindings {
namespace {

using Dense = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void check_labels(const Vector<int32_t>& label, size_t n_scores) {
  const size_t n_classes = std::max<size_t>(n_scores, 2);
  for (const int32_t each : view(label)) require(each >= 0 && static_cast<size_t>(each) < n_classes, "logistic rows: no such class");
}

// Compressed rows and the arrays that they read.
struct KeptRows {
  KeptRows(Vector<int64_t> start, Vector<int32_t> code, Vector<double> value, size_t q, Vector<int32_t> label, Vector<double> weight,
           size_t n_scores)
      : start(start), code(code), value(value), label(label), weight(weight),
        rows({view(start), view(code), view(value)}, q, view(this->label), view(this->weight), n_scores) {}

  Vector<int64_t> start;
  Vector<int32_t> code;
  Vector<double> value;
  Vector<int32_t> label;
  Vector<double> weight;
  linear::CompressedRows rows;
};

// Rows of one process, dense or compressed.
class LogisticRows {
  template <typename F> auto visit(const F& f) const { return dense_ ? f(*dense_) : f(compressed_->rows); }

  linear::Penalty checked(const Vector<double>& ridge, const Vector<double>& lasso, size_t n_scores, size_t q) const {
    visit([&](const auto& rows) {
      require(ridge.shape(0) == rows.q() && lasso.shape(0) == rows.q() && n_scores == rows.n_scores() && q == rows.q(),
              "logistic rows: the shapes do not fit");
    });
    return {view(ridge), view(lasso)};
  }

 public:
  static std::unique_ptr<LogisticRows> dense(Dense x, Vector<int32_t> label, Vector<double> weight, size_t n_scores) {
    require(label.shape(0) == x.shape(0) && weight.shape(0) == x.shape(0) && n_scores > 0, "logistic rows: the shapes do not fit");
    check_labels(label, n_scores);
    const linear::RowRun run{x.data(), static_cast<std::ptrdiff_t>(x.shape(1)), x.shape(0), x.shape(1), label.data(), weight.data()};
    auto made = std::make_unique<LogisticRows>();
    const nb::gil_scoped_release unlocked;
    made->dense_ = std::make_unique<linear::DenseRows>(run, n_scores);
    return made;
  }

  // Starts and codes were checked by check_sparse; the codes of a row ascend, and the last is the constant.
  static std::unique_ptr<LogisticRows> compressed(Vector<int64_t> start, Vector<int32_t> code, Vector<double> value, size_t q,
                                                  Vector<int32_t> label, Vector<double> weight, size_t n_scores) {
    require(start.shape(0) == label.shape(0) + 1 && weight.shape(0) == label.shape(0) && code.shape(0) == value.shape(0) && n_scores > 0,
            "logistic rows: the shapes do not fit");
    check_labels(label, n_scores);
    auto made = std::make_unique<LogisticRows>();
    made->compressed_ = std::make_unique<KeptRows>(start, code, value, q, label, weight, n_scores);
    return made;
  }

  // Coefficients, violation, steps and objectives; empty if the optimum is not found.
  nb::tuple optimum(Vector<double> ridge, Vector<double> lasso, Cube starts, double tol, double target, int64_t max_steps,
                    std::shared_ptr<linear::Preconditioner> near) const {
    require(starts.shape(0) > 0, "logistic rows: no start");
    const linear::Penalty penalty = checked(ridge, lasso, starts.shape(1), starts.shape(2));
    Workers workers(1, is_interrupted);
    const linear::StoppingRule stop{tol, target, max_steps, [&] { workers.poll(); }};
    auto fit = interruptible([&] {
      std::vector<std::vector<double>> thetas;
      const size_t size = starts.shape(1) * starts.shape(2);
      for (size_t s = 0; s < starts.shape(0); ++s) thetas.emplace_back(starts.data() + s * size, starts.data() + (s + 1) * size);
      return visit([&](const auto& rows) { return linear::fit_logistic(rows, penalty, std::move(thetas), stop, near); });
    });
    if (!fit) return nb::make_tuple();
    nb::list objectives;
    for (const double each : fit->objectives) objectives.append(each);
    return nb::make_tuple(to_numpy(std::move(fit->theta), {starts.shape(1), starts.shape(2)}), fit->violation, fit->steps,
                          nb::tuple(objectives));
  }

  // The preconditioner of a smooth penalty at theta; nothing if a block of the Hessian is close to singular.
  std::shared_ptr<linear::Preconditioner> preconditioner(Vector<double> ridge, Vector<double> lasso, Dense theta) const {
    const linear::Penalty penalty = checked(ridge, lasso, theta.shape(0), theta.shape(1));
    const nb::gil_scoped_release unlocked;
    return visit([&](const auto& rows) {
      return linear::Preconditioner::at(rows, rows.evaluate({theta.data(), theta.size()}).probability, penalty);
    });
  }

  // Mean loss at theta.
  double loss(Dense theta) const {
    const nb::gil_scoped_release unlocked;
    return visit([&](const auto& rows) {
      require(theta.shape(0) == rows.n_scores() && theta.shape(1) == rows.q(), "logistic rows: the shapes do not fit");
      return rows.evaluate({theta.data(), theta.size()}).loss;
    });
  }

 private:
  std::unique_ptr<linear::DenseRows> dense_;
  std::unique_ptr<KeptRows> compressed_;
};

}  // namespace

void bind_logistic(nb::module_& module) {
  nb::class_<linear::Preconditioner>(module, "Preconditioner", "Approximate inverse of the Hessian of a logistic regression.");
  nb::class_<LogisticRows>(module, "LogisticRows", "Rows of a logistic regression in this process; finds the optimum on them.")
      .def_static("dense", &LogisticRows::dense, nb::arg("x").noconvert(), nb::arg("label").noconvert(), nb::arg("weight").noconvert(),
                  "n_scores"_a, "Copy dense rows; the constant 1 becomes the last feature.")
      .def_static("compressed", &LogisticRows::compressed, nb::arg("start").noconvert(), nb::arg("code").noconvert(),
                  nb::arg("value").noconvert(), "q"_a, nb::arg("label").noconvert(), nb::arg("weight").noconvert(), "n_scores"_a,
                  "Rows in compressed form, the constant included.")
      .def("optimum", &LogisticRows::optimum, nb::arg("ridge").noconvert(), nb::arg("lasso").noconvert(), nb::arg("starts").noconvert(),
           "tol"_a, "target"_a, "max_steps"_a, "near"_a.none() = nb::none(),
           "Coefficients [scores, q], violation, steps and objectives, from the best of some starts; empty if the optimum is not found.")
      .def("preconditioner", &LogisticRows::preconditioner, nb::arg("ridge").noconvert(), nb::arg("lasso").noconvert(),
           nb::arg("theta").noconvert(), "The preconditioner at these coefficients, for `near` of a nearby problem.")
      .def("loss", &LogisticRows::loss, nb::arg("theta").noconvert(), "Mean loss at these coefficients.");
}

}  // namespace baytree::bindings
