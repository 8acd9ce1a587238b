// Streaming trees ↔ flat arrays, for model files; and the naive Bayes models of leaves as arrays.
#pragma once
#include <stdexcept>

#include "tree/streaming/stream.hpp"

namespace baytree::tree::streaming {

// Nodes are stored in breadth-first order from the root, so that equal streams have equal arrays. Nodes of the stored
// tree may be fewer than those in memory.

// Breadth-first order; first: the first child of each node, -1 for a leaf.
inline std::vector<int32_t> by_level(const Stream& stream, std::vector<int32_t>& first) {
  std::vector<int32_t> order{0};
  for (size_t k = 0; k < order.size(); ++k) {
    const Node& node = stream.nodes[size_t(order[k])];
    first.push_back(node.is_leaf() ? -1 : int32_t(order.size()));
    if (!node.is_leaf()) order.push_back(node.first), order.push_back(node.first + 1);
  }
  return order;
}

// Class weights of the rows at each node, summed from its leaves: [n_nodes, n_classes].
inline std::vector<double> counts(const Stream& stream) {
  std::vector<int32_t> first;
  const auto order = by_level(stream, first);
  const size_t width = stream.n_classes();
  Masses all{std::vector<double>(order.size() * width)};
  for (size_t k = order.size(); k-- > 0;) {
    const Node& node = stream.nodes[size_t(order[k])];
    add_to(all.of(k, width), node.is_leaf() ? std::span<const double>(node.start) : all.of(size_t(first[k]), width));
    add_to(all.of(k, width), node.is_leaf() ? std::span<const double>(node.own) : all.of(size_t(first[k]) + 1, width));
  }
  return all.all;
}

struct Stored {
  std::vector<int32_t> classes, levels, n_codes;                  // arrival order of codes; and the number of codes of each column
  std::vector<int32_t> column, first, missing, listens, n_branch_of, branch_of;
  std::vector<double> cut, seen, next, start, own;
  std::vector<int32_t> exponent, n_bins, n_levels;                // for the columns of nodes that learn
  std::vector<double> low, bin_mass, level_mass, gap;
  std::vector<double> named;                                      // [n_nodes, 3]; empty if nodes are not evaluated
  double weight = 0;
  int64_t rows = 0, revisions = 0;

  static Stored of(const Stream& stream) {
    Stored all = tests(stream);
    all.weight = stream.weight, all.rows = stream.rows, all.revisions = stream.revisions;
    std::vector<int32_t> first;
    for (const int32_t at : by_level(stream, first)) all.put(stream.nodes[size_t(at)], stream.settings.asks_bayes);
    return all;
  }

  // Only what prediction needs: codes, children and tests.
  static Stored tests(const Stream& stream) {
    Stored all;
    all.classes = stream.classes.place;
    for (const Arrivals& known : stream.levels) {
      append(all.levels, known.place);
      all.n_codes.push_back(int32_t(known.place.size()));
    }
    for (const int32_t at : by_level(stream, all.first)) {
      const Test& test = stream.nodes[size_t(at)].test;
      all.column.push_back(test.column), all.cut.push_back(test.cut), all.missing.push_back(test.missing);
      append(all.branch_of, test.branch_of), all.n_branch_of.push_back(int32_t(test.branch_of.size()));
    }
    return all;
  }

  // The stream of these arrays; inconsistent arrays are rejected.
  Stream stream(const Settings& settings, std::vector<Kind> kinds) const {
    Stream made(settings, std::move(kinds));
    made.classes = arrivals(classes);
    require(n_codes.size() == made.kinds.size(), "columns");
    size_t from = 0;
    for (size_t j = 0; j < n_codes.size(); ++j) made.levels[j] = arrivals(taken(levels, from, n_codes[j]));
    require(from == levels.size(), "levels");
    made.weight = weight, made.rows = rows, made.revisions = revisions;
    made.width_ = made.n_classes();
    made.nodes.clear();
    Reader reader{*this, made};
    for (size_t at = 0; at < column.size(); ++at) made.nodes.push_back(reader.node(at));
    reader.finish();
    if (settings.asks_bayes) made.prepare_all();
    return made;
  }

