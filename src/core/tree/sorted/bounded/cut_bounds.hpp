// What the cuts of a region can be worth at most, told by how far the masses of the classes on either side are from their shares.
//
// A child of mass m that has e more of a class than its share p of m adds e² / m to the decrease of gini, e² / (m p) to chi², and
// m p h(e / (m p)), h(x) = (1 + x) ln(1 + x) − x, to the information gain; twoing is (Σ |e|)² n / (4 l r). All grow with |e| and fall with m.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <variant>

#include "numbers/impurity.hpp"
#include "tree/criteria.hpp"
#include "tree/sorted/splits/cut_terms.hpp"

namespace baytree::tree::sorted {

// How far the masses of the classes on a side are from their shares, at least and at most, and the mass of the side.
struct Span {
  double least, most;
};
struct Side : Span {
  std::span<const double> low, high;  // [n_classes]
};

// Of a node whose cuts are judged: the shares of its classes, and its masses.
struct NodeShares {
  std::span<const double> share, inverse;  // [n_classes], 0 is that of none
  NodeMasses masses;
};

constexpr double kRounding = 1e-13;  // of the mass of a node: more than doubles lose of what a cut is worth

// A criterion that is a sum over children: of either side, and of the rows that have a branch of their own.
template <typename Term> class AddedBound {
 public:
  explicit AddedBound(const NodeShares& node, double unit = 1) : rounding(kRounding * unit * node.masses.whole), inverse_(node.inverse), unit_(unit) {}
  double operator()(const Side& first, const Side& second, double own_branch) const { return child(first) + child(second) + own_branch; }
  double child(const Side& side) const { return side.least > 0 ? worth(excess_of(side), side.least) : std::numeric_limits<double>::infinity(); }
  // Of two sides, of which one lacks what the other has more.
  double both(const Side& first, const Span& second) const {
    if (!(first.least > 0) || !(second.least > 0)) return std::numeric_limits<double>::infinity();
    const Excess excess = excess_of(first);
    return worth(excess, first.least) + worth(excess, second.least);
  }
  double rounding;

 private:
  struct Excess {
    double squares = 0, farthest = 0;  // over the shares, where these matter
  };
  Excess excess_of(const Side& side) const {
    Excess excess;
    for (size_t k = 0; k < inverse_.size(); ++k) {
      const double most = std::max(-side.low[k], side.high[k]), weight = Term::kIsByShare ? inverse_[k] : 1.0;
      excess.squares += most * most * weight, excess.farthest = std::max(excess.farthest, most * weight);
    }
    return excess;
  }
  double worth(const Excess& excess, double mass) const { return unit_ * excess.squares / mass * Term::factor(excess.farthest / mass); }
  std::span<const double> inverse_;
  double unit_;
};

struct SquareOfExcess {
  static constexpr bool kIsByShare = false;
  static double factor(double) { return 1; }
};
struct ShareOfExcess {
  static constexpr bool kIsByShare = true;
  static double factor(double) { return 1; }
};
struct InformationOfExcess {
  static constexpr bool kIsByShare = true;
  // h(x) / x² is no more than this for |x| up to y: its series near 0, whose rest is no more than the last term, then a chord of what is convex.
  static double factor(double y) {
    if (y <= 0.5) return 0.5 + y * (1.0 / 6 + y * (1.0 / 12 + y / 10));
    return std::min(1.0, 0.62 + (y - 0.5) * 0.76);
  }
};

// Of the gain ratio: what is divided by is least at one end.
struct RatioBound : AddedBound<InformationOfExcess> {
  explicit RatioBound(const NodeShares& node)
      : AddedBound(node, 1 / kNaturalPerBit), whole_(node.masses.whole), split_(bits(node.masses.whole) - bits(node.masses.apart)) {
    rounding *= whole_ / std::max(1.0, std::log2(whole_));  // a split of whole numbers has at least a bit of information
  }
  double operator()(const Side& first, const Side& second, double own_branch) const {
    return AddedBound::operator()(first, second, own_branch) * per_bit(first, second);
  }
  double both(const Side& first, const Span& second) const { return AddedBound::both(first, second) * per_bit(first, second); }

