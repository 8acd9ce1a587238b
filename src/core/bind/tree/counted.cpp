// Bindings of CHAID's tests and merging, and of the codes of numbers.
#include <nanobind/stl/string.h>

#include "bind/arrays.hpp"
#include "bind/rooms.hpp"
#include "choices.hpp"
#include "tree/counted/interval_codes.hpp"
#include "tree/counted/leading_bits.hpp"
#include "tree/counted/merging.hpp"

namespace baytree::bind {
namespace {

using namespace tree::counted;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Calls the work with the test of this name.
template <typename Work> auto with_test(const std::string& name, size_t width, const Work& work) {
  if (name == "pearson") return work.template operator()<ClassTest<true>>();
  if (name == "likelihood_ratio") return work.template operator()<ClassTest<false>>();
  if (name != "mean") refuse_choice("test", name, std::array<std::string_view, 3>{"pearson", "likelihood_ratio", "mean"});
  if (width != 3) throw nb::value_error("a test of means needs weight, sum and squares");
  return work.template operator()<MeanTest>();
}

nb::ndarray<nb::numpy, int32_t> merge_levels(const Matrix& statistics, const Vector<double>& weight, const std::string& test,
                                             bool is_ordered, bool is_exhaustive, double log_alpha, double least) {
  if (statistics.shape(0) != weight.shape(0)) throw nb::value_error("one weight is needed per level");
  const MergeRules rules{log_alpha, least, is_ordered, is_exhaustive};
  auto groups = with_test(test, statistics.shape(1), [&]<GroupTest Test>() {
    const nb::gil_scoped_release released;
    return Merger<Test>({statistics.data(), statistics.size()}, view(weight), rules).merge();
  });
  const size_t n = groups.size();
  return to_numpy(std::move(groups), {n});
}

nb::ndarray<nb::numpy, double> test_groups(const Tables& tables, const std::string& name) {
  const size_t n = tables.shape(0), n_groups = tables.shape(1), width = tables.shape(2);
  std::vector<double> log_p(n);
  with_test(name, width, [&]<GroupTest Test>() {
    const nb::gil_scoped_release released;
    Groups groups(n_groups);
    Test test;
    for (size_t t = 0; t < n; ++t) {
      for (size_t g = 0; g < n_groups; ++g) groups[g] = {tables.data() + (t * n_groups + g) * width, width};
      log_p[t] = test(groups);
    }
  });
  return to_numpy(std::move(log_p), {n});
}

template <double tail(double, double)> nb::ndarray<nb::numpy, double> tails(const Vector<double>& statistic, const Vector<double>& degrees) {
  if (statistic.shape(0) != degrees.shape(0)) throw nb::value_error("statistics and degrees differ in length");
  std::vector<double> log_p(statistic.shape(0));
  for (size_t i = 0; i < log_p.size(); ++i) log_p[i] = tail(statistic.data()[i], degrees.data()[i]);
  const size_t n = log_p.size();
  return to_numpy(std::move(log_p), {n});
}

nb::ndarray<nb::numpy, int64_t> interval_codes(const Vector<double>& values, const Vector<double>& ends) {
  const size_t n = values.shape(0);
  std::vector<int64_t> code(n);
  {
    const nb::gil_scoped_release released;
    tree::counted::interval_codes(view(values), view(ends), code);
  }
  return to_numpy(std::move(code), {n});
}

nb::ndarray<nb::numpy, int64_t> prefix_cells(const Vector<double>& values, const Vector<uint64_t>& prefixes, int shift, int bits) {
  if (shift < 0 || bits < 1 || bits > 48 || shift + bits > 64) throw nb::value_error("no such bits of a double");
  if (shift + bits > 48 && shift + bits < 64) throw nb::value_error("prefixes have 16 bits at least");
  std::vector<int64_t> cells;
  {
    const nb::gil_scoped_release released;
    cells = tree::counted::prefix_cells(view(values), view(prefixes), shift, bits);
  }
  const size_t n = cells.size();
  return to_numpy(std::move(cells), {n});
}

bool are_many(const Vector<double>& values, size_t most) {
  const nb::gil_scoped_release released;
  return tree::counted::are_many(view(values), most);
}

}  // namespace

void bind_counted(nb::module_& module) {
  module.def("merge_levels", &merge_levels, "statistics"_a.noconvert(), "weight"_a.noconvert(), "test"_a, "is_ordered"_a,
             "is_exhaustive"_a, "log_alpha"_a, "least"_a, "The group of each level, named by its first level, after CHAID's merging.");
  module.def("test_groups", &test_groups, "tables"_a.noconvert(), "test"_a,
             "log p that groups do not differ, for tables [n_tables, n_groups, n_statistics].");
  module.def("interval_codes", &interval_codes, "values"_a.noconvert(), "ends"_a.noconvert(),
             "For each value one more than the number of ends (ascending) below it; 0 where it is missing.");
  module.def("prefix_cells", &prefix_cells, "values"_a.noconvert(), "prefixes"_a.noconvert(), "shift"_a, "bits"_a,
             "For each known value whose bits begin with a prefix: the place of the prefix, then the next bits.");
  module.def("are_many", &are_many, "values"_a.noconvert(), "most"_a, "Whether more than so many known values differ.");
  module.def("chi2_log_tail", &tails<numbers::chi2_log_tail>, "statistic"_a.noconvert(), "degrees"_a.noconvert(),
             "log P(χ² >= statistic), element by element.");
}

}  // namespace baytree::bind
