// The search of classes, compiled by itself.
#include "tree/sorted/measured_search.hpp"
#include "tree/sorted/splits/rpart_measures.hpp"

namespace baytree::tree::sorted {

std::unique_ptr<TargetSearch> class_search(const SearchedRows& rows) {
  if (rows.settings.is_cart) return std::make_unique<MeasuredSearch<RpartClassMeasure>>(rows);
  return std::make_unique<MeasuredSearch<ClassMeasure>>(rows);
}

}  // namespace baytree::tree::sorted
