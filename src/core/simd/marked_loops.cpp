// The loops over rows of numbers and marks, compiled once for each instruction set (BAYTREE_LEVEL names the table made here).
#include "linear/marked_loops.hpp"

#include "simd/row_groups.hpp"

namespace baytree::linear {
namespace {

// The marks of row i: as many as come before `none`.
struct RowMarks {
  const std::int32_t* mark;
  std::size_t count;
};

RowMarks marks_of(const Marks& marks, std::size_t i) {
  const std::int32_t* const own = marks.first + i * marks.slots;
  std::size_t count = 0;
  while (count < marks.slots && own[count] != marks.none) ++count;
  return {own, count};
}

// A group past the last row repeats it, without weight.
Lanes marked_scores(const RowRun& run, const Marks& marks, const Scorer& scorer, std::size_t first, const Group& group) {
  double z[lanes];
  store(z, scores(group, scorer.coefficient, scorer.start, run.columns));
  const double* const of_mark = scorer.coefficient + run.columns;
  for (std::size_t i = 0; i < lanes && first + i < run.rows; ++i) {
    const RowMarks own = marks_of(marks, first + i);
    double sum = 0;
    for (std::size_t s = 0; s < own.count; ++s) sum += of_mark[own.mark[s]];
    z[i] += sum;
  }
  return load(z);
}

double slope(const RowRun& run, const Marks& marks, const Scorer& scorer, double* gradient) {
  double loss = 0, constant = 0;
  double* const of_mark = gradient + run.columns;
  for (std::size_t first = 0; first < run.rows; first += lanes) {
    const Group group = group_at(run, first);
    const Judged judged = judge(marked_scores(run, marks, scorer, first, group), group.label);
    const LaneBits counts = where_not_zero((LaneBits)group.weight);
    const Lanes residual = kept(counts, group.weight * (judged.share - group.label));
    add_rows(group, residual, run.columns, gradient);
    for (std::size_t i = 0; i < lanes && first + i < run.rows; ++i) {
      const RowMarks own = marks_of(marks, first + i);
      for (std::size_t s = 0; s < own.count; ++s) of_mark[own.mark[s]] += residual[i];
    }
    constant += summed(residual);
    loss += summed(kept(counts, group.weight * judged.loss));
  }
  of_mark[marks.none] += constant;
  return loss;
}

// Adds weight · feature · feature of one row: numbers with numbers, marks with numbers and marks, the constant with all.
void add_square(const double* x, std::size_t n, const RowMarks& own, double weight, std::size_t q, double* out) {
  for (std::size_t a = 0; a < n; ++a) {
    const double wx = weight * x[a];
    double* const to = out + a * q;
    for (std::size_t b = 0; b <= a; ++b) to[b] += wx * x[b];
  }
  const auto add_numbers = [&](double* to) {
    for (std::size_t b = 0; b < n; ++b) to[b] += weight * x[b];
  };
  for (std::size_t s = 0; s < own.count; ++s) {
    double* const to = out + (n + static_cast<std::size_t>(own.mark[s])) * q;
    add_numbers(to);
    for (std::size_t t = 0; t <= s; ++t) to[n + static_cast<std::size_t>(own.mark[t])] += weight;
  }
  double* const constant = out + (q - 1) * q;
  add_numbers(constant);
  for (std::size_t s = 0; s < own.count; ++s) constant[n + static_cast<std::size_t>(own.mark[s])] += weight;
  constant[q - 1] += weight;
}

void curvature(const RowRun& run, const Marks& marks, const Scorer& scorer, const std::int64_t* fold, double* out) {
  const std::size_t q = run.columns + static_cast<std::size_t>(marks.none) + 1;
  for (std::size_t first = 0; first < run.rows; first += lanes) {
    const Group group = group_at(run, first);
    const Lanes share = judge(marked_scores(run, marks, scorer, first, group), group.label).share;
    const Lanes curved = group.weight * share * (1.0 - share);
    for (std::size_t i = 0; i < lanes && first + i < run.rows; ++i)
      if (curved[i] != 0) {
        double* const own = out + static_cast<std::size_t>(fold[first + i]) * q * q;
        add_square(group.row[i], run.columns, marks_of(marks, first + i), curved[i], q, own);
      }
  }
}

// Eight problems and one row: residuals are 0 in problems that hold it out, where its loss counts as held.
struct Lesson {
  double label, weight;
  LaneBits learns;
};

Lanes residual_of(const Lanes& z, const Lesson& row, double* train, double* held) {
  const Lanes label = Lanes{} + row.label;
  const Judged judged = judge(z, label);
  const Lanes lost = row.weight * judged.loss;
  store(train, load(train) + kept(row.learns, lost));
  store(held, load(held) + kept(~row.learns, lost));
  return kept(row.learns, row.weight * (judged.share - label));
}

// Rows [first, last) and eight problems, whose coefficients and gradients stay in the nearest cache meanwhile.
void eight_problems(const RowRun& run, const Marks& marks, const std::int64_t* fold, const Problems& problems, std::size_t j,
                    std::size_t first, std::size_t last, const double* coefficient, double* gradient) {
  const std::size_t m = problems.count, n = run.columns, constant = (n + static_cast<std::size_t>(marks.none)) * m + j;
  const LaneBits held_out = load(problems.held_out + j);
  Halves sum;
  for (std::size_t i = first; i < last; ++i) {
    const double* const x = run.first + static_cast<std::ptrdiff_t>(i) * run.step;
    const RowMarks own = marks_of(marks, i);
    const auto at = [&](std::size_t s) { return (n + static_cast<std::size_t>(own.mark[s])) * m + j; };
    Halves score = Halves::at(coefficient + constant);
    for (std::size_t a = 0; a < n; ++a) score.add(Halves::at(coefficient + a * m + j), x[a]);
    for (std::size_t s = 0; s < own.count; ++s) score.add(Halves::at(coefficient + at(s)));
    double z[lanes], residual[lanes];
    score.store(z);
    const Lesson lesson{static_cast<double>(run.label[i]), run.weight[i], where_not_zero(held_out ^ fold[i])};
    store(residual, residual_of(load(z), lesson, problems.train + j, problems.held + j));
    const Halves r = Halves::at(residual);
    const auto add = [&](double* to, double factor) {
      Halves so_far = Halves::at(to);
      so_far.add(r, factor);
      so_far.store(to);
    };
    for (std::size_t a = 0; a < n; ++a) add(gradient + a * m + j, x[a]);
    for (std::size_t s = 0; s < own.count; ++s) add(gradient + at(s), 1.0);
    sum.add(r);
  }
  Halves so_far = Halves::at(gradient + constant);
  so_far.add(sum);
  so_far.store(gradient + constant);
}

void problems(const RowRun& run, const Marks& marks, const std::int64_t* fold, const Problems& problems,
              const double* coefficient, double* gradient) {
  constexpr std::size_t block = 512;  // rows that stay in a cache while all problems look at them
  for (std::size_t first = 0; first < run.rows; first += block) {
    const std::size_t last = first + block < run.rows ? first + block : run.rows;
    for (std::size_t j = 0; j < problems.count; j += lanes)
      eight_problems(run, marks, fold, problems, j, first, last, coefficient, gradient);
  }
}

}  // namespace

const MarkedLoops BAYTREE_LEVEL{slope, curvature, problems};

}  // namespace baytree::linear
