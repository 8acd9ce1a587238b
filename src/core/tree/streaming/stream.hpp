// Streaming decision tree: splits a node when the evidence suffices, and revises a split when the evidence turns
// against it.
//
// Hoeffding trees (Domingos and Hulten 2000) and Hoeffding anytime trees (Manapragada, Webb and Salehi 2018). The tree
// depends only on the rows so far and their order. A row of weight k equals k consecutive rows: a row whose weight
// passes an evaluation of a node is learnt in two portions.
#pragma once
#include <cmath>
#include <utility>

#include "tree/column_view.hpp"
#include "tree/streaming/naive_bayes.hpp"
#include "tree/streaming/node.hpp"
#include "tree/streaming/search.hpp"

namespace baytree::tree::streaming {

constexpr double kJudgedAgain = 1.0 / 16;  // relative weight that must arrive before the next evaluation

struct Stream {
  Settings settings;
  std::vector<Kind> kinds;          // [n_columns]
  Arrivals classes;
  std::vector<Arrivals> levels;     // [n_columns]
  std::vector<Node> nodes;          // the root first, siblings adjacent
  std::vector<int32_t> free;        // indices of removed pairs of nodes
  double weight = 0;                // of all rows
  int64_t rows = 0, revisions = 0;

  Stream(Settings given, std::vector<Kind> of_columns) : settings(given), kinds(std::move(of_columns)), levels(kinds.size()) {
    nodes.push_back(fresh(0, {}));
  }

  size_t n_classes() const { return size_t(classes.count); }

  void learn(std::span<const ColumnView> columns, size_t row, int32_t label, double amount) {
    const size_t code = size_t(classes.arrive(label));
    if (code >= width_) widen();
    read(columns, row);
    weight += amount;
    ++rows;
    // the score of a value changes when it first occurs, so one unit of a heavy row is learnt before the rest
    for (bool is_new = settings.asks_bayes; amount > 0;) {
      const auto [learnt, is_judged] = portion(code, is_new ? std::min(amount, 1.0) : amount);
      amount -= learnt;
      is_new = settings.asks_bayes && is_judged;
    }
  }

  // Adopts new settings; statistics that are no longer needed are dropped.
  void follow(const Settings& rules) {
    const bool did = std::exchange(settings, rules).asks_bayes;
    if (did && !rules.asks_bayes) for (Node& node : nodes) node.named = {};
    if (!did && rules.asks_bayes) prepare_all();
  }

  // Evaluates whether to split a node or to replace its test, and does so. Returns whether the tree has changed.
  bool judge(int32_t at) {
    Node& node = nodes[size_t(at)];
    node.next = node.seen + std::max(settings.grace, std::floor(node.seen * kJudgedAgain));  // an integer, so that sums stay integers
    if (is_pure(node) || (node.is_leaf() && node.depth >= settings.max_depth)) return false;
    const auto order = orders();
    Search search(node, kinds, order, n_classes(), settings.by_gini);
    Found best, second;
    for (size_t column = 0; column < kinds.size(); ++column) {
      Found found = search.best_of(column);
      if (!found.is_there()) continue;
      if (!best.is_there() || found.worth > best.worth) std::swap(best, found);
      if (found.is_there() && (!second.is_there() || found.worth > second.worth)) second = std::move(found);
    }
    if (node.is_leaf()) return begins(node, best, second) && (split(at, best.test, search), true);
    return settings.revises && revised(at, best, search);
  }

  // Weight predicted correctly at each node by its own predictions or by those of its subtree, whichever is better:
  // [n_nodes].
  std::vector<double> named_best() const {
    std::vector<int32_t> order{0};
    for (size_t k = 0; k < order.size(); ++k)
      if (const Node& node = nodes[size_t(order[k])]; !node.is_leaf()) order.insert(order.end(), {node.first, node.first + 1});
    std::vector<double> best(nodes.size());
    for (size_t k = order.size(); k-- > 0;) best[size_t(order[k])] = nodes[size_t(order[k])].named.before + named_since(nodes[size_t(order[k])], best);
    return best;
  }
  // Whether naive Bayes at a node was correct more often than its class counts and than its subtree.
  bool is_bayes(const Node& node, std::span<const double> best) const { return node.named.by_bayes > named_else(node, best); }

 private:
  std::vector<Cell> cells_;     // of the current row
  std::vector<double> score_;   // of its classes, by naive Bayes
  std::vector<int32_t> path_;   // nodes on its path that are evaluated
  size_t width_ = 0;            // capacity for classes

