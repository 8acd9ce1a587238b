"""Scorecards: whole points in the order of the evidence, the same card for the same rows, and sentences for bad input."""

import numpy as np
import pytest

import baytree as bt

N = 600
RNG = np.random.default_rng(7)
AGE = RNG.integers(18, 75, N).astype(float)
INCOME = np.exp(RNG.normal(3, 0.6, N)).round(1)
HOME = RNG.choice(["own", "rent", "parents"], N, p=[0.5, 0.4, 0.1])
SCORE = 0.04 * (AGE - 45) + 0.8 * (np.log(INCOME) - 3) + (HOME == "own") + 0.7
PAID = np.where(RNG.random(N) < 1 / (1 + np.exp(-SCORE)), "yes", "no")
GAP = RNG.random(N) < 0.1
TABLE = {
    "age": [None if gap else float(a) for a, gap in zip(AGE, GAP, strict=True)],
    "income": INCOME.tolist(),
    "home": HOME.tolist(),
    "noise": RNG.normal(size=N).tolist(),
}
ROWS = {**TABLE, "paid": PAID.tolist()}
NEW = {"age": [20.0, None, 99.0], "income": [1.0, 30.0, 1e6], "home": ["rent", "castle", None], "noise": [0.0, 9.0, None]}


def card(**parameters):
    return bt.Scorecard(**parameters).fit(ROWS, "paid")


def taken(rows, order):
    return {name: [values[i] for i in order] for name, values in rows.items()}


def lines(model):
    return {(c, b): p for c, b, p in zip(*(model.table().to_dict()[k] for k in ("column", "bin", "points")), strict=True)}


def test_the_card_does_not_depend_on_the_order_of_the_rows():
    order = np.random.default_rng(0).permutation(N)
    shuffled = bt.Scorecard().fit(taken(ROWS, order), "paid")
    assert str(shuffled.table()) == str(card().table())


def test_a_weight_of_two_is_the_row_twice():
    weight = np.random.default_rng(1).integers(0, 3, N)
    repeated = bt.Scorecard().fit(taken(ROWS, np.repeat(np.arange(N), weight)), "paid")
    weighted = bt.Scorecard().fit(ROWS, "paid", sample_weight=weight)
    assert lines(weighted) == lines(repeated)


def test_a_constant_column_gets_no_points_and_changes_nothing():
    more = bt.Scorecard().fit({**ROWS, "constant": [1.0] * N, "absent": [None] * N}, "paid")
    assert lines(more) == lines(card())


@pytest.mark.parametrize("select", ["l1", "stepwise", "all"])
def test_points_are_whole_and_follow_the_evidence(select):
    model = card(select=select)
    table = model.table().to_dict()
    assert all(isinstance(points, int) for points in table["points"])
    for name in {*table["column"]} - {"every row"}:
        bins = [k for k, column in enumerate(table["column"]) if column == name]
        woe, points = (np.array([table[what][k] for k in bins], float) for what in ("WoE", "points"))
        assert (np.diff(points[np.argsort(woe, kind="stable")]) >= 0).all()


def test_points_of_a_column_that_is_constrained_never_fall():
    table = card(monotone={"age": "up", "income": "up"}, select="all").table().to_dict()
    for name in ("age", "income"):
        every = zip(table["column"], table["bin"], table["points"], strict=True)
        known = [points for column, own, points in every if column == name and own != "missing"]
        assert (np.diff(known) >= 0).all()


def test_the_score_is_the_start_and_the_points_of_each_column_and_gives_the_probability():
    model = card()
    scores = model.points(NEW)
    for explanation, score, probability in zip(model.explain(NEW), scores, model.predict_proba(NEW), strict=True):
        assert explanation.unit == "points"
        assert explanation.scores[1] == score == explanation.start[1] + sum(line.effect[1] for line in explanation.evidence)
        odds = 50 * 2 ** ((score - 600) / 20)
        assert np.isclose(probability[1], odds / (1 + odds), atol=1e-12)
        assert "points for yes" in str(explanation)


def test_more_points_mean_better_odds_of_the_good_class_whichever_it_is():
    yes, no = card(good="yes"), card(good="no")
    assert (yes.good_, no.good_) == ("yes", "no")
    assert np.corrcoef(yes.points(TABLE), no.points(TABLE))[0, 1] < -0.99
    assert np.abs(yes.predict_proba(TABLE) - no.predict_proba(TABLE)).max() < 0.05
    assert card().good_ == "yes"  # the larger class


