// Array types of the bindings, score matrices, and calls of kernels without the GIL.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#include "numeric/matrix.hpp"
#include "util/thread_pool.hpp"

namespace baytree::bindings {

namespace nb = nanobind;
using namespace nb::literals;

inline constexpr std::size_t max_rows = 0x7fffffff;  // kernels number rows by signed 32-bit integers

// One-dimensional contiguous input, never copied or converted (bind with `.noconvert()`).
template <typename T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T> std::span<const T> view(const Vector<T>& array) { return {array.data(), array.shape(0)}; }
template <typename T> std::span<T> view(const Output<T>& array) { return {array.data(), array.shape(0)}; }

// The values of a sequence. Not by nanobind's type casters: these are noexcept, so a failed allocation would terminate
// the process.
template <typename T> std::vector<T> values_of(const nb::handle& sequence) {
  std::vector<T> values;
  for (const nb::handle each : sequence) values.push_back(nb::cast<T>(each));
  return values;
}

// Passes the memory of a vector to numpy without a copy.
template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

// An array of zeros, by calloc: pages that are never written are not allocated.
template <typename T> nb::ndarray<nb::numpy, T> zeros(std::initializer_list<size_t> shape) {
  const size_t size = std::accumulate(shape.begin(), shape.end(), size_t(1), std::multiplies());
  auto* owned = static_cast<T*>(std::calloc(std::max(size, size_t(1)), sizeof(T)));
  if (!owned) throw std::bad_alloc();
  nb::capsule owner(owned, [](void* pointer) noexcept { std::free(pointer); });
  return nb::ndarray<nb::numpy, T>(owned, shape, owner);
}

// Python handles signals only on its main thread.
bool is_main_thread();

// Whether the user pressed Ctrl-C; called by kernels from time to time. Other threads return at once: they would wait
// for the GIL, for up to a quarter of the interval between calls, without any result.
inline bool is_interrupted() {
  if (!is_main_thread()) return false;
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

// Runs a kernel without the GIL; an interrupt becomes the exception that Python has already set.
template <std::invocable Kernel> auto interruptible(const Kernel& kernel) {
  try {
    const nb::gil_scoped_release released;
    return kernel();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

// Matrices and scores.

using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline std::span<const double> flat(const Table& table) { return {table.data(), table.size()}; }

// Scores of the given shape.
inline std::span<double> output(const Scores& scores, std::size_t n_rows, std::size_t n_classes) {
  if (scores.shape(0) != n_rows || scores.shape(1) != n_classes) throw nb::value_error("scores do not fit the rows");
  return {scores.data(), scores.size()};
}

inline numeric::Matrix matrix_of(const Strided& values) {
  return {values.data(), values.shape(0), values.shape(1), values.stride(0), values.stride(1)};
}

}  // namespace baytree::bindings
