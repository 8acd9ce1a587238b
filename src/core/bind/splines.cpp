// Bindings of MARS's search for knots.
#include "bind/arrays.hpp"
#include "bind/rooms.hpp"

#include <stdexcept>

#include "linear/splines/knot_search.hpp"

namespace baytree::bind {
namespace {

using linear::splines::Candidate;
using linear::splines::KnotSearch;
using linear::splines::Rules;
using linear::splines::Spans;
template <typename T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <typename T> std::span<const T> flat(const Matrix<T>& x) { return {x.data(), x.shape(0) * x.shape(1)}; }

void make_search(KnotSearch* self, Matrix<double> x, Matrix<int32_t> row, Matrix<double> y, size_t most, bool is_centred, size_t memory) {
  const size_t columns = x.shape(0), rows = x.shape(1);
  require(rows > 1 && row.shape(0) == columns && row.shape(1) == rows && y.shape(1) == rows && y.shape(0) > 0, "KnotSearch: the shapes do not fit");
  for (const int32_t i : flat(row)) require(i >= 0 && static_cast<size_t>(i) < rows, "KnotSearch: no such row");
  new (self) KnotSearch(flat(x), flat(row), flat(y), rows, columns, most, is_centred, memory);
}

// The candidates of columns [first, last) beside each parent, as [columns, parents] gains, ranks and whether there is a line.
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

void add(KnotSearch& self, Vector<double> term) {
  require(term.shape(0) == self.rows() && self.size() < self.most(), "KnotSearch.add: no room for this term");
  nb::gil_scoped_release unlocked;
  self.add(view(term));
}

}  // namespace

void bind_splines(nb::module_& module) {
  nb::class_<KnotSearch>(module, "KnotSearch", "The candidates of MARS's forward pass; what is known of them is kept between steps.")
      .def("__init__", &make_search, "x"_a.noconvert(), "row"_a.noconvert(), "y"_a.noconvert(), "most"_a, "is_centred"_a, "memory"_a)
      .def("add", &add, "term"_a.noconvert(), "Adds a term's column to the basis.")
      .def("search", &search, "first"_a, "last"_a, "slots"_a.noconvert(), "parents"_a.noconvert(), "is_tried"_a.noconvert(),
           "spans"_a.noconvert(), "rules"_a.noconvert(),
           "Gains of the line and of the best knot, its rank, and whether there is a line, of columns [first, last) beside each parent.");
}

}  // namespace baytree::bind
