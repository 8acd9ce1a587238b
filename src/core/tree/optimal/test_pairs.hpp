// Counting and judging pairs of tests: the two loops that an exact search of small trees spends its time in.
//
// A table of pairs is [classes, tests, padded(tests)], of which the upper half is used: the weight of a class where test i and
// test j both hold; on the diagonal that where test i holds. Behind the last test stand zeros: tests that no row passes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "simd/dispatch.hpp"

namespace baytree::tree::optimal {

// What no pair reaches; two of them still add up.
template <typename Count> inline constexpr Count never = std::numeric_limits<Count>::max() / 2;

// The length of a row of a table: several tests are judged at once, from any place on.
constexpr std::size_t padded(std::size_t tests) { return (tests + 15) / 8 * 8; }

// Rows of one class and weight: a bit for each of them, [tests, words].
struct Marked {
  const std::uint64_t* bits;
  std::size_t tests, words;
};

// The pairs of some rows: a table, or what it has more than another of the same shape.
template <typename Count> struct Pairs {
  const Count* all;    // [classes, tests, stride]
  const Count* minus;  // the same, or none
  std::size_t tests, stride, classes;

  Count at(std::size_t c, std::size_t i, std::size_t j) const {
    const std::size_t place = i < j ? (c * tests + i) * stride + j : (c * tests + j) * stride + i;
    return all[place] - (minus ? minus[place] : Count(0));
  }
};

// What else of some rows is needed to judge their pairs, and room for a row of each class.
template <typename Count> struct Judged {
  const Count* single;  // [classes, stride]
  const Count* total;   // [classes]
  Count least;          // a leaf weighs at least this
  Count* room;          // [classes, stride]
  Count* low;           // [stride], the least error of two leaves where test i does not hold, `never` where there are none
  Count* high;          // [stride], the same where it holds
};

template <typename Count> struct TestPairLoops {
  // Adds `unit` for each row in which both tests hold, to table [tests, stride].
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
