// The search of numbers, compiled by itself.
#include "tree/sorted/measured_search.hpp"
#include "tree/sorted/splits/rpart_measures.hpp"

namespace baytree::tree::sorted {

std::unique_ptr<TargetSearch> number_search(const SearchedRows& rows) {
  if (rows.settings.is_cart) return std::make_unique<MeasuredSearch<RpartSquareMeasure>>(rows);
  return std::make_unique<MeasuredSearch<SquareMeasure>>(rows);
}

}  // namespace baytree::tree::sorted
