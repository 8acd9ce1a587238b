"""The loss by which cross-validation compares penalty strengths."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt

PENGUINS = bt.datasets.load("penguins")
TWO = PENGUINS[["bill_length_mm", "bill_depth_mm", "body_mass_g", "sex"]].dropna(subset="sex")
THREE = PENGUINS[["bill_length_mm", "body_mass_g", "island", "species"]]
FOLDS = 4
CS = [0.001, 0.01, 0.1, 1.0, 10.0]


def losses(scoring: str, y: np.ndarray, classes: np.ndarray, probability: np.ndarray) -> float:
    """The loss of some rows by scikit-learn's own measures."""
    from sklearn import metrics

    if scoring == "log_loss":
        return metrics.log_loss(y, probability, labels=classes)
    if scoring == "accuracy":
        return float(np.mean(classes[probability.argmax(axis=1)] != y))
    if scoring == "brier":
        one_hot = y[:, None] == classes
        return float(((probability - one_hot) ** 2).sum(axis=1).mean() / (2 if len(classes) == 2 else 1))
    if len(classes) == 2:
        return 1 - metrics.roc_auc_score(y == classes[1], probability[:, 1])
    return 1 - metrics.roc_auc_score(y, probability, multi_class="ovr", labels=classes)


@pytest.mark.parametrize("scoring", ["log_loss", "accuracy", "auc", "brier"])
@pytest.mark.parametrize(
    ("rows", "target", "multi_class"),
    [(TWO, "sex", "multinomial"), (THREE, "species", "multinomial"), (THREE, "species", "ovr")],
    ids=["two", "three", "one-vs-rest"],
)
def test_the_curve_is_the_loss_of_the_held_out_rows(scoring, rows, target, multi_class):
    if scoring == "log_loss" and multi_class == "ovr":
        pytest.skip("the sum of the losses of each class against the rest")
    y, fold = rows[target].to_numpy(), np.arange(len(rows)) % FOLDS
    model = bt.LogisticRegressionCV(Cs=CS, cv=fold, scoring=scoring, multi_class=multi_class).fit(rows, target)
    expected = np.zeros((FOLDS, len(CS)))
    for f in range(FOLDS):
        train = fold != f
        for i, c in enumerate(CS):  # λ = 1 / (n C) of all rows, penalised in standard units of all rows
            part = bt.LogisticRegression(lambda_=1 / (len(rows) * c), multi_class=multi_class, schema=model.schema_)
            part.fit(rows[train], target)
            expected[f, i] = losses(scoring, y[~train], part.classes_, part.predict_proba(rows[~train]))
    tolerance = {"accuracy": 0.02, "auc": 2e-3}.get(scoring, 2e-3)  # a fold's columns are imputed and scaled by all rows
    np.testing.assert_allclose(model.curve_.fold_loss, expected, atol=tolerance)
    assert pytest.approx(CS[int(np.argmin(model.curve_.mean))]) == model.C_
    careful = bt.LogisticRegressionCV(Cs=CS, cv=fold, scoring=scoring, multi_class=multi_class, rule="1se").fit(rows, target)
    assert pytest.approx(CS[careful.curve_.one_se]) == careful.C_
    assert careful.C_ <= model.C_


def test_the_default_is_log_loss():
    models = [bt.LogisticRegressionCV(Cs=4, cv=3, **given).fit(TWO, "sex") for given in ({}, {"scoring": "log_loss"})]
    assert np.array_equal(models[0].curve_.fold_loss, models[1].curve_.fold_loss)


@pytest.mark.parametrize("scoring", ["accuracy", "auc", "brier"])
def test_sparse_rows_and_weights_are_scored_as_dense_and_repeated_ones(scoring):
    rng = np.random.default_rng(0)
    text = [" ".join(rng.choice(["sushi", "was", "awesome", "awful", "the", "rest"], 4)) for _ in range(80)]
    rows = pd.DataFrame({"text": text, "y": ["yes" if "sushi" in words else "no" for words in text]})
    schema = {"text": "text"}
    sparse = bt.LogisticRegressionCV(Cs=3, cv=4, scoring=scoring, schema=schema).fit(rows, "y")
    assert sparse.curve_.mean[-1] < 0.3
    weight = np.tile([1.0, 2.0], len(TWO))[: len(TWO)]
    weighed = bt.LogisticRegressionCV(Cs=3, cv=4, scoring=scoring).fit(TWO, "sex", sample_weight=weight)
    repeated = bt.LogisticRegressionCV(Cs=3, cv=4, scoring=scoring).fit(
        TWO.loc[np.repeat(TWO.index, weight.astype(int))], "sex"
    )
    np.testing.assert_allclose(weighed.curve_.mean, repeated.curve_.mean, atol=0.02)


