"""What a model's answers cost, and what it is worth to act on its probabilities."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.cli.main import main
from baytree.metrics import scores as metrics
from baytree.metrics.confusion import Confusion, ExpectedCost
from baytree.metrics.decision_curve import THRESHOLDS

SEEDS = st.integers(0, 10_000)


def drawn(seed: int, n_classes: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    probability = random.dirichlet(np.ones(n_classes), n).round(3)
    weight, costs = random.integers(1, 4, n).astype(float), random.uniform(0.1, 5, (n_classes, n_classes))
    np.fill_diagonal(costs, 0.0)
    return random.integers(0, n_classes, n), probability, weight, costs


@given(SEEDS, st.integers(2, 5))
def test_the_expected_cost_is_what_rows_cost_on_average(seed, n_classes):
    truth, probability, weight, costs = drawn(seed, n_classes)
    answers = metrics.ScoredRows(truth, probability.argmax(axis=1), probability, weight, costs)
    found = Confusion.of(truth, probability.argmax(axis=1), probability, weight, costs)
    assert found.scores["expected cost"] == pytest.approx(metrics.score("expected cost", answers), rel=1e-12)


@given(SEEDS, st.integers(2, 5), st.integers(0, 60))
def test_costs_of_parts_add_up_to_those_of_the_whole(seed, n_classes, cut):
    truth, probability, weight, costs = drawn(seed, n_classes)
    parts = [
        ExpectedCost.of(truth[rows], probability[rows], weight[rows], costs) for rows in (slice(0, cut), slice(cut, None))
    ]
    assert (parts[0] + parts[1]).expected == ExpectedCost.of(truth, probability, weight, costs).expected


@given(SEEDS, st.integers(2, 4))
def test_no_cheaper_class_could_have_been_expected(seed, n_classes):
    _, probability, _, costs = drawn(seed, n_classes)
    chosen = metrics.min_expected_cost_class(probability, costs)
    expected = probability @ costs
    assert (expected[np.arange(len(chosen)), chosen] <= expected.min(axis=1) + 1e-12).all()


def brute_force(is_own: np.ndarray, probability: np.ndarray, weight: np.ndarray, threshold: float) -> float:
    acts = probability >= threshold
    own, others = weight[acts & is_own].sum(), weight[acts & ~is_own].sum()
    return (own - others * threshold / (1 - threshold)) / weight.sum()


@given(SEEDS, st.integers(2, 4))
def test_the_decision_curve_is_vickers_and_elkins_formula(seed, n_classes):
    truth, probability, weight, _ = drawn(seed, n_classes)
    found = Confusion.of(truth, probability.argmax(axis=1), probability, weight)
    for c in metrics.with_curves(n_classes):
        curve = found.decision_curve(c, c, THRESHOLDS)
        expected = [brute_force(truth == c, probability[:, c], weight, t) for t in THRESHOLDS]
        np.testing.assert_allclose(curve.model, expected, rtol=1e-9, atol=1e-12)
        everybody = [brute_force(truth == c, np.ones(len(truth)), weight, t) for t in THRESHOLDS]
        np.testing.assert_allclose(curve.all_rows, everybody, rtol=1e-9, atol=1e-12)


@given(SEEDS, st.integers(50, 950).map(lambda k: (k + 0.5) / 1000))  # between the probabilities, where no tie is
def test_net_benefit_is_the_share_of_the_class_less_the_expected_cost_at_these_odds(seed, threshold):
    truth, probability, weight, _ = drawn(seed, 2)
    probability = np.stack([1 - probability[:, 1], probability[:, 1]], axis=1)
    costs = np.array([[0, threshold], [1 - threshold, 0]])  # a needless act, and one left undone
    found = Confusion.of(truth, truth, probability, weight, costs)
    share = weight[truth == 1].sum() / weight.sum()
    expected = share - found.scores["expected cost"] / (1 - threshold)
    assert found.decision_curve(1, 1, np.array([threshold])).model[0] == pytest.approx(expected, abs=1e-9)


def test_the_first_of_two_classes_is_as_probable_as_the_second_is_not():
    truth, probability, weight, _ = drawn(5, 2)
    curve = Confusion.of(truth, truth, probability, weight).decision_curve(0, "no", np.array([0.2, 0.5]))
    expected = [brute_force(truth == 0, 1 - probability[:, 1], weight, t) for t in (0.2, 0.5)]
    np.testing.assert_allclose(curve.model, expected)


# as a user meets them


@pytest.fixture(scope="module")
def titanic() -> pd.DataFrame:
    return bt.datasets.load("titanic")


@pytest.fixture(scope="module")
def model(titanic):
    return bt.NaiveBayesClassifier().fit(titanic[::2], "survived")


COSTS = {"yes": {"no": 5}, "no": {"yes": 1}}


def test_evaluate_tells_what_answers_cost(titanic, model):
    found = bt.evaluate(model, titanic[1::2], costs=COSTS)
    truth, cheap = titanic[1::2].survived.to_numpy(), model.predict_proba(titanic[1::2]) @ np.array([[0, 1], [5, 0]])
    answer = model.classes_[cheap.argmin(axis=1)]
    expected = np.where(truth == answer, 0, np.where(truth == "yes", 5, 1)).mean()
    assert found.scores["expected cost"] == pytest.approx(expected, rel=1e-12)
    assert f"expected cost      {expected:.4f}" in str(found)
    assert "expected cost" not in bt.evaluate(model, titanic[1::2]).scores


def test_wrong_costs_classes_and_thresholds_are_refused_in_words(titanic, model):
    with pytest.raises(ValueError, match="costs: shape"):
        bt.evaluate(model, titanic, costs=[[0, 1, 2]] * 3)
    with pytest.raises(ValueError, match="costs apply to classes, but the target 'x' is a number"):
        bt.evaluate(
            bt.LinearRegression().fit({"a": [1.0, 2, 3], "x": [1.0, 2, 4]}, "x"), {"a": [1.0], "x": [1.0]}, costs=COSTS
        )
    found = bt.evaluate(model, titanic)
    with pytest.raises(ValueError, match="label='maybe': give one of the classes 'no', 'yes'"):
        found.decision_curve("maybe")
    with pytest.raises(ValueError, match="above 0 and below 1"):
        found.decision_curve("yes", [0.5, 1.0])


def test_of_three_classes_the_class_of_the_curve_is_named():
    iris = bt.datasets.load("iris")
    found = bt.evaluate(bt.NaiveBayesClassifier().fit(iris, "species"), iris)
    assert found.decision_curve("virginica").label == "virginica"
    with pytest.raises(ValueError, match="label=None: give one of the classes"):
        found.decision_curve()


def test_the_curve_prints_and_becomes_a_frame_and_a_picture(titanic, model):
    pytest.importorskip("matplotlib").use("Agg")
    curve = bt.evaluate(model, titanic).decision_curve(thresholds=[0.1, 0.4])
    assert list(curve.to_frame().columns) == ["threshold", "model", "all_rows"]
    assert str(curve).startswith("net benefit of acting on yes")
    assert curve.plot().get_ylabel() == "net benefit"


def test_the_command_line_takes_costs_and_a_class(titanic, model, tmp_path):
    bt.save(model, tmp_path / "m.baytree")
    titanic[1::2].to_csv(tmp_path / "t.csv", index=False)
    words = [
        "evaluate",
        str(tmp_path / "m.baytree"),
        str(tmp_path / "t.csv"),
        "--costs",
        json.dumps(COSTS),
        "--curve",
        "yes",
    ]
    result = CliRunner().invoke(main, words)
    found = bt.evaluate(model, titanic[1::2], costs=COSTS)
    assert result.stdout == f"{found}\n\n{found.decision_curve('yes')}\n"
    wrong = CliRunner().invoke(main, [*words[:3], "--costs", "{"])
    assert wrong.exit_code == 2
    assert "--costs '{' is not JSON" in wrong.output
    wrong = CliRunner().invoke(main, [*words[:3], "--curve", "yess"])
    assert wrong.exit_code == 2
    assert "did you mean 'yes'" in wrong.output
