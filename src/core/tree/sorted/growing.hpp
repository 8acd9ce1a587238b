// The growing machine. Every numeric column is sorted once; a split divides each column in place. Large nodes share
// their columns among the threads, small ones are whole subtrees of work for one thread. Which thread does what never
// shows in the tree.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>
#include "tree/sorted/rpart_measures.hpp"
#include "tree/sorted/column_search.hpp"
#include "tree/sorted/ground.hpp"
#include "tree/sorted/measures.hpp"
#include "tree/sorted/node.hpp"
#include "tree/sorted/node_measure.hpp"
#include "tree/sorted/sending.hpp"
#include "workers.hpp"

namespace baytree::tree::sorted {

template <Measure M> class Grower {
 public:
  Grower(std::span<const ColumnView> columns, size_t rows, const Target& target, const Settings& settings, Workers& workers)
      : columns_(columns), n_(rows), target_(target), settings_(settings), workers_(workers),
        ground_(columns, rows, target, workers), searcher_(columns, target, settings, ground_, workers),
        sender_(columns, target, settings, ground_), meter_(target, settings, ground_) {
    for (int w = 0; w < workers.size(); ++w) desks_.emplace_back(target_, w);
  }

  std::vector<Node> grow() {
    std::vector<Node> nodes(1);
    nodes[0].end = uint32_t(n_);
    meter_.measure(nodes[0], desks_[0]);
    std::vector<size_t> large, small;
    if (!nodes[0].is_final) (n_ >= kLarge ? large : small).push_back(0);
    workers_.run(columns_.size(), [&](size_t j, int) { searcher_.count_blocks(nodes[0], j); });
    if (!large.empty()) tally_root(nodes[0]);
    while (!large.empty()) large = grow_level(nodes, large, small);
    grow_subtrees(nodes, small);
    return nodes;
  }

 private:
  static constexpr size_t kLarge = 16384;

  // ---- one level of large nodes ----

  std::vector<size_t> grow_level(std::vector<Node>& nodes, const std::vector<size_t>& large, std::vector<size_t>& small) {
    const size_t width = columns_.size();
    std::vector<Split> offers(large.size() * width);
    workers_.run(offers.size(), [&](size_t task, int worker) {
      offers[task] = searcher_.search(nodes[large[task / width]], int32_t(task % width), desks_[size_t(worker)]);
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
        imitations[task] = sender_.imitate(nodes[large[i]], int32_t(task % width), sent[i]);
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
    tally_children(nodes, large);
    return next;
  }

  // ---- levels of large nodes ----

  bool is_tallied(size_t column) const {
    return columns_[column].is_nominal() && desks_[0].measure.is_plain_count() &&
           (size_t(columns_[column].levels) + 1) * target_.classes <= kLarge;
  }
  Tally tally_of(const Node& node, size_t column) const {
    return sorted::tally_of(ground_.tags(node), ground_.slots(column), columns_[column].levels, target_);
  }

  void tally_root(Node& root) {
    root.tallies.resize(columns_.size());
    workers_.run(columns_.size(), [&](size_t j, int) {
      if (is_tallied(j)) root.tallies[j] = tally_of(root, j);
    });
  }

  // Of siblings all but the largest one are counted: the rest of the parent's rows are its own.
  void tally_children(std::vector<Node>& nodes, const std::vector<size_t>& parents) {
    const size_t width = columns_.size();
    for (const size_t parent : parents)
      for (int b = 0; b < nodes[parent].branches; ++b) nodes[size_t(nodes[parent].first + b)].tallies.resize(width);
    workers_.run(parents.size() * width, [&](size_t task, int) {
      const Node& parent = nodes[parents[task / width]];
      if (parent.is_leaf() || !is_tallied(task % width)) return;
      tally_family(parent, {&nodes[size_t(parent.first)], size_t(parent.branches)}, task % width);
    });
    for (const size_t parent : parents) nodes[parent].tallies.clear();
  }
  static size_t rows(const Node& node) { return node.end - node.begin; }
  static bool is_open(const Node& node) { return !node.is_final && rows(node) >= kLarge; }

  void tally_family(const Node& parent, std::span<Node> children, size_t column) const {
    Node& largest = *std::ranges::max_element(children, {}, rows);
    if (!is_open(largest) || children.back().end != parent.end) return;  // some rows may have come to rest at the parent
    Tally rest = parent.tallies[column];
    if (rest.empty()) return;
    for (Node& child : children) {
      if (&child == &largest) continue;
      Tally own = tally_of(child, column);
      for (size_t i = 0; i < rest.size(); ++i) rest[i] -= own[i];
      if (is_open(child)) child.tallies[column] = std::move(own);
    }
    largest.tallies[column] = std::move(rest);
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

  std::vector<Node> subtree(const Node& root, Desk<M>& desk) {
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

  std::vector<Node> split_alone(Node& node, Desk<M>& desk) {
    const size_t width = columns_.size();
    desk.offers.resize(width);
    for (size_t j = 0; j < width; ++j) desk.offers[j] = searcher_.search(node, int32_t(j), desk);
    const Sent sent = choose(node, desk.offers, desk);
    if (!node.split) return {};
    desk.imitations.clear();
    if (settings_.max_surrogates > 0)
      for (size_t j = 0; j < width; ++j) desk.imitations.push_back(sender_.imitate(node, int32_t(j), sent));
    std::vector<Node> children = divide(node, desk.imitations, sent, desk);
    for (size_t j = 0; j < width; ++j) partition(node, children, j, desk);
    return children;
  }

  void partition(const Node& node, const std::vector<Node>& children, size_t column, Desk<M>& desk) {
    if (!ground_.partition(node, children, column, desk.aside)) return;
    for (const Node& child : children)
      if (!child.is_final) searcher_.count_blocks(child, column);
  }

  static void adopt(std::vector<Node>& nodes, size_t parent, std::vector<Node>& children) {
    if (children.empty()) return;
    nodes[parent].first = int32_t(nodes.size());
    nodes[parent].branches = int32_t(children.size());
    std::move(children.begin(), children.end(), std::back_inserter(nodes));
  }

  // ---- the winner, and where its rows go ----

  Sent choose(Node& node, std::span<Split> offers, Desk<M>& desk) {
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
    return sender_.send_by_split(node);
  }

  // rpart: an improvement that is rounding noise beside the largest one seen is none.
  bool is_candidate(Node& node, const Split& offer) const {
    if (!settings_.is_cart) return true;
    node.most_improved = std::max(node.most_improved, offer.score.value);
    return offer.score.value > 1e-10 * node.most_improved;
  }

  bool is_enough(const Node& node, const Split& split) const {
    if (split.score.value < settings_.min_gain) return false;
    return settings_.critical.empty() || sender_.is_significant(node, split);
  }

  // rpart calls the side with the smaller mean left; for levels that is the first branch, for numbers a flag.
  void set_direction(Node& node, Desk<M>& desk) {
    Split& split = node.split;
    const ColumnView& view = columns_[size_t(split.column)];
    std::vector<double> side[2] = {std::vector<double>(desk.measure.width(), 0.0), std::vector<double>(desk.measure.width(), 0.0)};
    for (const uint32_t tag : ground_.tags(node))
      if (const uint8_t b = sender_.branch(split, view, target_.row(tag)); b < 2) desk.measure.add(side[b].data(), tag);
    const bool is_lower = desk.measure.mean(side[0]) < desk.measure.mean(side[1]);
    if (view.is_nominal()) {
      if (!is_lower) std::swap(split.group[0], split.group[1]);
    } else {
      split.is_mirrored = !is_lower;
    }
  }

  std::vector<Node> divide(Node& node, std::span<Substitute> imitations, const Sent& sent, Desk<M>& desk) {
    sender_.keep_best(node, imitations);
    sender_.send_missing(node, sent);
    const size_t branches = node.split.has_own_branch ? 3 : 2;
    std::vector<Node> children(branches);
    ground_.divide_rows(node, children, desk.aside);
    meter_.count_children(node, children);
    for (Node& child : children) {
      child.depth = node.depth + 1, child.most_improved = node.most_improved;
      meter_.measure(child, desk);
      if (child.is_final)
        for (const uint32_t tag : ground_.tags(child)) ground_.side()[target_.row(tag)] = kNowhere;
    }
    node.is_strict = settings_.is_cart;
    node.missing = sender_.prediction_road(node, children);
    return children;
  }

  std::span<const ColumnView> columns_;
  size_t n_;
  const Target& target_;
  const Settings& settings_;
  Workers& workers_;
  Ground ground_;
  ColumnSearch<M> searcher_;
  Sender sender_;
  NodeMeasure<M> meter_;
  std::vector<Desk<M>> desks_;
};

}  // namespace baytree::tree::sorted
