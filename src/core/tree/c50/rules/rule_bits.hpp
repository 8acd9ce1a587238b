// What it takes to name a condition, in bits.
#pragma once
#include "tree/c50/rules/rule.hpp"

namespace baytree::tree::c50 {

class ConditionBits {
 public:
  // `is_tested` are the columns tested in the tree of the first trial.
  ConditionBits(const Bench& bench, const std::vector<bool>& is_tested) : bench_(bench), is_tested_(is_tested), level_bits_(bench.from.columns.size()) {
    for (const bool used : bench.in_use) n_used_ += used;
  }

  // log2 of the choice of a column, and of what is asked of it.
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