 private:
  double per_bit(const Span& first, const Span& second) const {
    const double split = split_ - std::max(bits(first.least) + bits(second.most), bits(first.most) + bits(second.least));
    return split > 0 ? whole_ / split : std::numeric_limits<double>::infinity();
  }
  static double bits(double mass) { return mass > 1e-300 ? mass * numbers::near_log2(mass) : 0.0; }
  double whole_, split_;
};

// A bound that takes no logarithm, for regions, and for a single cut what it is worth but for rounding: whether a cut is worth more than the best
// so far is asked often enough.
template <typename Bound, typename Terms> class LogBound : public Bound {
 public:
  LogBound(const Bound& bound, const Terms& terms, double constant) : Bound(bound), terms_(terms), constant_(constant + 1e-14 * terms.size) {}
  double of_cut(std::span<const double> left, std::span<const double> total) const {
    double all_left = 0, all_right = 0, sum_left = 0, sum_right = 0;
    for (size_t k = 0; k < left.size(); ++k) {
      const double right = total[k] - left[k];
      sum_left += terms_.term(left[k], 0), sum_right += terms_.term(right, 0);
      all_left += left[k], all_right += right;
    }
    return terms_.worth(terms_.side(sum_left, all_left) + terms_.side(sum_right, all_right), all_left, all_right) + constant_;
  }

 private:
  Terms terms_;
  double constant_;
};

struct TwoingBound {
  explicit TwoingBound(const NodeShares& node) : rounding(kRounding * node.masses.whole) {}
  static double child(const Side&) { return 0; }
  double operator()(const Side& first, const Side& second, double) const { return both(first, second); }
  static double both(const Side& first, const Span& second) {
    if (!(first.least > 0) || !(second.least > 0)) return std::numeric_limits<double>::infinity();
    double apart = 0;
    for (size_t k = 0; k < first.low.size(); ++k) apart += std::max(-first.low[k], first.high[k]);
    return apart * apart / 4 * (1 / first.least + 1 / second.least);
  }
  double rounding;
};

// The largest class of either side; whole numbers, so that of equal ones nothing is left to rounding.
struct ErrorBound {
  explicit ErrorBound(const NodeShares& node) : share_(node.share), largest_(node.masses.whole * std::ranges::max(node.share)) {}
  double child(const Side& side) const {
    double most = 0;
    for (size_t k = 0; k < share_.size(); ++k) most = std::max(most, share_[k] * side.most + side.high[k]);
    return most;
  }
  double operator()(const Side& first, const Side& second, double own_branch) const {
    return worth(first, second, [&](size_t k) { return second.high[k]; }) + std::ceil(own_branch);
  }
  double both(const Side& first, const Span& second) const {
    return worth(first, second, [&](size_t k) { return -first.low[k]; });
  }
  double rounding = 0;

 private:
  double worth(const Side& first, const Span& second, const auto& excess_of_second) const {
    const double ends[2] = {two_classes(first, first.least, second.most, excess_of_second), two_classes(first, first.most, second.least, excess_of_second)};
    return std::floor(std::max(ends[0], ends[1]) - largest_ + 1e-3);
  }
  // A class of the first side and one of the second; of the same on both there is as much as in both together.
  double two_classes(const Side& first, double in_first, double in_second, const auto& excess_of_second) const {
    double most = 0;
    for (size_t a = 0; a < share_.size(); ++a)
      for (size_t b = 0; b < share_.size(); ++b) {
        const double strays = (a == b ? first.low[a] : first.high[a]) + excess_of_second(b);
        most = std::max(most, share_[a] * in_first + share_[b] * in_second + strays);
      }
    return most;
  }
  std::span<const double> share_;
  double largest_;
};

struct NoBound {};
using InformationBound = LogBound<AddedBound<InformationOfExcess>, LogTerms>;
using AnyBound = std::variant<NoBound, AddedBound<SquareOfExcess>, AddedBound<ShareOfExcess>, InformationBound, LogBound<RatioBound, RatioTerms>,
                              TwoingBound, ErrorBound>;

template <typename C> struct CutBound {
  static NoBound of(const NodeShares&) { return {}; }
};
template <> struct CutBound<Gini> {
  static auto of(const NodeShares& node) { return AddedBound<SquareOfExcess>(node); }
};
template <> struct CutBound<ChiSquared> {
  static auto of(const NodeShares& node) { return AddedBound<ShareOfExcess>(node); }
};
template <> struct CutBound<Entropy> {
  static auto of(const NodeShares& node) {
    return InformationBound(AddedBound<InformationOfExcess>(node, 1 / kNaturalPerBit), CutTerms<Entropy>::of(node.masses), node.masses.impurity);
  }
};
template <> struct CutBound<LikelihoodRatio> {
  static auto of(const NodeShares& node) {
    const double impurity = 2 * kNaturalPerBit * node.masses.impurity;
    return InformationBound(AddedBound<InformationOfExcess>(node, 2), CutTerms<LikelihoodRatio>::of(node.masses), impurity);
  }
};
template <> struct CutBound<GainRatio> {
  static auto of(const NodeShares& node) { return LogBound(RatioBound(node), CutTerms<GainRatio>::of(node.masses), 0); }
};
template <> struct CutBound<Twoing> {
  // Of three children it is no sum over them.
  static AnyBound of(const NodeShares& node) { return node.masses.apart > 0 ? AnyBound(NoBound()) : AnyBound(TwoingBound(node)); }
};
template <> struct CutBound<Error> {
  static auto of(const NodeShares& node) { return ErrorBound(node); }
};

}  // namespace baytree::tree::sorted
