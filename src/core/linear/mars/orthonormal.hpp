// Orthonormal basis that grows column by column, stored both by columns and by rows.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace baytree::linear::mars {

inline constexpr double kDependent = 1e-8;  // relative length below which the new part of a column is treated as 0

// Dot product in four lanes with a fixed order of addition, so that the bits do not depend on the compiler.
inline double dot(std::span<const double> a, std::span<const double> b) {
  std::array<double, 4> lane{};
  const std::size_t whole = a.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4)
    for (std::size_t k = 0; k < 4; ++k) lane[k] += a[i + k] * b[i + k];
  for (std::size_t i = whole; i < a.size(); ++i) lane[0] += a[i] * b[i];
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

class Orthonormal {
 public:
  Orthonormal(std::size_t rows, std::size_t most) : rows_(rows), stride_((most + 7) / 8 * 8), row_(rows * stride_) {}

  std::size_t size() const { return rows_ ? column_.size() / rows_ : 0; }
  std::span<const double> column(std::size_t k) const { return {column_.data() + k * rows_, rows_}; }
  const double* row(std::size_t i) const { return row_.data() + i * stride_; }

  // Projects the basis out of a vector by modified Gram–Schmidt; twice, to remove the rounding errors of the first
  // pass.
  void project_out(std::span<double> v) const {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < size(); ++k) {
        const auto q = column(k);
        const double share = dot(q, v);
        for (std::size_t i = 0; i < rows_; ++i) v[i] -= share * q[i];
      }
  }

  // Adds the normalised new part of a column; a dependent column becomes a column of zeros.
  void add(std::span<const double> b) {
    std::vector<double> v(b.begin(), b.end());
    project_out(v);
    const double length = std::sqrt(dot(v, v)), own = std::sqrt(dot(b, b));
    const double scale = length > kDependent * own ? 1 / length : 0.0;
    const std::size_t k = size();
    for (std::size_t i = 0; i < rows_; ++i) {
      v[i] *= scale;
      row_[i * stride_ + k] = v[i];
    }
    column_.insert(column_.end(), v.begin(), v.end());
  }

 private:
  std::size_t rows_, stride_;
  std::vector<double> column_, row_;
};

}  // namespace baytree::linear::mars
