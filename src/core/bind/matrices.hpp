// Matrices that kernels read, and scores that they add to.
#pragma once
#include "bind/arrays.hpp"
#include "numbers/matrix.hpp"

namespace baytree::bind {

using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline std::span<const double> flat(const Table& table) { return {table.data(), table.size()}; }

// Scores that fit so many rows and classes.
inline std::span<double> output(const Scores& scores, std::size_t n_rows, std::size_t n_classes) {
  if (scores.shape(0) != n_rows || scores.shape(1) != n_classes) throw nb::value_error("scores do not fit the rows");
  return {scores.data(), scores.size()};
}

inline numbers::Matrix matrix_of(const Strided& values) {
  return {values.data(), values.shape(0), values.shape(1), values.stride(0), values.stride(1)};
}

}  // namespace baytree::bind
