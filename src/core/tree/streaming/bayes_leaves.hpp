// The nodes of a stream that answer with naive Bayes, and what it counts there, as flat arrays.
#pragma once
#include "tree/streaming/stored.hpp"

namespace baytree::tree::streaming {

struct BayesLeaves {
  std::vector<int32_t> node;        // [n_models], level by level
  std::vector<double> mean, scale;  // [n_models, n_columns, n_arrived] of numbers, NaN where they tell nothing
  std::vector<int32_t> n_levels;    // [n_models, n_columns]
  std::vector<double> level_mass;   // [sum of n_levels, n_arrived]

  static BayesLeaves of(const Stream& stream) {
    BayesLeaves all;
    const auto best = stream.named_best();
    std::vector<int32_t> first;
    const auto order = by_level(stream, first);
    std::vector<bool> is_below(order.size());  // a node that answers
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
