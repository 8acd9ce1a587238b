// Classes and levels of a stream under other codes, or in other places.
#pragma once
#include "tree/streaming/stream.hpp"

namespace baytree::tree::streaming {

// Under codes of which there are more: entry c tells what code c has become.
inline Arrivals recoded(const Arrivals& known, std::span<const int32_t> codes, size_t n_codes) {
  Arrivals more{std::vector<int32_t>(n_codes, -1), known.count};
  for (size_t code = 0; code < codes.size(); ++code) more.place[size_t(codes[code])] = known.place[code];
  return more;
}

// What came to either of two streams, in the order of codes.
inline Arrivals joint(const Arrivals& one, const Arrivals& other) {
  Arrivals both{std::vector<int32_t>(one.place.size(), -1), 0};
  for (size_t code = 0; code < one.place.size(); ++code)
    if (one.place[code] >= 0 || other.place[code] >= 0) both.place[code] = both.count++;
  return both;
}

// Entry k: where what came as number k goes.
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

}  // namespace baytree::tree::streaming
