"""The rule of the advice, as a function of scores: what it may lose, what may not change it, and where it once was wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone

import baytree as bt
from baytree.comparison.compare import repeats_for
from baytree.comparison.recommendation import Recommendation, Scored, recommend
from baytree.model_selection.significance import corrected_t
from law_settings import settings

POINT = 0.01


def scored(name: str, brier: list[float], accuracy: list[float], size: int) -> Scored:
    return Scored(name, np.array(brier), 1 - np.array(accuracy), size)


def around(mean: float, spread: float, n: int = 10, seed: int = 0) -> list[float]:
    """Scores of folds with exactly that mean."""
    noise = np.random.default_rng(seed).normal(size=n) * spread
    return (mean + noise - noise.mean()).tolist()


def advised(models: list[Scored], n_folds: int = 10, bar: Scored | None = None) -> str:
    return models[recommend(models, 1 / (n_folds - 1), POINT, bar).chosen].name


# --- where the advice of 0.1 was wrong ----------------------------------------------------------------------------------


def test_three_folds_do_not_make_a_tree_of_0_82_as_good_as_one_of_0_95():
    accuracy = {"CHAID": [0.96, 0.95, 0.94], "CART": [0.91, 0.80, 0.75]}
    differences = np.subtract(accuracy["CHAID"], accuracy["CART"])
    assert corrected_t(differences, 0.5) / 2 > 0.05  # what was enough to recommend the smaller one
    models = [
        scored("CHAID", [0.04, 0.05, 0.06], accuracy["CHAID"], 21),
        scored("CART", [0.08, 0.16, 0.2], accuracy["CART"], 5),
    ]
    assert advised(models, 3) == "CHAID"
    unsure = [
        models[0],
        scored("CART", [0.02, 0.01, 0.4], accuracy["CART"], 5),
    ]  # not even where the proper score sees nothing
    assert advised(unsure, 3) == "CHAID"


def test_a_model_of_0_72_is_not_as_good_as_one_of_0_75():
    logistic = scored("logistic", around(0.170, 0.02), around(0.75, 0.03), 20)
    chaid = scored("CHAID", around(0.176, 0.03, seed=1), around(0.72, 0.04, seed=1), 9)
    assert advised([logistic, chaid]) == "logistic"


def test_two_leaves_of_0_73_are_not_as_good_as_a_logistic_regression_of_0_78():
    logistic = scored("logistic", around(0.155, 0.02), around(0.78, 0.04), 9)
    stump = scored("CART", around(0.185, 0.02, seed=1), around(0.73, 0.05, seed=1), 3)
    assert advised([logistic, stump]) == "logistic"


def test_the_majority_class_is_not_advised_where_probabilities_are_better_than_its_own():
    """Births of low weight: the accuracies are alike, the models' probabilities are not."""
    majority = scored("majority", around(0.2147, 0.002), around(0.688, 0.005), 1)
    logistic = scored("logistic", around(0.192, 0.02, seed=1), around(0.704, 0.06, seed=1), 10)
    assert advised([majority, logistic], bar=majority) == "logistic"


def births(n: int, seed: int) -> dict[str, np.ndarray]:
    """A made-up table of births: eight columns, three births in ten of low weight, weakly told by the columns."""
    rng = np.random.default_rng(seed)
    weight, age = rng.normal(130, 30, n).round(), rng.integers(14, 46, n).astype(float)
    marks = {name: rng.random(n) < share for name, share in (("smokes", 0.4), ("pressure", 0.06), ("irritable", 0.15))}
    earlier, visits = rng.poisson(0.2, n).astype(float), rng.poisson(0.8, n).astype(float)
    people = rng.choice(["a", "b", "c"], n, p=[0.5, 0.15, 0.35])
    score = 0.9 * marks["smokes"] + 1.8 * marks["pressure"] + 0.8 * marks["irritable"] + 0.6 * earlier
    score = score - 0.02 * (weight - 130) + 0.9 * (people != "a") - 2
    low = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    return {**marks, "weight": weight, "age": age, "earlier": earlier, "visits": visits, "people": people, "low": low}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_births_of_low_weight_are_not_left_to_the_majority_class(seed):
    found = bt.compare(births(189, seed), "low", ["majority", "cart-cp", "nb", "lda", "logistic-fixed"])
    assert "repeated 3 times" in found.baseline.how
    assert found.advice.beats_the_bar
    assert found.recommendation.short != "majority"


# --- laws ---------------------------------------------------------------------------------------------------------------

rates = st.floats(0, 1, allow_nan=False).map(lambda share: round(share, 3))


@st.composite
def comparisons(draw) -> list[Scored]:
    n = draw(st.integers(2, 12))
    folds = st.lists(rates, min_size=n, max_size=n)
    return [scored(f"m{k}", draw(folds), draw(folds), draw(st.integers(1, 50))) for k in range(draw(st.integers(1, 6)))]


