// Search of the forward pass of MARS (Friedman, 1991): for every pair of a parent term and a column, the gain of the
// linear term and of the best knot; the cache of the pairs; and the choice of the best candidate.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "linear/mars/knots.hpp"
#include "linear/mars/orthonormal.hpp"
#include "util/thread_pool.hpp"

namespace baytree::linear::mars {

// Cache of the statistics of the pairs of one column with the parent terms, kept between steps within a memory limit.

class KnotCache {
 public:
  explicit KnotCache(std::size_t most) : kept_(most) {}

  // The knots of the parent in a slot; empty if new.
  Knots& of(std::size_t slot) {
    if (!kept_[slot]) kept_[slot] = std::make_unique<Knots>();
    return *kept_[slot];
  }

  // Drops pairs beyond the memory limit: first those of parents that are not tried in this step, then the latest.
  void make_room(std::size_t memory, std::span<const std::int32_t> tried, std::size_t latest) {
    if (held() <= memory) return;
    std::vector<bool> is_tried(kept_.size());
    for (const std::int32_t slot : tried) is_tried[static_cast<std::size_t>(slot)] = true;
    for (std::size_t slot = 0; slot < kept_.size(); ++slot)
      if (!is_tried[slot]) kept_[slot].reset();
    if (held() > memory) kept_[latest].reset();
  }

 private:
  std::size_t held() const {
    std::size_t bytes = 0;
    for (const auto& knots : kept_) bytes += knots ? knots->bytes() : 0;
    return bytes;
  }

