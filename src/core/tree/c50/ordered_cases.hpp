// Cases in the order of every numeric column, where they do not come from a partition that keeps it.
#pragma once
#include "tree/c50/bench.hpp"

namespace baytree::tree::c50 {

// Many are picked from the order of all rows, few are sorted.
inline Cases<float> ordered(const Training& from, Cases<float>&& cases) {
  std::vector<int32_t> rows;
  for (const Case<float>& it : cases.all) rows.push_back(it.row);
  const double n = static_cast<double>(rows.size());
  if (n * std::log2(n + 1) > static_cast<double>(from.label.size())) return fractional::root_cases<float>(from, rows);
  const size_t stripes = from.ranked.size();
  cases.ordered.resize(stripes * rows.size());
  cases.known.assign(stripes, 0);
  for (size_t stripe = 0; stripe < stripes; ++stripe) {
    OrderedCase* begin = cases.ordered.data() + stripe * rows.size();
    OrderedCase* end = begin;
    for (size_t i = 0; i < rows.size(); ++i)
      if (const int32_t rank = from.ranked[stripe].rank[rows[i]]; rank >= 0) *end++ = {static_cast<int32_t>(i), rank};
    std::sort(begin, end, [](const OrderedCase& a, const OrderedCase& b) { return a.rank < b.rank || (a.rank == b.rank && a.item < b.item); });
    cases.known[stripe] = static_cast<int32_t>(end - begin);
  }
  return std::move(cases);
}

// The parts of a node without the cases of little weight that had no value there.
inline void leave_out_light_cases(const Training& from, const Cases<float>& cases, std::span<const int32_t> direction, std::span<Cases<float>> parts) {
  std::vector<bool> is_unknown(from.label.size());
  for (size_t i = 0; i < direction.size(); ++i) is_unknown[static_cast<size_t>(cases[i].row)] = direction[i] < 0;
  for (Cases<float>& part : parts) {
    Cases<float> kept;
    for (const Case<float>& it : part.all)
      if (!is_unknown[static_cast<size_t>(it.row)] || it.weight >= 0.1F) kept.all.push_back(it);
    if (kept.size() < part.size()) part = ordered(from, std::move(kept));
  }
}

}  // namespace baytree::tree::c50
