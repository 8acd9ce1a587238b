// Counting and evaluation of pairs of tests: the two loops that dominate the search of optimal trees.
//
// A table of pairs is [classes, tests, padded(tests)], of which the upper half is used: the weight of a class where
// tests i and j both hold; on the diagonal, where test i holds. Padding is 0, like a test that never holds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "simd/dispatch.hpp"

namespace baytree::tree::optimal {

// Larger than any error; the sum of two does not overflow.
template <typename Count> inline constexpr Count never = std::numeric_limits<Count>::max() / 2;

// Length of a row of a table: several tests are evaluated at once, starting anywhere.
constexpr std::size_t padded(std::size_t tests) { return (tests + 15) / 8 * 8; }

// Rows of one class and weight, one bit per test: [tests, words].
struct Marked {
  const std::uint64_t* bits;
  std::size_t tests, words;
};

// Pair counts of a set of rows: a table, or the difference of two.
template <typename Count> struct Pairs {
  const Count* all;    // [classes, tests, stride]
  const Count* minus;  // the same shape, or null
  std::size_t tests, stride, classes;

  Count at(std::size_t c, std::size_t i, std::size_t j) const {
    const std::size_t place = i < j ? (c * tests + i) * stride + j : (c * tests + j) * stride + i;
    return all[place] - (minus ? minus[place] : Count(0));
  }
};

// Further inputs of the evaluation, and buffers for one row per class.
template <typename Count> struct Judged {
  const Count* single;  // [classes, stride]
  const Count* total;   // [classes]
  Count least;          // minimum weight of a leaf
  Count* room;          // [classes, stride]
  Count* low;           // [stride], minimum error of two leaves where test i does not hold; `never` if there are none
  Count* high;          // [stride], the same where it holds
};

template <typename Count> struct TestPairLoops {
  // Adds `unit` for each row in which both tests hold to table [tests, stride].
  void (*add)(const Marked& rows, Count unit, Count* table);
  void (*judge)(const Pairs<Count>& pairs, const Judged<Count>& judged);
};

struct AllPairLoops {
  TestPairLoops<std::int32_t> small;
  TestPairLoops<std::int64_t> large;

  template <typename Count> const TestPairLoops<Count>& of() const {
    if constexpr (sizeof(Count) == 4) return small;
    else return large;
  }
};

// The loops for this machine.
extern const AllPairLoops test_pair_loops_baseline;
#if defined(BAYTREE_X86_LEVELS)
extern const AllPairLoops test_pair_loops_v3, test_pair_loops_v4;
inline const AllPairLoops& test_pair_loops() {
  static const AllPairLoops& best = simd::loops_in_use(test_pair_loops_baseline, test_pair_loops_v3, test_pair_loops_v4);
  return best;
}
#else
inline const AllPairLoops& test_pair_loops() { return test_pair_loops_baseline; }
#endif

}  // namespace baytree::tree::optimal
