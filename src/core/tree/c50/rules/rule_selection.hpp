// Selection of C5.0 rules by minimum description length: rules are added or removed as long as this shortens the
// description of the rows by rules and exceptions.
#pragma once
#include <numeric>
#include <optional>

#include "tree/c50/rules/rule.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::c50 {

struct RuleSet {
  std::vector<Rule> rules;
  int32_t otherwise = 0;  // default class where no rule applies
};

class RuleChooser {
 public:
  // `tree_errors`: training errors of the tree from which the rules were extracted.
  RuleChooser(std::vector<Rule>&& rules, const Bench& bench, const ErrorWeights& weigh_error, double tree_errors, Workers& workers)
      : rules_(std::move(rules)), bench_(bench), weigh_error_(weigh_error), workers_(workers), n_(static_cast<double>(bench.n_rows())), k_(bench.n_classes()),
        class_weight_(class_weights(bench)), is_chosen_(rules_.size()), votes_(bench.n_rows() * k_), winner_(bench.n_rows(), -1), change_(rules_.size()) {
    const double declared = bench.settings.declared;
    rate_ = (tree_errors + declared - 1) / (n_ + declared);
    if (rate_ > 0.5) rate_ = 0.45;
    index_rows();
  }

  RuleSet choose() {
    for (size_t c = 0; c < k_; ++c) start_with(static_cast<int32_t>(c));
    for (size_t row = 0; row < winner_.size(); ++row) recount(row);
    for (size_t row = 0; row < winner_.size(); ++row) add_changes(row, 1);
    while (improve()) workers_.poll();
    return result();
  }

