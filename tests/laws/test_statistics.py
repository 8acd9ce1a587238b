"""Statistics of parts add up to the statistics of the whole, bit for bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import ExactSum, is_of_rows, joined
from baytree.statistics.moments import Moments
from law_settings import settings

finite = st.floats(allow_nan=False, allow_infinity=False)
any_value = st.one_of(finite, st.just(np.nan), st.sampled_from([0.0, -0.0, 5e-324, 1e300, 1e15 + 0.125, 2**53 + 2.0]))
weights = st.one_of(st.just(1.0), st.floats(0, 1e307), st.sampled_from([0.0, 5e-324, 1e-300, 3.0]))
magnitudes = st.floats(1e-6, 1e6)
close_values = st.one_of(magnitudes, magnitudes.map(lambda x: -x), st.sampled_from([0.0, -0.0, np.nan, 1.0, 2.0**-40]))
close_weights = st.one_of(magnitudes, st.sampled_from([0.0, 1.0, 2.0, 1 / 3]))
N_CLASSES = 3


@st.composite
def rows(draw, max_rows=30):
    n = draw(st.integers(0, max_rows))
    d = draw(st.integers(1, 10))
    numbers, weighing = draw(st.sampled_from([(any_value, weights), (close_values, close_weights)]))
    values = draw(arrays(np.float64, (n, d), elements=numbers))
    label = draw(arrays(np.int32, n, elements=st.integers(0, N_CLASSES - 1)))
    weight = draw(st.one_of(st.none(), arrays(np.float64, n, elements=weighing)))
    order = draw(st.permutations(range(n)))
    cut = draw(st.integers(0, n))
    return values, label, weight, np.array(order, dtype=int), cut


def moments(values, label, weight, part=slice(None)):
    return Moments.of(values[part], label[part], None if weight is None else weight[part], N_CLASSES)


def exactly(total: ExactSum) -> list[Fraction]:
    return [Fraction(n) * Fraction(2) ** total.exponent for n in total.integers()]


@given(rows())
@settings(max_examples=60, deadline=None)
def test_moments_are_the_exact_rational_sums(case):
    values, label, weight, _, _ = case
    seen = moments(values, label, weight)
    w = np.ones(len(values)) if weight is None else weight
    for c in range(N_CLASSES):
        for j in range(values.shape[1]):
            known = (label == c) & ~np.isnan(values[:, j])
            pairs = [(Fraction(a), Fraction(b)) for a, b in zip(w[known].tolist(), values[known, j].tolist(), strict=True)]
            k = c * values.shape[1] + j
            assert exactly(seen.weight)[k] == sum((a for a, _ in pairs), Fraction(0))
            assert exactly(seen.total)[k] == sum((a * b for a, b in pairs), Fraction(0))
            assert exactly(seen.square)[k] == sum((a * b * b for a, b in pairs), Fraction(0))


@given(rows())
@settings(max_examples=50, deadline=None)
def test_moments_of_parts_add_up_in_any_order_and_can_be_taken_away(case):
    values, label, weight, order, cut = case
    whole, first, second = (moments(values, label, weight, part) for part in (slice(None), slice(cut), slice(cut, None)))
    assert first + second == whole == second + first
    assert whole - second == first
    assert moments(values, label, weight, order) == whole
    assert moments(np.asfortranarray(values), label, weight) == whole
    assert Moments.of_columns([column.copy() for column in values.T], label, weight, N_CLASSES) == whole


@pytest.mark.parametrize("n_rows", [5, 2047, 2048, 5000])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e30])
def test_a_column_that_stands_alone_has_the_moments_that_it_has_among_others(n_rows, scale):
    """Its rows stand side by side where else eight columns do."""
    random = np.random.default_rng(n_rows)
    column, label = scale * random.normal(size=n_rows), random.integers(0, N_CLASSES - 1, n_rows).astype(np.int32)
    among = moments(np.ascontiguousarray(np.repeat(column[:, None], 8, axis=1)), label, None)
    for alone in (Moments.of_columns([column], label, None, N_CLASSES), moments(column[:, None], label, None)):
        assert Moments.joined([alone] * 8) == among
    nine = Moments.of_columns([column] * 9, label, None, N_CLASSES)
    assert nine == Moments.joined([among, moments(np.asfortranarray(column[:, None]), label, None)])


def test_the_moments_of_many_rows_are_those_of_each_column_alone():
    """Chunks, groups of eight columns and their ends, beside one column at a time."""
    random = np.random.default_rng(5)
    values = random.normal(size=(5000, 21)) * 10.0 ** random.integers(-30, 30, (5000, 21))
    values[random.random(values.shape) < 0.001] = np.nan
    values[[17, 4999], [20, 13]] = 1e300, 5e-324
    label = random.integers(0, N_CLASSES, 5000).astype(np.int32)
    for n_columns in (1, 7, 8, 9, 15, 16, 17, 21):
        whole = moments(values[:, :n_columns], label, None)
        assert whole == Moments.joined([moments(values[:, [j]], label, None) for j in range(n_columns)])
    assert whole == moments(np.asfortranarray(values), label, None)


FEW_ROWS = {
    "alike": lambda _, values: values,
    "of_different_sizes": lambda random, values: values * 10.0 ** random.integers(-6, 6, values.shape[1]),
    "far_apart": lambda random, values: values * 2.0 ** random.integers(-40, 40, values.shape),
    "far_from_zero": lambda _, values: values - 1e9,
    "mostly_zero": lambda random, values: np.where(random.random(values.shape) < 0.9, 0.0, values),
    "tiny": lambda _, values: values * 1e-120,
    "beyond_slices": lambda _, values: values * 1e-160,
    "zero": lambda _, values: values * 0.0,
    "whole": lambda _, values: np.round(8 * values),
    "with_a_hole": lambda _, values: np.where(np.arange(values.shape[1]) == 70, np.nan, values),
}


@pytest.mark.parametrize("n_rows", [1, 30, 383, 384, 385])
@pytest.mark.parametrize("kind", FEW_ROWS)
def test_the_moments_of_few_rows_are_those_of_each_column_alone(kind, n_rows):
    """The sums of a column do not depend on the columns that are summed beside it."""
    random = np.random.default_rng(n_rows)
    values = FEW_ROWS[kind](random, random.normal(size=(n_rows, 150)))
    label = random.integers(0, N_CLASSES - 1, n_rows).astype(np.int32)
    for n_columns in (8, 13, 64, 75, 150):
        whole = moments(values[:, :n_columns], label, None)
        assert whole == Moments.joined([moments(values[:, [j]], label, None) for j in range(n_columns)])


def test_weighted_moments_of_many_rows_are_those_of_small_parts():
    """Slices of chunks beside rows one by one: a weight of 1e-300 among them makes all others go that way."""
    random = np.random.default_rng(6)
    values = random.normal(size=(5000, 11)) * 10.0 ** random.integers(-2, 2, (5000, 11))
    values[random.random(values.shape) < 0.01] = np.nan
    label = random.integers(0, N_CLASSES, 5000).astype(np.int32)
    for weight in (random.random(5000), random.integers(1, 9, 5000).astype(float), np.full(5000, 0.1)):
        far = np.zeros((1, 11)), np.zeros(1, np.int32), np.full(1, 1e-300)
        slow = [
            moments(
                np.vstack([values[i : i + 50], far[0]]),
                np.append(label[i : i + 50], far[1]),
                np.append(weight[i : i + 50], far[2]),
            )
            - moments(*far)
            for i in range(0, 5000, 50)
        ]
        assert moments(values, label, weight) == sum(slow[1:], slow[0])


@given(rows())
@settings(max_examples=50, deadline=None)
def test_what_rows_leave_is_of_rows_and_what_a_stranger_leaves_is_not(case):
    values, label, weight, _, cut = case
    whole, part = moments(values, label, weight), moments(values, label, weight, slice(cut))
    assert is_of_rows(whole)
    assert is_of_rows(whole - part)
    if part != whole - whole:
        assert not is_of_rows(part - whole) or part == whole
        assert not is_of_rows(whole - whole - part)


@given(rows())
@settings(max_examples=50, deadline=None)
def test_the_empty_part_is_neutral(case):
    values, label, weight, _, _ = case
    whole, empty = moments(values, label, weight), moments(values, label, weight, slice(0))
    assert whole + empty == whole == empty + whole
    assert empty + empty == empty


@given(rows())
@settings(max_examples=50, deadline=None)
def test_mean_and_deviation_are_the_rational_ones_rounded(case):
    values, label, weight, _, _ = case
    seen = moments(values, label, weight)
    mean, deviation = seen.mean(), seen.deviation()
    weight = np.ones(len(values)) if weight is None else weight
    for c in range(N_CLASSES):
        for j in range(values.shape[1]):
            own = (label == c) & ~np.isnan(values[:, j]) & (weight > 0)
            known = [(Fraction(w), Fraction(v)) for w, v in zip(weight[own].tolist(), values[own, j].tolist(), strict=True)]
            if not known:
                assert np.isnan(mean[c, j])
                assert np.isnan(deviation[c, j])
                continue
            total = sum(w for w, _ in known)
            expected = sum(w * v for w, v in known) / total
            assert mean[c, j] == float(expected)
            variance = sum(w * (v - expected) ** 2 for w, v in known) / total
            found = Fraction(float(deviation[c, j]))
            assert abs(found**2 - variance) <= variance * Fraction(1, 10**15) or found < Fraction(1, 10**300)


def rounded_variance(weight: int, total: Fraction, square: Fraction) -> float:
    return float((weight * square - total**2) / weight**2)


@pytest.mark.parametrize("kind", ["alike", "of_different_sizes", "far_from_zero", "mostly_zero", "zero", "whole", "tiny"])
def test_quotients_that_doubles_decide_are_the_rational_ones_rounded(kind):
    """Many cells at once, of a class and of all; those whose rounding doubles cannot tell are among the whole numbers."""
    random = np.random.default_rng(8)
    values = FEW_ROWS[kind](random, random.normal(size=(16, 300)))
    values[:, 0] = 1 + np.arange(16) % 4 // 2 * 2.0**-52  # its means lie halfway between two doubles
    values[:, 1] = np.where(np.arange(16) < 8, values[:, 2], -values[:, 2][np.arange(16) - 8])  # its sums cancel
    seen = moments(values, (np.arange(16) % 2).astype(np.int32), None)
    total, square = (np.array(exactly(field)).reshape(N_CLASSES, 300) for field in (seen.total, seen.square))
    mean, deviation = np.array(seen.mean()), np.array(seen.deviation())
    for c, j in np.ndindex(2, 300):
        assert mean[c, j] == float(total[c, j] / 8)
        assert deviation[c, j] == np.sqrt(rounded_variance(8, total[c, j], square[c, j]))
    for j in range(300):
        assert seen.mean_of_all()[j] == float(sum(total[:, j]) / 16)
        assert seen.deviation_of_all()[j] == np.sqrt(rounded_variance(16, sum(total[:, j]), sum(square[:, j])))


@pytest.mark.parametrize("n_rows", [3, 7, 1000])
def test_quotients_of_numbers_that_mostly_cancel_are_the_rational_ones_rounded(n_rows):
    """A variance that is a part in 10^20 of the mean's square leaves doubles little to decide by."""
    random = np.random.default_rng(n_rows)
    values = 10.0 ** random.integers(0, 11, 200) + random.normal(size=(n_rows, 200))
    seen = moments(values, np.zeros(n_rows, np.int32), None)
    total, square = exactly(seen.total), exactly(seen.square)
    expected = [np.sqrt(rounded_variance(n_rows, total[j], square[j])) for j in range(200)]
    assert seen.mean()[0].tolist() == [float(total[j] / n_rows) for j in range(200)]
    assert seen.deviation()[0].tolist() == expected