  friend struct Stored;
  friend class Merging;
  friend void rearrange(Stream&, const Arrivals&, const std::vector<Arrivals>&);

  Node fresh(int32_t depth, std::vector<double> start) const {
    Node node;
    node.start = std::move(start);
    node.start.resize(width_);
    node.own.resize(width_);
    node.told.resize(kinds.size());
    for (Told& told : node.told) told.gap.resize(width_), told.normal.resize(settings.asks_bayes ? width_ : 0);
    node.depth = depth;
    node.next = settings.grace;
    return node;
  }

  void widen() {
    const size_t more = n_classes();
    for (Node& node : nodes) {
      node.start.resize(more);
      node.own.resize(more);
      for (Told& told : node.told) {
        told.bins.mass.widen(width_, more);
        told.few.mass.widen(width_, more);
        told.normal.resize(more);
        told.levels.widen(width_, more);
        told.gap.resize(more);
      }
    }
    width_ = more;
  }

  void read(std::span<const ColumnView> columns, size_t row) {
    cells_.resize(columns.size());
    for (size_t j = 0; j < columns.size(); ++j) {
      if (kinds[j] == Kind::kNumber) cells_[j] = {columns[j][row], -1};
      else {
        const int32_t code = columns[j].level(row);
        cells_[j] = {0, code < 0 ? -1 : levels[j].arrive(code)};
      }
    }
  }

  int32_t branch(const Test& test) const {
    const Cell& cell = cells_[size_t(test.column)];
    if (kinds[size_t(test.column)] == Kind::kNumber)
      return cell.number != cell.number ? test.missing : int32_t(test.is_above(cell.number));
    const int32_t known = cell.level >= 0 && size_t(cell.level) < test.branch_of.size() ? test.branch_of[size_t(cell.level)] : -1;
    return known < 0 ? test.missing : known;
  }

  static double named_else(const Node& node, std::span<const double> best) {
    return node.is_leaf() ? node.named.by_counts : best[size_t(node.first)] + best[size_t(node.first) + 1];
  }
  static double named_since(const Node& node, std::span<const double> best) { return std::max(node.named.by_bayes, named_else(node, best)); }

  void prepare_all() {
    for (Node& node : nodes) for (Told& told : node.told) prepare(told, width_, few_bins(settings));
  }

  // Predicts the class of the row at a node before learning it.
  void ask(Node& node, size_t label, double amount) {
    NaiveBayes bayes(node, cells_, kinds, score_);
    node.named.by_bayes += weight_named(amount, [&](double copies) { return bayes.names(label, copies); });
    if (node.is_leaf()) node.named.by_counts += weight_named(amount, [&](double copies) { return counts_name(node, label, copies); });
  }

  struct Portion {
    double weight;
    bool is_judged;  // whether a node on the path was evaluated
  };

  // Learns the part of the row's weight that precedes the next evaluation on its path.
  Portion portion(size_t label, double most) {
    path_.clear();
    for (int32_t at = 0;; at = nodes[size_t(at)].first + branch(nodes[size_t(at)].test)) {
      const Node& node = nodes[size_t(at)];
      if (node.listens) path_.push_back(at);
      if (node.is_leaf()) break;
    }
    double amount = most;
    for (const int32_t at : path_) amount = std::min(amount, nodes[size_t(at)].next - nodes[size_t(at)].seen);
    if (settings.asks_bayes) for (const int32_t at : path_) ask(nodes[size_t(at)], label, amount);
    for (const int32_t at : path_) add(nodes[size_t(at)], label, amount);
    bool is_judged = false;
    for (const int32_t at : path_) {
      if (nodes[size_t(at)].seen < nodes[size_t(at)].next) continue;
      is_judged = true;
      if (judge(at)) break;  // the subtree below has changed
    }
    return {amount, is_judged};
  }

  void add(Node& node, size_t label, double amount) {
    node.own[label] += amount;
    node.seen = amount == node.next - node.seen ? node.next : node.seen + amount;
    for (size_t j = 0; j < cells_.size(); ++j) {
      Told& told = node.told[j];
      const Cell& cell = cells_[j];
      if (kinds[j] != Kind::kNumber) {
        if (cell.level < 0) {
          told.gap[label] += amount;
          continue;
        }
        if (size_t(cell.level) >= told.levels.size(width_)) told.levels.resize(size_t(cell.level) + 1, width_);
        const auto masses = told.levels.of(size_t(cell.level), width_);
        if (settings.asks_bayes) told.present += !(sum_of(masses) > 0);
        masses[label] += amount;
      } else if (cell.number != cell.number) told.gap[label] += amount;
      else {
        told.bins.add(cell.number, label, amount, width_, settings.most_bins);
        if (settings.asks_bayes) learn_number(told, cell.number, label, amount, width_, few_bins(settings));
      }
    }
  }

