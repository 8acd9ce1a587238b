// Extraction of rules from a finished C5.0 tree: the path to each node, without conditions that do not reduce its
// error.
#pragma once
#include <map>
#include <optional>
#include <tuple>

#include "tree/c50/rules/rule.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::c50 {

class RuleFormer {
 public:
  // `is_tested`: columns tested in the tree of the first trial.
  RuleFormer(const Growth& tree, const Bench& bench, const std::vector<bool>& is_tested, const ErrorWeights& errors, Workers& workers)
      : tree_(tree), bench_(bench), workers_(workers), class_weight_(class_weights(bench)), bits_of_(bench, is_tested), coverage_(bench, errors) {}

  // Depth first; the subtree of a node before the node itself.
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
        coverage_.pop();
      }
      stack.pop_back();
    }
    return std::move(rules_);
  }

 private:
  void push(Condition&& condition) {
    coverage_.push(condition);
    path_.push_back(std::move(condition));
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
    condition.bits = bits_of_(condition);
    return condition;
  }

  static double messages(double a, double b) {
    const auto term = [](double x) { return x > 1e-12 ? x * std::log2(x) : 0.0; };
    return term(a + b) - term(a) - term(b);
  }

  // Bits that the rule saves in describing the rows of its class.
  double gain(const Covered& now, int32_t label) const {
    const double n = static_cast<double>(bench_.n_rows()), of_class = class_weight_[label];
    return messages(of_class, n - of_class) - messages(now.right(), now.wrong) - messages(of_class - now.right(), n - of_class - now.wrong);
  }

  double cost(std::span<const size_t> kept) const {
    double bits = 0;
    for (const size_t i : kept) bits += path_[i].bits;
    return bits - log2_factorial(kept.size());
  }

  // Drops conditions as long as the estimated error does not increase, or the rule costs more bits than it saves.
  std::optional<Rule> formed(int32_t label) {
    std::vector<size_t> kept(path_.size());
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = i;
    Coverage::Failures found = coverage_.of(kept, label);
    while (kept.size() > 1) {
      size_t best = 0;
      for (size_t k = 1; k < kept.size(); ++k)
        if (found.without[k].estimate() <= found.without[best].estimate()) best = k;
      const bool pays = kTheory * cost(kept) <= gain(found.now, label);
      if (pays && found.without[best].estimate() > found.now.estimate()) break;
      const size_t place = kept[best];
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best));
      found = coverage_.after(found, best, kept, place, label);
    }
    if (!(found.now.weight > 0.99) || !(kTheory * cost(kept) <= gain(found.now, label))) return std::nullopt;
    const Covered told = is_multiplied() ? coverage_.without_multipliers(found.none, label) : found.now;
    if (!((told.right() + 1) / (told.weight + 2) / prior(label) >= 0.95)) return std::nullopt;
    return rule_of(kept, found.none, told, label);
  }

  bool is_multiplied() const {
    return std::any_of(bench_.multiplier.begin(), bench_.multiplier.end(), [](float times) { return times != 1; });
  }

  // Proportion of a class among all rows, ignoring cost multipliers.
  double prior(int32_t label) const {
    double all = 0;
    for (size_t c = 0; c < class_weight_.size(); ++c) all += class_weight_[c] / bench_.multiplier[c];
    return class_weight_[label] / bench_.multiplier[label] / (is_multiplied() ? all : static_cast<double>(bench_.n_rows()));
  }

  Rule rule_of(std::span<const size_t> kept, const RowSet& covered, const Covered& told, int32_t label) {
    Rule rule{.conditions = {}, .label = label, .cover = told.weight, .right = told.right(), .rows = {}};
    rule.vote = static_cast<int32_t>(std::floor(1000 * (rule.right + 1) / (rule.cover + 2) + 0.5));
    for (size_t w = 0; w < covered.size(); ++w)
      for (uint64_t rows = covered.word(w); rows; rows &= rows - 1)
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

  // Removes levels that no covered row has.
  void drop_absent_levels(Condition& condition, std::span<const int32_t> rows) {
    const GivenColumn& column = bench_.from.columns[condition.column];
    if (condition.ask != Ask::levels || column.is_ordered || condition.levels.size() < 2) return;
    std::vector<bool> occurs(static_cast<size_t>(column.levels));
    for (const int32_t row : rows) occurs[static_cast<size_t>(column.code[row])] = true;
    std::erase_if(condition.levels, [&](int32_t level) { return !occurs[static_cast<size_t>(level)]; });
    condition.bits = bits_of_(condition);
  }

  // A duplicate rule is not added again; the larger vote is stored.
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
  Workers& workers_;
  std::vector<double> class_weight_;
  ConditionBits bits_of_;
  Coverage coverage_;
  std::vector<Condition> path_;
  std::vector<Rule> rules_;
  std::map<Key, size_t> seen_;
};

}  // namespace baytree::tree::c50
