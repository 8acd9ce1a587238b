// The rules of a finished tree: each node's path, without the conditions that it is no worse without.
#pragma once
#include <map>
#include <optional>
#include <tuple>

#include "tree/c50/rule.hpp"
#include "workers.hpp"

namespace baytree::tree::c50 {

class RuleFormer {
 public:
  // `is_tested` are the columns tested in the tree of the first trial.
  RuleFormer(const Growth& tree, const Bench& bench, const std::vector<bool>& is_tested, Workers& workers)
      : tree_(tree), bench_(bench), is_tested_(is_tested), workers_(workers), class_weight_(bench.n_classes()) {
    for (size_t row = 0; row < bench.n_rows(); ++row) class_weight_[bench.from.label[row]] += bench.weight[row];
    for (size_t c = 0; c < bench.n_classes(); ++c) of_class_.emplace_back(bench.n_rows());
    for (size_t row = 0; row < bench.n_rows(); ++row) {
      of_class_[bench.from.label[row]].add(row);
      is_whole_ &= bench.weight[row] == 1;
    }
    for (const bool used : bench.in_use) n_used_ += used;
    level_bits_.resize(bench.from.columns.size());
  }

  // Depth first, what is below a node before the node itself.
  std::vector<Rule> form() {
    struct Visit {
      size_t id;
      int32_t next = 0;
    };
    std::vector<Visit> stack{{0}};
    while (!stack.empty()) {
      workers_.poll();
      Visit& at = stack.back();
      const Node& node = tree_.node[at.id];
      while (at.next < node.branches && tree_.node[static_cast<size_t>(node.first + at.next)].weight < kEmpty) ++at.next;
      if (at.next < node.branches) {
        const int32_t b = at.next++;
        push(condition_of(node, b));
        stack.push_back({static_cast<size_t>(node.first + b)});
        continue;
      }
      if (stack.size() > 1) {
        if (node.weight >= 1) keep(formed(node.label));
        path_.pop_back();
        fails_.pop_back();
      }
      stack.pop_back();
    }
    return std::move(rules_);
  }

 private:
  void push(Condition&& condition) {
    fails_.emplace_back(bench_.n_rows());
    for (size_t row = 0; row < bench_.n_rows(); ++row)
      if (!holds(condition, static_cast<int32_t>(row))) fails_.back().add(row);
    path_.push_back(std::move(condition));
  }

  bool holds(const Condition& condition, int32_t row) const {
    if (condition.ask == Ask::levels) {
      const int32_t code = bench_.from.columns[condition.column].code[row];
      return code >= 0 && std::binary_search(condition.levels.begin(), condition.levels.end(), code);
    }
    const int32_t rank = bench_.from.ranked[bench_.from.stripe[condition.column]].rank[row];
    return rank >= 0 && (rank <= condition.rank) == (condition.ask == Ask::at_most);
  }

  Condition condition_of(const Node& node, int32_t branch) {
    Condition condition{.column = node.column};
    if (node.test == Test::threshold) {
      condition.ask = branch == 0 ? Ask::at_most : Ask::above;
      condition.rank = node.level;
    } else {
      for (int32_t level = 0; level < node.levels; ++level)
        if (tree_.branch(node, level) == branch) condition.levels.push_back(level);
    }
    condition.bits = bits_of(condition);
    return condition;
  }