def test_reasons_are_the_columns_that_lose_most_points_against_the_best_or_the_average():
    model = card()
    for row, points in zip(model.reasons(TABLE, n=2), model.model_.points(model._encoded(TABLE)), strict=True):
        lost = sorted((c.best - p for c, p in zip(model.model_.columns, points, strict=True)), reverse=True)
        assert [reason.lost for reason in row] == [each for each in lost[:2] if each > 0]
    average = model.reasons(NEW, n=1, compared_with="average")
    assert len(average) == 3
    assert all(reason.lost > 0 for row in average for reason in row)
    assert {"row", "rank", "column", "bin", "points", "lost"} == set(average.to_dict())


def test_a_saved_card_gives_the_same_points_and_table(tmp_path):
    model = card()
    bt.save(model, tmp_path / "card.baytree")
    again = bt.load(tmp_path / "card.baytree")
    assert np.array_equal(again.points(NEW), model.points(NEW))
    assert str(again.table()) == str(model.table())
    assert again.good_ == model.good_


def test_drift_measures_the_stability_of_the_score_and_of_each_column():
    model = card()
    same, moved = bt.drift(model, TABLE), bt.drift(model, {**TABLE, "income": [x / 3 for x in TABLE["income"]]})
    assert max(each.index for each in same.stability) < 1e-6
    index = {each.name: each.index for each in moved.stability}
    assert moved.stability[0].name == "score"
    assert index["income"] > 0.25 > index["age"]
    half = bt.drift(model, taken(TABLE, range(300))) + bt.drift(model, taken(TABLE, range(300, N)))
    assert half.to_dict() == same.to_dict()
    assert bt.drift(bt.NaiveBayesClassifier().fit(ROWS, "paid"), TABLE).stability == []


def test_a_card_on_an_engine_equals_the_card_in_memory(tmp_path):
    import pandas as pd

    path = tmp_path / "rows.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    assert lines(bt.Scorecard().fit(bt.scan(path), "paid")) == lines(card())


def test_the_page_shows_the_card_with_a_calculator_and_the_notebook_without(tmp_path):
    model = card()
    page = model.report(TABLE | {"paid": PAID.tolist()}, tmp_path / "card.html").read_text()
    assert 'id="card-sum"' in page
    assert "addUpPoints" in page
    assert 'type="radio"' not in model._repr_html_()
    assert model.reasons(NEW)[0][0].column in page


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_bins": 1}, "a single bin tells nothing about the target; give at least 2"),
        ({"base_points": 600.5}, "points are whole; give a whole number, such as 600"),
        ({"points_to_double": 0.5}, "would more than double the odds; give at least 1"),
        ({"base_odds": 0}, "base_odds"),
        ({"good": "maybe"}, "has the classes 'no' and 'yes'; name the one whose odds should rise"),
        ({"monotone": {"home": "up"}}, "column 'home' have no order; use 'auto', or list them in order"),
        ({"monotone": {"ages": "up"}}, "ages"),
        ({"select": "lasso"}, "select"),
    ],
)
def test_bad_parameters_get_a_sentence_with_the_remedy(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        card(**parameters)


def test_points_that_all_round_to_zero_are_refused():
    with pytest.raises(ValueError, match="all points round to 0, so no column would count; give a larger number"):
        bt.Scorecard(points_to_double=1, select="all").fit({"x": np.repeat([0.0, 1.0], 2000), "y": weak_labels()}, "y")


def weak_labels():
    """A class that is hardly more frequent where x is 1."""
    return ["a"] * 1000 + ["b"] * 1000 + ["a"] * 950 + ["b"] * 1050


def test_one_class_and_three_classes_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match="only one class"):
        bt.Scorecard().fit({**TABLE, "paid": ["yes"] * N}, "paid")
    with pytest.raises(ValueError, match="join classes into two, or use AdditiveClassifier"):
        bt.Scorecard().fit(TABLE, np.array(["a", "b", "c"])[np.arange(N) % 3])
    with pytest.raises(ValueError, match="a card needs rows of two classes"):
        bt.Scorecard().fit(TABLE, PAID, sample_weight=(PAID == "yes").astype(float))
