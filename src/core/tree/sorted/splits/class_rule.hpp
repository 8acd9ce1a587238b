// The criterion of classes that a search was asked for. It is chosen once and called by name, so that the search is compiled for all
// of them together: few cuts are judged by the criterion itself.
#pragma once
#include <concepts>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "tree/criteria.hpp"
#include "tree/sorted/splits/cut_terms.hpp"

namespace baytree::tree::sorted {

template <typename C> using IfTwoBranches = std::conditional_t<ClassCriterion<C> && C::suits.binary, std::tuple<C>, std::tuple<>>;
template <typename> struct VariantOf;
template <typename... C> struct VariantOf<std::tuple<C...>> {
  using type = std::variant<C...>;
};
template <typename> struct OfTwoBranches;
template <typename... C> struct OfTwoBranches<CriterionList<C...>> {
  using type = typename VariantOf<decltype(std::tuple_cat(std::declval<IfTwoBranches<C>>()...))>::type;
};
using AnyCriterion = OfTwoBranches<Criteria>::type;

struct ClassRule {
  AnyCriterion (*made)(std::span<const double> masses) = nullptr;
  double (*impurity)(std::span<const double> masses) = nullptr;
  AnyTerms (*terms)(const NodeMasses& node) = nullptr;
  bool is_gini = false;
};

inline ClassRule class_rule(std::string_view criterion) {
  return Criteria::with(criterion, []<Criterion C>() -> ClassRule {
    if constexpr (ClassCriterion<C> && C::suits.binary)
      return {[](std::span<const double> masses) { return AnyCriterion(C(masses)); },
              [](std::span<const double> masses) { return C::Impurity::of(masses); },
              [](const NodeMasses& node) { return AnyTerms(CutTerms<C>::of(node)); }, std::same_as<C, Gini>};
    return {};
  });
}

}  // namespace baytree::tree::sorted
