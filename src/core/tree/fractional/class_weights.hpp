// The classes that occur among some cases, and what they weigh: the cost of a node follows from these, not from all classes.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/fractional/cases.hpp"

namespace baytree::tree::fractional {

// Weight per class of those that occur, ascending; the first class is always there, since groups are ordered by its share.
// Classes that are left out weigh nothing, which changes no sum.
template <std::floating_point Sum>
struct ClassWeights {
  std::vector<int32_t> label;
  std::vector<Sum> weight;

  Sum of(int32_t wanted) const {
    const auto at = std::lower_bound(label.begin(), label.end(), wanted) - label.begin();
    return static_cast<size_t>(at) < label.size() && label[static_cast<size_t>(at)] == wanted ? weight[static_cast<size_t>(at)] : Sum(0);
  }
  // The first class with the largest weight, and that weight.
  int32_t heaviest() const { return label.empty() ? 0 : label[heaviest_place()]; }
  Sum largest() const { return weight.empty() ? Sum(0) : weight[heaviest_place()]; }

 private:
  size_t heaviest_place() const { return static_cast<size_t>(std::max_element(weight.begin(), weight.end()) - weight.begin()); }
};

// Counts one set of cases after the other, and knows the places of classes in one of them.
template <std::floating_point Sum>
class ClassCounter {
 public:
  explicit ClassCounter(size_t n_classes) : sum_(n_classes), is_met_(n_classes), place_(n_classes) {}

  template <std::floating_point Real>
  ClassWeights<Sum> count(const Cases<Real>& cases) {
    return count(cases, [](const Case<Real>& it) { return it.weight; });
  }

  // `weigh` gives the weight of a case.
  template <std::floating_point Real, std::invocable<const Case<Real>&> Weigh>
  ClassWeights<Sum> count(const Cases<Real>& cases, const Weigh& weigh) {
    ClassWeights<Sum> found;
    meet(found, 0);
    for (const Case<Real>& it : cases.all) {
      meet(found, it.label);
      sum_[static_cast<size_t>(it.label)] += weigh(it);
    }
    std::sort(found.label.begin(), found.label.end());
    found.weight.reserve(found.label.size());
    for (const int32_t label : found.label) {
      found.weight.push_back(sum_[static_cast<size_t>(label)]);
      sum_[static_cast<size_t>(label)] = 0;
      is_met_[static_cast<size_t>(label)] = 0;
    }
    return found;
  }

  // Where each of these classes stands among them; other classes may not be asked for.
  std::span<const int32_t> places(std::span<const int32_t> labels) {
    for (size_t place = 0; place < labels.size(); ++place) place_[static_cast<size_t>(labels[place])] = static_cast<int32_t>(place);
    return place_;
  }

 private:
  void meet(ClassWeights<Sum>& found, int32_t label) {
    if (is_met_[static_cast<size_t>(label)]) return;
    is_met_[static_cast<size_t>(label)] = 1;
    found.label.push_back(label);
  }

  std::vector<Sum> sum_;       // [n_classes], 0 between counts
  std::vector<char> is_met_;   // [n_classes]
  std::vector<int32_t> place_; // [n_classes]
};

}  // namespace baytree::tree::fractional
