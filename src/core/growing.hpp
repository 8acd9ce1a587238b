// The growing machine. Every numeric column is sorted once; a split divides each sorted column in place, so that the
// rows of a node lie together, in order, in every column. Large nodes share their columns among the threads, small
// ones are whole subtrees of work for one thread. Which thread does what never shows in the tree.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "cart.hpp"
#include "grouping.hpp"
#include "measures.hpp"
#include "search.hpp"
#include "sorting.hpp"
#include "surrogates.hpp"
#include "workers.hpp"

namespace baytree {

enum class Absent { kLearned, kCategory, kLargest, kSurrogate };  // what happens to rows without a value

struct Settings {
  std::string criterion = "gini";
  bool is_cart = false;  // rpart's arithmetic and conventions
  Absent absent = Absent::kLearned;
  double min_split = 2, min_leaf = 1;
  int max_depth = std::numeric_limits<int>::max();
  double min_impurity = 0;         // per unit of weight
  double min_gain = 0;             // in units of weight
  double min_risk = 0;             // a node of no more risk stays whole
  std::vector<double> critical;    // [df + 1] chi-squared that a split must reach, empty if none
  std::vector<double> risk_scale;  // [n_classes]
  std::vector<double> loss;        // [true * predicted]
  int most_levels = 12;            // up to here all groupings are tried where no ordering is exact
  int max_surrogates = 0, use_surrogate = 2, surrogate_style = 0;
};

struct Node {
  uint32_t begin = 0, end = 0;  // its rows, in every column
  int32_t depth = 0, first = 0, branches = 0, prediction = 0, missing = -1;
  int64_t rows = 0;
  double weight = 0, mean = 0, risk = 0, impurity = 0, gain = 0, most_improved = 0;
  bool is_final = false, is_strict = false;
  std::vector<double> counts;  // [n_classes]
  std::vector<double> total;   // the measure's statistic of all the rows
  Split split;
  std::vector<Substitute> substitutes;

