"""MARS: what its models are made of, what the algorithm does in corners, and what it refuses."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree import _core
from baytree.engine.partitions import LocalPartitions
from baytree.linear.mars.backward import TriangularFactor, prune
from baytree.linear.mars.features import MarsOptions, SplineRows, spans_of
from baytree.linear.mars.forward import grow
from baytree.linear.mars.learner import MarsLearner
from baytree.linear.mars.model import columns_of

RNG = np.random.default_rng(0)
N = 300
X = pd.DataFrame(
    {
        "temp": RNG.normal(60, 10, N),
        "wind": RNG.exponential(5, N),
        "sky": RNG.choice(["clear", "grey", "rain"], N),
        "size": pd.Categorical.from_codes(RNG.integers(0, 4, N), ["S", "M", "L", "XL"], ordered=True),
    }
)
Y = 2 * np.maximum(0, X.temp - 58) + (X.sky == "rain") * np.maximum(0, 6 - X.wind) * 5 + RNG.normal(size=N)
LABEL = np.where(Y + RNG.normal(size=N) * 8 > 20, "yes", "no")
GAPS = X.mask(pd.DataFrame(RNG.random(X.shape) < 0.1, columns=X.columns))


def numbers(n=200, p=3, seed=0):
    random = np.random.default_rng(seed)
    return np.ascontiguousarray(random.normal(size=(p, n)))


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("rows", [X, GAPS], ids=["complete", "gaps"])
def test_a_ledger_adds_up_to_the_answer_bit_for_bit(degree, rows):
    model = bt.MARSRegressor(max_degree=degree).fit(rows, Y)
    assert [e.scores[0] for e in model.explain(rows)] == model.predict(rows).tolist()
    classes = bt.MARSClassifier(max_degree=degree).fit(rows, LABEL)
    assert [e.probability.tolist() for e in classes.explain(rows)] == classes.predict_proba(rows).tolist()


def test_terms_are_the_model():
    model = bt.MARSRegressor(max_degree=2).fit(X, Y)
    value = {"temp": X.temp, "wind": X.wind, "size": X["size"].cat.codes}
    total = np.zeros(N)
    for term in model.terms():
        product = np.full(N, term["coefficient"])
        for h in term["hinges"]:
            x = value[h["feature"]] if h["feature"] in value else X[h["column"]] == h["feature"].split("=")[1]
            side = {"above": lambda x, h=h: x - h["cut"], "below": lambda x, h=h: h["cut"] - x}.get(h["side"])
            product = product * (x if side is None else np.maximum(0, side(x)))
        total += product
    assert np.allclose(total, model.predict(X), rtol=1e-12)
    assert np.isclose(model.rss_, ((Y - total) ** 2).sum())


def test_a_model_prints_its_terms_as_a_person_reads_them():
    lines = str(bt.MARSRegressor(max_degree=2).fit(X, Y)).splitlines()
    assert any(line.split()[0] in "+−" and " · max(0, temp − 5" in line for line in lines[3:])
    assert any("(sky=rain) · max(0, " in line and " − wind)" in line for line in lines)
    assert "reference levels: sky=clear" in lines


def test_a_negative_cut_and_a_level_are_read_as_such():
    table = pd.DataFrame({"x": np.linspace(-30, 0, 200)})
    assert "max(0, x + " in str(bt.MARSRegressor().fit(table, np.maximum(0, table.x + 12)))
    step = np.maximum(0, X["size"].cat.codes - 2.0)
    assert "max(0, size − " in str(bt.MARSRegressor(min_span=1, end_span=1).fit(X[["size"]], step))


def test_an_interaction_is_found_and_is_a_line_of_the_ledger():
    model = bt.MARSRegressor(max_degree=2).fit(X, Y)
    assert model.score(X, Y) > 0.95
    assert "wind × sky" in [line.column for line in model.explain(X.head(1))[0].evidence]


def test_columns_that_a_model_does_not_use_may_have_any_value():
    model = bt.MARSRegressor().fit(X.assign(noise=RNG.normal(size=N)), Y)
    used = {h["column"] for term in model.terms() for h in term["hinges"]}
    assert "noise" not in used
    assert np.array_equal(model.predict(X.assign(noise=1e308)), model.predict(X.assign(noise=None)))


def test_gaps_are_marked_filled_or_refused_as_asked():
    marked = bt.MARSRegressor(missing="mean+indicator").fit(GAPS, np.where(GAPS.wind.isna(), 50.0, 0.0) + X.temp)
    assert "(wind is missing)" in [term["term"] for term in marked.terms()]
    filled = bt.MARSRegressor(missing="mean").fit(GAPS, Y)
    assert not any("missing" in term["term"] for term in filled.terms())
    with pytest.raises(ValueError, match="column 'temp' has missing values"):
        bt.MARSRegressor(missing="error").fit(GAPS, Y)


def test_a_column_of_text_is_refused_by_name():
    with pytest.raises(ValueError, match="column 'words' is text"):
        bt.MARSClassifier(schema={"words": "text"}).fit({"words": ["a b", "b c"] * 9, "x": range(18)}, ["u", "v"] * 9)


@pytest.mark.parametrize("max_terms", [1, 2])
def test_fewer_than_three_terms_are_a_constant(max_terms):
    model = bt.MARSRegressor(max_terms=max_terms).fit(X, Y)
    assert [term["term"] for term in model.terms()] == ["1"]
    assert np.allclose(model.predict(X), Y.mean())


def test_three_terms_are_one_step():
    assert 2 <= len(bt.MARSRegressor(max_terms=3, prune=False).fit(X, Y).terms()) <= 3


def test_a_constant_target_needs_no_term():
    model = bt.MARSRegressor().fit(X, np.full(N, 7.25))
    assert len(model.terms()) == 1
    assert np.allclose(model.predict(X), 7.25, rtol=1e-14)


def test_a_single_class_is_certain():
    assert (bt.MARSClassifier().fit(X, ["only"] * N).predict_proba(X) == 1).all()


def test_a_class_without_rows_is_never_the_answer():
    table = bt.MARSClassifier()._prepare_rows(X, np.where(X.sky == "rain", "a wet day", LABEL), None).table
    rest = table.take(np.flatnonzero(table.label))  # as a fold that lacks a class
    proba = MarsLearner(MarsOptions()).learn(LocalPartitions(rest)).model.predict(rest)
    dry = X.sky != "rain"
    assert (proba[:, 0] == 0).all()
    assert np.allclose(proba[:, 1:], bt.MARSClassifier().fit(X[dry], LABEL[dry]).predict_proba(X[dry]), rtol=1e-9)


def test_fast_mars_ends_growth_of_one_column_terms_at_about_twenty():
    x = numbers(1000, 12)
    y = np.sum(np.abs(x + np.arange(12)[:, None] / 10), axis=0)[None]
    fast, full = (len(grow(SplineRows(x, y), MarsOptions(fast_k=k, threshold=0.0, max_terms=61))) for k in (20, 0))
    assert fast <= 23 < full


def test_the_units_of_a_column_matter_unless_it_is_standardised():
    tiny = X.assign(temp=X.temp * 1e-6, wind=X.wind * 1e-6)
    assert not np.isclose(bt.MARSRegressor().fit(tiny, Y).score(tiny, Y), bt.MARSRegressor().fit(X, Y).score(X, Y))
    assert np.isclose(
        bt.MARSRegressor(standardize=True).fit(tiny, Y).score(tiny, Y), bt.MARSRegressor().fit(X, Y).score(X, Y)
    )


def test_a_weight_of_two_is_the_row_twice_unless_weights_are_earth_s():
    weight = RNG.integers(1, 4, N).astype(float)
    twice = np.repeat(np.arange(N), weight.astype(int))
    repeated = bt.MARSRegressor(max_degree=2).fit(X.iloc[twice], Y[twice]).predict(X)
    assert np.allclose(bt.MARSRegressor(max_degree=2).fit(X, Y, sample_weight=weight).predict(X), repeated, rtol=1e-9)
    earth = bt.MARSRegressor(max_degree=2, conventions="earth").fit(X, Y, sample_weight=weight)
    assert earth.model_.n_rows == N
    double = bt.MARSRegressor(max_degree=2, conventions="earth").fit(X, Y, sample_weight=2 * weight)
    assert np.isclose(double.rss_, 2 * earth.rss_)


def test_clipped_columns_have_no_knot_among_their_greatest_values():
    x = np.minimum(numbers(300, 2, 3), 0.4)
    y = (np.abs(x[0]) + x[1])[None]
    for term in grow(SplineRows(x, y), MarsOptions(max_degree=2, min_span=1, end_span=1)):
        assert all(hinge.cut < x[hinge.feature].max() for hinge in term)


def test_subsets_of_pruning_need_not_be_nested_and_none_is_worse_than_elimination():
    x = numbers(80, 6, 5)
    y = (np.abs(x[0]) * x[1] + np.abs(x[2] - x[3]) + x[4])[None]
    options = MarsOptions(max_degree=2, threshold=0.0)
    terms = grow(SplineRows(x, y), options)
    factor = TriangularFactor.of(columns_of(terms, x), y.T)
    found = prune(factor, options, 80)
    for subset, rss in zip(found.subsets, found.rss, strict=True):
        basis = columns_of([terms[k] for k in subset], x)
        left = y[0] - basis @ np.linalg.lstsq(basis, y[0], rcond=None)[0]
        assert np.isclose(left @ left, rss, rtol=1e-8)
    assert found.gcv[found.size - 1] == found.gcv.min()
    assert (np.diff(found.rss) <= 1e-9).all()


@pytest.mark.parametrize("n_responses", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_backward_pass_is_that_of_factorising_every_order_anew(n_responses, seed):
    random = np.random.default_rng(seed)
    basis = np.column_stack([np.ones(60), random.normal(size=(60, 9))])
    y = basis[:, [1, 3, 6]] @ random.normal(size=(3, n_responses)) + random.normal(size=(60, n_responses))
    factor = TriangularFactor.of(basis, y)

    def rest(terms):
        return factor.take(terms).rest

    order = list(range(10))
    subsets = {size: order[:size] for size in range(1, 11)}
    for size in range(10, 1 if n_responses > 1 else 2, -1):
        gone = min(order[1:size], key=lambda term: rest([t for t in order[:size] if t != term]))
        order = [*(t for t in order[:size] if t != gone), gone, *order[size:]]
        for k in range(1, size) if n_responses == 1 else [size - 1]:
            if n_responses > 1 or rest(order[:k]) < rest(subsets[k]) - 1e-12:
                subsets[k] = order[:k]
    found = prune(factor, MarsOptions(), 60)
    assert [subset.tolist() for subset in found.subsets] == [sorted(subset) for subset in subsets.values()]
    assert np.allclose(found.rss, [rest(subset) for subset in subsets.values()], rtol=1e-10)


def test_columns_are_searched_in_the_order_of_their_values():
    random = np.random.default_rng(2)
    whole = [random.integers(0, 2, 50), random.integers(0, 4, 50), np.full(50, 3)]
    x = np.stack([*whole, random.normal(size=50)]).astype(float)
    search = _core.KnotSearch(x, random.normal(size=(1, 50)), 4, True, 1 << 20, 2)
    assert [[search.value(j, rank) for rank in range(50)] for j in range(4)] == np.sort(x).tolist()


@pytest.mark.parametrize(("n", "p", "degree", "end", "first", "step"), [(31, 2, 1, 8, 9, 4), (1000, 10, 1, 10, 13, 7)])
def test_spans_are_friedman_s(n, p, degree, end, first, step):
    spans = spans_of(MarsOptions(), n, p, n, degree)
    assert (spans.end, spans.first, spans.step) == (end, first, step)


def test_every_candidate_s_gain_is_what_least_squares_says():
    x = numbers(120, 2, 7)
    y = (np.abs(x[0] - 0.3) + np.maximum(0, x[1]) * x[0])[None]
    terms = grow(SplineRows(x, y), MarsOptions(max_degree=2, max_terms=5, threshold=0.0))

    def rss(some):
        basis = columns_of(some, x)
        left = y[0] - basis @ np.linalg.lstsq(basis, y[0], rcond=None)[0]
        return left @ left

    chosen, first = rss(terms[:3]), terms[1][0]
    for cut in np.sort(x[first.feature])[12:-12:5]:
        pair = [(type(first)(first.feature, side, float(cut)),) for side in (1, -1)]
        assert chosen <= rss([(), *pair]) * 1.02  # knots between the spans are not tried


def test_three_measures_of_importance_agree_on_the_first_column():
    table = bt.MARSRegressor(max_degree=2).fit(X.assign(noise=RNG.normal(size=N)), Y).importances()
    assert table.rows[0].nsubsets == max(row.nsubsets for row in table)
    assert max(row.gcv for row in table) == max(row.rss for row in table) == 100
    assert {row.feature for row in table if not row.is_used} >= {"noise"}
    assert str(table).splitlines()[0].split() == ["feature", "nsubsets", "gcv", "rss"]


@pytest.mark.slow
def test_a_picture_has_a_panel_for_each_column_and_pair():
    pytest.importorskip("matplotlib").use("Agg")
    model = bt.MARSRegressor(max_degree=2).fit(GAPS, Y)
    groups = [columns for columns, _ in model.model_.groups()]
    panels = [ax for ax in model.plot().axes if ax.get_xlabel()]
    assert len(panels) == len(groups)
    assert bt.MARSRegressor(max_terms=1).fit(X, Y).plot().texts
    assert bt.MARSClassifier(max_degree=2).fit(X, np.where(X.sky == "rain", "wet", LABEL)).plot().axes


def test_huge_and_tiny_numbers_are_learnt_like_ordinary_ones():
    plain = bt.MARSRegressor().fit(X[["temp"]], Y).score(X[["temp"]], Y)
    for unit in (2.0**900, 2.0**-900):
        far = X[["temp"]] * unit
        assert np.isclose(bt.MARSRegressor().fit(far, Y).score(far, Y), plain)
        target = Y * unit
        assert np.isclose(bt.MARSRegressor().fit(X[["temp"]], target).predict(X[["temp"]]).max() / unit, Y.max(), rtol=0.3)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_marks_of_0_and_1_are_learnt_as_two_other_numbers_are(is_weighted):
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.normal(size=300), rng.random((300, 6)) < 0.2]).astype(np.float64)
    y = np.abs(x[:, 0]) + 2 * x[:, 1] - x[:, 0] * x[:, 2] + 0.1 * rng.normal(size=300)
    weight = rng.random(300) + 0.5 if is_weighted else None
    other = np.column_stack([x[:, 0], 3 + 2 * x[:, 1:]])
    marks = bt.MARSRegressor(max_degree=2).fit(x, y, sample_weight=weight).predict(x)
    numbers = bt.MARSRegressor(max_degree=2).fit(other, y, sample_weight=weight).predict(other)
    np.testing.assert_allclose(marks, numbers, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_the_winner_of_a_step_is_the_one_that_leads_in_the_order_of_parents_then_columns(seed):
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 7)), int(rng.integers(1, 7))  # columns, parents
    gains = rng.integers(0, 5, (2, *shape)).astype(float)  # ties, and pairs that give nothing
    rank, has_line = rng.integers(0, 9, shape, np.int32), rng.integers(0, 2, shape, np.uint8)
    is_tried, share = rng.integers(0, 2, shape, np.uint8), 1 + 1e-10
    expected, has_mirror = (0.0, 0, 0, -1, False), False
    for k, j in np.ndindex(shape[::-1]):
        if gains[0, j, k] > expected[0] * share:
            expected = gains[0, j, k], k, j, -1, has_mirror
        if gains[1, j, k] > expected[0] * share:
            has_mirror = bool(has_line[j, k])
            expected = gains[1, j, k], k, j, rank[j, k], has_mirror
    best, *winner = _core.leading_candidate(gains, rank, has_line, is_tried, share)
    assert tuple(winner) == expected
    assert np.array_equal(best, np.where(is_tried, gains.max(axis=0), -1.0).max(axis=0))