  bool is_pure(const Node& node) const {
    return std::ranges::count_if(node.own, [](double mass) { return mass > 0; }) < 2;
  }

  // Hoeffding bound for the difference of two scores.
  double margin(const Node& node) const {
    const double present = double(std::ranges::count_if(node.own, [](double mass) { return mass > 0; }));
    const double range = settings.by_gini ? 1 - 1 / present : std::log2(present);
    return range * std::sqrt(settings.bits * 0.69314718055994530942 / (2 * node.seen));
  }

  bool begins(const Node& node, const Found& best, const Found& second) const {
    if (!best.is_there() || best.evidence <= settings.bits) return false;
    if (settings.revises) return true;  // with revision, any test that is better than none will do for now
    return best.evidence - second.evidence > settings.bits || margin(node) < settings.tie;
  }

  void split(int32_t at, const Test& test, Search& search) {
    auto [low, high] = search.branches(test);
    share_out(nodes[size_t(at)].start, low, high);
    int32_t first = int32_t(nodes.size());
    if (free.empty()) nodes.resize(nodes.size() + 2);
    else first = free.back(), free.pop_back();
    Node& node = nodes[size_t(at)];
    nodes[size_t(first)] = fresh(node.depth + 1, std::move(low));
    nodes[size_t(first) + 1] = fresh(node.depth + 1, std::move(high));
    node.first = first;
    node.test = test;
    node.named = {0, 0, node.named.before + std::max(node.named.by_counts, node.named.by_bayes)};
    if (!settings.revises) retire(node);
  }

  // Drops the statistics of an inner node that no longer learns: its leaves count the rows.
  void retire(Node& node) const {
    node.listens = false;
    node.told.clear();
    std::ranges::fill(node.start, 0.0);
    std::ranges::fill(node.own, 0.0);
    node.seen = 0, node.next = settings.grace;
  }

  // Replaces or removes the test of a node if the evidence has turned. Returns whether it did.
  bool revised(int32_t at, const Found& best, Search& search) {
    Node& node = nodes[size_t(at)];
    const Found standing = search.standing(node.test);
    if (!best.is_there()) return give_up(at), true;
    if (best.evidence - standing.evidence <= settings.bits) return false;
    if (is_near(node, best.test)) return node.test = best.test, false;
    if (best.worth - standing.worth <= 2 * settings.tie) return false;
    give_up(at);
    split(at, best.test, search);
    return true;
  }

  // A moved threshold on the same column: the subtrees are kept, since few rows change sides. Different groups of
  // levels, or another branch of missing values, would move many.
  bool is_near(const Node& node, const Test& test) const {
    if (test.column != node.test.column || kinds[size_t(test.column)] != Kind::kNumber) return false;
    return test.missing == node.test.missing || !(sum_of(node.told[size_t(test.column)].gap) > 0);
  }

  void give_up(int32_t at) {
    const size_t before = free.size();
    std::vector<int32_t> open{at};
    ++revisions;
    if (settings.asks_bayes) nodes[size_t(at)].named = {0, 0, named_best()[size_t(at)]};
    while (!open.empty()) {
      Node& node = nodes[size_t(open.back())];
      open.pop_back();
      if (node.is_leaf()) continue;
      free.push_back(node.first);
      open.insert(open.end(), {node.first, node.first + 1});
      node.first = -1;
    }
    nodes[size_t(at)].test = Test();
    for (size_t i = before; i < free.size(); ++i) nodes[size_t(free[i])] = nodes[size_t(free[i]) + 1] = Node();
  }

  std::vector<std::vector<int32_t>> orders() const {
    std::vector<std::vector<int32_t>> all(kinds.size());
    for (size_t j = 0; j < kinds.size(); ++j) {
      if (kinds[j] == Kind::kRank) all[j] = levels[j].in_order();
      else for (int32_t k = 0; k < levels[j].count; ++k) all[j].push_back(k);
    }
    return all;
  }
};

}  // namespace baytree::tree::streaming
