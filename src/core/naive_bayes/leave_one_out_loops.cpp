// Loops of leave_one_out.hpp, compiled once per instruction set; BAYTREE_LEVEL names the table that this copy defines.
#include "naive_bayes/leave_one_out.hpp"
#include "simd/lane_math.hpp"

namespace baytree::naive_bayes {
namespace {

using namespace simd;

Lanes larger(const Lanes& a, const Lanes& b) { return a > b ? a : b; }

bool prepare(const Lanes* value, std::size_t n_groups, const ColumnLanes& columns, const MomentLanes& own, double weight,
             const NormalSetting& setting, const RowLanes& row) {
  LaneBits is_hopeless{};
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes x = (value[g] - columns.centre[g]) * columns.inverse_unit[g], whole = columns.whole[g], n = whole - weight;
    const Lanes inverse = 1.0 / n, left = own.weight[g] - weight, gap = x - own.mean[g];
    row.x[g] = x;
    row.centre[g] = -weight * x * inverse;
    row.variance[g] = (whole - weight * x * x * whole * inverse) * inverse;
    row.is_known[g] = (value[g] == value[g]) & (n > 0.0);
    is_hopeless |= row.is_known[g] & ~(row.variance[g] > 1e-9);
    // As in the Python event model: the pooled variance within classes, with one row's weight of the column's own
    // variance, and its proportion of the variance between classes.
    const Lanes squares = larger(columns.squares[g] - (left > 0.0 ? weight * gap * gap * own.weight[g] / left : Lanes{}), Lanes{});
    const Lanes free = larger(n - (left > 0.0 ? columns.n_classes[g] : columns.n_classes[g] - setting.one), Lanes{});
    row.within[g] = (squares + setting.one * row.variance[g]) / (free + setting.one);
    const Lanes between = larger(row.variance[g] - squares * inverse, 1e-12 * row.variance[g]);
    row.pull[g] = setting.alpha * row.within[g] / between;
  }
  for (std::size_t j = 0; j < lanes; ++j)
    if (is_hopeless[j] != 0) return false;
  return true;
}

void take_away(const RowLanes& row, std::size_t n_groups, const MomentLanes& all, double weight, const RestLanes& rest) {
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes n = all.weight[g], left = larger(n - weight, Lanes{}), gap = row.x[g] - all.mean[g];
    const Lanes inverse = 1.0 / left, share = weight * gap * inverse;
    rest.weight[g] = left;
    rest.mean[g] = left > 0.0 ? all.mean[g] - share : Lanes{};
    rest.spread[g] = left > 0.0 ? larger(n * (all.spread[g] - share * gap) * inverse, Lanes{}) : Lanes{};
  }
}

// Mean and variance of a plug-in normal density.
struct Normal {
  Lanes variance, mean;
};

template <NormalRule rule> Normal plugged_in(const RowLanes& row, std::size_t g, const MomentLanes& seen, const NormalSetting& setting) {
  const Lanes n = seen.weight[g], whole = row.variance[g], centre = row.centre[g];
  if constexpr (rule == NormalRule::mode) {
    const Lanes twice = 2.0 * setting.alpha * row.within[g] + n * seen.spread[g];
    return {twice / (2.0 * setting.alpha + n + 2.0 * setting.one), centre + n / (row.pull[g] + n) * (seen.mean[g] - centre)};
  } else {
    const Lanes floor = rule == NormalRule::plain ? setting.floor * whole : larger(setting.floor * whole, Lanes{} + 1e-300);
    const Lanes variance = rule == NormalRule::plain ? larger(seen.spread[g], floor) : seen.spread[g] + floor;
    return {n > 0.0 ? variance : whole, n > 0.0 ? seen.mean[g] : centre};
  }
}

template <NormalRule rule>
double plugged_in_score(const RowLanes& row, std::size_t n_groups, const MomentLanes& seen, const NormalSetting& setting) {
  Lanes sum{};
  LogOfProduct variances;
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Normal normal = plugged_in<rule>(row, g, seen, setting);
    const Lanes z = row.x[g] - normal.mean;
    sum += row.is_known[g] ? z * z / normal.variance : Lanes{};
    variances.multiply(row.is_known[g] ? normal.variance : Lanes{} + 1.0);
    if (g % 512 == 511) variances.shorten();
  }
  return -0.5 * summed(sum + variances.log());
}

double predictive_score(const RowLanes& row, std::size_t n_groups, const MomentLanes& seen, const NormalSetting& setting) {
  Lanes sum{};
  LogOfProduct scales;
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Lanes n = seen.weight[g], inverse = 1.0 / (row.pull[g] + n), centre = row.centre[g];
    const Lanes z = row.x[g] - (centre + n * inverse * (seen.mean[g] - centre));
    const Lanes degrees = 2.0 * setting.alpha + larger(n - setting.one, Lanes{});
    const Lanes scale = (2.0 * setting.alpha * row.within[g] + n * seen.spread[g]) * (1.0 + setting.one * inverse);  // ν · variance
    const Lanes term = seen.step[g] - 0.5 * (degrees + 1.0) * log_one_plus(z * z / scale);
    sum += row.is_known[g] ? term : Lanes{};
    scales.multiply(row.is_known[g] ? scale : Lanes{} + 1.0);
    if (g % 512 == 511) scales.shorten();
  }
  return summed(sum - 0.5 * scales.log());
}

double score(const RowLanes& row, std::size_t n_groups, const MomentLanes& seen, const NormalSetting& setting) {
  switch (setting.rule) {
    case NormalRule::plain: return plugged_in_score<NormalRule::plain>(row, n_groups, seen, setting);
    case NormalRule::raised: return plugged_in_score<NormalRule::raised>(row, n_groups, seen, setting);
    case NormalRule::mode: return plugged_in_score<NormalRule::mode>(row, n_groups, seen, setting);
    case NormalRule::predictive: break;
  }
  return predictive_score(row, n_groups, seen, setting);
}

}  // namespace

const LeaveOneOutLoops BAYTREE_LEVEL{prepare, take_away, score};

}  // namespace baytree::naive_bayes
