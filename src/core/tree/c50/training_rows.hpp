// Training rows and settings of C5.0, and the distribution of missing values among branches.
#pragma once
#include <cmath>
#include <numeric>
#include <vector>

#include "numeric/impurity.hpp"
#include "tree/fractional/cases.hpp"
#include "tree/pruning/error_pruning.hpp"

namespace baytree::tree::c50 {

// Columns are ranked once; splitting changes row weights and restores them afterwards.

using fractional::Case, fractional::Cases, fractional::ClassCounter, fractional::ClassWeights, fractional::GivenColumn, fractional::Growth, fractional::Node, fractional::OrderedCase,
    fractional::RankedColumn, fractional::SoftCut, fractional::Test, fractional::Training, numeric::XLog2XTable;

struct Settings {
  double min_cases = 2;  // C5.0's option -m
  bool groups = true;    // merge levels of nominal columns into groups
  double declared = 2;   // number of classes, including those that do not occur
  pruning::Pessimism pessimism;
};

inline constexpr double kEmpty = 0.05;    // a branch of less weight is an empty leaf
inline constexpr double kReached = 1e-4;  // a branch of less weight receives no fraction of missing values

// Class weights are doubles while counting; those stored in nodes, and row weights, are float32.
struct Bench {
  const Training& from;
  Settings settings;
  std::vector<float> weight;      // [n_rows], changed while rows follow several branches
  std::vector<float> multiplier;  // [n_classes], cost factor on the weight of a row of each class
  std::vector<int32_t> multiplied;  // classes whose factor is not 1
  std::vector<bool> in_use;       // [n_columns]
  bool starts_whole = true;       // all initial weights are 1
  XLog2XTable x_log2_x;

  size_t n_rows() const { return from.label.size(); }
  size_t n_classes() const { return from.n_classes; }
  double term(double x) const { return x_log2_x(static_cast<float>(x)); }

  // weight · entropy of class weights
  double entropy(std::span<const double> counts) const {
    double sum = 0, whole = 0;
    for (const double count : counts) sum += term(count), whole += count;
    return term(whole) - sum;
  }

  // Split information: entropy of the branch weights, with the missing values as one more branch.
  float info(std::span<const double> branches, double missing, double whole) const {
    double sum = term(missing);
    for (const double branch : branches) sum += term(branch);
    return static_cast<float>((term(whole) - sum) / whole);
  }

  void refresh(Cases<float>& cases) const {
    for (Case<float>& it : cases.all) it.weight = weight[it.row];
  }

  double unweighted(const Case<float>& it) const { return it.weight / multiplier[it.label]; }

