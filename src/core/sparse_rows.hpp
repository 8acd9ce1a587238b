// Products with rows in compressed form.
#pragma once
#include <cstdint>
#include <span>

namespace baytree {

struct SparseRows {
  std::span<const std::int64_t> start;  // [n_rows + 1]
  std::span<const std::int32_t> code;
  std::span<const double> value;

  std::size_t rows() const { return start.size() - 1; }
};

// out[i, :] += row i times weight [n_features, width], for rows [first, last).
inline void sparse_product(const SparseRows& x, std::span<const double> weight, std::size_t width,
                           std::span<double> out, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    double* const sum = out.data() + i * width;
    for (auto e = x.start[i]; e < x.start[i + 1]; ++e) {
      const double v = x.value[static_cast<std::size_t>(e)];
      const double* const w = weight.data() + static_cast<std::size_t>(x.code[static_cast<std::size_t>(e)]) * width;
      for (std::size_t k = 0; k < width; ++k) sum[k] += v * w[k];
    }
  }
}

}  // namespace baytree
