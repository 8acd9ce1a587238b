// Backward pass of MARS (Friedman, 1991): for each number of terms a good subset of the terms.
//
// The terms are represented by the triangular factor R of their columns, and the responses by their coordinates z: |y -
// Bc|^2 = |z - Rc|^2 + rest. The first k terms leave rows k and beyond of z unexplained. Givens rotations move a term
// to the end, so that no order of terms is factorised again.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace baytree::linear::mars {

struct Subsets {
  std::vector<std::vector<std::int32_t>> terms;  // subsets of 1, 2, ... terms, ascending
  std::vector<double> rss;
};

class BackwardPass {
 public:
  // r [terms, terms], z [terms, responses].
  BackwardPass(std::span<const double> r, std::span<const double> z, std::size_t terms, double rest)
      : n_(terms), responses_(terms ? z.size() / terms : 0), r_(r.begin(), r.end()), z_(z.begin(), z.end()), inverse_(terms * terms), rest_(rest),
        order_(terms) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  // Repeatedly removes the term whose removal increases the RSS least.
  Subsets eliminate() {
    Subsets found = prefixes();
    for (std::size_t size = n_; size > 1; --size) {
      move_last(least_missed(size), size);
      found.terms[size - 2] = first(size - 1), found.rss[size - 2] = rss_of(size - 1);
    }
    return found;
  }

  // The same, but every prefix of every order of terms met on the way is a candidate subset of its size, so the subsets
  // need not be nested.
  Subsets best_prefixes() {
    Subsets found = prefixes();
    for (std::size_t size = n_; size > 2; --size) {
      move_last(least_missed(size), size);
      keep_better(found);
    }
    return found;
  }

 private:
  double& r(std::size_t i, std::size_t j) { return r_[i * n_ + j]; }
  double& inverse(std::size_t i, std::size_t j) { return inverse_[i * n_ + j]; }
  std::span<double> z(std::size_t i) { return {z_.data() + i * responses_, responses_}; }

  Subsets prefixes() {
    Subsets found;
    for (std::size_t size = 1; size <= n_; ++size) found.terms.push_back(first(size)), found.rss.push_back(rss_of(size));
    return found;
  }
  std::vector<std::int32_t> first(std::size_t size) const {
    std::vector<std::int32_t> terms(order_.begin(), order_.begin() + std::ptrdiff_t(size));
    std::ranges::sort(terms);
    return terms;
  }
  double rss_of(std::size_t size) {
    double left = 0;
    for (std::size_t i = n_; i-- > size;) left += explained(i);
    return rest_ + left;
  }
  double explained(std::size_t i) {
    double sum = 0;
    for (const double each : z(i)) sum += each * each;
    return sum;
  }
  void keep_better(Subsets& found) {
    double left = 0;
    for (std::size_t size = n_; size >= 1; --size) {
      if (size < n_) left += explained(size);
      if (!(rest_ + left < found.rss[size - 1])) continue;
      if (auto terms = first(size); terms != found.terms[size - 1]) found.terms[size - 1] = std::move(terms), found.rss[size - 1] = rest_ + left;
    }
  }

  // Among the first terms except the constant, the one whose removal increases the RSS least: (R^-1 z)_i^2 / |row i of
  // R^-1|^2.
  std::size_t least_missed(std::size_t size) {
    invert(size);
    std::size_t least = 1;
    double rise = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < size; ++i)
      if (const double own = rise_without(i, size); own < rise) rise = own, least = i;
    return least;
  }
  double rise_without(std::size_t i, std::size_t size) {
    double length = 0, square = 0;
    for (std::size_t j = i; j < size; ++j) length += inverse(i, j) * inverse(i, j);
    for (std::size_t c = 0; c < responses_; ++c) {
      double coefficient = 0;
      for (std::size_t j = i; j < size; ++j) coefficient += inverse(i, j) * z(j)[c];
      square += coefficient * coefficient;
    }
    return square / length;
  }
  // Inverse of the triangle of the first terms, from the last row up.
  void invert(std::size_t size) {
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t j = i; j < size; ++j) inverse(i, j) = i == j;
      for (std::size_t k = i + 1; k < size; ++k)
        for (std::size_t j = k; j < size; ++j) inverse(i, j) -= r(i, k) * inverse(k, j);
      for (std::size_t j = i; j < size; ++j) inverse(i, j) /= r(i, i);
    }
  }

  // Moves a term behind the other first ones: its column moves, and rotations of neighbouring rows restore the
  // triangle.
  void move_last(std::size_t term, std::size_t size) {
    const auto turn = [&](auto begin) { std::rotate(begin + std::ptrdiff_t(term), begin + std::ptrdiff_t(term) + 1, begin + std::ptrdiff_t(size)); };
    turn(order_.begin());
    for (std::size_t i = 0; i < size; ++i) turn(r_.begin() + std::ptrdiff_t(i * n_));
    for (std::size_t i = term; i + 1 < size; ++i) turn_rows(i);
  }
  void turn_rows(std::size_t i) {
    const double a = r(i, i), b = r(i + 1, i), length = std::hypot(a, b);
    if (!(length > 0)) return;
    const double c = a / length, s = b / length;
    const auto mix = [&](double& upper, double& lower) {
      const double before = upper;
      upper = c * before + s * lower, lower = c * lower - s * before;
    };
    for (std::size_t j = i; j < n_; ++j) mix(r(i, j), r(i + 1, j));
    for (std::size_t k = 0; k < responses_; ++k) mix(z(i)[k], z(i + 1)[k]);
    r(i + 1, i) = 0;
  }

  std::size_t n_, responses_;
  std::vector<double> r_, z_, inverse_;
  double rest_;
  std::vector<std::int32_t> order_;
};

}  // namespace baytree::linear::mars
