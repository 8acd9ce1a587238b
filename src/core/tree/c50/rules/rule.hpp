// Rules of C5.0: conditions, the rows that they cover, the weight of errors, and the description length of conditions
// in bits.
#pragma once
#include <algorithm>
#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "tree/c50/training_rows.hpp"

namespace baytree::tree::c50 {

// A rule: a conjunction of conditions, and the predicted class.

enum class Ask : int32_t { at_most, above, levels };

struct Condition {
  int32_t column = -1;
  Ask ask = Ask::levels;
  int32_t rank = -1;                   // at_most, above: rank of the threshold
  std::vector<int32_t> levels = {};    // levels: those that satisfy the condition, ascending
  float bits = 0;                      // description length

  auto key() const { return std::tie(column, ask, rank, levels); }
};

struct Rule {
  std::vector<Condition> conditions;
  int32_t label = 0;
  double cover = 0, right = 0;  // weight of the covered rows, and of those of its class
  int32_t vote = 0;             // confidence in thousandths
  float bits = 0;
  std::vector<int32_t> rows;    // covered rows
};

// A set of rows.
class RowSet {
 public:
  explicit RowSet(size_t n = 0, bool is_full = false) : words_((n + 63) / 64, is_full ? ~uint64_t{0} : 0) {
    if (is_full && n % 64) words_.back() = (uint64_t{1} << (n % 64)) - 1;
  }
  // The first n rows for which the predicate holds.
  template <std::predicate<size_t> Has> void fill(size_t n, const Has& has) {
    for (size_t w = 0; w < words_.size(); ++w) {
      uint64_t bits = 0;
      for (size_t row = w * 64, end = std::min(n, row + 64), bit = 0; row < end; ++row, ++bit) bits |= uint64_t{has(row)} << bit;
      words_[w] = bits;
    }
  }
  void add(size_t row) { words_[row / 64] |= uint64_t{1} << (row % 64); }
  size_t size() const { return words_.size(); }
  uint64_t word(size_t w) const { return words_[w]; }
  uint64_t& word(size_t w) { return words_[w]; }

 private:
  std::vector<uint64_t> words_;
};

// Weight of covered rows, and weight of the errors among them.
struct Covered {
  double weight = 0, wrong = 0;
  Covered operator+(const Covered& other) const { return {weight + other.weight, wrong + other.wrong}; }
  Covered operator-(const Covered& other) const { return {weight - other.weight, wrong - other.wrong}; }
  Covered cut() const { return {weight, std::min(wrong, weight)}; }  // the weight of costly errors is limited by that of the rows
  double right() const { return weight - wrong; }
  // Laplace estimate of the error rate.
  float estimate() const { return weight < 1e-4 ? 0.5F : static_cast<float>((wrong + 1) / (weight + 2)); }
};

inline double log2_factorial(size_t n) { return std::lgamma(static_cast<double>(n) + 1) / std::log(2.0); }

inline constexpr double kTheory = 0.23;  // weight of a bit of the rules relative to a bit of the exceptions

// Weight of an error: the weight of the row, or, for three or more classes with costs, also its cost relative to the
// mean cost.

inline std::vector<double> class_weights(const Bench& bench) {
  std::vector<double> weight(bench.n_classes());
  for (size_t row = 0; row < bench.n_rows(); ++row) weight[bench.from.label[row]] += bench.weight[row];
  return weight;
}

// With two classes the costs are already included in the weights of the rows.
class ErrorWeights {
 public:
  // `costs` [predicted, true], empty if all errors cost the same.
  ErrorWeights(std::span<const double> costs, const Bench& bench) : n_classes_(bench.n_classes()) {
    if (costs.empty() || n_classes_ < 3) return;
    costs_ = costs;
    const std::vector<double> weight = class_weights(bench);
    double mean = 0;
    for (size_t p = 0; p < n_classes_; ++p)
      for (size_t q = 0; q < n_classes_; ++q)
        if (const double share = weight[p] / static_cast<double>(bench.n_rows()); p != q && share < 1)
          mean += share * (weight[q] / static_cast<double>(bench.n_rows())) / (1 - share) * costs[p * n_classes_ + q];
    unit_ = (mean + 1) / 2;
  }

  bool are_equal() const { return costs_.empty(); }

  // Error weight of a row of class `truth` that is predicted as `said` (or as no class).
  double operator()(int32_t said, int32_t truth) const {
    if (said == truth) return 0;
    if (are_equal()) return 1;
    return (said < 0 ? 1 : costs_[static_cast<size_t>(said) * n_classes_ + static_cast<size_t>(truth)]) / unit_;
  }

