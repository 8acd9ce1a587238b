// The settings of a search, by name, as Python gives them.
#pragma once
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "tree/sorted/node.hpp"

namespace baytree::bind {

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
  s.most_levels = setting<int>(given, "most_levels");
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

}  // namespace baytree::bind
