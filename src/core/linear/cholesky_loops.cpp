// Loops of cholesky.hpp, compiled once per instruction set; BAYTREE_LEVEL names the table that this copy defines.
#include "linear/cholesky.hpp"

namespace baytree::linear {
namespace {

// to[l] −= Σ_k factor[k] row_k[l] for a few rows, `step` numbers apart, in order; each sum is stored once.
template <std::size_t Count>
void subtract(const double* factor, const double* rows, std::size_t step, std::size_t first, std::size_t last, double* to) {
  for (std::size_t l = first; l < last; ++l) {
    double left = to[l];
    for (std::size_t k = 0; k < Count; ++k) left -= factor[k] * rows[k * step + l];
    to[l] = left;
  }
}

constexpr std::size_t block = 4;

// The same for the rows of a block, whose factors lie `step` numbers apart: each of `rows` is read once for all of them.
template <std::size_t Count>
void subtract_block(const double* factor, const double* rows, std::size_t step, std::size_t first, std::size_t last, double* to) {
  for (std::size_t l = first; l < last; ++l) {
    double left[Count];
    for (std::size_t r = 0; r < Count; ++r) left[r] = to[r * step + l];
    for (std::size_t k = 0; k < block; ++k) {
      const double own = rows[k * step + l];
      for (std::size_t r = 0; r < Count; ++r) left[r] -= factor[r * step + k] * own;
    }
    for (std::size_t r = 0; r < Count; ++r) to[r * step + l] = left[r];
  }
}

// Rows of a block in terms of the rows above it, then of each other.
template <std::size_t Count> bool decompose_block(double* upper, double* lower, std::size_t m, std::size_t first, double least) {
  double* const rows = upper + first * m;
  for (std::size_t k = 0; k < first; k += block)
    subtract_block<Count>(lower + first * m + k, upper + k * m, m, first, m, rows);
  for (std::size_t r = 0; r < Count; ++r) {
    const std::size_t j = first + r;
    double* const row = rows + r * m;
    for (std::size_t k = 0; k < r; ++k) subtract<1>(rows + k * m + j, rows + k * m, m, j, m, row);
    if (!(row[j] > least) || !(row[j] < __builtin_inf())) return false;
    const double root = __builtin_sqrt(row[j]);
    for (std::size_t l = j; l < m; ++l) row[l] /= root;
  }
  for (std::size_t l = first; l < m; ++l)
    for (std::size_t r = 0; r < Count && first + r <= l; ++r) lower[l * m + first + r] = first + r == l ? 1 / rows[r * m + l] : rows[r * m + l];
  return true;
}

bool decompose(double* upper, double* lower, std::size_t m, double least) {
  std::size_t first = 0;
  for (; first + block <= m; first += block)
    if (!decompose_block<block>(upper, lower, m, first, least)) return false;
  switch (m - first) {
    case 3: return decompose_block<3>(upper, lower, m, first, least);
    case 2: return decompose_block<2>(upper, lower, m, first, least);
    case 1: return decompose_block<1>(upper, lower, m, first, least);
    default: return true;
  }
}

void solve(const double* upper, const double* lower, std::size_t m, double* right) {
  for (std::size_t k = 0; k < m; ++k) {
    const double own = right[k] *= lower[k * m + k];
    subtract<1>(&own, upper + k * m, m, k + 1, m, right);
  }
  for (std::size_t k = m; k-- > 0;) {
    const double own = right[k] *= lower[k * m + k];
    subtract<1>(&own, lower + k * m, m, 0, k, right);
  }
}

void add(const double* row, double factor, std::size_t m, double* to) {
  for (std::size_t i = 0; i < m; ++i) to[i] += factor * row[i];
}

}  // namespace

const CholeskyLoops BAYTREE_LEVEL{decompose, solve, add};

}  // namespace baytree::linear
