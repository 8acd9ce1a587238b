// Merging of two streaming trees, after recoding their classes and levels to common codes.
#pragma once
#include <array>
#include <tuple>

#include "tree/streaming/stream.hpp"

namespace baytree::tree::streaming {

// Recoding of classes and levels.

// With a larger set of codes: entry c is the new code of c.
inline Arrivals recoded(const Arrivals& known, std::span<const int32_t> codes, size_t n_codes) {
  Arrivals more{std::vector<int32_t>(n_codes, -1), known.count};
  for (size_t code = 0; code < codes.size(); ++code) more.place[size_t(codes[code])] = known.place[code];
  return more;
}

// Arrivals of either stream, in order of codes.
inline Arrivals joint(const Arrivals& one, const Arrivals& other) {
  Arrivals both{std::vector<int32_t>(one.place.size(), -1), 0};
  for (size_t code = 0; code < one.place.size(); ++code)
    if (one.place[code] >= 0 || other.place[code] >= 0) both.place[code] = both.count++;
  return both;
}

// Entry k: new index of the k-th arrival.
inline std::vector<int32_t> moves(const Arrivals& from, const Arrivals& to) {
  std::vector<int32_t> all(size_t(from.count));
  for (size_t code = 0; code < from.place.size(); ++code)
    if (from.place[code] >= 0) all[size_t(from.place[code])] = to.place[code];
  return all;
}

inline std::vector<double> moved(const std::vector<double>& values, std::span<const int32_t> to, size_t size) {
  std::vector<double> all(size);
  for (size_t k = 0; k < values.size(); ++k) all[size_t(to[k])] = values[k];
  return all;
}

inline void rearrange(Stream& stream, const Arrivals& classes, const std::vector<Arrivals>& levels) {
  const size_t before = stream.n_classes(), after = size_t(classes.count);
  const auto of_class = moves(stream.classes, classes);
  std::vector<std::vector<int32_t>> of_level;
  for (size_t j = 0; j < levels.size(); ++j) of_level.push_back(moves(stream.levels[j], levels[j]));
  const auto rows_moved = [&](const Masses& masses, std::span<const int32_t> to, size_t size) {
    Masses all{std::vector<double>(size * after)};
    for (size_t row = 0; row < masses.size(before); ++row)
      for (size_t k = 0; k < before; ++k)
        all.of(to.empty() ? row : size_t(to[row]), after)[size_t(of_class[k])] = masses.of(row, before)[k];
    return all;
  };
  for (Node& node : stream.nodes) {
    node.start = moved(node.start, of_class, after);
    node.own = moved(node.own, of_class, after);
    for (size_t j = 0; j < node.told.size(); ++j) {
      Told& told = node.told[j];
      told.gap = moved(told.gap, of_class, after);
      told.bins.mass = rows_moved(told.bins.mass, {}, told.bins.size());
      if (stream.kinds[j] != Kind::kNumber) told.levels = rows_moved(told.levels, of_level[j], size_t(levels[j].count));
      if (stream.settings.asks_bayes) prepare(told, after, few_bins(stream.settings));
    }
    if (node.test.column < 0 || node.test.branch_of.empty()) continue;
    std::vector<int32_t> branch_of(size_t(levels[size_t(node.test.column)].count), -1);
    for (size_t k = 0; k < node.test.branch_of.size(); ++k)
      branch_of[size_t(of_level[size_t(node.test.column)][k])] = node.test.branch_of[k];
    node.test.branch_of = std::move(branch_of);
  }
  stream.classes = classes;
  stream.levels = levels;
  stream.width_ = after;
}

// Merging: where both trees have the same test, statistics are added; otherwise the subtree with more rows is kept.

class Merging {
 public:
  // Both have classes and levels at the same indices; the result does not depend on the order of the arguments.
  Merging(const Stream& one, const Stream& other)
      : one_(one), other_(other), out_(one), named_in_one_(one.named_best()), named_in_other_(other.named_best()) {
    out_.nodes.assign(1, Node());
    out_.free.clear();
    out_.weight = one.weight + other.weight, out_.rows = one.rows + other.rows, out_.revisions = one.revisions + other.revisions;
  }

  Stream run() && {
    const auto in_one = below(one_), in_other = below(other_);
    std::vector<std::array<int32_t, 3>> open{{0, 0, 0}};
    while (!open.empty()) {
      const auto [a, b, at] = open.back();
      open.pop_back();
      const Node &mine = one_.nodes[size_t(a)], &theirs = other_.nodes[size_t(b)];
      if (mine.is_leaf() == theirs.is_leaf() && mine.test == theirs.test) {
        const int32_t first = added(at, mine, other_, b);
        add_to(out_.nodes[size_t(at)].named, theirs.named);
        if (first < 0) continue;
        open.push_back({mine.first, theirs.first, first});
        open.push_back({mine.first + 1, theirs.first + 1, first + 1});
      } else if (std::tuple(in_one[size_t(a)], mine.test.key()) > std::tuple(in_other[size_t(b)], theirs.test.key())) kept(at, one_, a, other_, b);
      else kept(at, other_, b, one_, a);
    }
    judge_all();
    return std::move(out_);
  }

