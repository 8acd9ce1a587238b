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

bool decompose(double* upper, double* lower, std::size_t m, double least) {
  for (std::size_t j = 0; j < m; ++j) {
    double* const row = upper + j * m;
    const double* const factor = lower + j * m;
    std::size_t k = 0;
    for (; k + 4 <= j; k += 4) subtract<4>(factor + k, upper + k * m, m, j, m, row);
    for (; k < j; ++k) subtract<1>(factor + k, upper + k * m, m, j, m, row);
    if (!(row[j] > least) || !(row[j] < __builtin_inf())) return false;
    const double root = __builtin_sqrt(row[j]);
    for (std::size_t l = j; l < m; ++l) row[l] /= root;
    lower[j * m + j] = 1 / row[j];
    for (std::size_t l = j + 1; l < m; ++l) lower[l * m + j] = row[l];
  }
  return true;
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