 private:
  template <typename T> static void append(std::vector<T>& all, const std::vector<T>& more) { all.insert(all.end(), more.begin(), more.end()); }

  static void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("what was learnt of the stream is damaged: ") + what);
  }

  template <typename T> static std::span<const T> taken(const std::vector<T>& all, size_t& from, int64_t count) {
    require(count >= 0 && size_t(count) <= all.size() - from, "lengths");
    const size_t begin = std::exchange(from, from + size_t(count));
    return {all.data() + begin, size_t(count)};
  }

  static Arrivals arrivals(std::span<const int32_t> places) {
    std::vector<int32_t> came;
    for (const int32_t place : places) if (place != -1) came.push_back(place);
    std::ranges::sort(came);
    for (size_t k = 0; k < came.size(); ++k) require(came[k] == int32_t(k), "places");
    return Arrivals::of(places);
  }

  void put(const Node& node, bool is_asked) {
    if (is_asked) named.insert(named.end(), {node.named.by_counts, node.named.by_bayes, node.named.before});
    seen.push_back(node.seen), next.push_back(node.next), listens.push_back(node.listens);
    append(start, node.start), append(own, node.own);
    for (const Told& told : node.told) {
      exponent.push_back(told.bins.grid.exponent()), n_bins.push_back(int32_t(told.bins.size()));
      append(low, told.bins.low), append(bin_mass, told.bins.mass.all);
      n_levels.push_back(int32_t(told.levels.size(node.own.size()))), append(level_mass, told.levels.all);
      append(gap, told.gap);
    }
  }

  // Reads the arrays node by node.
  struct Reader {
    const Stored& all;
    const Stream& made;
    size_t start = 0, own = 0, branch_of = 0, told = 0, low = 0, bin_mass = 0, level_mass = 0, gap = 0, children = 1;
    std::vector<int32_t> depth{0};

    Node node(size_t at) {
      const size_t n = all.column.size(), width = made.n_classes();
      require(n <= 0x7FFFFFFF && all.first.size() == n && all.cut.size() == n && all.missing.size() == n && all.seen.size() == n &&
                  all.next.size() == n && all.listens.size() == n && all.n_branch_of.size() == n, "nodes");
      Node node;
      node.start = vector(masses(taken(all.start, start, int64_t(width))));
      node.own = vector(masses(taken(all.own, own, int64_t(width))));
      node.seen = all.seen[at], node.next = all.next[at], node.listens = all.listens[at];
      require(node.seen >= 0 && node.next > node.seen && std::isfinite(node.next), "weights");
      place(node, at);
      if (!all.named.empty()) node.named = weights_named(at);
      for (size_t j = 0; node.listens && j < made.kinds.size(); ++j) node.told.push_back(column(j, width));
      return node;
    }
    Named weights_named(size_t at) const {
      require(all.named.size() == 3 * all.column.size(), "answers");
      const auto three = masses(std::span(all.named).subspan(3 * at, 3));
      return {three[0], three[1], three[2]};
    }
    void place(Node& node, size_t at) {
      require(at < depth.size(), "children");
      node.depth = depth[at], node.first = all.first[at];
      node.test = {all.column[at], all.cut[at], vector(taken(all.branch_of, branch_of, all.n_branch_of[at])), all.missing[at]};
      require(node.is_leaf() == (node.test.column < 0) && (node.listens || !node.is_leaf()), "tests");
      if (node.is_leaf()) return;
      require(size_t(node.first) == children && size_t(node.test.column) < made.kinds.size(), "children");
      const bool is_number = made.kinds[size_t(node.test.column)] == Kind::kNumber;
      require(is_number == node.test.branch_of.empty() && is_number == (node.test.cut == node.test.cut), "tests");
      require(node.test.missing == 0 || node.test.missing == 1, "tests");
      require(node.test.branch_of.size() <= size_t(made.levels[size_t(node.test.column)].count), "levels");
      for (const int32_t branch : node.test.branch_of) require(branch >= -1 && branch <= 1, "branches");
      depth.insert(depth.end(), 2, node.depth + 1);
      children += 2;
    }
    Told column(size_t j, size_t width) {
      require(told < all.exponent.size() && all.n_bins.size() == all.exponent.size() && all.n_levels.size() == all.exponent.size(), "columns");
      const int32_t e = all.exponent[told], bins = all.n_bins[told], levels = all.n_levels[told];
      ++told;
      const bool is_number = made.kinds[j] == Kind::kNumber;
      require((e == kExact || (e >= kNarrowest && e <= kWidest)) && (is_number || !bins) && (!is_number || !levels), "bins");
      require(levels >= 0 && levels <= made.levels[j].count, "levels");
      Told read;
      read.bins.grid = Grid(e), read.bins.low = vector(taken(all.low, low, bins));
      for (size_t i = 0; i < read.bins.low.size(); ++i)
        require(read.bins.low[i] == read.bins.grid(read.bins.low[i]) && (!i || read.bins.low[i - 1] < read.bins.low[i]), "bins");
      read.bins.mass.all = vector(masses(taken(all.bin_mass, bin_mass, int64_t(bins) * int64_t(width))));
      read.levels.all = vector(masses(taken(all.level_mass, level_mass, int64_t(levels) * int64_t(width))));
      read.gap = vector(masses(taken(all.gap, gap, int64_t(width))));
      return read;
    }
    void finish() const {
      require(!all.column.empty() && children == all.column.size(), "children");
      require(start == all.start.size() && own == all.own.size() && branch_of == all.branch_of.size() && told == all.exponent.size() &&
                  low == all.low.size() && bin_mass == all.bin_mass.size() && level_mass == all.level_mass.size() && gap == all.gap.size(),
              "lengths");
    }
    template <typename T> static std::vector<T> vector(std::span<const T> values) { return {values.begin(), values.end()}; }
    static std::span<const double> masses(std::span<const double> values) {
      for (const double mass : values) require(mass >= 0 && std::isfinite(mass), "weights");
      return values;
    }
  };
};