  bool is_leaf() const { return branches == 0; }
};

template <Measure M> class Grower {
 public:
  Grower(std::span<const ColumnView> columns, size_t rows, const Target& target, const Settings& settings, Workers& workers)
      : columns_(columns), n_(rows), target_(target), settings_(settings), workers_(workers), sorted_(columns.size()),
        tags_(rows), side_(rows, kNowhere) {
    for (int w = 0; w < workers.size(); ++w) desks_.emplace_back(target_, w);
  }

  std::vector<Node> grow() {
    sort_columns();
    std::vector<Node> nodes(1);
    nodes[0].end = uint32_t(n_);
    measure_node(nodes[0], desks_[0]);
    std::vector<size_t> large, small;
    if (!nodes[0].is_final) (n_ >= kLarge ? large : small).push_back(0);
    while (!large.empty()) large = grow_level(nodes, large, small);
    grow_subtrees(nodes, small);
    return nodes;
  }

 private:
  static constexpr size_t kLarge = 16384;

  // What a thread needs to work: nothing in it outlives a task.
  struct Desk {
    Desk(const Target& target, int which) : measure(target), worker(which) {}
    M measure;
    int worker;
    LevelCounter<M> counter;
    Levels levels;
    std::vector<double> left, known, missing, zero;
    std::vector<Entry> second, third;
    std::vector<uint32_t> tags[2];
    TwoClassScan::Blocks blocks;
    std::vector<Split> offers;
    std::vector<Substitute> imitations;
  };

  void sort_columns() {
    for (size_t i = 0; i < n_; ++i) tags_[i] = tag(i);
    copy_columns();
    std::vector<std::vector<uint64_t>> scratch(size_t(workers_.size()));
    workers_.run(columns_.size(), [&](size_t j, int worker) {
      if (columns_[j].is_nominal()) return;
      sort_keys(columns_[j], sorted_[j], scratch[size_t(worker)]);
      if (target_.class_bits)
        for (auto& e : sorted_[j]) e = entry(rank_of(e), tag(tag_of(e)));
    });
  }
  // Block by block over all columns, since the columns of a row-major matrix share their cache lines.
  void copy_columns() {
    constexpr size_t kBlock = 1024;
    workers_.run(columns_.size(), [&](size_t j, int) {
      if (!columns_[j].is_nominal()) sorted_[j].resize(n_);
    });
    workers_.run((n_ + kBlock - 1) / kBlock, [&](size_t block, int) {
      for (size_t j = 0; j < columns_.size(); ++j)
        if (!columns_[j].is_nominal()) copy_keys(columns_[j], block * kBlock, std::min(n_, (block + 1) * kBlock), sorted_[j]);
    });
  }
  uint32_t tag(size_t row) const {
    return target_.class_bits ? uint32_t(row << target_.class_bits) | uint32_t(target_.label[row]) : uint32_t(row);
  }

  // ---- one level of large nodes ----

  std::vector<size_t> grow_level(std::vector<Node>& nodes, const std::vector<size_t>& large, std::vector<size_t>& small) {
    const size_t width = columns_.size();
    std::vector<Split> offers(large.size() * width);
    workers_.run(offers.size(), [&](size_t task, int worker) {
      offers[task] = search(nodes[large[task / width]], int32_t(task % width), desks_[size_t(worker)]);
    });
    std::vector<Sent> sent(large.size());
    workers_.run(large.size(), [&](size_t i, int worker) {
      sent[i] = choose(nodes[large[i]], {offers.data() + i * width, width}, desks_[size_t(worker)]);
    });
    std::vector<Substitute> imitations;
    if (settings_.max_surrogates > 0) {
      imitations.resize(offers.size());
      workers_.run(offers.size(), [&](size_t task, int) {
        const size_t i = task / width;
        imitations[task] = imitate(nodes[large[i]], int32_t(task % width), sent[i]);
      });
    }
    std::vector<std::vector<Node>> children(large.size());
    workers_.run(large.size(), [&](size_t i, int worker) {
      if (!nodes[large[i]].split) return;
      std::span<Substitute> own;
      if (!imitations.empty()) own = {imitations.data() + i * width, width};
      children[i] = divide(nodes[large[i]], own, sent[i], desks_[size_t(worker)]);
    });
    workers_.run(offers.size(), [&](size_t task, int worker) {
      const size_t i = task / width;
      if (!children[i].empty()) partition(nodes[large[i]], children[i], task % width, desks_[size_t(worker)]);
    });
    std::vector<size_t> next;
    for (size_t i = 0; i < large.size(); ++i) {
      adopt(nodes, large[i], children[i]);
      const Node& parent = nodes[large[i]];
      for (int b = 0; b < parent.branches; ++b) {
        const size_t child = size_t(parent.first + b);
        if (!nodes[child].is_final) (nodes[child].end - nodes[child].begin >= kLarge ? next : small).push_back(child);
      }
    }
    return next;
  }

  // ---- small nodes: one thread per subtree ----

  void grow_subtrees(std::vector<Node>& nodes, const std::vector<size_t>& roots) {
    std::vector<std::vector<Node>> grown(roots.size());
    workers_.run(roots.size(), [&](size_t i, int worker) { grown[i] = subtree(nodes[roots[i]], desks_[size_t(worker)]); });
    for (size_t i = 0; i < roots.size(); ++i) {
      const auto shift = int32_t(nodes.size()) - 1;
      for (Node& node : grown[i])
        if (!node.is_leaf()) node.first += shift;
      nodes[roots[i]] = std::move(grown[i][0]);
      std::move(grown[i].begin() + 1, grown[i].end(), std::back_inserter(nodes));
    }
  }

  std::vector<Node> subtree(const Node& root, Desk& desk) {
    std::vector<Node> nodes{root};
    std::vector<size_t> open{0};
    while (!open.empty()) {
      if (desk.worker == 0) workers_.poll();
      const size_t at = open.back();
      open.pop_back();
      std::vector<Node> children = split_alone(nodes[at], desk);
      adopt(nodes, at, children);
      for (int b = nodes[at].branches - 1; b >= 0; --b)
        if (const auto child = size_t(nodes[at].first + b); !nodes[child].is_final) open.push_back(child);
    }
    return nodes;
  }

  std::vector<Node> split_alone(Node& node, Desk& desk) {
    const size_t width = columns_.size();
    desk.offers.resize(width);
    for (size_t j = 0; j < width; ++j) desk.offers[j] = search(node, int32_t(j), desk);
    const Sent sent = choose(node, desk.offers, desk);
    if (!node.split) return {};
    desk.imitations.clear();
    if (settings_.max_surrogates > 0)
      for (size_t j = 0; j < width; ++j) desk.imitations.push_back(imitate(node, int32_t(j), sent));
    std::vector<Node> children = divide(node, desk.imitations, sent, desk);
    for (size_t j = 0; j < width; ++j) partition(node, children, j, desk);
    return children;
  }

  static void adopt(std::vector<Node>& nodes, size_t parent, std::vector<Node>& children) {
    if (children.empty()) return;
    nodes[parent].first = int32_t(nodes.size());
    nodes[parent].branches = int32_t(children.size());
    std::move(children.begin(), children.end(), std::back_inserter(nodes));
  }

  // ---- what a column offers ----

  Split search(const Node& node, int32_t column, Desk& desk) {
    desk.measure.focus(node.mean, node.risk);
    Split split = columns_[size_t(column)].is_nominal() ? search_levels(node, column, desk) : search_cuts(node, column, desk);
    if (split && !(split.score.value > 0)) split.column = -1;
    return split;
  }

  bool is_known_only() const { return settings_.absent == Absent::kLargest || settings_.absent == Absent::kSurrogate; }
  Limits limits() const { return {settings_.min_leaf}; }

  std::span<const Entry> entries(const Node& node, size_t column) const {
    return {sorted_[column].data() + node.begin, node.end - node.begin};
  }
  static size_t known_in(std::span<const Entry> all) {
    if (all.empty() || rank_of(all.back()) != kMissing) return all.size();
    return size_t(std::ranges::partition_point(all, [](Entry e) { return rank_of(e) != kMissing; }) - all.begin());
  }

  Split search_cuts(const Node& node, int32_t column, Desk& desk) {
    const auto all = entries(node, size_t(column));
    const size_t n_known = known_in(all);
    const auto known = all.first(n_known), missing = all.subspan(n_known);
    Split best;
    best.known = uint32_t(n_known);
    const bool may_stand_apart = !missing.empty() && settings_.absent == Absent::kLearned;
    if (n_known == 0 || (rank_of(known.front()) == rank_of(known.back()) && !may_stand_apart)) return best;
    const bool is_improved = missing.empty() ? scan_all(node, known, desk, best) : scan_with(node, known, missing, desk, best);
    if (!is_improved) return best;
    best.column = column;
    best.cut = cut_after(columns_[size_t(column)], known, best.last);
    return best;
  }

  double cut_after(const ColumnView& view, std::span<const Entry> known, size_t last) const {
    if (last + 1 == known.size()) return std::numeric_limits<double>::infinity();
    return between(view[target_.row(tag_of(known[last]))], view[target_.row(tag_of(known[last + 1]))], settings_.is_cart);
  }

  bool scan_all(const Node& node, std::span<const Entry> known, Desk& desk, Split& best) {
    if constexpr (std::same_as<M, ClassMeasure<Gini>>)
      if (is_two_class_count()) {
        const auto [n, one] = two_counts(node.total);
        const TwoClassScan cuts(known, n, one, limits(), desk.blocks);
        best.score = cuts.none();
        return cuts.run(0, 0, false, best);
      }
    desk.measure.begin(node.total);
    best.score = desk.measure.none();
    desk.zero = desk.measure.nothing();
    return scan(known, desk.measure, std::span<const double>(node.total), std::span<const double>(desk.zero), false, limits(), desk.left, best);
  }

  bool scan_with(const Node& node, std::span<const Entry> known, std::span<const Entry> missing, Desk& desk, Split& best) {
    desk.missing = sum_of(missing, desk);
    if (settings_.absent == Absent::kLearned) return scan_both_ways(node, known, desk, best);
    if constexpr (requires { desk.measure.is_centred(); }) desk.measure.focus(mean_of(known), node.risk);
    desk.known = sum_of(known, desk);
    if (settings_.absent == Absent::kCategory) {
      best.has_own_branch = true, best.missing = 2;
      desk.measure.begin_with(desk.known, desk.missing);
    } else {
      desk.measure.begin(desk.known);
    }
    best.score = desk.measure.none();
    desk.zero = desk.measure.nothing();
    const bool is_improved = scan(known, desk.measure, std::span<const double>(desk.known), std::span<const double>(desk.zero), false, limits(), desk.left, best);
    best.score.under = 0;  // another column's fraction is of other rows
    return is_improved;
  }

  // The rows without a value on the upper side first; on the lower one only if that is better.
  bool scan_both_ways(const Node& node, std::span<const Entry> known, Desk& desk, Split& best) {
    if constexpr (std::same_as<M, ClassMeasure<Gini>>)
      if (is_two_class_count()) {
        const auto [n, one] = two_counts(node.total);
        const auto [absent, absent_one] = two_counts(desk.missing);
        const TwoClassScan cuts(known, n, one, limits(), desk.blocks);
        best.score = cuts.none();
        bool is_improved = cuts.run(0, 0, true, best);
        best.missing = is_improved ? 1 : -1;
        if (cuts.run(absent, absent_one, false, best)) is_improved = true, best.missing = 0;
        return is_improved;
      }
    desk.measure.begin(node.total);
    best.score = desk.measure.none();
    desk.zero = desk.measure.nothing();
    const std::span<const double> total(node.total), zero(desk.zero), absent(desk.missing);
    bool is_improved = scan(known, desk.measure, total, zero, true, limits(), desk.left, best);
    best.missing = is_improved ? 1 : -1;
    if (scan(known, desk.measure, total, absent, false, limits(), desk.left, best)) is_improved = true, best.missing = 0;
    return is_improved;
  }

  bool is_two_class_count() const { return target_.class_bits == 1 && target_.is_counted && !target_.weight; }
  static std::pair<uint64_t, uint64_t> two_counts(std::span<const double> total) {
    return {uint64_t(total[0] + total[1]), uint64_t(total[1])};
  }
  std::vector<double> sum_of(std::span<const Entry> entries, const Desk& desk) const {
    std::vector<double> sum(desk.measure.width(), 0.0);
    for (const Entry e : entries) desk.measure.add(sum.data(), tag_of(e));
    return sum;
  }
  template <typename Items> double mean_of(const Items& items) const {
    double sum = 0, weight = 0;
    for (const auto item : items) {
      const uint32_t row = uint32_t(item);
      sum += target_.weight_of(row) * target_.y[row], weight += target_.weight_of(row);
    }
    return weight > 0 ? sum / weight : 0.0;
  }

  std::span<const uint32_t> tags(const Node& node) const { return {tags_.data() + node.begin, node.end - node.begin}; }

  Split search_levels(const Node& node, int32_t column, Desk& desk) {
    const ColumnView& view = columns_[size_t(column)];
    if constexpr (requires { desk.measure.is_centred(); }) center_on_known(node, view, desk);
    desk.counter.count(tags(node), view, target_, desk.measure, desk.levels);
    Split best;
    best.known = uint32_t(node.end - node.begin);
    Levels& levels = desk.levels;
    const bool has_missing = levels.size() > 0 && levels.code[0] < 0;
    std::span<const double> total(node.total);
    if (is_known_only() && has_missing) {
      drop_missing(levels);
      desk.known = sum_of_levels(levels);
      total = desk.known;
    } else if (settings_.is_cart) {
      desk.known = sum_of_levels(levels);
      total = desk.known;
    }
    if (levels.size() < 2) return best;
    desk.measure.begin(total);
    best.score = desk.measure.none();
    const bool is_tried = !desk.measure.is_ordered() && levels.size() <= size_t(settings_.most_levels);
    const auto pause = [&] {
      if (desk.worker == 0) workers_.poll();
    };
    const bool is_improved = is_tried ? group_by_trying_all(levels, desk.measure, total, limits(), pause, best)
                                      : group_in_order(levels, desk.measure, total, limits(), best);
    if (is_known_only() && has_missing) best.score.under = 0;
    if (!is_improved) return best;
    best.column = column;
    take_missing_out(best);
    return best;
  }

  void center_on_known(const Node& node, const ColumnView& view, Desk& desk) const {
    std::vector<uint32_t> known;
    for (const uint32_t row : tags(node))
      if (view.level(row) >= 0) known.push_back(row);
    desk.measure.focus(mean_of(known), node.risk);
  }
  static void drop_missing(Levels& levels) {
    levels.code.erase(levels.code.begin());
    levels.statistic.erase(levels.statistic.begin(), levels.statistic.begin() + std::ptrdiff_t(levels.width));
  }
  static std::vector<double> sum_of_levels(const Levels& levels) {
    std::vector<double> sum(levels.width, 0.0);
    for (size_t i = 0; i < levels.size(); ++i)
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += levels[i][k];
    return sum;
  }
  static void take_missing_out(Split& split) {
    for (int b = 0; b < 2; ++b) {
      auto& group = split.group[b];
      if (!group.empty() && group.front() < 0) split.missing = b, group.erase(group.begin());
    }
  }

  // ---- the winner, and where its rows go ----

  Sent choose(Node& node, std::span<Split> offers, Desk& desk) {
    desk.measure.focus(node.mean, node.risk);
    desk.measure.begin(node.total);
    const double slack = desk.measure.slack();
    Split* best = nullptr;
    for (Split& offer : offers) {
      if (!offer || !is_candidate(node, offer)) continue;
      if (!best || is_better(offer.score, best->score, slack)) best = &offer;
    }
    if (!best || !is_enough(node, *best)) return {};
    node.split = std::move(*best);
    node.gain = settings_.is_cart && !target_.classes ? node.split.score.value * node.risk : node.split.score.value;
    if (settings_.is_cart) set_direction(node, desk);
    return send_by_split(node);
  }

  // rpart: an improvement that is rounding noise beside the largest one seen is none.
  bool is_candidate(Node& node, const Split& offer) const {
    if (!settings_.is_cart) return true;
    node.most_improved = std::max(node.most_improved, offer.score.value);
    return offer.score.value > 1e-10 * node.most_improved;
  }

  bool is_enough(const Node& node, const Split& split) const {
    if (split.score.value < settings_.min_gain) return false;
    return settings_.critical.empty() || is_significant(node, split);
  }

  bool is_significant(const Node& node, const Split& split) const {
    std::vector<double> side(3 * target_.classes, 0.0);
    const ColumnView& view = columns_[size_t(split.column)];
    for (const uint32_t tag : tags(node)) {
      const uint8_t b = branch(split, view, target_.row(tag));
      if (b < 3) side[b * target_.classes + target_.class_of(tag)] += target_.weight_of(target_.row(tag));
    }
    std::vector<double> parent(target_.classes, 0.0);
    for (size_t i = 0; i < side.size(); ++i) parent[i % target_.classes] += side[i];
    const auto present = size_t(std::ranges::count_if(parent, [](double m) { return m > 0; }));
    const size_t children = split.has_own_branch ? 3 : 2;
    const double statistic = ChiSquared(parent)({{side.data(), children * target_.classes}, target_.classes});
    const size_t df = (present - 1) * (children - 1);
    return df > 0 && statistic >= settings_.critical[std::min(df, settings_.critical.size() - 1)];
  }

  // The branch of a row by the split alone, or kNowhere.
  uint8_t branch(const Split& split, const ColumnView& view, uint32_t row) const {
    uint8_t side = kNowhere;
    if (!view.is_nominal()) {
      const double x = view[row];
      if (!std::isnan(x)) side = settings_.is_cart ? !(x < split.cut) : !(x <= split.cut);
    } else {
      const int32_t code = view.level(row);
      for (uint8_t b = 0; b < 2; ++b)
        if (std::ranges::binary_search(split.group[b], code)) side = b;
    }
    return side == kNowhere && split.missing >= 0 ? uint8_t(split.missing) : side;
  }

  // rpart calls the side with the smaller mean left; for levels that is the first branch, for numbers a flag.
  void set_direction(Node& node, Desk& desk) {
    Split& split = node.split;
    const ColumnView& view = columns_[size_t(split.column)];
    std::vector<double> side[2] = {std::vector<double>(desk.measure.width(), 0.0), std::vector<double>(desk.measure.width(), 0.0)};
    for (const uint32_t tag : tags(node))
      if (const uint8_t b = branch(split, view, target_.row(tag)); b < 2) desk.measure.add(side[b].data(), tag);
    const bool is_lower = desk.measure.mean(side[0]) < desk.measure.mean(side[1]);
    if (view.is_nominal()) {
      if (!is_lower) std::swap(split.group[0], split.group[1]);
    } else {
      split.is_mirrored = !is_lower;
    }
  }

  Sent send_by_split(Node& node) {
    const Split& split = node.split;
    const ColumnView& view = columns_[size_t(split.column)];
    if (!view.is_nominal()) send_by_cut(node);
    else send_by_level(node, view);
    Sent sent;
    for (const uint32_t tag : tags(node)) {
      const uint32_t row = target_.row(tag);
      if (side_[row] < 2) sent.weight[side_[row]] += target_.weight_of(row);
    }
    return sent;
  }
  void send_by_cut(const Node& node) {
    const auto all = entries(node, size_t(node.split.column));
    const size_t n_known = known_in(all);
    const auto absent = uint8_t(node.split.missing >= 0 ? node.split.missing : kNowhere);
    for (size_t i = 0; i < all.size(); ++i)
      side_[target_.row(tag_of(all[i]))] = i < n_known ? uint8_t(i > node.split.last) : absent;
  }
  void send_by_level(const Node& node, const ColumnView& view) {
    std::vector<uint8_t> side_of(size_t(view.levels) + 1, kNowhere);
    if (node.split.missing >= 0) side_of[0] = uint8_t(node.split.missing);
    for (uint8_t b = 0; b < 2; ++b)
      for (const int32_t code : node.split.group[b]) side_of[size_t(code) + 1] = b;
    for (const uint32_t tag : tags(node)) side_[target_.row(tag)] = side_of[size_t(view.level(target_.row(tag)) + 1)];
  }

  Substitute imitate(const Node& node, int32_t column, const Sent& sent) const {
    if (!node.split || column == node.split.column) return {};
    const ColumnView& view = columns_[size_t(column)];
    if (view.is_nominal())
      return imitate_by_level(tags(node), view, column, target_, side_, sent, settings_.surrogate_style, settings_.is_cart);
    const auto all = entries(node, size_t(column));
    return imitate_by_cut(all.first(known_in(all)), view, column, target_, side_, sent, settings_.surrogate_style);
  }

  std::vector<Node> divide(Node& node, std::span<Substitute> imitations, const Sent& sent, Desk& desk) {
    keep_best(node, imitations);
    send_missing(node, sent);
    const size_t branches = node.split.has_own_branch ? 3 : 2;
    std::vector<Node> children(branches);
    divide_rows(node, children, desk);
    for (Node& child : children) {
      child.depth = node.depth + 1, child.most_improved = node.most_improved;
      measure_node(child, desk);
      if (child.is_final)
        for (const uint32_t tag : tags(child)) side_[target_.row(tag)] = kNowhere;
    }
    node.is_strict = settings_.is_cart;
    node.missing = prediction_road(node, children);
    return children;
  }

  void keep_best(Node& node, std::span<Substitute> imitations) const {
    std::vector<Substitute*> found;
    for (Substitute& each : imitations)
      if (each) found.push_back(&each);
    std::ranges::stable_sort(found, [](const Substitute* a, const Substitute* b) { return a->agree > b->agree; });
    for (size_t i = 0; i < found.size() && i < size_t(settings_.max_surrogates); ++i)
      node.substitutes.push_back(std::move(*found[i]));
  }

  // Rows that the split itself cannot send: by substitutes, then with the heavier side, or they rest here.
  void send_missing(Node& node, const Sent& sent) {
    if (!is_known_only()) return;
    const bool is_large = settings_.absent == Absent::kLargest;
    const int use = is_large ? 2 : settings_.is_cart && settings_.max_surrogates == 0 ? 0 : settings_.use_surrogate;
    uint8_t last_resort = kNowhere;
    if (use == 2 && (sent.weight[0] != sent.weight[1] || !settings_.is_cart)) last_resort = sent.weight[1] > sent.weight[0];
    for (const uint32_t tag : tags(node)) {
      const uint32_t row = target_.row(tag);
      if (side_[row] != kNowhere) continue;
      if (use > 0) side_[row] = send_by_substitute(node, row);
      if (side_[row] == kNowhere) side_[row] = last_resort;
    }
  }
  uint8_t send_by_substitute(Node& node, uint32_t row) const {
    for (Substitute& each : node.substitutes)
      if (const uint8_t side = each.side(columns_[size_t(each.column)], row); side != kNowhere) {
        ++each.count;
        return side;
      }
    return kNowhere;
  }

  void divide_rows(const Node& node, std::vector<Node>& children, Desk& desk) {
    uint32_t* in = tags_.data() + node.begin;
    const size_t n = node.end - node.begin;
    for (auto& other : desk.tags) other.resize(std::max(other.size(), n));
    size_t count[3] = {0, 0, 0};
    for (size_t i = 0; i < n; ++i) {
      const uint32_t tag = in[i];
      const uint8_t side = side_[target_.row(tag)];
      in[count[0]] = tag, desk.tags[0][count[1]] = tag;
      count[0] += side == 0, count[1] += side == 1;
      if (side == 2) desk.tags[1][count[2]++] = tag;
    }
    std::copy_n(desk.tags[0].begin(), count[1], in + count[0]);
    std::copy_n(desk.tags[1].begin(), count[2], in + count[0] + count[1]);
    uint32_t begin = node.begin;
    for (size_t b = 0; b < children.size(); ++b) {
      children[b].begin = begin, children[b].end = begin += uint32_t(count[b]);
    }
  }

  // Divides a sorted column; the rows of children that will not be split again are left out.
  void partition(const Node& node, const std::vector<Node>& children, size_t column, Desk& desk) {
    if (columns_[column].is_nominal() || std::ranges::all_of(children, &Node::is_final)) return;
    Entry* in = sorted_[column].data() + node.begin;
    const size_t n = node.end - node.begin;
    if (desk.second.size() < n) desk.second.resize(n);
    if (desk.third.size() < n && children.size() > 2) desk.third.resize(n);
    const int bits = target_.class_bits;
    const uint8_t* side = side_.data();
    Entry* second = desk.second.data();
    size_t count[3] = {0, 0, 0};
    for (size_t i = 0; i < n; ++i) {
      const Entry e = in[i];
      const size_t s = side[tag_of(e) >> bits], is_sent = 1 - (s >> 1 != 0), is_second = s & is_sent;
      in[count[0]] = e, second[count[1]] = e;  // sums instead of branches: sides are as good as random here
      count[0] += is_sent - is_second, count[1] += is_second;
      if (s == 2) desk.third[count[2]++] = e;
    }
    if (!children[1].is_final) std::copy_n(second, count[1], sorted_[column].data() + children[1].begin);
    if (children.size() > 2 && !children[2].is_final)
      std::copy_n(desk.third.begin(), count[2], sorted_[column].data() + children[2].begin);
  }

  int32_t prediction_road(const Node& node, const std::vector<Node>& children) const {
    if (node.split.missing >= 0) return node.split.missing;
    if (settings_.is_cart) {
      if (settings_.use_surrogate < 2 || children[0].rows == children[1].rows) return -1;
      return children[1].rows > children[0].rows;
    }
    return children[1].weight > children[0].weight;
  }

  // ---- what is known of a node before it is split ----

  void measure_node(Node& node, Desk& desk) {
    const auto own = tags(node);
    node.rows = int64_t(own.size());
    if (target_.classes) measure_classes(node, own, desk);
    else measure_numbers(node, own, desk);
    const double size = node.total.back();
    node.is_final = size < settings_.min_split || node.depth >= settings_.max_depth ||
                    node.impurity <= settings_.min_impurity || (settings_.is_cart && node.risk <= settings_.min_risk);
  }

  void measure_classes(Node& node, std::span<const uint32_t> own, Desk& desk) {
    const size_t classes = target_.classes;
    node.counts.assign(classes, 0.0);
    node.total.assign(desk.measure.width(), 0.0);
    if (!target_.weight) {
      for (const uint32_t tag : own) node.counts[target_.class_of(tag)] += 1;
    } else {
      for (const uint32_t tag : own) node.counts[target_.class_of(tag)] += target_.weight_of(target_.row(tag));
    }
    for (size_t k = 0; k < classes; ++k) node.weight += node.counts[k];
    sum_classes(node, own, desk);
    if constexpr (requires { desk.measure.impurity(node.total); })
      node.impurity = desk.measure.impurity(node.total) / std::max(total({node.total.data(), classes}), 1e-300);
    decide(node);
  }

  // Masses from the counts where that is the same as row by row.
  void sum_classes(Node& node, std::span<const uint32_t> own, const Desk& desk) const {
    if (settings_.is_cart) {
      for (const uint32_t tag : own) desk.measure.add(node.total.data(), tag);
      return;
    }
    for (size_t k = 0; k < target_.classes; ++k) node.total[k] = node.counts[k] * target_.scale[k];
    node.total.back() = target_.counts_rows ? double(own.size()) : node.weight;
  }

  // The class of least expected loss, the first one on equality.
  void decide(Node& node) const {
    const size_t classes = target_.classes;
    node.risk = std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < classes; ++j) {
      double loss = 0;
      for (size_t i = 0; i < classes; ++i)
        loss += settings_.risk_scale[i] * node.counts[i] * settings_.loss[i * classes + j];
      if (loss < node.risk) node.risk = loss, node.prediction = int32_t(j);
    }
  }