 private:
  const Stream &one_, &other_;
  Stream out_;
  std::vector<double> named_in_one_, named_in_other_;  // correct predictions of the better method at each node

  // Weight at the leaves below each node: [n_nodes].
  static std::vector<double> below(const Stream& stream) {
    std::vector<int32_t> order{0};
    for (size_t k = 0; k < order.size(); ++k)
      if (const Node& node = stream.nodes[size_t(order[k])]; !node.is_leaf()) order.insert(order.end(), {node.first, node.first + 1});
    std::vector<double> weight(stream.nodes.size());
    for (size_t k = order.size(); k-- > 0;) {
      const Node& node = stream.nodes[size_t(order[k])];
      weight[size_t(order[k])] = node.is_leaf() ? sum_of(node.start) + sum_of(node.own)
                                                : weight[size_t(node.first)] + weight[size_t(node.first) + 1];
    }
    return weight;
  }

  // Writes a node with the statistics of another stream added; returns its first child, which is still to be filled.
  int32_t added(int32_t at, const Node& node, const Stream& from, int32_t other) {
    const int32_t first = node.is_leaf() ? -1 : int32_t(out_.nodes.size());
    if (first >= 0) out_.nodes.resize(out_.nodes.size() + 2);
    Node& put = out_.nodes[size_t(at)];
    const int32_t depth = put.depth;
    put = node;
    put.first = first, put.depth = depth;
    if (first >= 0) out_.nodes[size_t(first)].depth = out_.nodes[size_t(first) + 1].depth = depth + 1;
    if (!put.listens) return first;
    hear(put, from, other);
    if (from.nodes[size_t(other)].is_leaf() == node.is_leaf()) add_to(put.start, from.nodes[size_t(other)].start);
    return first;
  }

  // Adds a stream's statistics of the rows at a node: its own, or those of the leaves below.
  void hear(Node& put, const Stream& from, int32_t other) {
    std::vector<int32_t> open{other};
    while (!open.empty()) {
      const Node& node = from.nodes[size_t(open.back())];
      open.pop_back();
      if (!node.listens) {
        open.insert(open.end(), {node.first + 1, node.first});
        continue;
      }
      add_to(put.own, node.own);
      put.seen += node.seen;
      for (size_t j = 0; j < put.told.size(); ++j) add(put.told[j], node.told[j]);
    }
  }
  void add(Told& sum, const Told& more) {
    const size_t classes = out_.n_classes();
    sum.bins.add(more.bins, classes, out_.settings.most_bins);
    if (more.levels.size(classes) > sum.levels.size(classes)) sum.levels.resize(more.levels.size(classes), classes);
    for (size_t i = 0; i < more.levels.size(classes); ++i) add_to(sum.levels.of(i, classes), more.levels.of(i, classes));
    add_to(sum.gap, more.gap);
    if (out_.settings.asks_bayes) prepare(sum, classes, few_bins(out_.settings));
  }

  // Keeps a subtree; its root also receives the statistics of the other one.
  void kept(int32_t at, const Stream& stays, int32_t a, const Stream& goes, int32_t b) {
    std::vector<std::pair<int32_t, int32_t>> open;
    const int32_t first = added(at, stays.nodes[size_t(a)], goes, b);
    out_.nodes[size_t(at)].named.before += (&goes == &one_ ? named_in_one_ : named_in_other_)[size_t(b)];
    if (first >= 0) open = {{stays.nodes[size_t(a)].first, first}, {stays.nodes[size_t(a)].first + 1, first + 1}};
    while (!open.empty()) {
      const auto [from, to] = open.back();
      open.pop_back();
      Node node = stays.nodes[size_t(from)];
      node.depth = out_.nodes[size_t(to)].depth;
      if (!node.is_leaf()) {
        const int32_t below = int32_t(out_.nodes.size());
        out_.nodes.resize(out_.nodes.size() + 2);
        out_.nodes[size_t(below)].depth = out_.nodes[size_t(below) + 1].depth = node.depth + 1;
        open.push_back({node.first, below}), open.push_back({node.first + 1, below + 1});
        node.first = below;
      }
      out_.nodes[size_t(to)] = std::move(node);
    }
  }

  void judge_all() {
    std::vector<int32_t> open{0};
    while (!open.empty()) {
      const int32_t at = open.back();
      open.pop_back();
      if (out_.nodes[size_t(at)].listens) out_.judge(at);
      if (const Node& node = out_.nodes[size_t(at)]; !node.is_leaf()) open.insert(open.end(), {node.first + 1, node.first});
    }
  }
};

// The union of two streams with the same codes.
inline Stream merged(Stream one, Stream other) {
  const Arrivals classes = joint(one.classes, other.classes);
  std::vector<Arrivals> levels;
  for (size_t j = 0; j < one.levels.size(); ++j) levels.push_back(joint(one.levels[j], other.levels[j]));
  rearrange(one, classes, levels);
  rearrange(other, classes, levels);
  return Merging(one, other).run();
}

}  // namespace baytree::tree::streaming
