// Runs the vector loops on fixed numbers and prints a digest of the bits that each gives, for machines to be compared.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <vector>

#include "linear/logistic/compressed_rows.hpp"
#include "linear/logistic/dense_rows.hpp"
#include "linear/logistic/newton.hpp"
#include "linear/row_loops.hpp"
#include "naive_bayes/densities.hpp"
#include "numeric/moments.hpp"

namespace {

using namespace baytree;

constexpr std::size_t n_rows = 3001, n_columns = 21, n_classes = 3;

// Bits that look random and are the same everywhere.
class Bits {
 public:
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  double between(double low, double high) { return low + (high - low) * static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

class Digest {
 public:
  template <typename Number> void add(std::span<const Number> numbers) {
    for (const Number number : numbers) value_ = (value_ ^ std::bit_cast<std::uint64_t>(number)) * 0x100000001b3;
  }
  void print(const char* name) const { std::printf("%s %016llx\n", name, static_cast<unsigned long long>(value_)); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

struct Rows {
  std::vector<double> values, weight;
  std::vector<std::int32_t> label;
  numeric::Matrix matrix() const { return {values.data(), n_rows, n_columns, static_cast<std::ptrdiff_t>(n_columns), 1}; }
};

Rows rows_between(double low, double high, int spread, bool has_missing) {
  Bits bits;
  Rows rows{std::vector<double>(n_rows * n_columns), std::vector<double>(n_rows), std::vector<std::int32_t>(n_rows)};
  for (double& value : rows.values) {
    value = bits.between(low, high);
    if (spread > 0) value = std::ldexp(value, static_cast<int>(bits() % static_cast<unsigned>(2 * spread)) - spread);
    if (has_missing && bits() % 10 == 0) value = std::numeric_limits<double>::quiet_NaN();
  }
  for (double& weight : rows.weight) weight = bits.between(0.01, 3);
  for (std::int32_t& label : rows.label) label = static_cast<std::int32_t>(bits() % n_classes);
  return rows;
}

void print_moments(const char* name, const Rows& rows, bool is_weighted) {
  numeric::MomentCells cells(n_classes, n_columns);
  const std::span<const double> weight = is_weighted ? std::span<const double>(rows.weight) : std::span<const double>();
  numeric::MomentKernel(rows.matrix(), rows.label, weight, cells).observe();
  Digest digest;
  const numeric::MomentTables tables = cells.tables();
  for (const auto* part : {&tables.weight, &tables.total, &tables.square}) digest.add(std::span<const std::int64_t>(part->limbs));
  digest.print(name);
}

void print_scores(const char* name, const Rows& rows, double degrees) {
  Bits bits;
  std::vector<double> mean(n_classes * n_columns), scale(mean.size()), freedom(mean.size(), degrees), constant(mean.size());
  for (double& value : mean) value = bits.between(-1, 1);
  for (double& value : scale) value = bits.between(0.5, 2);
  for (double& value : constant) value = bits.between(-3, 0);
  std::vector<double> scores(n_rows * n_classes);
  naive_bayes::add_scores(rows.matrix(), {mean, scale, freedom, constant, n_classes}, scores);
  Digest digest;
  digest.add(std::span<const double>(scores));
  digest.print(name);
}

void print_slope(const char* name, const Rows& rows) {
  Bits bits;
  std::vector<std::int32_t> label(n_rows);
  for (std::size_t i = 0; i < n_rows; ++i) label[i] = rows.label[i] == 0;
  std::vector<double> coefficient(n_columns), gradient(n_columns + 1);
  for (double& value : coefficient) value = bits.between(-1, 1);
  const linear::RowRun run{rows.values.data(), static_cast<std::ptrdiff_t>(n_columns), n_rows, n_columns, label.data(), rows.weight.data()};
  const double loss[] = {linear::row_loops().slope(run, coefficient.data(), 0.1, gradient.data())};
  Digest digest;
  digest.add(std::span<const double>(gradient));
  digest.add(std::span<const double>(loss));
  digest.print(name);
}

// The optimum of several classes on dense and on compressed rows, whose steps are loops over features and over small matrices.
void print_classes(const char* name, const Rows& rows, double ridge, double lasso) {
  constexpr std::size_t n_few = 90, n_features = 6, q = n_features + 1;
  const linear::RowRun run{rows.values.data(), static_cast<std::ptrdiff_t>(n_columns), n_few, n_features, rows.label.data(), rows.weight.data()};
  std::vector<double> ridges(q, ridge), lassos(q, lasso);
  ridges.back() = lassos.back() = 0;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> feature;
  std::vector<double> value;
  for (std::size_t i = 0; i < n_few; ++i) {
    for (std::size_t j = 0; j < n_features; ++j) feature.push_back(static_cast<std::int32_t>(j)), value.push_back(rows.values[i * n_columns + j]);
    feature.push_back(static_cast<std::int32_t>(n_features)), value.push_back(1.0);
    start.push_back(static_cast<std::int64_t>(value.size()));
  }
  const std::span<const std::int32_t> label(rows.label.data(), n_few);
  const linear::CompressedRows compressed({start, feature, value}, q, label, std::span<const double>(rows.weight.data(), n_few), n_classes);
  const std::vector<std::vector<double>> starts(1, std::vector<double>(n_classes * q));
  const linear::StoppingRule stop{1e-8, 1e-10, 100};
  const auto fit = linear::fit_logistic(linear::DenseRows(run, n_classes), {ridges, lassos}, starts, stop);
  const auto same = linear::fit_logistic(compressed, {ridges, lassos}, starts, stop);
  if (!fit || !same) return;
  Digest digest;
  digest.add(std::span<const double>(fit->theta));
  digest.add(std::span<const double>(same->theta));
  digest.print(name);
}

}  // namespace

int main() {
  const Rows close = rows_between(-4, 4, 0, false), apart = rows_between(-4, 4, 60, false), holes = rows_between(1, 4, 3, true);
  print_moments("close", close, false);
  print_moments("apart", apart, false);
  print_moments("holes", holes, false);
  print_moments("weighted", close, true);
  print_moments("weighted holes", holes, true);
  print_scores("normal", close, std::numeric_limits<double>::infinity());
  print_scores("student", close, 7.5);
  print_slope("logistic", close);
  print_classes("ridge of classes", close, 2.0, 0.0);
  print_classes("lasso of classes", close, 0.0, 1.5);
}
