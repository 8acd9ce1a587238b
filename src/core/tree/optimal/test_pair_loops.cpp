// Loops of test_pairs.hpp, compiled once per instruction set; BAYTREE_LEVEL names the table that this copy defines.
#include <bit>
#include <concepts>
#include <cstring>

#include "tree/optimal/test_pairs.hpp"

namespace baytree::tree::optimal {
namespace {

bool are_none(const std::uint64_t* bits, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w)
    if (bits[w] != 0) return false;
  return true;
}

// Words: their number if known at compile time, else 0.
template <std::size_t Words, std::signed_integral Count> void add_words(const Marked& rows, Count unit, Count* table) {
  const std::size_t words = Words ? Words : rows.words;
  for (std::size_t i = 0; i < rows.tests; ++i) {
    const std::uint64_t* const mine = rows.bits + i * words;
    if (are_none(mine, words)) continue;
    Count* const out = table + i * padded(rows.tests);
    for (std::size_t j = i; j < rows.tests; ++j) {
      const std::uint64_t* const other = rows.bits + j * words;
      int both = 0;
      for (std::size_t w = 0; w < words; ++w) both += std::popcount(mine[w] & other[w]);
      out[j] += unit * Count(both);
    }
  }
}

template <std::signed_integral Count> void add(const Marked& rows, Count unit, Count* table) {
  switch (rows.words) {
    case 1: return add_words<1>(rows, unit, table);
    case 2: return add_words<2>(rows, unit, table);
    case 3: return add_words<3>(rows, unit, table);
    case 4: return add_words<4>(rows, unit, table);
    case 8: return add_words<8>(rows, unit, table);
    default: return add_words<0>(rows, unit, table);
  }
}

// Number of consecutive tests j per vector.
template <std::signed_integral Count> inline constexpr std::size_t lanes = 32 / sizeof(Count);
template <std::signed_integral Count> struct Side {
  typedef Count Lanes __attribute__((vector_size(32)));
};
template <std::signed_integral Count> using Lanes = typename Side<Count>::Lanes;

template <std::signed_integral Count> Lanes<Count> load(const Count* from) {
  Lanes<Count> values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
template <std::signed_integral Count> void store(Count* to, const Lanes<Count>& values) { std::memcpy(to, &values, sizeof values); }

// A leaf below two tests: its weight, and the weight of its heaviest class.
template <std::signed_integral Count> struct Leaf {
  Lanes<Count> all{}, most{};

  void add(const Lanes<Count>& n) { all += n, most = n > most ? n : most; }
  Lanes<Count> error(Count least) const { return all < least ? Lanes<Count>{} + never<Count> / 2 : all - most; }
};

template <std::signed_integral Count> void lower(Count* place, const Lanes<Count>& errors) {
  const Lanes<Count> now = load(place);
  store(place, errors < now ? errors : now);
}
template <std::signed_integral Count> void lower_to_least(Count& value, const Lanes<Count>& errors) {
  for (std::size_t k = 0; k < lanes<Count>; ++k) value = errors[k] < value ? errors[k] : value;
}

// Evaluates test i with every later test; rows i of the classes are `apart` numbers from each other. Classes: their
// number if known at compile time, else 0.
template <std::size_t Classes, std::signed_integral Count>
void judge_row(const Pairs<Count>& pairs, const Judged<Count>& judged, std::size_t i, const Count* row, std::size_t apart) {
  const std::size_t classes = Classes ? Classes : pairs.classes, stride = pairs.stride;
  Lanes<Count> low_i = Lanes<Count>{} + never<Count>, high_i = low_i;
  for (std::size_t j = i + 1; j < pairs.tests; j += lanes<Count>) {
    Leaf<Count> both, first, second, none;
    for (std::size_t c = 0; c < classes; ++c) {
      const Count mine = judged.single[c * stride + i];
      const Lanes<Count> n11 = load(row + c * apart + j), n01 = load(judged.single + c * stride + j) - n11;
      both.add(n11), first.add(mine - n11), second.add(n01), none.add(judged.total[c] - mine - n01);
    }
    const Lanes<Count> e11 = both.error(judged.least), e10 = first.error(judged.least);
    const Lanes<Count> e01 = second.error(judged.least), e00 = none.error(judged.least);
    high_i = e11 + e10 < high_i ? e11 + e10 : high_i, low_i = e01 + e00 < low_i ? e01 + e00 : low_i;
    lower(judged.high + j, e11 + e01), lower(judged.low + j, e10 + e00);
  }
  lower_to_least(judged.high[i], high_i), lower_to_least(judged.low[i], low_i);
}

template <std::size_t Classes, std::signed_integral Count> void judge_all(const Pairs<Count>& pairs, const Judged<Count>& judged) {
  const std::size_t stride = pairs.stride, table = pairs.tests * stride;
  for (std::size_t i = 0; i < pairs.tests; ++i) {
    if (!pairs.minus) {
      judge_row<Classes>(pairs, judged, i, pairs.all + i * stride, table);
      continue;
    }
    for (std::size_t c = 0; c < pairs.classes; ++c) {
      const std::size_t place = c * table + i * stride;
      for (std::size_t j = i + 1; j < pairs.tests; j += lanes<Count>)
        store(judged.room + c * stride + j, load(pairs.all + place + j) - load(pairs.minus + place + j));
    }
    judge_row<Classes>(pairs, judged, i, judged.room, stride);
  }
}

template <std::signed_integral Count> void judge(const Pairs<Count>& pairs, const Judged<Count>& judged) {
  for (std::size_t j = 0; j < pairs.stride; ++j) judged.low[j] = judged.high[j] = never<Count>;
  switch (pairs.classes) {
    case 2: return judge_all<2>(pairs, judged);
    case 3: return judge_all<3>(pairs, judged);
    case 4: return judge_all<4>(pairs, judged);
    default: return judge_all<0>(pairs, judged);
  }
}

}  // namespace

const AllPairLoops BAYTREE_LEVEL{{add<std::int32_t>, judge<std::int32_t>}, {add<std::int64_t>, judge<std::int64_t>}};

}  // namespace baytree::tree::optimal
