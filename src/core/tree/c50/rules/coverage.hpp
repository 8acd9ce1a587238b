// What a rule covers, and what it would cover without each of its conditions.
#pragma once
#include "tree/c50/rules/error_weights.hpp"
#include "tree/c50/rules/rule.hpp"

namespace baytree::tree::c50 {

// Whether sums of these weights have no rounding: they are multiples of 2^-30, and what they sum up to is below 2^23. What dividing out
// shares leaves of rows that weigh 1 is of that kind.
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

// The conditions of a path, with the rows that fail each of them as bits.
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
    RowSet none;                   // rows that fail no condition
    Covered now;
    std::vector<Covered> without;  // [kept conditions]
  };

  // Of the conditions at these places of the path, for a rule of class `label`.
  Failures of(std::span<const size_t> kept, int32_t label) const {
    Failures found = counted(kept, label, [](size_t) { return ~uint64_t{0}; });
    for (size_t w = 0; w < found.none.size(); ++w) found.now = found.now + weigh(w, found.none.word(w), label);
    found.now = found.now.cut();
    for (Covered& each : found.without) each = (each + found.now).cut();
    return found;
  }

  // The same after one condition less. What the others would leave changes by what the rule has gained, each cut as it was.
  Failures after(const Failures& before, size_t dropped, std::span<const size_t> kept, size_t place, int32_t label) const {
    Failures found = counted(kept, label, [&](size_t w) { return fails_[place].word(w); });
    found.now = before.without[dropped];
    const Covered more = found.now - before.now;
    for (size_t k = 0; k < kept.size(); ++k) found.without[k] = (before.without[k < dropped ? k : k + 1] + more + found.without[k]).cut();
    return found;
  }

  // The weight of rows, and what they count as mistakes of a rule of class `label`; `multiplier` is divided out.
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
    std::vector<uint8_t> fails(static_cast<size_t>(column.levels) + 1, 1);  // of a missing value, -1, and each level
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

  // Without what the rule covers now. `among`: of the rows that fail one condition alone, those that are counted.
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
  const bool adds_exactly_;    // mistakes count as rows do, and weights sum up to the same in any order
  RowSet whole_;               // rows that weigh 1
  std::vector<RowSet> of_class_;
  std::vector<RowSet> fails_;  // [conditions of the path]
};

}  // namespace baytree::tree::c50
