// Loops of logistic_loops.hpp, compiled once per instruction set; BAYTREE_LEVEL names the table that this copy defines.
#include "linear/logistic/logistic_loops.hpp"

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

// Probability, residual and loss of eight rows of two classes.
double judge_eight(const Lanes& label, const Lanes& weight, double* score, double* residual) {
  const Judged judged = linear::judge(load(score), label);
  const LaneBits counts = where_not_zero((LaneBits)weight);
  store(score, judged.share);
  store(residual, kept(counts, weight * (judged.share - label)));
  return summed(kept(counts, weight * judged.loss));
}

double judge_two(const LabelledWeights& rows, double* score, double* residual) {
  double lost = 0;
  std::size_t i = 0;
  for (; i + lanes <= rows.rows; i += lanes) {
    Lanes label;
    for (std::size_t l = 0; l < lanes; ++l) label[l] = rows.label[i + l];
    lost += judge_eight(label, load(rows.weight + i), score + i, residual + i);
  }
  if (i == rows.rows) return lost;
  Lanes label{}, weight{};
  double last_score[lanes]{}, last_residual[lanes]{};
  for (std::size_t l = 0; i + l < rows.rows; ++l) label[l] = rows.label[i + l], weight[l] = rows.weight[i + l], last_score[l] = score[i + l];
  lost += judge_eight(label, weight, last_score, last_residual);
  for (std::size_t l = 0; i + l < rows.rows; ++l) score[i + l] = last_score[l], residual[i + l] = last_residual[l];
  return lost;
}

void bend_two(const LabelledWeights& rows, const double* probability, double* score) {
  for (std::size_t i = 0; i < rows.rows; ++i) score[i] *= rows.weight[i] * probability[i] * (1.0 - probability[i]);
}

double judge(const LabelledWeights& rows, double* score, double* residual) {
  if (rows.scores == 1) return judge_two(rows, score, residual);
  const std::size_t n = rows.rows;
  double lost = 0;
  for (std::size_t i = 0; i < n; i += lanes) {
    Lanes top = load(score + i);
    for (std::size_t c = 1; c < rows.scores; ++c) top = larger(top, load(score + c * n + i));
    Lanes truth{}, total{};
    for (std::size_t l = 0; l < lanes; ++l) truth[l] = score[static_cast<std::size_t>(rows.label[i + l]) * n + i + l];
    truth = truth - top;
    for (std::size_t c = 0; c < rows.scores; ++c) {
      const Lanes share = exp_of_negative(larger(load(score + c * n + i) - top, Lanes{} - 708.0));
      store(score + c * n + i, share);
      total += share;
    }
    const Lanes weight = load(rows.weight + i), scale = 1.0 / total;
    const LaneBits counts = where_not_zero((LaneBits)weight);
    for (std::size_t c = 0; c < rows.scores; ++c) {
      const Lanes share = load(score + c * n + i) * scale;
      store(score + c * n + i, share);
      store(residual + c * n + i, weight * share);
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::size_t at = static_cast<std::size_t>(rows.label[i + l]) * n + i + l;
      residual[at] = rows.weight[i + l] * (score[at] - 1.0);
    }
    lost += summed(kept(counts, weight * (log_one_plus(total - 1.0) - truth)));
  }
  return lost;
}

