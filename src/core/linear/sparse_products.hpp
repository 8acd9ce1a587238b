// Products with rows in compressed form.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "numbers/sparse_rows.hpp"

namespace baytree::linear {

using numbers::SparseRows;

// Calls f with the number of scores as a constant where it is small, so that loops over scores unroll and vectorise.
template <std::invocable<std::size_t> F> decltype(auto) with_width(std::size_t width, const F& f) {
  switch (width) {
    case 1: return f(std::integral_constant<std::size_t, 1>{});
    case 2: return f(std::integral_constant<std::size_t, 2>{});
    case 3: return f(std::integral_constant<std::size_t, 3>{});
    case 4: return f(std::integral_constant<std::size_t, 4>{});
    case 8: return f(std::integral_constant<std::size_t, 8>{});
    default: return f(width);
  }
}

// A number of scores, known to the compiler or not.
template <typename W>
concept Width = std::convertible_to<W, std::size_t>;

// sum += a row times weight [n_features, width].
template <Width W>
void add_product(const SparseRows& x, std::size_t row, const double* weight, W width, double* sum) {
  for (auto e = x.start[row]; e < x.start[row + 1]; ++e) {
    const auto at = static_cast<std::size_t>(e);
    const double v = x.value[at];
    const double* const w = weight + static_cast<std::size_t>(x.code[at]) * width;
    for (std::size_t k = 0; k < width; ++k) sum[k] += v * w[k];
  }
}

// out[i, :] += row i times weight, for all rows.
inline void sparse_product(const SparseRows& x, std::span<const double> weight, std::size_t width,
                           std::span<double> out) {
  with_width(width, [&](auto w) {
    for (std::size_t i = 0; i < x.rows(); ++i) add_product(x, i, weight.data(), w, out.data() + i * width);
  });
}

}  // namespace baytree::linear