def by_name(models: list[Scored], advice: Recommendation) -> tuple[str, str]:
    return models[advice.chosen].name, models[advice.best].name


@pytest.mark.slow
@given(comparisons())
def test_what_is_advised_loses_at_most_one_standard_error_and_one_point(models):
    advice = recommend(models, 0.1, POINT)
    chosen = advice.standings[advice.chosen]
    assert chosen.worse <= chosen.error + 1e-9
    assert chosen.lost <= POINT + 1e-9
    assert chosen.is_as_good


@pytest.mark.slow
@given(comparisons(), st.randoms(use_true_random=False))
def test_the_order_of_the_models_changes_nothing(models, random):
    shuffled = random.sample(models, len(models))
    assert by_name(models, recommend(models, 0.1, POINT)) == by_name(shuffled, recommend(shuffled, 0.1, POINT))


@given(comparisons(), st.integers(0, 60))
@example([scored("m0", [0.1, 0.2], [0.9, 0.8], 9)], 1)
def test_a_model_that_is_clearly_worse_changes_nothing(models, size):
    n = len(models[0].losses)
    worse = scored("worse", [2.0] * n, [-1.0] * n, size)
    assert by_name(models, recommend(models, 0.1, POINT)) == by_name(
        [worse, *models], recommend([worse, *models], 0.1, POINT)
    )


@given(comparisons())
def test_nothing_smaller_is_as_good_as_what_is_advised(models):
    advice = recommend(models, 0.1, POINT)
    good = [model.size for model, standing in zip(models, advice.standings, strict=True) if standing.is_as_good]
    assert models[advice.chosen].size == min(good)


@given(comparisons(), st.floats(0.1, 10))
@settings(max_examples=50)
def test_the_unit_of_the_score_changes_nothing(models, unit):
    scaled = [model._replace(losses=model.losses * unit) for model in models]
    first, second = recommend(models, 0.1, POINT), recommend(scaled, 0.1, POINT)
    nearly = any(abs(s.worse - s.error) < 1e-9 for s in first.standings)
    assert nearly or by_name(models, first)[0] == by_name(models, second)[0]


def test_a_model_without_probabilities_is_never_best_nor_as_good():
    blind = scored("blind", [np.nan] * 4, [1.0] * 4, 1)
    advice = recommend([blind, scored("sees", [0.2] * 4, [0.8] * 4, 9)], 0.1, POINT)
    assert advice.chosen == advice.best == 1
    assert advice.standings[0].reason == "no score"


def test_one_standard_error_above_the_bar_is_asked_of_the_best():
    bar = scored("", [0.25] * 10, [0.5] * 10, 0)
    better = scored("better", around(0.20, 0.03), around(0.6, 0.03), 9)
    alike = scored("alike", around(0.245, 0.03), around(0.5, 0.03), 9)
    assert recommend([better], 1 / 9, POINT, bar).beats_the_bar
    assert not recommend([alike], 1 / 9, POINT, bar).beats_the_bar


def test_the_baseline_is_recommended_unless_a_model_is_significantly_better():
    bar = scored("", [0.25] * 10, [0.5] * 10, 0)
    majority = scored("majority", [0.25] * 10, [0.5] * 10, 1)
    lucky = scored("lucky", around(0.24, 0.02), around(0.55, 0.03), 9)
    better = scored("better", around(0.20, 0.03), around(0.6, 0.03), 9)
    chosen = {m.name: recommend([m, majority], 1 / 9, POINT, bar) for m in (lucky, better)}
    assert chosen["lucky"].gain.mean > chosen["lucky"].gain.error
    assert [found.chosen for found in chosen.values()] == [1, 0]
    assert recommend([lucky], 1 / 9, POINT, bar).chosen == 0  # the baseline does not take part


def test_a_gain_within_one_standard_error_is_told_as_not_sure():
    rng = np.random.default_rng(3)
    table = {"x": rng.normal(size=60), "y": np.where(rng.random(60) < 0.4, "yes", "no")}
    found = bt.compare(table, "y", ["lda"], cv=5)
    significantly = "significantly " if found.advice.gain.mean > 0 else ""
    assert not found.advice.beats_the_bar
    assert f"No model is {significantly}better than always predicting no" in found.sentence


# --- of tables ----------------------------------------------------------------------------------------------------------


