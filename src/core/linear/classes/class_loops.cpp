// The loops over rows of several classes, compiled once for each instruction set (BAYTREE_LEVEL names the table made here).
#include "linear/classes/class_loops.hpp"

#include "linear/row_groups.hpp"

namespace baytree::linear {
namespace {

constexpr std::size_t half = 4;

[[gnu::always_inline]] inline Four four_at(const double* from) { return *reinterpret_cast<const Four*>(from); }

[[gnu::always_inline]] inline double summed_four(const Four& sum) { return (sum[0] + sum[2]) + (sum[1] + sum[3]); }

// Eight rows of a few scores: the features are read once for all of them.
template <std::size_t Count>
void combine_tile(const double* coefficient, const double* feature, std::size_t features, std::size_t rows, double* out) {
  for (std::size_t i = 0; i < rows; i += lanes) {
    Halves sum[Count]{};
    for (std::size_t j = 0; j < features; ++j) {
      const Halves x = Halves::at(feature + j * rows + i);
      for (std::size_t c = 0; c < Count; ++c) sum[c].add(x, coefficient[c * features + j]);
    }
    for (std::size_t c = 0; c < Count; ++c) sum[c].store(out + c * rows + i);
  }
}

void combine(const double* coefficient, std::size_t count, const double* feature, std::size_t features, std::size_t rows, double* out) {
  constexpr std::size_t most = 6;
  const std::size_t tiles = (count + most - 1) / most;
  for (std::size_t t = 0, c = 0; t < tiles; ++t) {
    const std::size_t width = (count - c + tiles - t - 1) / (tiles - t);
    const double* const own = coefficient + c * features;
    double* const to = out + c * rows;
    switch (width) {
      case 1: combine_tile<1>(own, feature, features, rows, to); break;
      case 2: combine_tile<2>(own, feature, features, rows, to); break;
      case 3: combine_tile<3>(own, feature, features, rows, to); break;
      case 4: combine_tile<4>(own, feature, features, rows, to); break;
      case 5: combine_tile<5>(own, feature, features, rows, to); break;
      default: combine_tile<6>(own, feature, features, rows, to); break;
    }
    c += width;
  }
}

template <std::size_t Lefts, std::size_t Rights>
void dots_tile(const double* const* left, const double* const* right, std::size_t rows, double* out, std::size_t step) {
  Four sum[Lefts][Rights]{};
  for (std::size_t i = 0; i < rows; i += half)
    for (std::size_t a = 0; a < Lefts; ++a) {
      const Four x = four_at(left[a] + i);
      for (std::size_t b = 0; b < Rights; ++b) sum[a][b] += x * four_at(right[b] + i);
    }
  for (std::size_t a = 0; a < Lefts; ++a)
    for (std::size_t b = 0; b < Rights; ++b) out[a * step + b] = summed_four(sum[a][b]);
}

template <std::size_t Lefts>
void dots_beside(const double* const* left, const double* const* right, std::size_t rights, std::size_t rows, double* out,
                 std::size_t step) {
  std::size_t b = 0;
  for (; b + 4 <= rights; b += 4) dots_tile<Lefts, 4>(left, right + b, rows, out + b, step);
  for (; b < rights; ++b) dots_tile<Lefts, 1>(left, right + b, rows, out + b, step);
}

void dots(const double* const* left, std::size_t lefts, const double* const* right, std::size_t rights, std::size_t rows,
          double* out, std::size_t step) {
  std::size_t a = 0;
  for (; a + 3 <= lefts; a += 3) dots_beside<3>(left + a, right, rights, rows, out + a * step, step);
  for (; a < lefts; ++a) dots_beside<1>(left + a, right, rights, rows, out + a * step, step);
}

void lower_dots(const double* const* left, const double* const* right, std::size_t count, std::size_t rows, double* out,
                std::size_t step) {
  std::size_t a = 0;
  for (; a + 3 <= count; a += 3) {
    const std::size_t enough = a + 3 + (4 - (a + 3) % 4) % 4;
    dots_beside<3>(left + a, right, enough < count ? enough : count, rows, out + a * step, step);
  }
  for (; a < count; ++a) dots_beside<1>(left + a, right, a + 1, rows, out + a * step, step);
}

[[gnu::always_inline]] inline Lanes larger(const Lanes& a, const Lanes& b) { return chosen(where_negative((LaneBits)(a - b)), b, a); }

double judge(const LabelledWeights& rows, double* score, double* residual) {
  const std::size_t n = rows.rows;
  double lost = 0;
  for (std::size_t i = 0; i < n; i += lanes) {
    Lanes top = load(score + i);
    for (std::size_t c = 1; c < rows.classes; ++c) top = larger(top, load(score + c * n + i));
    Lanes own{}, total{};
    for (std::size_t l = 0; l < lanes; ++l) own[l] = score[static_cast<std::size_t>(rows.label[i + l]) * n + i + l];
    own = own - top;
    for (std::size_t c = 0; c < rows.classes; ++c) {
      const Lanes share = exp_of_negative(larger(load(score + c * n + i) - top, Lanes{} - 708.0));
      store(score + c * n + i, share);
      total += share;
    }
    const Lanes weight = load(rows.weight + i), scale = 1.0 / total;
    const LaneBits counts = where_not_zero((LaneBits)weight);
    for (std::size_t c = 0; c < rows.classes; ++c) {
      const Lanes share = load(score + c * n + i) * scale;
      store(score + c * n + i, share);
      store(residual + c * n + i, weight * share);
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t at = static_cast<std::size_t>(rows.label[i + l]) * n + i + l;
      residual[at] = rows.weight[i + l] * (score[at] - 1.0);
    }
    lost += summed(kept(counts, weight * (log_one_plus(total - 1.0) - own)));
  }
  return lost;
}

void bend(const LabelledWeights& rows, const double* share, double* score) {
  const std::size_t n = rows.rows;
  for (std::size_t i = 0; i < n; i += lanes) {
    Halves mean;
    for (std::size_t c = 0; c < rows.classes; ++c) mean.add(Halves::at(share + c * n + i), Halves::at(score + c * n + i));
    const Halves weight = Halves::at(rows.weight + i);
    for (std::size_t c = 0; c < rows.classes; ++c) {
      const Halves p = Halves::at(share + c * n + i);
      Halves u = Halves::at(score + c * n + i);
      u.low = weight.low * p.low * (u.low - mean.low), u.high = weight.high * p.high * (u.high - mean.high);
      u.store(score + c * n + i);
    }
  }
}

void times(const double* a, const double* b, std::size_t rows, double* out) {
  for (std::size_t i = 0; i < rows; i += lanes) store(out + i, load(a + i) * load(b + i));
}

}  // namespace

const ClassLoops BAYTREE_LEVEL{combine, dots, lower_dots, judge, bend, times};

}  // namespace baytree::linear