  // The class of maximum weight, or of minimum expected cost.
  int32_t choose(std::span<const double> likely) const {
    if (are_equal()) return fractional::heaviest<double>(likely);
    std::vector<double> gain(n_classes_);
    for (size_t p = 0; p < n_classes_; ++p)
      for (size_t q = 0; q < n_classes_; ++q) gain[p] -= costs_[p * n_classes_ + q] * likely[q];
    return fractional::heaviest<double>(gain);
  }

 private:
  size_t n_classes_;
  std::span<const double> costs_;
  double unit_ = 1;
};

// Rows that a rule covers, and would cover without each of its conditions.

// Whether sums of these weights are exact: multiples of 2^-30 with sums below 2^23. Fractions restored to weight 1 have
// this form.
inline bool add_exactly(std::span<const float> weight) {
  constexpr double kUnits = 1 << 30, kMost = 1 << 23;
  double sum = 0;
  for (const float each : weight) {
    const double units = each * kUnits;
    if (units != std::floor(units)) return false;
    sum += each;
  }
  return sum < kMost;
}

// The conditions of a path, with the rows that violate each of them as bit sets.
class Coverage {
 public:
  Coverage(const Bench& bench, const ErrorWeights& errors)
      : bench_(bench), errors_(errors), adds_exactly_(errors.are_equal() && add_exactly(bench.weight)), whole_(bench.n_rows()) {
    for (size_t c = 0; c < bench.n_classes(); ++c) of_class_.emplace_back(bench.n_rows());
    for (size_t row = 0; row < bench.n_rows(); ++row) {
      of_class_[bench.from.label[row]].add(row);
      if (bench.weight[row] == 1) whole_.add(row);
    }
  }

  void push(const Condition& condition) {
    fails_.emplace_back(bench_.n_rows());
    if (condition.ask == Ask::levels) return push_levels(condition);
    const std::vector<int32_t>& rank = bench_.from.ranked[bench_.from.stripe[condition.column]].rank;
    const auto cut = static_cast<uint32_t>(condition.rank);  // a missing value, -1, is above every rank
    if (condition.ask == Ask::at_most) fails_.back().fill(bench_.n_rows(), [&](size_t row) { return static_cast<uint32_t>(rank[row]) > cut; });
    else fails_.back().fill(bench_.n_rows(), [&](size_t row) { return rank[row] <= condition.rank; });
  }
  void pop() { fails_.pop_back(); }

  struct Failures {
    RowSet none;                   // rows that satisfy all conditions
    Covered now;
    std::vector<Covered> without;  // [conditions]: rows that violate only this one
  };

  // For a rule of class `label` with the conditions at these positions of the path.
  Failures of(std::span<const size_t> kept, int32_t label) const {
    Failures found = counted(kept, label, [](size_t) { return ~uint64_t{0}; });
    for (size_t w = 0; w < found.none.size(); ++w) found.now = found.now + weigh(w, found.none.word(w), label);
    found.now = found.now.cut();
    for (Covered& each : found.without) each = (each + found.now).cut();
    return found;
  }

  // The same after dropping one condition: the other entries change by the rows that the rule has gained.
  Failures after(const Failures& before, size_t dropped, std::span<const size_t> kept, size_t place, int32_t label) const {
    Failures found = counted(kept, label, [&](size_t w) { return fails_[place].word(w); });
    found.now = before.without[dropped];
    const Covered more = found.now - before.now;
    for (size_t k = 0; k < kept.size(); ++k) found.without[k] = (before.without[k < dropped ? k : k + 1] + more + found.without[k]).cut();
    return found;
  }

  // Weight of rows, and of those that are errors of a rule of class `label`; cost multipliers are divided out.
  Covered without_multipliers(const RowSet& rows, int32_t label) const {
    Covered sum;
    for (size_t w = 0; w < rows.size(); ++w)
      for (uint64_t left = rows.word(w); left; left &= left - 1) {
        const size_t row = w * 64 + static_cast<size_t>(std::countr_zero(left));
        add(sum, row, label, bench_.multiplier[bench_.from.label[row]]);
      }
    return sum.cut();
  }

 private:
  void push_levels(const Condition& condition) {
    const GivenColumn& column = bench_.from.columns[condition.column];
    std::vector<uint8_t> fails(static_cast<size_t>(column.levels) + 1, 1);  // for a missing value, -1, and each level
    for (const int32_t level : condition.levels) fails[static_cast<size_t>(level) + 1] = 0;
    fails_.back().fill(bench_.n_rows(), [&](size_t row) { return fails[static_cast<size_t>(column.code[row] + 1)] != 0; });
  }