  // Pessimistic correction: expected additional errors of a node with these class weights and this class.
  float extra_errors(const ClassWeights<double>& counts, int32_t label) const {
    double n = 0, wrong = 0;
    for (size_t place = 0; place < counts.label.size(); ++place) {
      const double count = counts.weight[place] / multiplier[static_cast<size_t>(counts.label[place])];
      n += count;
      if (counts.label[place] != label) wrong += count;
    }
    double times = 1;
    for (size_t i = multiplied.size(); i-- > 0 && times == 1;)
      if (multiplied[i] != label) times = multiplier[static_cast<size_t>(multiplied[i])];
    return static_cast<float>(settings.pessimism.extra(static_cast<float>(n), static_cast<float>(wrong)) * times);
  }
};

// Stores the statistics of the cases of a node; its class is the first one of maximum weight.
inline void keep_counts(Growth& tree, size_t id, const ClassWeights<double>& counts, size_t rows) {
  const ClassWeights<float> kept{counts.label, {counts.weight.begin(), counts.weight.end()}};
  tree.keep(id, kept);
  Node& node = tree.node[id];
  node.label = kept.heaviest();
  node.weight = std::accumulate(kept.weight.begin(), kept.weight.end(), 0.0F);
  node.rows = static_cast<int64_t>(rows);
  node.errors = static_cast<float>(node.weight - static_cast<double>(kept.largest()));
}

// Branch of each case at a node; -1: missing. Numbers are compared by rank, as when the threshold was found.
inline int32_t direction_of(const Growth& tree, const Node& node, const Training& from, int32_t row) {
  if (node.test == Test::threshold) {
    const int32_t rank = from.ranked[from.stripe[node.column]].rank[row];
    return rank < 0 ? -1 : rank <= node.level ? 0 : 1;
  }
  const int32_t code = from.columns[node.column].code[row];
  return code < 0 ? -1 : tree.branch(node, code);
}

inline std::vector<int32_t> directions(const Growth& tree, const Node& node, const Training& from, const Cases<float>& cases) {
  std::vector<int32_t> direction(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) direction[i] = direction_of(tree, node, from, cases[i].row);
  return direction;
}

// Distribution of missing values: float32, by the known weight of the branches.
struct Shares {
  std::vector<float> known;      // [n_branches]
  std::vector<float> share;      // [n_branches], 0 for a branch that is an empty leaf
  std::vector<int32_t> unknown;  // rows with a missing value
};

// `counts_rows`: weights are those of whole rows, ignoring rounding errors of earlier fractions. The known weight is
// the node's weight minus the missing weight, in float32: the last bit of a fraction decides whether a weight is
// restored exactly.
inline Shares share_out(const Bench& bench, const Cases<float>& cases, std::span<const int32_t> direction, size_t branches, bool counts_rows) {
  Shares shares{std::vector<float>(branches), std::vector<float>(branches), {}};
  std::vector<double> known(branches), plain(branches);
  double missing = 0, plain_missing = 0, plain_total = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const double weight = counts_rows ? 1 : cases[i].weight, unweighted = counts_rows ? 1 : bench.unweighted(cases[i]);
    plain_total += unweighted;
    if (direction[i] < 0) {
      shares.unknown.push_back(cases[i].row);
      missing += weight;
      plain_missing += unweighted;
      continue;
    }
    known[static_cast<size_t>(direction[i])] += weight;
    plain[static_cast<size_t>(direction[i])] += unweighted;
  }
  const auto plain_known = static_cast<float>(static_cast<float>(plain_total) - plain_missing);
  for (size_t b = 0; b < branches; ++b) {
    const float share = plain_known > 0 ? static_cast<float>(plain[b]) / plain_known : 0.0F;
    shares.known[b] = static_cast<float>(known[b]);
    if (known[b] + share * missing >= kEmpty) shares.share[b] = share;
  }
  return shares;
}

// Multiplies the weights of rows with missing values by the fraction of a branch, and divides afterwards: not always
// exact.
inline void follow(Bench& bench, const Shares& shares, size_t branch) {
  for (const int32_t row : shares.unknown) bench.weight[row] *= shares.share[branch];
}
inline void come_back(Bench& bench, const Shares& shares, size_t branch) {
  for (const int32_t row : shares.unknown) bench.weight[row] /= shares.share[branch];
}

// Cases in the order of every numeric column, if they do not come from a partition that preserves it.

// Many are filtered from the order of all rows, few are sorted.
inline Cases<float> ordered(const Training& from, Cases<float>&& cases) {
  std::vector<int32_t> rows;
  for (const Case<float>& it : cases.all) rows.push_back(it.row);
  const double n = static_cast<double>(rows.size());
  if (n * std::log2(n + 1) > static_cast<double>(from.label.size())) return fractional::root_cases<float>(from, rows);
  const size_t stripes = from.ranked.size();
  cases.ordered.resize(stripes * rows.size());
  cases.known.assign(stripes, 0);
  for (size_t stripe = 0; stripe < stripes; ++stripe) {
    OrderedCase* begin = cases.ordered.data() + stripe * rows.size();
    OrderedCase* end = begin;
    for (size_t i = 0; i < rows.size(); ++i)
      if (const int32_t rank = from.ranked[stripe].rank[rows[i]]; rank >= 0) *end++ = {static_cast<int32_t>(i), rank};
    std::sort(begin, end, [](const OrderedCase& a, const OrderedCase& b) { return a.rank < b.rank || (a.rank == b.rank && a.item < b.item); });
    cases.known[stripe] = static_cast<int32_t>(end - begin);
  }
  return std::move(cases);
}

// Partition of a node without the light fractions of cases that have a missing value there.
inline void leave_out_light_cases(const Training& from, const Cases<float>& cases, std::span<const int32_t> direction, std::span<Cases<float>> parts) {
  std::vector<bool> is_unknown(from.label.size());
  for (size_t i = 0; i < direction.size(); ++i) is_unknown[static_cast<size_t>(cases[i].row)] = direction[i] < 0;
  for (Cases<float>& part : parts) {
    Cases<float> kept;
    for (const Case<float>& it : part.all)
      if (!is_unknown[static_cast<size_t>(it.row)] || it.weight >= 0.1F) kept.all.push_back(it);
    if (kept.size() < part.size()) part = ordered(from, std::move(kept));
  }
}

}  // namespace baytree::tree::c50