def test_folds_of_one_class_have_no_area():
    rows = TWO.sort_values("sex")
    by_class = (rows.sex == "male").astype(int).to_numpy()
    with pytest.raises(ValueError, match=r"scoring='auc' needs two classes among the rows of a fold; give a smaller cv"):
        bt.LogisticRegressionCV(Cs=3, cv="loo", scoring="auc").fit(rows[::4], "sex")
    fold = np.where(np.arange(len(rows)) % 5 == 0, 2 + by_class, np.arange(len(rows)) % 2)
    model = bt.LogisticRegressionCV(Cs=3, cv=fold, scoring="auc").fit(rows, "sex")  # folds 2 and 3 do not count
    assert 0 < model.curve_.mean.min() < 0.3


def test_absolute_errors_are_those_of_the_held_out_rows():
    rows = PENGUINS[["bill_length_mm", "island", "year", "body_mass_g"]].dropna()
    fold, lambdas = np.arange(len(rows)) % FOLDS, [0.1, 1.0, 10.0, 100.0, 500.0]
    for penalty in ("l1", "l2"):
        model = bt.LinearRegressionCV(penalty=penalty, lambdas=lambdas, cv=fold, scoring="absolute_error")
        curve = model.fit(rows, "body_mass_g").curve_
        expected = np.zeros((FOLDS, len(lambdas)))
        for f in range(FOLDS):
            train = fold != f
            for i, lambda_ in enumerate(curve.lambdas):
                part = bt.LinearRegression(penalty=penalty, lambda_=lambda_, schema=model.schema_).fit(
                    rows[train], "body_mass_g"
                )
                expected[f, i] = np.abs(part.predict(rows[~train]) - rows.body_mass_g[~train]).mean()
        np.testing.assert_allclose(curve.fold_loss, expected, rtol=1e-9)
        assert model.lambda_ == curve.lambdas[np.argmin(curve.mean)]
        careful = bt.LinearRegressionCV(penalty=penalty, lambdas=lambdas, cv=fold, scoring="absolute_error", rule="1se")
        assert careful.fit(rows, "body_mass_g").lambda_ == curve.lambdas[curve.one_se] >= model.lambda_


def test_a_gross_error_moves_squared_errors_more_than_absolute_ones():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 6))
    y = x[:, 0] + rng.normal(size=80) / 5
    y[7] = 500.0
    chosen = [bt.LinearRegressionCV("l1", cv=5, scoring=by).fit(x, y).lambda_ for by in ("absolute_error", "squared_error")]
    assert chosen[0] < chosen[1]


def test_other_words_are_answered_with_ours():
    with pytest.raises(
        ValueError, match="scoring='roc_auc': 'roc_auc' is called 'auc' here; give one of 'log_loss', 'accuracy'"
    ):
        bt.LogisticRegressionCV(scoring="roc_auc").fit(TWO, "sex")
    with pytest.raises(ValueError, match="scoring='mae': 'mae' is called 'absolute_error' here"):
        bt.LinearRegressionCV(scoring="mae").fit(TWO.drop(columns="sex"), "body_mass_g")


def test_a_table_on_disk_is_scored_as_in_memory(tmp_path):
    TWO.to_csv(tmp_path / "two.csv", index=False)
    scan = bt.scan(tmp_path / "two.csv")
    for scoring in ("accuracy", "auc", "brier"):
        here, there = (bt.LogisticRegressionCV(Cs=3, cv=3, scoring=scoring).fit(rows, "sex") for rows in (TWO, scan))
        np.testing.assert_allclose(here.curve_.mean, there.curve_.mean, atol=1e-6)
    numbers = TWO.drop(columns="sex").dropna()
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    model = bt.LinearRegressionCV(lambdas=5, cv=3, scoring="absolute_error")
    here, there = (model.fit(rows, "body_mass_g").curve_.mean for rows in (numbers, bt.scan(tmp_path / "numbers.csv")))
    np.testing.assert_allclose(here, there, rtol=1e-9)
