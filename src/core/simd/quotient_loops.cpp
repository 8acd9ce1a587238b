// The quotients of numbers/quotient_loops.hpp, compiled once per instruction set.
//
// Bounds of errors, in parts of what stands there: a number read limb by limb is good to 2^-100, since each of at most eleven additions
// loses less than 3 * 2^-106 of it. Two numbers cancel only where the higher limbs are so few units that they are kept exactly.
// Products and differences of such pairs add some 2^-103 each. The margins are more than twice what follows from that.
#include "numbers/quotient_loops.hpp"

#include "simd/exact_products.hpp"

namespace baytree::numbers {
namespace {

using namespace simd;

constexpr double mean_margin = 0x1p-97, variance_margin = 0x1p-96;
constexpr double limb_unit = 0x1p-32;

// high + low, of which the second is no more than half a unit of the last place of the first.
struct Pair {
  Run high, low;
};

// The sum of a larger and a smaller number.
[[gnu::always_inline]] inline Pair pair_of(const Run& larger, const Run& smaller) {
  const Run high = larger + smaller;
  return {high, smaller - (high - larger)};
}

// The sum of any two numbers, exactly.
[[gnu::always_inline]] inline Pair sum_of(const Run& a, const Run& b) {
  const Run high = a + b, part = high - a;
  return {high, (a - (high - part)) + (b - part)};
}

// One limb of as many cells as a register holds. Whole numbers below 2^51, added to the bits of 1.5 * 2^52, are the doubles above it.
[[gnu::always_inline]] inline Run limb_of(const LimbLayers& cells, std::size_t cell, std::size_t k) {
  constexpr double above = 0x1.8p52;
  RunBits sum = (RunBits)(Run{} + above);
  const std::int64_t* at = cells.first + cell * cells.width + k;
  for (std::size_t layer = 0; layer < cells.n_layers; ++layer, at += cells.n_cells * cells.width) {
    RunBits limb;
    for (std::size_t lane = 0; lane < width; ++lane) limb[lane] = at[lane * cells.width];
    sum += limb;
  }
  return (Run)sum - above;
}

// Numbers from the highest limb down.
[[gnu::always_inline]] inline Pair read(const LimbLayers& cells, std::size_t cell) {
  Pair number{limb_of(cells, cell, cells.width - 1), Run{}};
  double unit = 1;
  for (std::size_t k = cells.width - 1; k-- > 0;) {
    unit *= limb_unit;
    const Pair sum = sum_of(number.high, limb_of(cells, cell, k) * unit);
    number = pair_of(sum.high, number.low + sum.low);
  }
  return number;
}

// number * factor.
[[gnu::always_inline]] inline Pair times(const Pair& number, const Run& factor) {
  const Run product = number.high * factor;
  return pair_of(product, product_error(number.high, factor, product) + number.low * factor);
}

[[gnu::always_inline]] inline Pair square_of(const Pair& number) {
  const Run product = number.high * number.high;
  return pair_of(product, product_error(number.high, number.high, product) + 2.0 * number.high * number.low);
}

[[gnu::always_inline]] inline Pair difference(const Pair& a, const Pair& b) {
  const Pair high = sum_of(a.high, -b.high);
  return pair_of(high.high, high.low + (a.low - b.low));
}

[[gnu::always_inline]] inline Pair quotient(const Pair& number, const Pair& divisor) {
  const Run rounded = number.high / divisor.high, product = rounded * divisor.high;
  const Run rest = (number.high - product) - product_error(rounded, divisor.high, product);
  return {rounded, (rest + (number.low - rounded * divisor.low)) / divisor.high};
}

// What all numbers within the margin round to, or NaN.
[[gnu::always_inline]] inline Run decided(const Pair& number, const Run& margin) {
  const Run most = number.high + (number.low + margin), least = number.high + (number.low - margin);
  return most == least ? most : Run{} + __builtin_nan("");
}

[[gnu::always_inline]] inline Run where_positive(const Run& weight, const Run& value) {
  return weight > 0.0 ? value : Run{} + __builtin_nan("");
}

[[gnu::always_inline]] inline Run magnitude_of(const Run& x) { return (Run)((RunBits)x & 0x7fffffffffffffff); }

[[gnu::always_inline]] inline Run root_of(const Run& x) {
  Run root;
  for (std::size_t lane = 0; lane < width; ++lane) root[lane] = __builtin_sqrt(x[lane]);
  return root;
}

// A power of two from its exponent, which is that of a normal double.
double power_of_two(int exponent) { return __builtin_ldexp(1.0, exponent); }

void means(const LimbLayers& weight, const LimbLayers& total, int power, std::size_t first, std::size_t last, double* mean) {
  const double scale = power_of_two(power);
  for (std::size_t cell = first; cell + width <= last; cell += width) {
    const Run divisor = limb_of(weight, cell, 0);
    const Pair found = quotient(read(total, cell), {divisor, Run{}});
    put_part(mean + cell, 0, where_positive(divisor, decided(found, magnitude_of(found.high) * mean_margin)) * scale);
  }
}

void deviations(const LimbLayers& weight, const LimbLayers& total, const LimbLayers& square, int square_power, int power,
                std::size_t first, std::size_t last, double* deviation) {
  const int odd = power & 1;
  const double square_scale = power_of_two(square_power), even_scale = power_of_two(odd), scale = power_of_two((power - odd) / 2);
  for (std::size_t cell = first; cell + width <= last; cell += width) {
    const Run rows = limb_of(weight, cell, 0);
    const Pair all = times(read(square, cell), rows * square_scale), divisor = square_of({rows, Run{}});
    const Pair found = quotient(difference(all, square_of(read(total, cell))), divisor);
    const Run variance = decided(found, all.high / divisor.high * variance_margin);
    put_part(deviation + cell, 0, where_positive(rows, root_of(variance * even_scale) * scale));
  }
}

}  // namespace

const QuotientLoops BAYTREE_LEVEL{means, deviations};

}  // namespace baytree::numbers
