"""Laws of scorecards: rows in any order, repeated rows as weights, constant and absent columns, files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from law_settings import settings

SEEDS = st.integers(0, 10_000)


def applicants(seed: int, n: int = 160) -> pd.DataFrame:
    """Numbers with gaps, levels, and a default that depends on both."""
    random = np.random.default_rng(seed)
    income = np.round(random.lognormal(10, 0.5, n), -2)
    home = random.choice(["own", "rent", "other"], n)
    risk = 1.5 - (income - income.mean()) / income.std() + (home == "rent")
    default = np.where(random.random(n) < 1 / (1 + np.exp(2 - risk)), "yes", "no")
    frame = pd.DataFrame({"income": income, "home": home, "default": default})
    frame.loc[random.random(n) < 0.1, "income"] = np.nan
    frame.loc[:1, "default"] = ["yes", "no"]  # both classes
    return frame


def card(frame: pd.DataFrame, **settings) -> bt.Scorecard:
    return bt.Scorecard(select="all", **settings).fit(frame, "default")


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_the_order_of_the_rows_changes_no_point(seed):
    frame = applicants(seed)
    shuffled = frame.sample(frac=1, random_state=seed)
    assert np.array_equal(card(frame).points(frame), card(shuffled).points(frame))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_weight_of_two_is_the_row_twice(seed):
    frame = applicants(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(frame))
    repeated = frame.loc[np.repeat(frame.index, weight)]
    weighted = bt.Scorecard(select="all").fit(frame, "default", sample_weight=weight)
    assert np.abs(weighted.points(frame) - card(repeated).points(frame)).max() <= 1  # a point may round the other way


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_constant_column_changes_no_point(seed):
    frame = applicants(seed)
    assert np.array_equal(card(frame.assign(same=1.0)).points(frame.assign(same=1.0)), card(frame).points(frame))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_points_are_whole_and_probabilities_are_a_function_of_them(seed):
    frame = applicants(seed)
    model = card(frame)
    points, probability = model.points(frame), model.predict_proba(frame)[:, 0]
    assert np.array_equal(points, np.round(points))
    assert all(len(set(np.round(probability[points == each], 12))) == 1 for each in set(points.tolist()))
    order = np.argsort(points)
    steps = np.diff(probability[order])
    assert (steps >= -1e-12).all() or (steps <= 1e-12).all()


def test_points_of_a_numeric_column_are_monotone_where_asked():
    frame = applicants(3, 600)
    model = card(frame, monotone={"income": "down"})
    grid = pd.DataFrame({"income": np.linspace(frame["income"].min(), frame["income"].max(), 50), "home": "own"})
    steps = np.diff(model.points(grid))
    assert (steps >= 0).all() or (steps <= 0).all()


def test_a_file_gives_the_same_points(tmp_path):
    frame = applicants(7)
    model = card(frame)
    bt.save(model, tmp_path / "card.baytree")
    assert np.array_equal(bt.load(tmp_path / "card.baytree").points(frame), model.points(frame))


def test_three_classes_are_refused_with_the_remedy():
    frame = applicants(1).assign(default=["a", "b", "c", "a"] * 40)
    with pytest.raises(ValueError, match="two classes"):
        card(frame)