  std::vector<std::unique_ptr<Knots>> kept_;  // [slots]
};

// Thresholds for the candidates of a step.
struct Rules {
  double least_line;          // minimum squared length of the new part of a linear term
  double tolerance, crowded;  // fraction of a hinge's squared length that must be new: beside the linear term, and without one
  double tie;                 // relative gain by which a knot must be better
  double lead;                // relative gain over the linear term
  double limit;               // larger gains of knots are rejected as numerical artefacts
};

// The linear term and the best knot of a pair; gain 0 means none.
struct Candidate {
  double line = 0, knot = 0;
  std::int32_t rank = -1;
  bool has_line = false;
};

// The search. Statistics of the pairs are kept between the steps of the forward pass, and each step only adds the new
// columns of the basis. The cache does not change results: a dropped pair has the same bits when it is rebuilt.

class KnotSearch {
 public:
  // x [columns, rows]; y [responses, rows].
  KnotSearch(std::span<const double> x, std::span<const double> y, std::size_t rows, std::size_t columns, std::size_t most, bool is_centred,
             std::size_t memory, Workers& workers)
      : x_(x.size()), row_(x.size()), rows_(rows), most_(most), responses_(rows ? y.size() / rows : 0), basis_(rows, most), beside_constant_(is_centred ? 0 : rows, most),
        is_centred_(is_centred), memory_(memory / (columns ? columns : 1)), y_(y.begin(), y.end()), beside_(rows * (responses_ + 1)) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t r = 0; r < responses_; ++r) beside_[i * (responses_ + 1) + r] = y_[r * rows + i];
      beside_[i * (responses_ + 1) + responses_] = 1;
    }
    for (std::size_t j = 0; j < columns; ++j) kept_.emplace_back(most);
    workers.run(columns, [&](std::size_t j, int) {
      const std::size_t first = j * rows;
      sort_column(x.subspan(first, rows), {x_.data() + first, rows}, {row_.data() + first, rows});
    });
  }

  KnotSearch(const KnotSearch&) = delete;
  KnotSearch& operator=(const KnotSearch&) = delete;

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return kept_.size(); }
  std::size_t size() const { return basis_.size(); }
  std::size_t most() const { return most_; }
  double value(std::size_t column, std::size_t rank) const { return x_[column * rows_ + rank]; }

  // Adds a term to the basis.
  void add(std::span<const double> b) {
    if (!is_centred_ && !size()) beside_constant_.add(std::vector<double>(rows_, 1.0));
    if (!is_centred_ && size()) beside_constant_.add(b);
    basis_.add(b);
    for (std::size_t r = 0; r < responses_; ++r) of_y_.push_back(dot(basis_.column(size() - 1), y(r)));
  }

  // The candidates of one column with some parents, given by their slots. Threads may search different columns.
  void search(std::size_t column, std::span<const std::int32_t> slots, std::span<const double> parents, std::span<const std::uint8_t> is_tried,
              std::span<const Spans> spans, const Rules& rules, std::span<Candidate> out) {
    Room room(*this, column);
    for (std::size_t k = 0; k < slots.size(); ++k) {
      if (!is_tried[k]) continue;
      const auto slot = static_cast<std::size_t>(slots[k]);
      Knots& knots = kept_[column].of(slot);
      const auto parent = parents.subspan(k * rows_, rows_);
      room.rows.of(sorted(column), parent);
      if (knots.t.empty()) open(knots, column, parent, spans[k], room);
      bring_in(knots, room);
      out[k] = best(knots, column, parent, rules, room);
      kept_[column].make_room(memory_, slots, slot);
    }
  }

 private:
  // Buffers of one search.
  struct Room {
    Room(const KnotSearch& whole, std::size_t column) : self(whole), at(column) {}

    // The latest columns of the basis, permuted to the order of this column's values once for all parents.
    const double* latest(std::size_t first) {
      const std::size_t width = self.size() - first;
      if (width == latest_width) return recent.data();
      recent.resize(self.rows_ * width);
      for (std::size_t i = self.sorted(at).above_least(); i < self.rows_; ++i)
        for (std::size_t c = 0; c < width; ++c) recent[i * width + c] = self.basis_.column(first + c)[self.place(at, i)];
      latest_width = width;
      return recent.data();
    }

    const KnotSearch& self;
    std::size_t at, latest_width = 0;
    Support rows;
    std::vector<double> sum, area, found, recent, line, by_rank;
  };

  Sorted sorted(std::size_t column) const {
    return {{x_.data() + column * rows_, rows_}, {row_.data() + column * rows_, rows_}};
  }
  std::span<const double> y(std::size_t r) const { return {y_.data() + r * rows_, rows_}; }
  std::size_t place(std::size_t column, std::size_t rank) const { return static_cast<std::size_t>(row_[column * rows_ + rank]); }
  std::size_t first_column() const { return is_centred_ ? 1 : 0; }  // centred sums include the constant

  // Places the knots of a new pair and computes products with the responses and with the linear term.
  void open(Knots& knots, std::size_t column, std::span<const double> parent, const Spans& spans, Room& room) const {
    const Sorted own = sorted(column);
    if (is_centred_) place_centred(own, parent, spans, knots);
    else place_weighted(own, parent, spans, knots);
    const std::size_t n = knots.size(), width = responses_ + 1;
    for (std::size_t k = 0, above = 0; k <= n; ++k) {
      while (above < room.rows.size && (k == n || room.rows.rank[above] > knots.rank[k])) ++above;
      knots.above.push_back(above);
      knots.t.push_back(k == n ? own.x[0] : own.x[static_cast<std::size_t>(knots.rank[k])]);
    }
    knots.with_line.resize(n), knots.shared.resize(n), knots.explained.resize(n + 1), knots.pull.resize(responses_ * (n + 1));
    run<0>(room, knots, width, [&](std::int32_t rank) { return beside_.data() + place(column, static_cast<std::size_t>(rank)) * width; });
    for (std::size_t k = 0; k <= n; ++k)
      for (std::size_t r = 0; r < responses_; ++r) knots.pull[r * (n + 1) + k] = room.found[k * width + r];
    measure(room.rows, room.found, responses_, is_centred_ ? static_cast<double>(rows_) : 0.0, knots);
    knots.done = first_column();
  }

  // Projects the new columns of the basis out of every hinge.
  void bring_in(Knots& knots, Room& room) const {
    const std::size_t first = knots.done, width = size() - first;
    if (!width) return;
    if (width <= 2) {
      const double* const recent = room.latest(first);
      const auto row_at = [&](std::int32_t rank) { return recent + static_cast<std::size_t>(rank) * width; };
      width == 1 ? run<1>(room, knots, 1, row_at) : run<2>(room, knots, 2, row_at);
    } else {
      run<0>(room, knots, width, [&](std::int32_t rank) { return basis_.row(place(room.at, static_cast<std::size_t>(rank))) + first; });
    }
    const std::size_t n = knots.size();
    const double* const line = room.found.data() + n * width;
    for (std::size_t k = 0; k <= n; ++k)
      for (std::size_t c = 0; c < width; ++c) {
        const double v = room.found[k * width + c];
        knots.explained[k] += v * v;
        if (k < n) knots.shared[k] += v * line[c];
        for (std::size_t r = 0; r < responses_; ++r) knots.pull[r * (n + 1) + k] -= v * of_y_[(first + c) * responses_ + r];
      }
    knots.done = size();
  }

  template <std::size_t kWidth, typename RowAt>
  void run(Room& room, const Knots& knots, std::size_t width, const RowAt& row_at) const {
    room.sum.resize(width), room.area.resize(width), room.found.resize((knots.size() + 1) * width);
    if constexpr (kWidth == 0) {
      integrate<0>(room.rows, knots, width, row_at, room.sum.data(), room.area.data(), room.found.data());
    } else {
      double sum[kWidth], area[kWidth];
      integrate<kWidth>(room.rows, knots, width, row_at, sum, area, room.found.data());
    }
  }

  // The best of the linear term and the knots: gain = |w'y|^2 + (gain of h given w), where w is the new part of the
  // linear term.
  Candidate best(Knots& knots, std::size_t column, std::span<const double> parent, const Rules& rules, Room& room) const {
    const std::size_t n = knots.size();
    Candidate found;
    std::vector<double> of_line(responses_);  // w'y
    const double* explicit_line = nullptr;
    double length = 0;
    if (is_centred_ && !room.rows.size) knots.has_line = false;  // the linear term is 0
    if (knots.has_line && !is_centred_) knots.has_line = is_new(column, parent, rules, room);
    if (knots.has_line) {
      const double square = knots.spread[n] - knots.explained[n];
      if (square < 1e-6 * knots.spread[n] || square <= 2 * rules.least_line || !(square > 0)) {
        explicit_line = form_line(knots, column, parent, rules, room, of_line);
      } else {
        length = std::sqrt(square);
        for (std::size_t r = 0; r < responses_; ++r) of_line[r] = knots.pull[r * (n + 1) + n] / length;
      }
    }
    found.has_line = knots.has_line;
    if (knots.has_line)
      for (const double share : of_line) found.line += share * share;
    if (!std::isfinite(found.line)) found.line = 0;
    const double tolerance = knots.has_line ? rules.tolerance : rules.crowded;
    double highest = found.line + rules.lead;
    for (std::size_t k = 0; k < n; ++k) {
      const double with_line = !knots.has_line ? 0.0 : explicit_line ? explicit_line[k] : (knots.with_line[k] - knots.shared[k]) / length;
      const double left = knots.spread[k] - knots.explained[k] - with_line * with_line;
      if (!(left > tolerance * knots.spread[k])) continue;
      double more = 0;
      for (std::size_t r = 0; r < responses_; ++r) {
        const double pull = knots.pull[r * (n + 1) + k] - with_line * of_line[r];
        more += pull * pull;
      }
      const double gain = found.line + more / left;
      if (gain > highest * (1 + rules.tie) && gain < rules.limit) {
        highest = found.knot = gain;
        found.rank = knots.rank[k];
      }
    }
    return found;
  }

  // With weighted rows: whether the part of the linear term that neither the basis nor a constant explains is long
  // enough.
  bool is_new(std::size_t column, std::span<const double> parent, const Rules& rules, Room& room) const {
    write_line(column, parent, room);
    beside_constant_.project_out(room.line);
    return dot(room.line, room.line) > rules.least_line;
  }

  void write_line(std::size_t column, std::span<const double> parent, Room& room) const {
    const Sorted own = sorted(column);
    room.line.assign(rows_, 0.0);
    for (std::size_t i = 0; i < rows_; ++i) room.line[place(column, i)] = (own.x[i] - own.x[0]) * parent[place(column, i)];
  }

  // The new part of the linear term, computed explicitly where subtraction of sums would leave mostly rounding errors.
  const double* form_line(Knots& knots, std::size_t column, std::span<const double> parent, const Rules& rules, Room& room,
                          std::vector<double>& of_line) const {
    write_line(column, parent, room);
    basis_.project_out(room.line);
    const double square = dot(room.line, room.line);
    if (!is_centred_ && !(square > kDependent * kDependent * knots.spread[knots.size()])) {
      of_line.assign(responses_, 0.0);
      room.found.assign(knots.size() + 1, 0.0);
      return room.found.data();
    }
    if (is_centred_ && !(square > rules.least_line)) {
      knots.has_line = false;  // permanent: the basis only grows
      return nullptr;
    }
    const double length = std::sqrt(square);
    room.by_rank.resize(rows_);
    for (double& value : room.line) value /= length;
    for (std::size_t i = 0; i < rows_; ++i) room.by_rank[i] = room.line[place(column, i)];
    for (std::size_t r = 0; r < responses_; ++r) of_line[r] = dot(room.line, y(r));
    run<1>(room, knots, 1, [&](std::int32_t rank) { return room.by_rank.data() + rank; });
    return room.found.data();
  }

  std::vector<double> x_;          // [columns, rows], ascending
  std::vector<std::int32_t> row_;  // row of each value
  std::size_t rows_, most_, responses_;
  Orthonormal basis_, beside_constant_;  // the second is for weighted rows, where the first column is not constant
  std::vector<double> of_y_;  // [columns of the basis, responses]
  bool is_centred_;
  std::size_t memory_;  // bytes per column
  std::vector<KnotCache> kept_;  // [columns]
  std::vector<double> y_, beside_;  // responses by columns; and by rows, followed by a 1
};

