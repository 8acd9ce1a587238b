// Loops of row_loops.hpp, compiled once per instruction set; BAYTREE_LEVEL names the table that this copy defines.
#include "linear/row_groups.hpp"

namespace baytree::linear {
namespace {

const double* row_at(const RowRun& run, std::size_t i) { return run.first + static_cast<std::ptrdiff_t>(i) * run.step; }

// Sums are relative to the pivot, so that a column around 1e9 loses no digits.
void add_to_class(const RowRun& run, std::size_t i, const double* pivot, double* sum) {
  const double* const row = row_at(run, i);
  const double w = run.weight[i];
  std::size_t j = 0;
  for (; j + lanes <= run.columns; j += lanes) store(sum + j, load(sum + j) + w * (load(row + j) - load(pivot + j)));
  for (; j < run.columns; ++j) sum[j] += w * (row[j] - pivot[j]);
}

void write_centred(const RowRun& run, std::size_t i, const double* pivot, const double* mean, double* to) {
  const double* const row = row_at(run, i);
  const double root = __builtin_sqrt(run.weight[i]);
  std::size_t j = 0;
  for (; j + lanes <= run.columns; j += lanes) store(to + j, root * ((load(row + j) - load(pivot + j)) - load(mean + j)));
  for (; j < run.columns; ++j) to[j] = root * ((row[j] - pivot[j]) - mean[j]);
}

void centre(const RowRun& run, const ClassMeans& classes, const std::int64_t* place, double* out) {
  const std::size_t n = run.columns;
  for (std::size_t i = 0; i < run.rows; ++i) {
    const auto k = static_cast<std::size_t>(run.label[i]);
    classes.total[k] += run.weight[i];
    add_to_class(run, i, classes.pivot, classes.mean + k * n);
  }
  for (std::size_t k = 0; k < classes.count; ++k) {
    const double scale = classes.total[k] > 0 ? 1 / classes.total[k] : 0;
    for (std::size_t j = 0; j < n; ++j) classes.mean[k * n + j] *= scale;
  }
  for (std::size_t i = 0; i < run.rows; ++i) {
    const double* const mean = classes.mean + static_cast<std::size_t>(run.label[i]) * n;
    write_centred(run, i, classes.pivot, mean, out + static_cast<std::size_t>(place[i]) * n);
  }
}

double slope(const RowRun& run, const double* coefficient, double start, double* gradient) {
  double loss = 0;
  for (std::size_t first = 0; first < run.rows; first += lanes) {
    const Group group = group_at(run, first);
    const Judged judged = judge(scores(group, coefficient, start, run.columns), group.label);
    const LaneBits counts = where_not_zero((LaneBits)group.weight);
    const Lanes residual = kept(counts, group.weight * (judged.share - group.label));
    add_rows(group, residual, run.columns, gradient);
    gradient[run.columns] += summed(residual);
    loss += summed(kept(counts, group.weight * judged.loss));
  }
  return loss;
}

void write_scaled(const double* row, double factor, std::size_t n, double* to) {
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) store(to + j, factor * load(row + j));
  for (; j < n; ++j) to[j] = factor * row[j];
  to[n] = factor;
}

void curvature_rows(const RowRun& run, const double* coefficient, double start, double* out) {
  for (std::size_t first = 0; first < run.rows; first += lanes) {
    const Group group = group_at(run, first);
    const Lanes share = judge(scores(group, coefficient, start, run.columns), group.label).share;
    const Lanes curvature = group.weight * share * (1.0 - share);
    for (std::size_t i = 0; i < lanes && first + i < run.rows; ++i)
      write_scaled(group.row[i], __builtin_sqrt(curvature[i]), run.columns, out + (first + i) * (run.columns + 1));
  }
}

void moments(const RowRun& run, const double* pivot, double* sum, double* square) {
  for (std::size_t i = 0; i < run.rows; ++i) {
    const double* const row = row_at(run, i);
    const double w = run.weight[i];
    std::size_t j = 0;
    for (; j + lanes <= run.columns; j += lanes) {
      const Lanes apart = load(row + j) - load(pivot + j), moved = w * apart;
      store(sum + j, load(sum + j) + moved);
      store(square + j, load(square + j) + moved * apart);
    }
    for (; j < run.columns; ++j) {
      const double apart = row[j] - pivot[j], moved = w * apart;
      sum[j] += moved;
      square[j] += moved * apart;
    }
  }
}

// out[j, l] += Σ rows[i, j] rows[i, l] for l up to j (and a few more), `Count` rows per step to save stores.
template <std::size_t Count> void add_products(const double* rows, std::size_t q, double* out) {
  for (std::size_t j = 0; j < q; ++j) {
    double* const to = out + j * q;
    std::size_t l = 0;
    for (; l <= j && l + lanes <= q; l += lanes) {
      Lanes sum = load(to + l);
      for (std::size_t i = 0; i < Count; ++i) sum += rows[i * q + j] * load(rows + i * q + l);
      store(to + l, sum);
    }
    for (; l <= j; ++l)
      for (std::size_t i = 0; i < Count; ++i) to[l] += rows[i * q + j] * rows[i * q + l];
  }
}

void products(const double* rows, std::size_t n, std::size_t q, double* out) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) add_products<4>(rows + i * q, q, out);
  for (; i < n; ++i) add_products<1>(rows + i * q, q, out);
}

}  // namespace

const RowLoops BAYTREE_LEVEL{centre, slope, curvature_rows, moments, products};

}  // namespace baytree::linear
