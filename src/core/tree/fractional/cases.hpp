// Cases of a node, which are rows with a fraction of their weight, and the class weights of cases.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/fractional/training_columns.hpp"

namespace baytree::tree::fractional {

// A case of a node, as ordered by one numeric column.
struct OrderedCase {
  int32_t item;  // position among the node's cases
  int32_t rank;  // of its value in the column
};

// A row at a node, with the fraction of its weight that reached the node.
template <std::floating_point Real>
struct Case {
  int32_t row;
  int32_t label;
  Real weight;
};

// The cases of one node in row order; and for each numeric column the known ones in value order.
template <std::floating_point Real>
struct Cases {
  std::vector<Case<Real>> all;
  std::vector<OrderedCase> ordered;  // [n_numeric, size()]: the first known[j] entries of row j
  std::vector<int32_t> known;  // [n_numeric]
  size_t size() const { return all.size(); }
  const Case<Real>& operator[](size_t i) const { return all[i]; }
  std::span<const OrderedCase> sorted(size_t stripe) const {
    return {ordered.data() + stripe * size(), static_cast<size_t>(known[stripe])};
  }
};

template <std::floating_point Real>
Cases<Real> cases_of(std::span<const int32_t> rows, std::span<const int32_t> label, std::span<const double> weight) {
  Cases<Real> cases;
  cases.all.reserve(rows.size());
  for (const int32_t row : rows) cases.all.push_back({row, label[row], static_cast<Real>(weight[row])});
  return cases;
}

// Cases of all these rows, in the order of every numeric column.
template <std::floating_point Real>
Cases<Real> root_cases(const Training& from, std::span<const int32_t> rows) {
  Cases<Real> cases = cases_of<Real>(rows, from.label, from.weight);
  std::vector<int32_t> item(from.label.size(), -1);
  for (size_t i = 0; i < rows.size(); ++i) item[rows[i]] = static_cast<int32_t>(i);
  cases.ordered.resize(from.ranked.size() * rows.size());
  cases.known.resize(from.ranked.size());
  for (size_t stripe = 0; stripe < from.ranked.size(); ++stripe) {
    const RankedColumn& column = from.ranked[stripe];
    OrderedCase* ordered = cases.ordered.data() + stripe * rows.size();
    for (const int32_t row : column.order)
      if (item[row] >= 0) ordered[cases.known[stripe]++] = {item[row], column.rank[row]};
  }
  return cases;
}

// Class weights, restricted to classes that occur: the cost of a node depends on these, not on all classes.

// Weight of each class that occurs, ascending by class; class 0 is always included, since groups are ordered by its
// proportion. Classes that are left out have weight 0 and change no sum.
template <std::floating_point Sum>
struct ClassWeights {
  std::vector<int32_t> label;
  std::vector<Sum> weight;

  Sum of(int32_t wanted) const {
    const auto at = std::lower_bound(label.begin(), label.end(), wanted) - label.begin();
    return static_cast<size_t>(at) < label.size() && label[static_cast<size_t>(at)] == wanted ? weight[static_cast<size_t>(at)] : Sum(0);
  }
  // The class of maximum weight, the first one on ties.
  int32_t heaviest() const { return label.empty() ? 0 : label[heaviest_place()]; }
  Sum largest() const { return weight.empty() ? Sum(0) : weight[heaviest_place()]; }

 private:
  size_t heaviest_place() const { return static_cast<size_t>(std::max_element(weight.begin(), weight.end()) - weight.begin()); }
};

// Counts one set of cases after the other; can look up the indices of classes in one of the results.
template <std::floating_point Sum>
class ClassCounter {
 public:
  explicit ClassCounter(size_t n_classes) : sum_(n_classes), is_met_(n_classes), place_(n_classes) {}

  template <std::floating_point Real>
  ClassWeights<Sum> count(const Cases<Real>& cases) {
    return count(cases, [](const Case<Real>& it) { return it.weight; });
  }

  // `weigh` returns the weight of a case.
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

  // Index of each of these classes among the counted ones; all must be present.
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