@given(
    st.lists(st.tuples(st.integers(-1, 4), st.integers(0, N_CLASSES - 1), weights), max_size=40),
    st.integers(0, 40),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_counts_are_exact_and_add_up(cases, cut, is_weighted):
    code = np.array([c[0] for c in cases], np.int32)
    label = np.array([c[1] for c in cases], np.int32)
    weight = np.array([c[2] for c in cases]) if is_weighted else None
    whole, first, second = (
        Counts.of(code[p], label[p], None if weight is None else weight[p], 5, N_CLASSES)
        for p in (slice(None), slice(cut), slice(cut, None))
    )
    assert first + second == whole
    assert whole - second == first
    w = np.ones(len(cases)) if weight is None else weight
    for level in range(-1, 5):
        for c in range(N_CLASSES):
            there = [Fraction(v) for v in w[(code == level) & (label == c)].tolist()]
            assert exactly(whole.cells)[(level + 1) * N_CLASSES + c] == sum(there, Fraction(0))


@given(arrays(np.float64, st.integers(1, 20), elements=finite))
def test_exact_numbers_round_to_the_doubles_they_came_from(values):
    assert np.array_equal(ExactSum.of(values).rounded(), values)


@given(arrays(np.float64, (4, 3), elements=finite), st.lists(st.integers(-1, 3), min_size=1, max_size=6))
def test_taking_places_is_taking_numbers(values, places):
    taken = ExactSum.of(values).take(np.array(places))
    expected = np.where(np.array(places)[:, None] < 0, 0.0, values[np.maximum(places, 0)])
    assert taken == ExactSum.of(expected)


def test_counts_beyond_every_machine_integer_do_not_wrap():
    huge = ExactSum.of(np.array([2**62], np.int64))
    total = huge
    for _ in range(10):
        total = total + total
    assert total.integers()[0] * 2**total.exponent == 2**72


def test_sums_side_by_side_keep_their_numbers():
    parts = [ExactSum.of(np.array([[1.5], [1e300]])), ExactSum.of(np.array([[-3.0], [5e-324]]))]
    assert joined(parts, 1) == ExactSum.of(np.array([[1.5, -3.0], [1e300, 5e-324]]))


def test_where_nothing_was_seen_every_place_is_zero():
    nothing = ExactSum.of(np.zeros((0, 2)))
    assert nothing.take(np.array([-1, -1, -1])).rounded().tolist() == [[0.0, 0.0]] * 3
