// Loops of pair_sweep.hpp, compiled once per instruction set; BAYTREE_LEVEL names the table that this copy defines.
#include <cstring>

#include "tree/optimal/pair_sweep.hpp"

namespace baytree::tree::optimal {
namespace {

#if defined(__AVX2__)
constexpr std::size_t kBytes = 32;
#else
constexpr std::size_t kBytes = 16;
#endif
constexpr std::size_t kLanes = kBytes / sizeof(std::int16_t);
typedef std::int16_t Lanes __attribute__((vector_size(kBytes)));

Lanes load(const std::int16_t* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <std::size_t Width>
void sweep(std::span<const Ranked> rows, const std::uint32_t* cells, const std::int16_t* steps, std::int16_t* low_out, std::int16_t* high_out) {
  Lanes sum[Width] = {}, low[Width] = {}, high[Width] = {};
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const std::int16_t* const step = steps + Width * kLanes * cells[rows[i].row];
    for (std::size_t v = 0; v < Width; ++v) sum[v] += load(step + v * kLanes);
    if (rows[i].rank == rows[i + 1].rank) continue;
    for (std::size_t v = 0; v < Width; ++v) low[v] = sum[v] < low[v] ? sum[v] : low[v], high[v] = sum[v] > high[v] ? sum[v] : high[v];
  }
  std::memcpy(low_out, low, sizeof low), std::memcpy(high_out, high, sizeof high);
}

void sweep_any(std::span<const Ranked> rows, const std::uint32_t* cells, const std::int16_t* steps, std::size_t width, std::int16_t* low,
               std::int16_t* high) {
  switch (width) {
    case 1: return sweep<1>(rows, cells, steps, low, high);
    case 2: return sweep<2>(rows, cells, steps, low, high);
    case 3: return sweep<3>(rows, cells, steps, low, high);
    case 4: return sweep<4>(rows, cells, steps, low, high);
    case 6: return sweep<6>(rows, cells, steps, low, high);
    default: return sweep<7>(rows, cells, steps, low, high);
  }
}

}  // namespace

const PairSweepLoops BAYTREE_LEVEL{kLanes, sweep_any};

}  // namespace baytree::tree::optimal