// The candidates of all pairs: [columns, parents].
struct Candidates {
  std::span<const double> line, knot;
  std::span<const std::int32_t> rank;
  std::span<const std::uint8_t> has_line, is_tried;
  std::size_t parents = 0;

  std::size_t columns() const { return parents ? line.size() / parents : 0; }
};

struct Leader {
  double gain = 0;  // 0: no candidate
  std::size_t parent = 0, column = 0;
  std::int32_t rank = -1;   // of the knot; -1 for a linear term
  bool has_mirror = false;  // whether the previous best knot has a mirror; a linear term used as a hinge copies it
};

// Loops over parents, then columns; a later candidate replaces the best one only if its gain exceeds the best gain
// times `share`.
inline Leader leader_of(const Candidates& all, double share) {
  Leader found;
  for (std::size_t k = 0; k < all.parents; ++k)
    for (std::size_t j = 0; j < all.columns(); ++j) {
      const std::size_t pair = j * all.parents + k;
      if (all.line[pair] > found.gain * share) found = {all.line[pair], k, j, -1, found.has_mirror};
      if (all.knot[pair] > found.gain * share) found = {all.knot[pair], k, j, all.rank[pair], all.has_line[pair] != 0};
    }
  return found;
}

// Best gain of each parent; -1 if no column was tried with it.
inline std::vector<double> best_of_parents(const Candidates& all) {
  std::vector<double> best(all.parents, -1.0);
  for (std::size_t pair = 0; pair < all.line.size(); ++pair)
    if (all.is_tried[pair]) best[pair % all.parents] = std::max({best[pair % all.parents], all.line[pair], all.knot[pair]});
  return best;
}

}  // namespace baytree::linear::mars