 private:
  void index_rows() {
    first_.assign(bench_.n_rows() + 1, 0);
    for (const Rule& rule : rules_)
      for (const int32_t row : rule.rows) ++first_[static_cast<size_t>(row) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    covering_.resize(first_.back());
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    for (size_t r = 0; r < rules_.size(); ++r)
      for (const int32_t row : rules_[r].rows) covering_[next[static_cast<size_t>(row)]++] = static_cast<int32_t>(r);
  }

  // Initial rule set: the most reliable rules of a class, each if it adds more correct than wrong rows.
  void start_with(int32_t label) {
    std::vector<size_t> waiting;
    for (size_t r = 0; r < rules_.size(); ++r)
      if (rules_[r].label == label && rules_[r].right >= bench_.settings.min_cases) waiting.push_back(r);
    std::stable_sort(waiting.begin(), waiting.end(), [&](size_t a, size_t b) { return rules_[a].vote > rules_[b].vote; });
    std::vector<bool> is_covered(bench_.n_rows());
    double open = class_weight_[label], wrong = 0;
    for (const size_t r : waiting) {
      if (!(open > wrong)) return;
      double gained = 0, lost = 0;
      for (const int32_t row : rules_[r].rows)
        if (!is_covered[row]) (bench_.from.label[row] == label ? gained : lost) += bench_.weight[row];
      if (gained - lost <= bench_.settings.min_cases + 1e-4) continue;
      open -= gained;
      wrong += lost;
      is_chosen_[r] = true;
      ++n_chosen_;
      bits_ += rules_[r].bits;
      for (const int32_t row : rules_[r].rows) {
        is_covered[row] = true;
        votes_[static_cast<size_t>(row) * k_ + static_cast<size_t>(label)] += rules_[r].vote;
      }
    }
  }

  std::span<const int32_t> votes_of(size_t row) const { return {votes_.data() + row * k_, k_}; }

  // The class with most votes (the first one on ties) and the runner-up; -1 if there is none.
  struct Leaders {
    int32_t first = -1, second = -1;
  };
  Leaders leaders_of(std::span<const int32_t> votes) const {
    Leaders found;
    for (int32_t c = 0; c < static_cast<int32_t>(votes.size()); ++c)
      if (found.first < 0 || votes[c] > votes[found.first]) found = {c, found.first};
      else if (found.second < 0 || votes[c] > votes[found.second]) found.second = c;
    return found;
  }

  void recount(size_t row) {
    settle(row);
    errors_ += weigh_error_(winner_[row], bench_.from.label[row]) * bench_.weight[row];
  }
  void settle(size_t row) {
    const int32_t first = leaders_of(votes_of(row)).first;
    winner_[row] = votes_of(row)[first] > 0 ? first : -1;
  }

  int32_t toggled_vote(size_t r) const { return is_chosen_[r] ? -rules_[r].vote : rules_[r].vote; }

  // The winning class after toggling a rule: its own, or the strongest other one.
  int32_t winner_after(size_t r, std::span<const int32_t> votes, const Leaders& leaders) const {
    const int32_t label = rules_[r].label, own = votes[label] + toggled_vote(r);
    const int32_t other = label == leaders.first ? leaders.second : leaders.first;
    const bool wins = other < 0 || own > votes[other] || (own == votes[other] && label < other);
    return (wins ? own : votes[other]) > 0 ? (wins ? label : other) : -1;
  }

  // Description length in hundredths of a bit.
  int64_t length(double bits, size_t rules, double errors) const {
    const double theory = std::max(0.0, bits - log2_factorial(rules));
    const double others = std::log2(std::max(bench_.settings.declared - 1, 1.0));
    const double exceptions = (rate_ > 0 ? -errors * std::log2(rate_) : 0.0) - (n_ - errors) * std::log2(1 - rate_) + errors * others;
    return static_cast<int64_t>(std::floor(100 * (kTheory * theory + exceptions) + 0.5));
  }

  bool improve() {
    int64_t best = length(bits_, n_chosen_, errors_);
    std::optional<size_t> found;
    for (size_t r = 0; r < rules_.size(); ++r) {
      if (r == last_ || (!is_chosen_[r] && errors_ < 1e-3)) continue;
      const double bits = bits_ + (is_chosen_[r] ? -rules_[r].bits : rules_[r].bits);
      const int64_t after = length(bits, is_chosen_[r] ? n_chosen_ - 1 : n_chosen_ + 1, errors_ + change_[r]);
      if (is_chosen_[r] ? after <= best : after < best) best = after, found = r;
    }
    if (found) toggle(*found);
    return found.has_value();
  }

  void toggle(size_t r) {
    errors_ += change_[r];
    for (const int32_t row : rules_[r].rows) add_changes(static_cast<size_t>(row), -1);
    for (const int32_t row : rules_[r].rows) {
      votes_[static_cast<size_t>(row) * k_ + static_cast<size_t>(rules_[r].label)] += toggled_vote(r);
      settle(static_cast<size_t>(row));
    }
    bits_ += is_chosen_[r] ? -rules_[r].bits : rules_[r].bits;
    n_chosen_ += is_chosen_[r] ? -1 : 1;
    is_chosen_[r] = !is_chosen_[r];
    for (const int32_t row : rules_[r].rows) add_changes(static_cast<size_t>(row), 1);
    last_ = r;
  }

  // Adds the change of errors at this row that toggling each of its rules would cause.
  void add_changes(size_t row, int sign) {
    const auto votes = votes_of(row);
    const Leaders leaders = leaders_of(votes);
    const int32_t truth = bench_.from.label[row];
    for (size_t i = first_[row]; i < first_[row + 1]; ++i) {
      const auto r = static_cast<size_t>(covering_[i]);
      const int32_t after = winner_after(r, votes, leaders);
      if (after != winner_[row]) change_[r] += sign * ((weigh_error_(after, truth) - weigh_error_(winner_[row], truth)) * bench_.weight[row]);
    }
  }

  RuleSet result() {
    RuleSet set;
    std::vector<bool> is_covered(bench_.n_rows());
    for (size_t r = 0; r < rules_.size(); ++r) {
      if (!is_chosen_[r]) continue;
      for (const int32_t row : rules_[r].rows) is_covered[row] = true;
      set.rules.push_back(std::move(rules_[r]));
    }
    set.otherwise = default_class(is_covered);
    const auto comes_before = [](const Rule& a, const Rule& b) { return a.label != b.label ? a.label < b.label : a.vote > b.vote; };
    for (size_t i = 0; i < set.rules.size(); ++i) {
      size_t best = i;
      for (size_t j = i + 1; j < set.rules.size(); ++j)
        if (comes_before(set.rules[j], set.rules[best])) best = j;
      std::swap(set.rules[i], set.rules[best]);
    }
    return set;
  }

  int32_t default_class(const std::vector<bool>& is_covered) const {
    std::vector<double> open(k_);
    for (size_t row = 0; row < bench_.n_rows(); ++row)
      if (!is_covered[row]) open[bench_.from.label[row]] += bench_.weight[row];
    const double all = std::accumulate(open.begin(), open.end(), 0.0);
    std::vector<double> score(k_);
    for (size_t c = 0; c < k_; ++c) score[c] = (open[c] + 1) / (all + 2.001) + class_weight_[c] / n_;
    return weigh_error_.choose(score);
  }

  std::vector<Rule> rules_;
  const Bench& bench_;
  const ErrorWeights& weigh_error_;
  Workers& workers_;
  const double n_;
  const size_t k_;
  std::vector<double> class_weight_;
  std::vector<bool> is_chosen_;
  std::vector<int32_t> votes_;   // [n_rows, n_classes]
  std::vector<int32_t> winner_;  // [n_rows], -1 if no rule applies
  std::vector<double> change_;   // [n_rules], change of the errors if it is toggled
  std::vector<size_t> first_;    // [n_rows + 1], positions in covering_
  std::vector<int32_t> covering_;
  double rate_ = 0, bits_ = 0, errors_ = 0;
  size_t n_chosen_ = 0, last_ = static_cast<size_t>(-1);
};

}  // namespace baytree::tree::c50
