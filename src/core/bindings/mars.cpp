// Bindings of MARS: knot search and backward pass.
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "linear/mars/backward_pass.hpp"
#include "linear/mars/knot_search.hpp"

namespace baytree::bindings {
namespace {

using linear::mars::BackwardPass;
using linear::mars::Candidate;
using linear::mars::Candidates;
using linear::mars::KnotSearch;
using linear::mars::Rules;
using linear::mars::Spans;
template <typename T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <typename T> std::span<const T> flat(const Matrix<T>& x) { return {x.data(), x.shape(0) * x.shape(1)}; }

void make_search(KnotSearch* self, Matrix<double> x, Matrix<double> y, size_t most, bool is_centred, size_t memory, int threads) {
  const size_t columns = x.shape(0), rows = x.shape(1);
  require(rows > 1 && y.shape(1) == rows && y.shape(0) > 0, "KnotSearch: the shapes do not fit");
  require(rows <= max_rows, "KnotSearch: at most 2,147,483,647 rows");
  Workers workers(threads, is_interrupted);
  interruptible([&] { return new (self) KnotSearch(flat(x), flat(y), rows, columns, most, is_centred, memory, workers); });
}

// Candidates of columns [first, last) with each parent: gains, ranks and whether there is a linear term, as [columns,
// parents].
nb::tuple search(KnotSearch& self, size_t first, size_t last, Vector<int32_t> slots, Matrix<double> parents, Matrix<uint8_t> is_tried,
                 Matrix<int64_t> spans, Vector<double> rules) {
  const size_t n = slots.shape(0), width = last - first;
  require(first <= last && last <= self.columns() && parents.shape(0) == n && parents.shape(1) == self.rows() && is_tried.shape(0) == self.columns() &&
              is_tried.shape(1) == n && spans.shape(0) == n && spans.shape(1) == 3 && rules.shape(0) == 6,
          "KnotSearch.search: the shapes do not fit");
  std::vector<Spans> given;
  for (size_t k = 0; k < n; ++k) {
    require(slots(k) >= 0 && static_cast<size_t>(slots(k)) < self.most() && spans(k, 0) >= 0 && spans(k, 1) > 0 && spans(k, 2) > 0,
            "KnotSearch.search: no such slot or span");
    given.push_back({static_cast<size_t>(spans(k, 0)), static_cast<size_t>(spans(k, 1)), static_cast<size_t>(spans(k, 2))});
  }
  std::vector<Candidate> found(width * n);
  {
    nb::gil_scoped_release unlocked;
    const Rules asked{rules(0), rules(1), rules(2), rules(3), rules(4), rules(5)};
    for (size_t j = first; j < last; ++j)
      self.search(j, view(slots), flat(parents), flat(is_tried).subspan(j * n, n), given, asked, {found.data() + (j - first) * n, n});
  }
  std::vector<double> gains(2 * width * n);
  std::vector<int32_t> rank(width * n);
  std::vector<uint8_t> has_line(width * n);
  for (size_t k = 0; k < found.size(); ++k) {
    gains[k] = found[k].line, gains[width * n + k] = found[k].knot;
    rank[k] = found[k].rank, has_line[k] = found[k].has_line;
  }
  return nb::make_tuple(to_numpy(std::move(gains), {2, width, n}), to_numpy(std::move(rank), {width, n}), to_numpy(std::move(has_line), {width, n}));
}

// Best gain of each parent; and the winner: gain (0: none), parent, column, rank, and whether it has a mirror.
nb::tuple leading_candidate(nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> gains, Matrix<int32_t> rank, Matrix<uint8_t> has_line,
                            Matrix<uint8_t> is_tried, double share) {
  const size_t columns = gains.shape(1), parents = gains.shape(2), n = columns * parents;
  const auto fits = [&](const auto& each) { return each.shape(0) == columns && each.shape(1) == parents; };
  require(gains.shape(0) == 2 && fits(rank) && fits(has_line) && fits(is_tried), "leading_candidate: the shapes do not fit");
  const Candidates all{{gains.data(), n}, {gains.data() + n, n}, flat(rank), flat(has_line), flat(is_tried), parents};
  const auto found = leader_of(all, share);
  return nb::make_tuple(to_numpy(best_of_parents(all), {parents}), found.gain, found.parent, found.column, found.rank, found.has_mirror);
}

double value(const KnotSearch& self, size_t column, size_t rank) {
  require(column < self.columns() && rank < self.rows(), "KnotSearch.value: no such column or rank");
  return self.value(column, rank);
}

void add(KnotSearch& self, Vector<double> term) {
  require(term.shape(0) == self.rows() && self.size() < self.most(), "KnotSearch.add: no room for this term");
  nb::gil_scoped_release unlocked;
  self.add(view(term));
}

// For 1, 2, ... terms the best subset and its RSS.
nb::tuple backward_subsets(Matrix<double> r, Matrix<double> z, double rest, bool tries_prefixes) {
  const size_t terms = r.shape(0);
  require(r.shape(1) == terms && z.shape(0) == terms && z.shape(1) > 0, "backward_subsets: the shapes do not fit");
  BackwardPass pass(flat(r), flat(z), terms, rest);
  linear::mars::Subsets found;
  {
    nb::gil_scoped_release unlocked;
    found = tries_prefixes ? pass.best_prefixes() : pass.eliminate();
  }
  nb::list subsets;
  for (auto& each : found.terms) {
    const size_t size = each.size();
    subsets.append(to_numpy(std::move(each), {size}));
  }
  return nb::make_tuple(subsets, to_numpy(std::move(found.rss), {terms}));
}

}  // namespace

void bind_mars(nb::module_& module) {
  nb::class_<KnotSearch>(module, "KnotSearch", "The candidates of MARS's forward pass; what is known of them is kept between steps.")
      .def("__init__", &make_search, "x"_a.noconvert(), "y"_a.noconvert(), "most"_a, "is_centred"_a, "memory"_a, "threads"_a)
      .def("value", &value, "column"_a, "rank"_a, "The number at a rank of a column.")
      .def("add", &add, "term"_a.noconvert(), "Adds a term's column to the basis.")
      .def("search", &search, "first"_a, "last"_a, "slots"_a.noconvert(), "parents"_a.noconvert(), "is_tried"_a.noconvert(),
           "spans"_a.noconvert(), "rules"_a.noconvert(),
           "Gains of the line and of the best knot, its rank, and whether there is a line, of columns [first, last) beside each parent.");
  module.def("leading_candidate", &leading_candidate, "gains"_a.noconvert(), "rank"_a.noconvert(), "has_line"_a.noconvert(), "is_tried"_a.noconvert(),
             "share"_a, "What each parent gave at best, and the winner of a step: gain, parent, column, rank, and whether it has a mirror.");
  module.def("backward_subsets", &backward_subsets, "r"_a.noconvert(), "z"_a.noconvert(), "rest"_a, "tries_prefixes"_a,
             "MARS's backward pass: a subset of terms for each number of them, ascending, and its RSS.");
}

}  // namespace baytree::bindings