// Naive Bayes models of the nodes that use them, as flat arrays.

struct BayesLeaves {
  std::vector<int32_t> node;        // [n_models], breadth first
  std::vector<double> mean, scale;  // [n_models, n_columns, n_arrived] of numeric columns, NaN if uninformative
  std::vector<int32_t> n_levels;    // [n_models, n_columns]
  std::vector<double> level_mass;   // [sum of n_levels, n_arrived]

  static BayesLeaves of(const Stream& stream) {
    BayesLeaves all;
    const auto best = stream.named_best();
    std::vector<int32_t> first;
    const auto order = by_level(stream, first);
    std::vector<bool> is_below(order.size());  // below a node that predicts by naive Bayes
    for (size_t k = 0; k < order.size(); ++k) {
      const Node& node = stream.nodes[size_t(order[k])];
      const bool answers = !is_below[k] && node.listens && stream.is_bayes(node, best);
      if (answers) all.put(node, int32_t(k));
      if (first[k] >= 0) is_below[size_t(first[k])] = is_below[size_t(first[k]) + 1] = answers || is_below[k];
    }
    return all;
  }

 private:
  void put(const Node& leaf, int32_t place) {
    node.push_back(place);
    const size_t width = leaf.own.size();
    for (const Told& told : leaf.told) {
      const Span span(told.few);
      for (size_t k = 0; k < width; ++k) {
        mean.push_back(span.tells() ? span.number(told.normal[k].mean()) : std::numeric_limits<double>::quiet_NaN());
        scale.push_back(span.tells() ? span.length(told.normal[k].deviation()) : std::numeric_limits<double>::quiet_NaN());
      }
      n_levels.push_back(int32_t(told.levels.size(width)));
      level_mass.insert(level_mass.end(), told.levels.all.begin(), told.levels.all.end());
    }
  }
};

}  // namespace baytree::tree::streaming