  // log2 of the choice of a column, and of what is asked of it.
  float bits_of(const Condition& condition) {
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

  // The rows that fail no condition, and those that fail one alone.
  struct Failures {
    RowSet none;
    std::vector<Covered> without;  // what the rule would cover without each condition
    Covered now;
  };

  Covered weigh(size_t w, uint64_t rows, int32_t label) const {
    if (is_whole_) {
      const auto all = static_cast<double>(std::popcount(rows));
      return {all, all - static_cast<double>(std::popcount(rows & of_class_[label].word(w)))};
    }
    Covered sum;
    for (; rows; rows &= rows - 1) {
      const size_t row = w * 64 + static_cast<size_t>(std::countr_zero(rows));
      sum.weight += bench_.weight[row];
      if (bench_.from.label[row] != label) sum.wrong += bench_.weight[row];
    }
    return sum;
  }

  Failures failures(std::span<const size_t> kept, int32_t label) const {
    Failures found{RowSet(bench_.n_rows(), true), std::vector<Covered>(kept.size()), {}};
    for (size_t w = 0; w < found.none.size(); ++w) {
      uint64_t once = 0, more = 0;
      for (const size_t i : kept) {
        const uint64_t fails = fails_[i].word(w);
        more |= once & fails;
        once |= fails;
      }
      found.none.word(w) &= ~once;
      found.now = found.now + weigh(w, found.none.word(w), label);
      if (const uint64_t alone = once & ~more; alone)
        for (size_t k = 0; k < kept.size(); ++k)
          if (const uint64_t rows = alone & fails_[kept[k]].word(w); rows) found.without[k] = found.without[k] + weigh(w, rows, label);
    }
    for (Covered& each : found.without) each = each + found.now;
    return found;
  }

  static double messages(double a, double b) {
    const auto term = [](double x) { return x > 1e-12 ? x * std::log2(x) : 0.0; };
    return term(a + b) - term(a) - term(b);
  }

  // Bits that the rule saves in naming the rows of its class.
  double gain(const Covered& now, int32_t label) const {
    const double n = static_cast<double>(bench_.n_rows()), of_class = class_weight_[label], right = now.weight - now.wrong;
    return messages(of_class, n - of_class) - messages(right, now.wrong) - messages(of_class - right, n - of_class - now.wrong);
  }

  double cost(std::span<const size_t> kept) const {
    double bits = 0;
    for (const size_t i : kept) bits += path_[i].bits;
    return bits - log2_factorial(kept.size());
  }

  // Drops conditions as long as that does not raise the estimated error, or the rule costs more than it saves.
  std::optional<Rule> formed(int32_t label) {
    std::vector<size_t> kept(path_.size());
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = i;
    Failures found = failures(kept, label);
    while (kept.size() > 1) {
      size_t best = 0;
      for (size_t k = 1; k < kept.size(); ++k)
        if (found.without[k].estimate() <= found.without[best].estimate()) best = k;
      const bool pays = kTheory * cost(kept) <= gain(found.now, label);
      if (pays && found.without[best].estimate() > found.now.estimate()) break;
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best));
      found = failures(kept, label);
    }
    const Covered& now = found.now;
    const double prior = class_weight_[label] / static_cast<double>(bench_.n_rows());
    if (!(now.weight > 0.99) || !(kTheory * cost(kept) <= gain(now, label))) return std::nullopt;
    if (!((now.weight - now.wrong + 1) / (now.weight + 2) / prior >= 0.95)) return std::nullopt;
    return rule_of(kept, found, label);
  }

  Rule rule_of(std::span<const size_t> kept, const Failures& found, int32_t label) {
    Rule rule{.conditions = {}, .label = label, .cover = found.now.weight, .right = found.now.weight - found.now.wrong, .rows = {}};
    rule.vote = static_cast<int32_t>(std::floor(1000 * (rule.right + 1) / (rule.cover + 2) + 0.5));
    for (size_t w = 0; w < found.none.size(); ++w)
      for (uint64_t rows = found.none.word(w); rows; rows &= rows - 1)
        if (const size_t row = w * 64 + static_cast<size_t>(std::countr_zero(rows)); bench_.weight[row] > 0) rule.rows.push_back(static_cast<int32_t>(row));
    for (const size_t i : kept) rule.conditions.push_back(path_[i]);
    std::stable_sort(rule.conditions.begin(), rule.conditions.end(), [](const Condition& a, const Condition& b) {
      return std::tie(a.column, a.rank) < std::tie(b.column, b.rank);
    });
    double bits = 0;
    for (Condition& condition : rule.conditions) {
      if (bench_.settings.groups) drop_absent_levels(condition, rule.rows);
      bits += condition.bits;
    }
    const size_t n = rule.conditions.size();
    rule.bits = static_cast<float>(bits + std::log2(static_cast<double>(n)) - log2_factorial(n));
    return rule;
  }

  // Levels that no covered row has are not named.
  void drop_absent_levels(Condition& condition, std::span<const int32_t> rows) {
    const GivenColumn& column = bench_.from.columns[condition.column];
    if (condition.ask != Ask::levels || column.is_ordered || condition.levels.size() < 2) return;
    std::vector<bool> occurs(static_cast<size_t>(column.levels));
    for (const int32_t row : rows) occurs[static_cast<size_t>(column.code[row])] = true;
    std::erase_if(condition.levels, [&](int32_t level) { return !occurs[static_cast<size_t>(level)]; });
    condition.bits = bits_of(condition);
  }

  // A rule that is there already is not added again; the larger vote stays.
  void keep(std::optional<Rule>&& rule) {
    if (!rule) return;
    Key key{rule->label, {}};
    for (const Condition& it : rule->conditions) key.second.emplace_back(it.column, static_cast<int32_t>(it.ask), it.rank, it.levels);
    const auto [place, is_new] = seen_.try_emplace(std::move(key), rules_.size());
    if (is_new) rules_.push_back(std::move(*rule));
    else rules_[place->second].vote = std::max(rules_[place->second].vote, rule->vote);
  }

  using Key = std::pair<int32_t, std::vector<std::tuple<int32_t, int32_t, int32_t, std::vector<int32_t>>>>;

  const Growth& tree_;
  const Bench& bench_;
  const std::vector<bool>& is_tested_;
  Workers& workers_;
  std::vector<double> class_weight_;
  std::vector<RowSet> of_class_;
  bool is_whole_ = true;  // every row weighs 1
  size_t n_used_ = 0;
  std::vector<LevelBits> level_bits_;
  std::vector<Condition> path_;
  std::vector<RowSet> fails_;  // [path_], the rows that fail each condition
  std::vector<Rule> rules_;
  std::map<Key, size_t> seen_;
};

}  // namespace baytree::tree::c50
