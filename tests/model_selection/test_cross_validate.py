"""Cross-validation: subtraction is refitting, nothing leaks, intervals and tests are those of the literature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import baytree as bt
from baytree.estimators.learner_access import SharedStages
from baytree.folds.splitters import Fold
from baytree.model_selection import significance
from baytree.model_selection.problem import SupervisedProblem, task_of
from baytree.model_selection.trials import (
    encodes_identically,
    from_frame,
    from_table,
    held_out_table,
    predict_folds,
    training_table,
    with_fixed_kinds,
)
from law_settings import settings


def mixed(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.choice(["a", "b", "c"], n)
    colour = np.where(rng.random(n) < 0.5, label, rng.choice(["red", "blue", "rare"], n, p=[0.48, 0.48, 0.04]))
    size = (label == "b") * 2 + rng.normal(size=n)
    size[rng.random(n) < 0.2] = np.nan
    return pd.DataFrame({"colour": colour, "size": size, "label": label})


@pytest.mark.slow
@given(st.integers(0, 50), st.sampled_from(["mle", "map", "bayes"]), st.sampled_from([2, 5, "loo"]))
@settings(max_examples=12, deadline=None)
def test_taking_a_fold_away_gives_the_answers_of_refitting(seed, estimate, cv):
    problem = SupervisedProblem.of(mixed(24, seed), "label")
    folds = problem.folds(cv, seed=seed)
    model = bt.NaiveBayesClassifier(estimate=estimate)
    for trial, fold in zip(predict_folds(model, problem, folds.parts), folds.parts, strict=True):
        refitted = from_frame(model, problem, fold)
        assert np.array_equal(trial.probability, refitted.probability)
        assert np.array_equal(trial.answer, refitted.answer)


def every_kind(n: int, seed: int) -> pd.DataFrame:
    """Numbers, categories collected and declared, an order, truth values, dates, gaps, and levels that few rows have."""
    rng = np.random.default_rng(seed)
    frame = mixed(n, seed)
    frame["grade"] = pd.Categorical(rng.choice(["S", "M"], n), categories=["S", "M", "L"], ordered=True)
    frame["kind"] = pd.Categorical(rng.choice(["x", "y"], n), categories=["y", "never", "x"])
    frame["open"] = rng.random(n) < 0.5
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D")
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame


LEARNERS = {
    "tree": bt.DecisionTreeClassifier(max_depth=4),
    "c45": bt.C45Classifier(),
    "reduced error": bt.C45Classifier(pruning="reduced_error"),
    "cart": bt.CARTClassifier(cp=0.0005, pruning="1se", cv=3),
    "chaid": bt.CHAIDClassifier(),
    "kernels": bt.NaiveBayesClassifier(numeric="kernel"),
    "bins": bt.NaiveBayesClassifier(numeric="discretized"),
    "lda": bt.LinearDiscriminantAnalysis(),
    "logistic": bt.LogisticRegression(),
    "logistic by cv": bt.LogisticRegressionCV(cv=3, Cs=4, penalty="l1"),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_of_an_encoded_table_teach_what_the_rows_of_the_frame_teach(name):
    problem = SupervisedProblem.of(every_kind(60, 3), "label")
    ready = with_fixed_kinds(LEARNERS[name], problem)
    assert encodes_identically(ready, problem)
    for fold in problem.folds(3).parts:
        encoded, refitted = from_table(ready, problem, fold, SharedStages()), from_frame(ready, problem, fold)
        assert np.allclose(encoded.probability, refitted.probability, rtol=0, atol=1e-12)
        assert np.array_equal(encoded.answer, refitted.answer)


def test_what_only_the_rows_kept_back_hold_is_not_known_to_the_rows_learnt_from():
    rows = {"x": ["a", "b"] * 5 + ["only here"], "y": ["no", "yes"] * 5 + ["new"]}
    problem = SupervisedProblem.of(rows, "y")
    table = training_table(problem.table, np.arange(10))
    assert table.schema["x"].levels == ("a", "b")
    assert table.schema.classes == ("no", "yes")
    assert held_out_table(problem.table, np.array([10]), table.schema).values[0].tolist() == [-1]


def test_text_infinities_and_foreign_estimators_are_refitted_from_the_frame():
    infinite = pd.DataFrame({"x": [1.0, np.inf, 2.0, 3.0] * 5, "y": ["a", "b"] * 10})
    problem = SupervisedProblem.of(infinite, "y")
    assert not encodes_identically(with_fixed_kinds(bt.CARTClassifier(), problem), problem)
    assert bt.cross_validate(bt.CARTClassifier(), infinite, "y", cv=3).summary("accuracy").mean >= 0
    assert not encodes_identically(GaussianNB(), problem)


def test_a_missing_number_before_a_known_one_adds_nothing():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40), "y": np.arange(40) % 2})
    model = bt.NaiveBayesClassifier(estimate="mle").fit(frame, "y")
    alone = bt.NaiveBayesClassifier(estimate="mle").fit(frame[["z", "y"]], "y")
    unknown = frame.assign(x=np.nan)
    assert np.allclose(model.predict_proba(unknown), alone.predict_proba(unknown), rtol=1e-12)


def test_every_row_is_kept_back_once():
    result = bt.cross_validate(bt.NaiveBayesClassifier(), mixed(), "label", cv=7)
    assert sorted(result.pooled[0].tolist()) == list(range(60))
    assert result.confusion.sum() == 60


def test_every_frame_library_gives_the_same_scores():
    frame = mixed()
    frames = [frame, pl.from_pandas(frame), {name: frame[name].tolist() for name in frame}]
    results = [str(bt.cross_validate(bt.NaiveBayesClassifier(), rows, "label", cv=5)) for rows in frames]
    assert len(set(results)) == 1


def test_scores_are_scikit_learns():
    result = bt.cross_validate(bt.NaiveBayesClassifier(), mixed(), "label", cv=3)
    trial = result.trials[1]
    y = result.label.values[trial.rows]
    for name, value in {
        "accuracy": sk.accuracy_score(y, trial.answer),
        "balanced accuracy": sk.balanced_accuracy_score(y, trial.answer),
        "log loss": sk.log_loss(y, trial.probability),
        "AUC": sk.roc_auc_score(y, trial.probability, multi_class="ovr"),
        "F1 (macro)": sk.f1_score(y, trial.answer, average="macro"),
        "MCC": sk.matthews_corrcoef(y, trial.answer),
    }.items():
        assert result.scores(name)[1] == pytest.approx(value)


def test_a_selector_inside_the_folds_cannot_make_noise_look_telling():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 600)), np.arange(60) % 2
    inside = make_pipeline(bt.SelectFeatures(by="anova", k=10), GaussianNB())
    honest = bt.cross_validate(inside, X, y, cv=5).summary("accuracy")
    leaked = bt.cross_validate(GaussianNB(), bt.SelectFeatures(by="anova", k=10).fit_transform(X, y), y, cv=5)
    assert leaked.summary("accuracy").mean > 0.75  # what happens when the selection sees all rows
    assert honest.mean < 0.65


@pytest.mark.parametrize(
    "cv", [KFold(3), RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), TimeSeriesSplit(3), 0.3, "loo"]
)
def test_scikit_learns_splitters_holdout_and_leave_one_out_are_taken(cv):
    result = bt.cross_validate(bt.NaiveBayesClassifier(), mixed(), "label", cv=cv)
    interval = result.summary("accuracy")
    assert interval.low <= interval.mean <= interval.high


def test_rows_of_one_group_are_never_on_both_sides():
    frame, groups = mixed(), np.arange(60) // 6
    problem = SupervisedProblem.of(frame, "label", groups=groups)
    for cv in (5, GroupKFold(5)):
        for fold in problem.folds(cv).parts:
            assert not set(groups[fold.train]) & set(groups[fold.test])


def test_a_number_is_cross_validated_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 1))
    y = 3 * x[:, 0] + rng.normal(size=50) * 0.1
    good, poor = (bt.cross_validate(model, x, y, cv=5) for model in (LinearRegression(), DummyRegressor()))
    assert good.summary("R²").mean > 0.9
    test = good.against(poor)
    assert test.difference < 0
    assert test.corrected_t < 0.01
    assert np.isnan(test.mcnemar)


def test_rows_without_a_label_are_left_out_with_a_warning():
    frame = mixed()
    frame.loc[3, "label"] = None
    with pytest.warns(UserWarning, match="1 row has no value"):
        result = bt.cross_validate(bt.NaiveBayesClassifier(), frame, "label", cv=3)
    assert len(result.pooled[0]) == 59


def test_the_corrected_test_is_more_careful_than_the_plain_one():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.1, 0.2, 10)
    assert significance.corrected_t(differences, 1 / 9) > stats.ttest_1samp(differences, 0).pvalue
    assert significance.corrected_t(differences, 0) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


@pytest.mark.slow
def test_the_corrected_test_seldom_finds_a_difference_where_there_is_none():
    rng = np.random.default_rng(0)
    alarms = 0
    for seed in range(40):
        X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
        one, two = (bt.cross_validate(GaussianNB(), X[:, [j]], y, cv=5, random_state=seed) for j in range(2))
        alarms += one.against(two).corrected_t < 0.05
    assert alarms <= 5


def test_mcnemar_is_the_exact_binomial_test():
    right, other = np.array([True] * 9 + [False] * 3 + [True] * 5), np.array([False] * 9 + [True] * 3 + [True] * 5)
    assert significance.mcnemar(right, other) == pytest.approx(stats.binomtest(3, 12).pvalue)
    assert significance.mcnemar(right, right) == 1.0


def test_models_on_different_folds_are_not_compared():
    one, two = (bt.cross_validate(bt.NaiveBayesClassifier(), mixed(), "label", cv=3, random_state=s) for s in (0, 1))
    with pytest.raises(ValueError, match="same folds"):
        one.against(two)


def test_a_calibration_curve_counts_every_answer():
    result = bt.cross_validate(bt.NaiveBayesClassifier(), mixed(), "label", cv=5)
    curve = result.calibration(5)
    assert curve["rows"].sum() == 60
    assert ((curve["observed"] >= 0) & (curve["observed"] <= 1)).all()


def test_more_rows_do_not_make_naive_bayes_worse_on_easy_classes():
    curve = bt.learning_curve(bt.NaiveBayesClassifier(), mixed(300), "label", cv=5, train_sizes=(0.05, 1.0))
    assert curve.n_rows == (12, 240)
    assert curve.scores[1].mean >= curve.scores[0].mean


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([1.5, 2, 3], "regression"),
        (list(range(30)), "regression"),
        ([0, 1, 1], "classification"),
        (["a", "b"], "classification"),
    ],
)
def test_the_task_follows_the_labels(y, task):
    assert task_of(y) == task


@pytest.mark.parametrize("cv", [1, "twice", 0, [], [(np.arange(5), np.arange(0))]])
def test_folds_that_cannot_be_are_refused(cv):
    with pytest.raises(ValueError, match="cv="):
        bt.cross_validate(bt.NaiveBayesClassifier(), mixed(), "label", cv=cv)


def test_a_fold_knows_whether_it_is_a_complement():
    assert Fold(np.array([0, 1]), np.array([2])).is_complement
    assert not Fold(np.array([0, 1]), np.array([1])).is_complement


def test_the_curve_of_saying_nothing_is_that_of_the_rows_kept_back():
    penguins = bt.datasets.load("penguins")
    found = bt.cross_validate(bt.NaiveBayesClassifier(), penguins[["island", "body_mass_g", "species"]], "species", cv=4)
    curve = found.reject_curve()
    rows, answer, probability = found.pooled
    sure = probability.max(axis=1)
    for k in (0, len(curve.threshold) // 2, len(curve.threshold) - 1):
        kept = sure >= curve.threshold[k]
        assert curve.coverage[k] == pytest.approx(kept.mean())
        assert curve.accuracy[k] == pytest.approx((found.label.values[rows] == answer)[kept].mean())
    assert curve.accuracy[-1] == pytest.approx(found.confusion.trace() / found.confusion.sum())
    with pytest.raises(ValueError, match="does not predict probabilities"):
        bt.cross_validate(
            bt.LinearRegression(), penguins[["body_mass_g", "bill_length_mm"]].dropna(), "body_mass_g"
        ).reject_curve()


def test_r2_of_small_folds_is_that_of_all_predictions_together():
    rng = np.random.default_rng(0)
    x = rng.normal(size=24)
    rows = {"x": x, "y": x + rng.normal(size=24)}
    found = bt.cross_validate(bt.LinearRegression(), rows, "y", cv=12)
    held_out, predicted, _ = found.pooled
    pooled = 1 - ((rows["y"][held_out] - predicted) ** 2).sum() / ((rows["y"] - rows["y"].mean()) ** 2).sum()
    assert found.mean("R²") < -5 < 0.2 < pooled  # two rows in a fold have hardly any variance of their own
    mean, low, high = found.summary("R²")
    assert mean == pytest.approx(pooled)
    assert low < mean < high <= 1
    assert f"{pooled:.4f}" in next(line for line in str(found).splitlines() if line.startswith("R²"))