void bend(const LabelledWeights& rows, const double* share, double* score) {
  if (rows.scores == 1) return bend_two(rows, share, score);
  const std::size_t n = rows.rows;
  for (std::size_t i = 0; i < n; i += lanes) {
    Halves mean;
    for (std::size_t c = 0; c < rows.scores; ++c) mean.add(Halves::at(share + c * n + i), Halves::at(score + c * n + i));
    const Halves weight = Halves::at(rows.weight + i);
    for (std::size_t c = 0; c < rows.scores; ++c) {
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

// Compressed rows.

[[gnu::always_inline]] inline void set_four(double* to, const Four& x) { *reinterpret_cast<Four*>(to) = x; }

template <std::size_t N> struct Fours {
  static constexpr std::size_t count = N;
};

// Calls f(Fours<N>, first) for the scores first … first + 4 N, until all of them have had their turn.
template <typename F> [[gnu::always_inline]] inline void by_fours(std::size_t width, const F& f) {
  for (std::size_t first = 0; first < width;) {
    switch ((width - first) / half) {
      case 1: f(Fours<1>{}, first), first += 1 * half; break;
      case 2: f(Fours<2>{}, first), first += 2 * half; break;
      case 3: f(Fours<3>{}, first), first += 3 * half; break;
      case 5: f(Fours<5>{}, first), first += 5 * half; break;
      default: f(Fours<4>{}, first), first += 4 * half; break;
    }
  }
}

void scores(const CompressedEntries& entries, const double* coefficient, std::size_t width, double* out) {
  if (width == 1) {
    for (std::size_t i = 0; i < entries.rows; ++i) {
      double sum = 0;
      for (auto e = entries.start[i]; e < entries.start[i + 1]; ++e) sum += entries.value[e] * coefficient[entries.feature[e]];
      out[i] = sum;
    }
    return;
  }
  by_fours(width, [&](auto fours, std::size_t first) {
    for (std::size_t i = 0; i < entries.rows; ++i) {
      Four sum[fours.count]{};
      for (auto e = entries.start[i]; e < entries.start[i + 1]; ++e) {
        const double v = entries.value[e];
        const double* const own = coefficient + static_cast<std::size_t>(entries.feature[e]) * width + first;
        for (std::size_t c = 0; c < fours.count; ++c) sum[c] += v * four_at(own + half * c);
      }
      for (std::size_t c = 0; c < fours.count; ++c) set_four(out + i * width + first + half * c, sum[c]);
    }
  });
}

void sums(const CompressedEntries& entries, const double* of_rows, std::size_t width, double* out) {
  if (width == 1) {
    for (std::size_t i = 0; i < entries.rows; ++i)
      for (auto e = entries.start[i]; e < entries.start[i + 1]; ++e) out[entries.feature[e]] += entries.value[e] * of_rows[i];
    return;
  }
  by_fours(width, [&](auto fours, std::size_t first) {
    for (std::size_t i = 0; i < entries.rows; ++i) {
      Four own[fours.count];
      for (std::size_t c = 0; c < fours.count; ++c) own[c] = four_at(of_rows + i * width + first + half * c);
      for (auto e = entries.start[i]; e < entries.start[i + 1]; ++e) {
        const double v = entries.value[e];
        double* const to = out + static_cast<std::size_t>(entries.feature[e]) * width + first;
        for (std::size_t c = 0; c < fours.count; ++c) set_four(to + half * c, four_at(to + half * c) + v * own[c]);
      }
    }
  });
}

// By feature: the sums of one feature stay in the cache.
void squares(const CompressedEntries& entries, const FeatureEntries& by_feature, const double* factor, std::size_t width, double* out) {
  const std::size_t features = by_feature.features;
  if (width == 1) {
    for (std::size_t a = 0; a < features; ++a)
      for (auto at = by_feature.start[a]; at < by_feature.start[a + 1]; ++at) {
        const std::int64_t last = by_feature.place[at];
        const std::int32_t i = by_feature.row[at];
        const double v = factor[i] * entries.value[last];
        for (auto b = entries.start[i]; b <= last; ++b)
          out[a * features + static_cast<std::size_t>(entries.feature[b])] += v * entries.value[b];
      }
    return;
  }
  by_fours(width, [&](auto fours, std::size_t first) {
    for (std::size_t a = 0; a < features; ++a)
      for (auto at = by_feature.start[a]; at < by_feature.start[a + 1]; ++at) {
        const std::int64_t last = by_feature.place[at];
        const auto i = static_cast<std::size_t>(by_feature.row[at]);
        Four own[fours.count];
        for (std::size_t c = 0; c < fours.count; ++c) own[c] = entries.value[last] * four_at(factor + i * width + first + half * c);
        for (auto b = entries.start[i]; b <= last; ++b) {
          double* const to = out + (a * features + static_cast<std::size_t>(entries.feature[b])) * width + first;
          for (std::size_t c = 0; c < fours.count; ++c) set_four(to + half * c, four_at(to + half * c) + entries.value[b] * own[c]);
        }
      }
  });
}

// The scores of one class in eight rows; rows that do not exist repeat the first one.
[[gnu::always_inline]] inline Lanes column_at(const double* from, std::size_t width, std::size_t count) {
  Lanes x;
  for (std::size_t l = 0; l < lanes; ++l) x[l] = from[l < count ? l * width : 0];
  return x;
}

double judge_rows(const LabelledWeights& rows, std::size_t width, double* score, double* residual) {
  if (rows.scores == 1) return judge_two(rows, score, residual);
  double lost = 0;
  for (std::size_t i = 0; i < rows.rows; i += lanes) {
    const std::size_t count = rows.rows - i < lanes ? rows.rows - i : lanes;
    double* const own = score + i * width;
    Lanes top = column_at(own, width, count), truth, weight{}, total{};
    for (std::size_t c = 1; c < rows.scores; ++c) top = larger(top, column_at(own + c, width, count));
    for (std::size_t l = 0; l < lanes; ++l) truth[l] = own[l < count ? l * width + static_cast<std::size_t>(rows.label[i + l]) : 0];
    for (std::size_t l = 0; l < count; ++l) weight[l] = rows.weight[i + l];
    truth = truth - top;
    for (std::size_t c = 0; c < rows.scores; ++c) {
      const Lanes power = exp_of_negative(larger(column_at(own + c, width, count) - top, Lanes{} - 708.0));
      for (std::size_t l = 0; l < count; ++l) own[l * width + c] = power[l];
      total += power;
    }
    const Lanes scale = 1.0 / total;
    for (std::size_t l = 0; l < count; ++l) {
      double* const probability = own + l * width;
      double* const to = residual + (i + l) * width;
      for (std::size_t c = 0; c < width; c += half) {
        const Four p = four_at(probability + c) * scale[l];
        set_four(probability + c, p);
        set_four(to + c, weight[l] * p);
      }
      const auto label = static_cast<std::size_t>(rows.label[i + l]);
      to[label] = weight[l] * (probability[label] - 1.0);
    }
    lost += summed(kept(where_not_zero((LaneBits)weight), weight * (log_one_plus(total - 1.0) - truth)));
  }
  return lost;
}

void bend_rows(const LabelledWeights& rows, std::size_t width, const double* probability, double* score) {
  if (rows.scores == 1) return bend_two(rows, probability, score);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const double* const p = probability + i * width;
    double* const u = score + i * width;
    Four sum{};
    for (std::size_t c = 0; c < width; c += half) sum += four_at(p + c) * four_at(u + c);
    const double mean = summed_four(sum);
    for (std::size_t c = 0; c < width; c += half) set_four(u + c, rows.weight[i] * four_at(p + c) * (four_at(u + c) - mean));
  }
}

}  // namespace

const LogisticLoops BAYTREE_LEVEL{combine, dots, lower_dots, judge, bend, times, scores, sums, squares, judge_rows, bend_rows};

}  // namespace baytree::linear
