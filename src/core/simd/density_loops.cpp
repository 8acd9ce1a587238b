// The loops over densities, compiled once for each instruction set (BAYTREE_LEVEL names the table that is made here).
#include "bayes/densities.hpp"
#include "simd/lane_math.hpp"

namespace baytree::bayes {
namespace {

using namespace simd;

double squares(const Lanes* __restrict value, std::size_t n_groups, const ClassLanes& density) {
  const Lanes *__restrict mean = density.mean, *__restrict inverse = density.inverse;
  Lanes sum{};
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes z = (value[g] - mean[g]) * inverse[g];
    sum += z * z;
  }
  return summed(sum);
}

RowSums logs(const Lanes* __restrict value, std::size_t n_groups, const ClassLanes& density) {
  const Lanes *__restrict mean = density.mean, *__restrict inverse = density.inverse;
  Lanes sum{}, far{};
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes z = (value[g] - mean[g]) * inverse[g], square = z * z;
    far += square;
    sum += density.half[g] * log_one_plus(square * density.inverse_degrees[g]);
  }
  return {summed(far), summed(sum)};
}

}  // namespace

const DensityLoops BAYTREE_LEVEL{squares, logs};

}  // namespace baytree::bayes