  void add(Covered& sum, size_t row, int32_t label, double multiplier = 1) const {
    sum.weight += bench_.weight[row] / multiplier;
    sum.wrong += bench_.weight[row] / multiplier * errors_(label, bench_.from.label[row]);
  }

  Covered weigh(size_t w, uint64_t rows, int32_t label) const {
    Covered sum;
    if (adds_exactly_) {
      const uint64_t whole = rows & whole_.word(w);
      sum = {static_cast<double>(std::popcount(whole)), static_cast<double>(std::popcount(whole & ~of_class_[label].word(w)))};
      rows ^= whole;
    }
    for (; rows; rows &= rows - 1) add(sum, w * 64 + static_cast<size_t>(std::countr_zero(rows)), label);
    return sum;
  }

  // Counts the rows that violate at most one condition. `among`: which of those that violate one are counted.
  template <std::invocable<size_t> Among> Failures counted(std::span<const size_t> kept, int32_t label, const Among& among) const {
    Failures found{RowSet(bench_.n_rows(), true), {}, std::vector<Covered>(kept.size())};
    for (size_t w = 0; w < found.none.size(); ++w) {
      uint64_t once = 0, more = 0;
      for (const size_t i : kept) {
        const uint64_t fails = fails_[i].word(w);
        more |= once & fails;
        once |= fails;
      }
      found.none.word(w) &= ~once;
      if (const uint64_t alone = once & ~more & among(w); alone)
        for (size_t k = 0; k < kept.size(); ++k)
          if (const uint64_t rows = alone & fails_[kept[k]].word(w); rows) found.without[k] = found.without[k] + weigh(w, rows, label);
    }
    return found;
  }

  const Bench& bench_;
  const ErrorWeights& errors_;
  const bool adds_exactly_;    // error weights equal row weights, and sums do not depend on the order
  RowSet whole_;               // rows of weight 1
  std::vector<RowSet> of_class_;
  std::vector<RowSet> fails_;  // [conditions of the path]: rows that violate each
};

// Description length of a condition, in bits.

class ConditionBits {
 public:
  // `is_tested`: columns tested in the tree of the first trial.
  ConditionBits(const Bench& bench, const std::vector<bool>& is_tested) : bench_(bench), is_tested_(is_tested), level_bits_(bench.from.columns.size()) {
    for (const bool used : bench.in_use) n_used_ += used;
  }

  // log2 of the choice of a column, plus the bits of its threshold or levels.
  float operator()(const Condition& condition) {
    const GivenColumn& column = bench_.from.columns[condition.column];
    const double which = std::log2(static_cast<double>(n_used_));
    if (column.is_numeric()) {
      const auto cuts = static_cast<double>(bench_.from.ranked[bench_.from.stripe[condition.column]].distinct.size()) - 1;
      const bool is_counted = cuts > 1 && is_tested_[static_cast<size_t>(condition.column)];
      return static_cast<float>(which + (is_counted ? 1 + 0.5 * std::log2(cuts) : 0));
    }
    if (column.is_ordered) return static_cast<float>(which + 1 + 0.5 * std::log2(static_cast<double>(column.levels)));
    const auto [entropy, occurring] = level_bits(static_cast<size_t>(condition.column));
    if (condition.levels.size() == 1) return static_cast<float>(which + entropy);
    const size_t chosen = std::min(condition.levels.size(), occurring > 0 ? occurring - 1 : 0);
    return static_cast<float>(which + log2_factorial(occurring) - log2_factorial(chosen) - log2_factorial(occurring - chosen));
  }

 private:
  struct LevelBits {
    double entropy = -1;  // of the levels among all rows
    size_t occurring = 0;
  };

  LevelBits level_bits(size_t j) {
    if (level_bits_[j].entropy >= 0) return level_bits_[j];
    std::vector<double> count(static_cast<size_t>(bench_.from.columns[j].levels));
    for (const int32_t code : bench_.from.columns[j].code)
      if (code >= 0) ++count[static_cast<size_t>(code)];
    LevelBits& bits = level_bits_[j];
    bits.entropy = 0;
    for (const double n : count)
      if (n > 0) {
        const double share = n / static_cast<double>(bench_.n_rows());
        bits.entropy -= share * std::log2(share);
        ++bits.occurring;
      }
    return bits;
  }

  const Bench& bench_;
  const std::vector<bool>& is_tested_;
  size_t n_used_ = 0;
  std::vector<LevelBits> level_bits_;
};

}  // namespace baytree::tree::c50
