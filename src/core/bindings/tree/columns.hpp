// Table columns and settings, as the tree bindings receive them from Python.
#pragma once
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "tree/column_view.hpp"
#include "tree/fractional/partition.hpp"
#include "tree/fractional/training_columns.hpp"
#include "tree/sorted/settings.hpp"

namespace baytree::bindings {

// Columns: arrays are used without a copy, and kept alive during the call.

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

struct Columns {
  std::vector<AnyColumn> held;
  std::vector<tree::ColumnView> views;
};

// levels: 0 for a numeric column, the number of levels for a nominal one.
inline Columns columns_of(const nb::list& arrays, const Vector<int32_t>& levels, size_t rows) {
  Columns columns;
  if (levels.shape(0) != arrays.size()) throw nb::value_error("one number of levels is needed per column");
  for (size_t j = 0; j < arrays.size(); ++j) {
    auto array = nb::cast<AnyColumn>(arrays[j], false);
    if (array.shape(0) != rows) throw nb::value_error("a column has another number of rows than the table");
    tree::ColumnView view;
    view.stride = array.stride(0);
    view.levels = levels.data()[j];
    if (array.dtype() == nb::dtype<double>()) view.x = static_cast<const double*>(array.data());
    else if (array.dtype() == nb::dtype<int32_t>()) view.code = static_cast<const int32_t*>(array.data());
    else throw nb::type_error("a column is neither float64 nor int32");
    if (view.x && view.levels) throw nb::value_error("a column of numbers has no levels");
    columns.views.push_back(view);
    columns.held.push_back(std::move(array));
  }
  return columns;
}

// The same for the fractional search, whose columns have no strides.
inline std::vector<tree::fractional::GivenColumn> given(const nb::list& columns, const Vector<int32_t>& levels) {
  std::vector<tree::fractional::GivenColumn> all;
  if (levels.shape(0) != columns.size()) throw nb::value_error("one number of levels is needed per column");
  for (size_t j = 0; j < levels.shape(0); ++j) {
    tree::fractional::GivenColumn column{.value = {}, .code = {}, .levels = view(levels)[j]};
    if (column.is_numeric()) column.value = view(nb::cast<Vector<double>>(columns[j], false));
    else column.code = view(nb::cast<Vector<int32_t>>(columns[j], false));
    all.push_back(column);
  }
  return all;
}

// Reports a test that would need too much memory by the column's index; Python adds its name.
template <std::invocable Kernel> void bounded(const Kernel& kernel) {
  try {
    interruptible(kernel);
  } catch (const tree::fractional::TooManyBranches& refused) {
    throw nb::index_error(std::to_string(refused.column).c_str());
  }
}

// Settings of a search, by name.

using MaybeDoubles = std::optional<Vector<double>>;

template <typename T> T setting(const nb::dict& settings, const char* name) { return nb::cast<T>(settings[name]); }
template <typename T> std::vector<T> several(const nb::dict& settings, const char* name) { return values_of<T>(settings[name]); }

inline tree::sorted::Settings settings_of(const nb::dict& given) {
  tree::sorted::Settings s;
  s.criterion = setting<std::string_view>(given, "criterion");
  s.is_cart = setting<bool>(given, "is_cart");
  s.absent = tree::sorted::absent(setting<std::string_view>(given, "missing"));
  s.min_split = setting<double>(given, "min_split");
  s.min_leaf = setting<double>(given, "min_leaf");
  s.max_depth = setting<int>(given, "max_depth");
  s.min_impurity = setting<double>(given, "min_impurity");
  s.min_gain = setting<double>(given, "min_gain");
  s.min_risk = setting<double>(given, "min_risk");
  s.critical = several<double>(given, "critical");
  s.risk_scale = several<double>(given, "risk_scale");
  s.loss = several<double>(given, "loss");
  s.max_levels = setting<int>(given, "max_levels");
  s.max_exhaustive_levels = setting<int>(given, "max_exhaustive_levels");
  s.max_surrogates = setting<int>(given, "max_surrogates");
  s.use_surrogate = setting<int>(given, "use_surrogate");
  s.surrogate_style = setting<int>(given, "surrogate_style");
  s.takes_no_gain = setting<bool>(given, "takes_no_gain");
  s.columns_per_node = setting<int>(given, "columns_per_node");
  s.first_column = setting<int>(given, "first_column");
  s.directions = several<int>(given, "directions");
  s.seed = setting<uint64_t>(given, "seed");
  return s;
}

}  // namespace baytree::bindings
