// What a mistake of a rule counts: its weight, or in three and more classes with costs its cost beside the mean cost.
#pragma once
#include <span>
#include <vector>

#include "tree/c50/bench.hpp"

namespace baytree::tree::c50 {

inline std::vector<double> class_weights(const Bench& bench) {
  std::vector<double> weight(bench.n_classes());
  for (size_t row = 0; row < bench.n_rows(); ++row) weight[bench.from.label[row]] += bench.weight[row];
  return weight;
}

// Costs of two classes are in the weights of the rows already.
class ErrorWeights {
 public:
  // `costs` [predicted, true], none where all mistakes cost the same.
  ErrorWeights(std::span<const double> costs, const Bench& bench) : n_classes_(bench.n_classes()) {
    if (costs.empty() || n_classes_ < 3) return;
    costs_ = costs;
    const std::vector<double> weight = class_weights(bench);
    double mean = 0;
    for (size_t p = 0; p < n_classes_; ++p)
      for (size_t q = 0; q < n_classes_; ++q)
        if (const double share = weight[p] / static_cast<double>(bench.n_rows()); p != q && share < 1)
          mean += share * (weight[q] / static_cast<double>(bench.n_rows())) / (1 - share) * costs[p * n_classes_ + q];
    unit_ = (mean + 1) / 2;
  }

  bool are_equal() const { return costs_.empty(); }

  // Of a row of class `truth` that is given class `said`, or none.
  double operator()(int32_t said, int32_t truth) const {
    if (said == truth) return 0;
    if (are_equal()) return 1;
    return (said < 0 ? 1 : costs_[static_cast<size_t>(said) * n_classes_ + static_cast<size_t>(truth)]) / unit_;
  }

  // The class of most weight, or of least expected cost.
  int32_t choose(std::span<const double> likely) const {
    if (are_equal()) return fractional::heaviest<double>(likely);
    std::vector<double> gain(n_classes_);
    for (size_t p = 0; p < n_classes_; ++p)
      for (size_t q = 0; q < n_classes_; ++q) gain[p] -= costs_[p * n_classes_ + q] * likely[q];
    return fractional::heaviest<double>(gain);
  }

 private:
  size_t n_classes_;
  std::span<const double> costs_;
  double unit_ = 1;
};

}  // namespace baytree::tree::c50