def rows(n: int = 90, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return {"x": x, "noise": rng.normal(size=n), "y": np.where(x + rng.normal(size=n) > 0, "yes", "no")}


FAST = ["majority", "nb", "lda"]


def test_few_rows_are_dealt_several_times_and_the_print_says_so():
    assert [repeats_for(n) for n in (4, 1_000)] == [3, 1]
    found = bt.compare(rows(), "y", FAST, cv=5)
    assert len(found.baseline.trials) == 15
    assert "5 stratified folds, repeated 3 times, seeds 0 to 2" in str(found)
    assert len(bt.compare(rows(), "y", FAST, cv=5, repeats=2).baseline.trials) == 10
    with pytest.raises(ValueError, match="repeats=2 needs cv as a number of folds"):
        bt.compare(rows(), "y", FAST, cv="loo", repeats=2)


@pytest.mark.parametrize(
    ("by", "metric"), [(None, "Brier score"), ("log_loss", "log loss"), ("accuracy", "accuracy"), ("auc", "AUC")]
)
def test_models_are_judged_by_what_is_asked_for(by, metric):
    found = bt.compare(rows(), "y", FAST, cv=4, repeats=1, by=by)
    means = [entry.validation.mean(metric) for entry in found.entries]
    assert found.metric == metric
    assert means == sorted(means, reverse=metric in ("accuracy", "AUC"))
    assert {"worse", "error", "p", "lost", "is_contender", "reason", "accuracy"} <= set(found.to_dict()["models"][0])


def test_costs_are_judged_by_the_answer_of_least_expected_cost():
    costs = {"yes": {"no": 9}, "no": {"yes": 1}}
    found = bt.compare(rows(), "y", FAST, cv=4, repeats=1, costs=costs)
    assert found.metric == "expected cost"
    assert found.baseline.mean("expected cost") == pytest.approx(np.mean(rows()["y"] == "no"), abs=0.01)  # always yes
    assert "always predicting yes: expected cost" in str(found)
    even = bt.compare(rows(), "y", FAST, cv=4, repeats=1, costs=[[0, 1], [1, 0]])
    for entry in even.entries:
        assert entry.validation.mean("expected cost") == pytest.approx(1 - entry.validation.mean("accuracy"))


@pytest.mark.parametrize("short", ["nb", "cart", "c45", "logistic", "lda", "c50"])
def test_a_model_of_a_comparison_with_costs_answers_by_them(short):
    costs = {"yes": {"no": 9}, "no": {"yes": 1}}
    table = rows()
    found = bt.compare(table, "y", [short], cv=4, repeats=1, costs=costs)
    assert found.best.get_params()["costs"] == costs
    alone = clone(found.best).fit(table, "y")
    assert found.best.predict(table).tolist() == alone.predict(table).tolist()
    validation = bt.cross_validate(clone(found.best), table, "y", cv=4)
    assert found.entries[0].validation.mean("accuracy") == pytest.approx(validation.mean("accuracy"))
    own = bt.compare(table, "y", {"own": clone(found.best).set_params(costs=[[0, 1], [1, 0]])}, cv=4, repeats=1, costs=costs)
    assert own.best.get_params()["costs"] == [[0, 1], [1, 0]]


def test_numbers_are_judged_by_the_squared_error_and_the_mean_is_the_bar():
    rng = np.random.default_rng(0)
    table = {"x": rng.random(120), "y": rng.normal(size=120)}
    found = bt.compare(table, "y", ["mean", "cart-cp"], cv=4)
    assert found.metric == "squared error"
    assert found.criterion.limit == pytest.approx(0.01 * np.var(table["y"]))
    assert found.recommendation.short == "mean"
    assert "No model is better than always predicting the mean" in found.sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "luck"}, "by='luck': give one of 'brier'"),
        ({"by": "cost"}, "by='cost' needs costs"),
        ({"by": "auc", "cv": "loo"}, "by='auc' needs several folds with several rows"),
        ({"costs": {"yes": {"no": 1}}}, "no row for class 'no'"),
        ({"repeats": 0}, "repeats"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        bt.compare(rows(), "y", FAST, **options)


@pytest.mark.parametrize("cv", ["loo", 0.3])
def test_without_scores_of_folds_the_errors_are_those_of_rows(cv):
    found = bt.compare(rows(), "y", FAST, cv=cv)
    standing = found.advice.standings[-1]
    first, last = (entry.validation.losses("Brier score") for entry in (found.entries[0], found.entries[-1]))
    assert standing.error == pytest.approx((last - first).std(ddof=1) / len(first) ** 0.5)
    assert "on the same rows" in str(found).replace("\n ", "")


def test_a_weight_of_two_is_a_row_twice_for_the_bar():
    table = rows(60)
    fold = np.arange(60) % 3
    doubled = {name: np.concatenate([values, values[:30]]) for name, values in table.items()}
    weighted = bt.compare(table, "y", FAST, cv=fold.tolist(), sample_weight=np.repeat([2.0, 1.0], 30))
    repeated = bt.compare(doubled, "y", FAST, cv=[*fold, *fold[:30]])
    assert weighted.baseline.mean("Brier score") == pytest.approx(repeated.baseline.mean("Brier score"))