  void measure_numbers(Node& node, std::span<const uint32_t> own, Desk& desk) {
    double weight = 0, sum = 0;
    const double origin = own.empty() ? 0.0 : target_.y[own[0]];
    for (const uint32_t row : own) weight += target_.weight_of(row), sum += target_.weight_of(row) * (target_.y[row] - origin);
    double mean = origin + (weight > 0 ? sum / weight : 0.0), rest = 0, squares = 0;
    for (const uint32_t row : own) rest += target_.weight_of(row) * (target_.y[row] - mean);
    mean += weight > 0 ? rest / weight : 0.0;
    for (const uint32_t row : own) {
      const double apart = target_.y[row] - mean;
      squares += target_.weight_of(row) * apart * apart;
    }
    node.weight = weight, node.mean = mean, node.risk = squares;
    node.impurity = weight > 0 ? squares / weight : 0.0;
    desk.measure.focus(mean, squares);
    node.total.assign(desk.measure.width(), 0.0);
    for (const uint32_t row : own) desk.measure.add(node.total.data(), row);
  }

  std::span<const ColumnView> columns_;
  size_t n_;
  const Target& target_;
  const Settings& settings_;
  Workers& workers_;
  std::vector<std::vector<Entry>> sorted_;  // per numeric column: rows of a node side by side, ascending
  std::vector<uint32_t> tags_;              // the same in the order of the table
  std::vector<uint8_t> side_;               // [n_rows]
  std::vector<Desk> desks_;
};

}  // namespace baytree
