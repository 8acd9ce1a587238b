"""Each metric has one value for the same answers, wherever it is asked for, and weights are rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

import baytree as bt
from baytree.cli.main import main
from baytree.metrics import scores as metrics
from baytree.metrics.scores import ScoredRows
from law_settings import settings


def answers(seed: int, n_classes: int = 3, n: int = 40) -> ScoredRows:
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(n_classes), n).round(1)  # ties, and zeros
    probability /= probability.sum(axis=1, keepdims=True)
    weight = rng.integers(1, 4, n).astype(float)
    return ScoredRows(rng.integers(0, n_classes, n), probability.argmax(axis=1), probability, weight)


def numbers(seed: int, n: int = 31) -> ScoredRows:
    rng = np.random.default_rng(seed)
    label = rng.normal(size=n)
    return ScoredRows(label, label + rng.normal(size=n).round(1), None, rng.integers(1, 4, n).astype(float))


@given(st.integers(0, 200), st.sampled_from([*metrics.CLASSIFICATION, *metrics.REGRESSION]))
@settings(max_examples=60, deadline=None)
def test_a_row_of_weight_two_is_a_row_twice(seed, metric):
    given = numbers(seed) if metric in metrics.REGRESSION else answers(seed)
    rows = np.repeat(np.arange(len(given.label)), given.weight.astype(int))
    often = given._replace(weight=None).take(rows)
    assert metrics.score(metric, given) == pytest.approx(metrics.score(metric, often), rel=1e-12)


@given(st.integers(0, 200))
@settings(max_examples=20, deadline=None)
def test_weighted_metrics_are_scikit_learns(seed):
    given = answers(seed, 2)
    label, answer, probability, weight, _ = given
    expected = {
        "accuracy": sk.accuracy_score(label, answer, sample_weight=weight),
        "balanced accuracy": sk.balanced_accuracy_score(label, answer, sample_weight=weight),
        "F1 (macro)": sk.f1_score(label, answer, average="macro", sample_weight=weight),
        "MCC": sk.matthews_corrcoef(label, answer, sample_weight=weight),
        "log loss": sk.log_loss(label, probability, sample_weight=weight),
        "Brier score": sk.brier_score_loss(label, probability[:, 1], sample_weight=weight),
        "AUC": sk.roc_auc_score(label, probability[:, 1], sample_weight=weight),
    }
    assert {name: metrics.score(name, given) for name in expected} == pytest.approx(expected, rel=1e-9)


def test_what_is_not_defined_is_nan():
    one_class = ScoredRows(np.zeros(3, int), np.zeros(3, int), np.full((3, 2), 0.5))
    assert np.isnan(metrics.score("AUC", one_class))
    assert np.isnan(metrics.score("log loss", one_class._replace(probability=None)))
    assert np.isnan(metrics.score("R²", ScoredRows(np.ones(3), np.zeros(3), None)))
    with pytest.raises(ValueError, match="no metric 'luck'"):
        metrics.score("luck", one_class)


def impossible() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows to learn from, and others of which one was impossible."""
    train = pd.DataFrame({"x": ["a", "a", "b", "b"] * 5, "y": ["no", "no", "yes", "yes"] * 5})
    test = pd.DataFrame({"x": ["a", "b", "a"], "y": ["no", "yes", "yes"]})
    return train, test


def test_evaluate_cross_validate_and_compare_give_one_log_loss(tmp_path):
    train, test = impossible()
    model = bt.NaiveBayesClassifier(estimate="mle")
    frame = pd.concat([train, test], ignore_index=True)
    fold = [(np.arange(len(train)), np.arange(len(train), len(frame)))]
    tried = bt.cross_validate(model, frame, "y", cv=fold).mean("log loss")
    compared = bt.compare(frame, "y", {"mine": model}, cv=fold).entries[0].validation.mean("log loss")
    bt.save(model.fit(train, "y"), tmp_path / "m.baytree")
    test.to_csv(tmp_path / "test.csv", index=False)
    said = CliRunner().invoke(main, ["evaluate", str(tmp_path / "m.baytree"), str(tmp_path / "test.csv")]).stdout
    expected = sk.log_loss(["no", "yes", "yes"], model.predict_proba(test[["x"]]))
    assert tried == compared == pytest.approx(expected) == pytest.approx(-np.log(np.finfo(float).eps) / 3)
    assert f"log loss           {tried:.4f}" in said
