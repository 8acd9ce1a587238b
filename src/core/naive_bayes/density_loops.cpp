// Loops of densities.hpp, compiled once per instruction set; BAYTREE_LEVEL names the table that this copy defines.
#include "naive_bayes/densities.hpp"
#include "simd/lane_math.hpp"
#include "simd/lanes.hpp"

namespace baytree::naive_bayes {
namespace {

using namespace simd;

// Several rows per step, so that the parameters of a group are loaded once for all of them and the sums are
// independent.
template <std::size_t n_rows>
[[gnu::always_inline]] inline void squares_of(const Lanes* __restrict value, std::size_t n_groups, const ClassLanes& density,
                                              RowSums* __restrict sums) {
  Run sum[n_rows][n_runs];
  for (auto& of_row : sum)
    for (Run& run : of_row) run = Run{};
  for (std::size_t g = 0; g < n_groups; ++g)
    for (std::size_t k = 0; k < n_runs; ++k) {
      const Run mean = part_of<Run>(&density.mean[g], k * width), inverse = part_of<Run>(&density.inverse[g], k * width);
      for (std::size_t i = 0; i < n_rows; ++i) {
        const Run z = (part_of<Run>(&value[i * n_groups + g], k * width) - mean) * inverse;
        sum[i][k] += z * z;
      }
    }
  for (std::size_t i = 0; i < n_rows; ++i) sums[i].squares = sum_of_runs(sum[i]);
}

void squares(const DensityRows& rows, const ClassLanes& density, RowSums* sums) {
  constexpr std::size_t rows_per_step = 4;  // independent sums, so that additions do not wait for each other
  std::size_t i = 0;
  for (; i + rows_per_step <= rows.n_rows; i += rows_per_step) squares_of<rows_per_step>(rows.value + i * rows.n_groups, rows.n_groups, density, sums + i);
  for (; i < rows.n_rows; ++i) squares_of<1>(rows.value + i * rows.n_groups, rows.n_groups, density, sums + i);
}

RowSums logs_of(const Lanes* __restrict value, std::size_t n_groups, const ClassLanes& density) {
  const Lanes *__restrict mean = density.mean, *__restrict inverse = density.inverse;
  Lanes sum{}, far{};
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes z = (value[g] - mean[g]) * inverse[g], square = z * z;
    far += square;
    sum += density.half[g] * log_one_plus(square * density.inverse_degrees[g]);
  }
  return {summed(far), summed(sum)};
}

void logs(const DensityRows& rows, const ClassLanes& density, RowSums* sums) {
  for (std::size_t i = 0; i < rows.n_rows; ++i) sums[i] = logs_of(rows.value + i * rows.n_groups, rows.n_groups, density);
}

}  // namespace

const DensityLoops BAYTREE_LEVEL{squares, logs};

}  // namespace baytree::naive_bayes
