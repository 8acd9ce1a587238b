"""CHAID: laws, the published rules, and its tests against scipy and exact counting."""

from itertools import combinations
from math import comb, exp, inf, log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import baytree as bt
from baytree import _core
from baytree.parallel.threads import limit_threads
from baytree.tree.search.counted.column_tests import compute_column_tests
from baytree.tree.search.counted.counts import CodeSums, DepthCounts
from baytree.tree.search.counted.groups import MergeRules
from baytree.tree.search.counted.significance_tests import (
    log_binomial,
    log_multiplier,
    log_stirling,
    row_effects,
    test_groups,
)
from law_settings import settings

test_groups.__test__ = False


def mixed(n=400, seed=0):
    """A table of every kind with missing values, and a target that depends on it."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "rank": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "colour": rng.choice(["red", "green", "blue", "grey"], n),
        }
    )
    score = frame["number"] + (frame["colour"] == "red") * 2 + frame["rank"].cat.codes * 0.7 + rng.normal(size=n)
    for column in frame:
        frame.loc[rng.random(n) < 0.1, column] = np.nan
    return frame, np.where(score > 1, "yes", "no"), score.to_numpy()


# --- the tails and the multipliers ------------------------------------------------------------------------------------


@given(st.floats(0, 2000), st.integers(1, 200))
def test_the_tail_of_chi2_is_that_of_scipy(statistic, degrees):
    theirs = stats.chi2.logsf(statistic, degrees)
    mine = _core.chi2_log_tail(np.array([statistic]), np.array([float(degrees)]))[0]
    if np.isfinite(theirs) and theirs > -600:
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@given(st.floats(1e-3, 0.2), st.integers(20, 200))
def test_p_values_all_but_1_stay_apart(share, degrees):
    weak = np.array([share, share * 1.5]) * degrees
    mine = _core.chi2_log_tail(weak, np.full(2, float(degrees)))
    assert mine == pytest.approx(np.log1p(-stats.chi2.cdf(weak, degrees)), rel=1e-9)
    assert mine[1] < mine[0] < 0


def test_p_values_below_the_smallest_double_stay_apart():
    far = _core.chi2_log_tail(np.array([2e5, 2e5 + 2.0, 4e5]), np.ones(3))
    assert far[0] == pytest.approx(-1e5 - 0.5 * log(np.pi * 1e5), rel=1e-9)
    assert far[0] - far[1] == pytest.approx(1.0, abs=1e-4)
    assert far[2] < far[1] < far[0]


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_ways_to_form_groups_are_counted_exactly(n, k):
    exact = sum((-1) ** j * comb(k, j) * (k - j) ** n for j in range(k + 1))
    for i in range(1, k + 1):
        exact //= i
    assert log_stirling(n, k) == (pytest.approx(log(exact), rel=1e-12, abs=1e-12) if exact else -inf)
    assert log_binomial(n, k) == (pytest.approx(log(comb(n, k)), abs=1e-9) if k <= n else -inf)


def test_many_levels_into_few_groups_are_counted_without_a_long_recurrence():
    assert log_stirling(100_000, 3) == pytest.approx(100_000 * log(3) - log(6), rel=1e-12)
    assert log_stirling(300, 40) == pytest.approx(float(log(_stirling_exactly(300, 40))), rel=1e-12)


def _stirling_exactly(n, k):
    row = [1] + [0] * k
    for _ in range(n):
        row = [0] + [j * row[j] + row[j - 1] for j in range(1, k + 1)]
    return row[k]


@given(st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=2, max_size=5))
def test_pearson_and_the_likelihood_ratio_are_those_of_scipy(counts):
    table = np.array(counts, float)
    kept = table[table.sum(1) > 0][:, table.sum(0) > 0]
    for test, name in (("pearson", "pearson"), ("likelihood_ratio", "log-likelihood")):
        mine = test_groups(table[None], test)[0]
        if min(kept.shape, default=0) < 2:
            assert mine == 0
        else:
            theirs = stats.chi2_contingency(kept, False, name).pvalue
            # near 1 a p-value moves with the root of the statistic's rounding
            assert exp(mine) == pytest.approx(theirs, rel=1e-9, abs=1e-6 if theirs > 0.999 else 1e-300)


@given(st.integers(0, 10**6))
def test_the_test_of_means_is_the_analysis_of_variance(seed):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(rng.normal(), 1, rng.integers(2, 30)) for _ in range(rng.integers(2, 5))]
    table = np.array([[len(g), g.sum(), (g**2).sum()] for g in groups])
    assert exp(test_groups(table[None], "mean")[0]) == pytest.approx(stats.f_oneway(*groups).pvalue, rel=1e-7, abs=1e-300)


def test_row_effects_see_a_trend_with_one_degree_of_freedom_per_group():
    trend = np.array([[[30.0, 20, 10], [10, 20, 30]]])
    assert exp(row_effects(trend)[0]) < exp(test_groups(trend, "pearson")[0])
    # with two groups and two classes the model is saturated: the statistic is the likelihood ratio
    square = np.array([[[12.0, 5], [7, 9]]])
    assert row_effects(square)[0] == pytest.approx(test_groups(square, "likelihood_ratio")[0], rel=1e-8)
    same = np.array([[[10.0, 20, 30], [20, 40, 60]]])
    assert row_effects(same)[0] == 0


def test_row_effects_survive_groups_that_are_apart_and_classes_that_are_empty():
    apart = np.array([[[30.0, 0, 0], [0, 0, 30]], [[0, 0, 0], [5, 5, 0]], [[1, 0, 0], [1, 0, 0]]])
    log_p = row_effects(apart)
    assert log_p[0] == pytest.approx(_core.chi2_log_tail(np.array([120 * log(2)]), np.ones(1))[0], rel=1e-4)
    assert log_p[1:].tolist() == [0, 0]


# --- merging ----------------------------------------------------------------------------------------------------------


def grouping(counts, ordered=False, floating=None, **rules):
    counts = np.array(counts, float)
    cells = CodeSums(np.arange(1, len(counts) + 1), counts)
    if floating is not None:
        cells = CodeSums(np.arange(len(counts) + 1), np.vstack([np.array(floating, float), counts]))
    node = DepthCounts(np.ones(1, np.int64), cells.sums.sum(0, keepdims=True), (cells,))
    return next(compute_column_tests(node, {0: 0}, [(len(counts), ordered)], MergeRules(**rules)).trials())


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_two_classes_merge_by_neighbouring_shares_as_by_all_pairs(seed, exhaustive, monkeypatch):
    rng = np.random.default_rng(seed)
    sizes = [4, 40, 2000][seed % 3]  # small counts tie, large ones nearly do
    statistics = rng.integers(0, sizes, (60, 2)) * (rng.choice([0.3, 1, 1.7], (60, 1)) if seed % 2 else 1.0)
    statistics = statistics[statistics.sum(axis=1) > 0].astype(float)
    rules = {"exhaustive": exhaustive, "alpha_merge": [0.05, 0.9][seed % 2]}
    by_shares = grouping(statistics, **rules).group_of
    monkeypatch.setattr("baytree.tree.search.counted.merging.KERNELS", ())
    assert by_shares.tolist() == grouping(statistics, **rules).group_of.tolist()


def test_levels_that_do_not_differ_merge_and_others_stay_apart():
    assert grouping([[50, 50], [52, 48], [90, 10]]).group_of.tolist() == [0, 0, 1]
    assert grouping([[50, 50], [90, 10], [52, 48]]).group_of.tolist() == [0, 1, 0]


def test_only_neighbours_merge_where_levels_are_ordered():
    assert grouping([[50, 50], [90, 10], [52, 48]], ordered=True).group_of.tolist() == [0, 1, 2]


def test_two_groups_merge_only_because_one_is_too_small():
    assert grouping([[50, 50], [52, 48]]).n_groups == 2
    assert grouping([[500, 500], [1, 0]]).n_groups == 1
    assert grouping([[500, 500], [1, 0]], min_leaf=1).n_groups == 2


def test_missing_values_join_the_most_similar_group_or_stand_alone():
    assert grouping([[50, 50], [90, 10]], ordered=True, floating=[44, 46]).floating == 0
    assert grouping([[90, 10], [60, 40]], ordered=True, floating=[0, 90]).floating == 2


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=7), st.booleans(), st.booleans())
@settings(max_examples=200)
def test_the_core_merges_as_the_rules_in_python_do(counts, ordered, exhaustive):
    counts = [c for c in counts if sum(c)] or [(1, 2)]
    fast = grouping(counts, ordered, exhaustive=exhaustive, min_leaf=3)
    # a level that never triggers re-splitting sends the same merge through Python
    slow = grouping(counts, ordered, exhaustive=exhaustive, min_leaf=3, alpha_resplit=1e-300)
    assert fast.group_of.tolist() == slow.group_of.tolist()
    assert fast.log_p == slow.log_p


def test_exhaustive_merging_keeps_the_smallest_p_of_the_whole_history():
    counts = [[60, 20, 20], [20, 60, 20], [20, 20, 60], [58, 22, 20]]
    kept = grouping(counts, exhaustive=True)
    table = np.array(counts, float)
    history = [grouping(counts, alpha_merge=a).log_p for a in (1.0, 0.5, 0.05, 1e-5, 1e-30)]
    assert kept.n_groups == 3  # and not the two groups at the end
    assert kept.log_p <= min(history)
    assert kept.log_p <= test_groups(table[None], "pearson")[0]


def test_a_merged_group_parts_again_where_its_parts_differ():
    """Merging 1 and 2, then 3, hides that 1 differs from the others together."""
    rng = np.random.default_rng(1)
    parted = 0
    for _ in range(300):
        counts = rng.integers(1, 40, (7, 3))
        whole, again = grouping(counts), grouping(counts, alpha_resplit=0.049)
        parted += whole.group_of.tolist() != again.group_of.tolist()
        for group in range(again.n_groups):
            members = np.flatnonzero(again.group_of == group)
            assert len(members) < 3 or _best_part(counts, members) > log(0.049)
    assert parted


def _best_part(counts, members):
    parts = [c for size in range(1, len(members)) for c in combinations(members, size)]
    tables = [[counts[list(p)].sum(0), counts[[m for m in members if m not in p]].sum(0)] for p in parts]
    return test_groups(np.array(tables, float), "pearson").min()


def test_multipliers_count_the_ways_to_merge():
    def ways(n, r, ordered, floating=None, exhaustive=False):
        return exp(log_multiplier(n + bool(floating), r, ordered, bool(floating), exhaustive))

    assert ways(5, 3, ordered=True) == pytest.approx(6)  # C(4, 2)
    assert ways(5, 3, ordered=False) == pytest.approx(25)  # S₂(5, 3)
    assert ways(4, 3, ordered=True, floating=True) == pytest.approx(12)  # C(3, 1) + 3·C(3, 2)
    assert ways(5, 2, ordered=True, exhaustive=True) == pytest.approx(10)
    assert ways(5, 2, ordered=False, exhaustive=True) == pytest.approx(20)  # 5·24/6
    assert ways(5, 2, ordered=False, exhaustive="ibm") == pytest.approx(60)


def test_very_many_levels_are_merged_in_runs_of_similar_outcome():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 2_000, 200_000)
    y = np.where((level % 7 == 0) ^ (rng.random(200_000) < 0.1), "a", "b")
    frame = pd.DataFrame({"level": level})
    assert bt.CHAIDClassifier(max_depth=1, schema={"level": "nominal"}).fit(frame, y).score(frame, y) > 0.89
    each = pd.DataFrame({"level": [f"row {k}" for k in range(100_000)]})
    with pytest.warns(UserWarning, match="column 'level' is not used"):
        lonely = bt.CHAIDClassifier(schema={"level": "nominal"}).fit(each, y[:100_000])
    assert lonely.n_nodes_ == 1  # what every row has for itself is no evidence


# --- laws -------------------------------------------------------------------------------------------------------------


def same(left, right, X):
    proba = "predict_proba" if hasattr(left, "predict_proba") else "predict"
    assert left.n_nodes_ == right.n_nodes_
    np.testing.assert_allclose(getattr(left, proba)(X), getattr(right, proba)(X), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_of_two_is_a_row_twice(seed):
    X, y, score = mixed(seed=seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    for estimator, label in ((bt.CHAIDClassifier(), y), (bt.CHAIDRegressor(), score)):
        left = estimator.fit(X, label, sample_weight=weight)
        right = type(estimator)().fit(X.iloc[twice], label[twice])
        same(left, right, X)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_and_columns_does_not_matter(seed):
    X, y, score = mixed(seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    for estimator, label in ((bt.CHAIDClassifier, y), (bt.CHAIDRegressor, score)):
        left = estimator().fit(X, label)
        same(left, estimator().fit(X.iloc[order], label[order]), X)
        same(left, estimator().fit(X[X.columns[::-1]], label), X)


def test_a_table_that_tells_nothing_gives_the_root():
    y = np.repeat(["a", "b"], 50)
    for X in ({"x": [np.nan] * 100}, {"x": [1.0] * 100}, {"x": ["same"] * 100}, {"x": list("uv") * 50}):
        model = bt.CHAIDClassifier().fit(pd.DataFrame(X), y)
        assert model.n_nodes_ == 1
        assert model.predict_proba(pd.DataFrame(X)).tolist()[0] == [0.5, 0.5]
    assert bt.CHAIDClassifier().fit(pd.DataFrame({"x": range(50)}), ["one"] * 50).n_nodes_ == 1
    assert bt.CHAIDClassifier().fit(pd.DataFrame({"x": [1]}), ["one"]).predict(pd.DataFrame({"x": [2]})).tolist() == ["one"]


def test_missing_values_and_new_levels_take_a_road():
    X, y, _ = mixed()
    model = bt.CHAIDClassifier().fit(X, y)
    nothing = pd.DataFrame({"number": [np.nan], "rank": [None], "colour": ["violet"]})
    assert model.predict_proba(nothing).sum() == pytest.approx(1)
    assert model.apply(nothing)[0] in {node["id"] for node in model.nodes() if not node["children"]}


def test_infinite_numbers_are_numbers():
    x = np.r_[np.full(50, -np.inf), np.full(50, np.inf)]
    model = bt.CHAIDClassifier().fit(x[:, None], np.repeat([0, 1], 50))
    assert model.predict([[-np.inf], [0.0], [np.inf]]).tolist() == [0, 1, 1]


@given(st.lists(st.text(max_size=5), min_size=2, max_size=6, unique=True))
@settings(max_examples=15, deadline=None)
def test_any_text_is_a_level(names):
    level = np.array(names, dtype=object)[np.arange(120) % len(names)]
    y = (np.arange(120) % len(names) == 0).astype(int)
    frame = pd.DataFrame({"name": level})
    model = bt.CHAIDClassifier(schema={"name": "nominal"}).fit(frame, y)
    assert model.score(frame, y) == 1
    assert model.export_text()


def test_a_ledger_ends_at_the_leaf():
    X, y, _ = mixed()
    model = bt.CHAIDClassifier().fit(X, y)
    for row, explanation in enumerate(model.explain(X.head(20))):
        np.testing.assert_allclose(explanation.scores, model.predict_proba(X.iloc[[row]])[0], atol=1e-12)
        for line in explanation.evidence:
            value = X[line.column].iloc[row]
            shown = f"{value:.6g}" if isinstance(value, float) else value
            assert line.value == ("missing" if pd.isna(value) else shown)


def test_a_large_offset_does_not_blur_the_means():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 400)
    y = (x > 1) + rng.normal(0, 0.1, 400)
    far = bt.CHAIDRegressor().fit(x[:, None], y + 1e9)
    near = bt.CHAIDRegressor().fit(x[:, None], y)
    assert far.n_nodes_ == near.n_nodes_
    np.testing.assert_allclose(far.predict(x[:, None]) - 1e9, near.predict(x[:, None]), atol=1e-6)


def test_pruning_and_snipping_keep_the_cuts():
    X, y, _ = mixed()
    model = bt.CHAIDClassifier().fit(X, y)
    stump = model.snip(0)
    assert stump.n_nodes_ == 1
    assert stump.undo() is model
    assert model.prune("cost_complexity", 1e9).predict(X).shape == y.shape


def test_the_trace_tells_every_column_at_every_node():
    X, y, _ = mixed()
    model = bt.CHAIDClassifier(trace=True, max_depth=1).fit(X, y)
    assert [trial["column"] for trial in model.trace_] == ["number", "rank", "colour"]
    winner = min(model.trace_, key=lambda trial: trial["log_adjusted_p"])
    assert winner["column"] == model.nodes()[0]["column"]
    assert winner["adjusted_p"] == pytest.approx(min(1, winner["p"] * winner["multiplier"]))


@pytest.mark.parametrize("wrong", [
    {"alpha_merge": 2}, {"alpha_split": -1}, {"alpha_resplit": 0.9}, {"exhaustive": "maybe"}, {"bins": 1}, {"test": "t"},
    {"max_depth": -1}, {"min_prob": 3},
])  # fmt: skip
def test_parameters_that_make_no_sense_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        bt.CHAIDClassifier(**wrong).fit([[1], [2]], [0, 1])


def test_the_file_does_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = {f"c{k}": rng.integers(0, 500, 4000).astype(str) for k in range(4)} | {"x": rng.normal(size=4000)}
    label = (np.array([int(value) for value in frame["c1"]]) + rng.integers(0, 300, 4000)) // 260
    files = []
    for n_threads in (1, 2, 5):
        with limit_threads(n_threads):
            model = bt.CHAIDClassifier(max_depth=2).fit(frame, label)
        bt.save(model, tmp_path / "m.baytree")
        files.append((tmp_path / "m.baytree").read_bytes())
    assert files[0] == files[1] == files[2]
    assert len(model.nodes()) > 3
