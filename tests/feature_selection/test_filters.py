"""Filters: laws of the measures, the published numbers of small tables, and the selector among scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import baytree as bt
from baytree.feature_selection import measures
from baytree.statistics import binning
from baytree.statistics.binning import bonferroni, entropy, false_discovery_rate
from law_settings import settings

PLAY_TENNIS = """outlook temperature humidity wind play
sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rain mild high weak yes
rain cool normal weak yes
rain cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rain mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rain mild high strong no"""
PLAY = {name: list(values) for name, *values in zip(*map(str.split, PLAY_TENNIS.splitlines()), strict=True)}
tables = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(0, 50).map(float))
columns = st.lists(st.tuples(st.integers(-5, 5) | st.none(), st.integers(0, 2)), min_size=2, max_size=40)


def test_play_tennis_gains_are_those_of_the_textbook():
    ranking = bt.rank_features(PLAY, "play")
    gains = {rank.column: round(rank.score, 3) for rank in ranking.ranks}
    assert gains == {"outlook": 0.247, "humidity": 0.152, "wind": 0.048, "temperature": 0.029}
    assert ranking.columns[0] == "outlook"


def test_play_tennis_gain_ratios_are_those_of_the_textbook():
    ratios = {rank.column: round(rank.score, 3) for rank in bt.rank_features(PLAY, "play", by="gain_ratio").ranks}
    assert ratios == {"outlook": 0.156, "humidity": 0.152, "wind": 0.049, "temperature": 0.019}


@given(tables)
def test_information_is_bounded_by_both_entropies(counts):
    gain = measures.mutual_information(counts)
    assert -1e-12 <= gain <= min(entropy(counts.sum(axis=0)), entropy(counts.sum(axis=1))) + 1e-9
    assert 0 <= measures.symmetric_uncertainty(counts) <= 1 + 1e-9


@given(tables, st.integers(2, 5))
def test_counting_every_row_several_times_changes_no_gain(counts, times):
    once, often = measures.information_gain(counts, 3), measures.information_gain(counts * times, 3 * times)
    assert often == pytest.approx(once, abs=1e-9)


@given(tables)
def test_chi_square_is_scipys(counts):
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape, default=0) < 2:
        return
    ours, theirs = measures.chi_square(counts), stats.chi2_contingency(counts, correction=False)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-300)


@given(columns)
@settings(max_examples=60)
def test_the_best_cut_is_the_best_of_all_cuts(rows):
    values = np.array([np.nan if value is None else float(value) for value, _ in rows])
    label = np.array([label for _, label in rows], np.int32)
    known = np.unique(values[~np.isnan(values)])
    gains = [_gain_of_cut(values, label, cut) for cut in (known[:-1] + known[1:]) / 2]
    found = binning.best_cut(values, label, 3)
    if len(found):
        assert _gain_of_cut(values, label, found[0]) == pytest.approx(max(gains), abs=1e-12)
    else:
        assert max(gains, default=0) <= 1e-12


def _gain_of_cut(values, label, cut):
    bins = binning.bin_codes(values, np.array([cut]))
    counts = np.zeros((2, 3))
    np.add.at(counts, (bins[bins >= 0], label[bins >= 0]), 1)
    return measures.mutual_information(counts)


def test_neighbouring_doubles_can_be_cut_apart():
    low = 1.0
    high = np.nextafter(low, 2)
    cut = binning.best_cut(np.array([low, high]), np.array([0, 1], np.int32), 2)
    assert binning.bin_codes(np.array([low, high]), cut).tolist() == [0, 1]


def test_mdl_leaves_noise_uncut_and_finds_three_bands():
    rng = np.random.default_rng(0)
    x = rng.random(300)
    assert len(binning.mdl_cuts(x, rng.integers(0, 2, 300).astype(np.int32), 2)) == 0
    bands = binning.mdl_cuts(x, ((x > 1 / 3) & (x < 2 / 3)).astype(np.int32), 2)
    assert bands == pytest.approx([1 / 3, 2 / 3], abs=0.02)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_never_fall_below_the_plain_ones_and_keep_their_order(p):
    p = np.array(p)
    for adjusted in (bonferroni(p), false_discovery_rate(p)):
        assert (adjusted >= p - 1e-15).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-15).all()
    assert false_discovery_rate(p) == pytest.approx(stats.false_discovery_control(p))


def test_tests_on_numbers_are_scipys_whatever_the_offset():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 90)
    x = rng.normal(size=90) + group
    y = x + rng.normal(size=90)
    f = measures.anova(x + 1e9, group, 3)
    theirs = stats.f_oneway(*(x[group == g] for g in range(3)))
    assert (f.statistic, f.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-5)
    assert measures.pearson(x, y)[:2] == pytest.approx(tuple(stats.pearsonr(x, y)), rel=1e-9)
    assert measures.spearman(np.round(x), y)[:2] == pytest.approx(tuple(stats.spearmanr(np.round(x), y)), rel=1e-9)
    assert measures.pearson(x * 1e300, y * 1e-300).statistic == pytest.approx(stats.pearsonr(x, y).statistic)


def test_a_column_known_for_half_of_the_rows_gains_half():
    half = {"x": ["a", "b"] * 10 + [None] * 20, "y": ["no", "yes"] * 20}
    assert bt.rank_features(half, "y").ranks[0].score == pytest.approx(0.5)


@pytest.mark.parametrize("by", ["information_gain", "gain_ratio", "symmetric_uncertainty", "chi2", "correlation", "mrmr"])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict])
def test_every_frame_library_gives_the_same_ranking(by, library):
    assert str(bt.rank_features(library(PLAY), "play", by=by)) == str(bt.rank_features(PLAY, "play", by=by))


def test_a_number_as_target_is_ranked_by_correlation_and_refused_by_gain():
    cars = {"weight": [1.0, 2, 3, 4], "kind": ["a", "a", "b", "b"], "price": [1.5, 2.5, 3.5, 4.5]}
    ranks = {rank.column: rank.how for rank in bt.rank_features(cars, "price", by="correlation").ranks}
    assert ranks == {"weight": "Pearson", "kind": "η"}
    with pytest.raises(ValueError, match="give by='correlation'"):
        bt.rank_features(cars, "price")


def test_a_column_that_only_identifies_rows_comes_last_and_is_never_selected():
    rows = {"name": [f"n{i}" for i in range(20)], "x": [0, 1] * 10, "y": ["no", "yes"] * 10}
    with pytest.warns(UserWarning, match="identif"):
        chosen = bt.SelectFeatures(k=2).fit(rows, "y")
    assert chosen.get_support().tolist() == [False, True]
    assert chosen.ranking_.columns[-1] == "name"


def test_redundant_copies_come_after_new_knowledge_in_mrmr():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    label = np.where(rng.random(400) < 0.1, 1 - (a | b), a | b)
    order = bt.rank_features({"a": a, "copy": a, "b": b, "y": label}, "y", by="mrmr").columns
    assert order[:2] in (["a", "b"], ["b", "a"])
    assert order[2] == "copy"


def test_p_values_of_noise_are_honest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 200)), rng.integers(0, 2, 500)
    p = np.array([rank.p for rank in bt.rank_features(X, y, by="chi2").ranks])
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert bt.SelectFeatures(by="chi2", p=0.05).fit(X, y).get_support().sum() <= 3


def test_numbers_in_the_table_are_aligned_and_fit_eighty_columns():
    wide = {f"a column with a very long name indeed {j}": PLAY["wind"] for j in range(3)} | PLAY
    lines = str(bt.rank_features(wide, "play", by="chi2")).splitlines()
    assert max(map(len, lines)) <= 80
    assert len({line.index("nominal") for line in lines[2:]}) == 1


def test_a_selector_works_in_a_pipeline_and_keeps_the_frame():
    frame = pd.DataFrame(PLAY)
    X, y = frame.drop(columns="play"), frame["play"]
    chosen = bt.SelectFeatures(k=2).fit(X, y)
    assert list(chosen.transform(X).columns) == ["outlook", "humidity"]
    assert list(chosen.get_feature_names_out()) == ["outlook", "humidity"]
    model = make_pipeline(bt.SelectFeatures(k=2), bt.NaiveBayesClassifier()).fit(X, y)
    assert model.score(X, y) > 0.7


def test_a_selector_can_be_told_to_answer_in_another_library():
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    chosen = bt.SelectFeatures(k=2).set_output(transform="pandas").fit(X, y)
    assert isinstance(chosen.transform(X), pd.DataFrame)
    assert chosen.transform(X).shape == (30, 2)


def test_rows_of_different_lengths_are_refused_in_words():
    selector = bt.SelectFeatures(k=1).fit([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="the rows differ in length"):
        selector.transform([[1, "a"], [2]])


@pytest.mark.parametrize(
    ("options", "words"),
    [({"k": 1, "p": 0.1}, "only one"), ({"k": 0}, "k=0"), ({"by": "luck"}, "by='luck'"), ({"p": 0.1}, "has no p-values")],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        bt.SelectFeatures(**options).fit(PLAY, "play")


def test_embedded_selection_puts_the_telling_column_first_and_knows_what_is_missing():
    rng = np.random.default_rng(0)
    label = rng.choice(["a", "b"], 200)
    rows = pd.DataFrame({"noise": rng.normal(size=200), "x": rng.normal(size=200) + 2 * (label == "b"), "y": label})
    rows["colour"] = np.where(rng.random(200) < 0.7, label, "c")
    rows.loc[:49, "noise"] = np.nan
    for by in ("importance", "lasso"):
        ranking = bt.rank_features(rows, "y", by=by)
        assert ranking.columns[-1] == "noise"
        assert {rank.column: rank.known for rank in ranking.ranks}["noise"] == 0.75
    assert ranking.ranks[0].score == 1.0


@pytest.mark.slow
def test_a_text_column_enters_the_lasso_with_its_first_word_whatever_columns_are_called():
    rng = np.random.default_rng(0)
    label = rng.choice(["ham", "spam"], 80)
    words = [
        f"{'win money' if y == 'spam' else 'see you'} {rng.choice(['today', 'soon', 'later'])} {k}"
        for k, y in enumerate(label)
    ]
    rows = {"mail": words, "mail: win": rng.normal(size=80), "mail is missing": rng.normal(size=80), "label": label}
    found = bt.rank_features(rows, "label", by="lasso", schema={"mail": "text"})
    assert found.columns[0] == "mail"
    assert found.ranks[0].score == 1.0


@pytest.mark.scikit_learn
@parametrize_with_checks(
    [
        bt.SelectFeatures(),
        bt.SelectFeatures(by="correlation", k=1),
        bt.SelectFeatures(by="mrmr", k=1),
        bt.SelectFeatures(by="importance", threshold=0.0),
        bt.SelectFeatures(by="anova", p=0.9, adjust=None),
    ]
)
def test_scikit_learn_accepts_the_selector(estimator, check):
    check(estimator)
