"""Every estimator, on columns of every kind, is loaded as it was saved."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree import storage

RNG = np.random.default_rng(3)
N = 90


def _with_gaps(values: pd.Series) -> pd.Series:
    return values.mask(pd.Series(RNG.random(N) < 0.1))


RANK = RNG.integers(0, 4, N)
COLUMNS = {
    "numeric": _with_gaps(pd.Series(RNG.normal(size=N) + RANK)),
    "whole": pd.Series(RANK * 3),
    "infinite": pd.Series(np.where(RANK == 3, np.inf, RNG.normal(size=N))),
    "ordinal": _with_gaps(pd.Series(pd.Categorical.from_codes(RANK, ["S", "M", "L", "XL"], ordered=True))),
    "nominal": _with_gaps(pd.Series(RNG.choice(["x", "y", "z"], N)).where(RANK < 3, "w")),
    "boolean": pd.Series(RANK > 1),
    "date": _with_gaps(pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(RANK * 30 + RNG.integers(0, 9, N), "D"))),
    "one level": pd.Series(["same"] * N),
    "missing": pd.Series([np.nan] * N),
    "text": pd.Series([f"word{k} some longer text about {k % 3}" for k in RANK]),
}
LABEL = np.where(RANK + RNG.normal(size=N) > 1.5, "yes", "no")
NUMBER = RANK + RNG.normal(size=N)
NOISE = RNG.normal(size=N)

CLASSIFIERS = {
    "cart": bt.CARTClassifier(cp=0.0, min_split=4),
    "c45": bt.C45Classifier(),
    "c45 subset": bt.C45Classifier(subset=True),
    "c50": bt.C50Classifier(),
    "c50 rules": bt.C50Classifier(rules=True),
    "c50 boosted": bt.C50Classifier(trials=4, fuzzy=True),
    "c50 winnowed": bt.C50Classifier(winnow=True, costs=[[0, 2], [1, 0]]),
    "c50 boosted rules": bt.C50Classifier(rules=True, trials=3, subset=False),
    "j48": bt.C45Classifier(conventions="j48"),
    "j48 binary": bt.C45Classifier(conventions="j48", binary=True),
    "id3": bt.ID3Classifier(),
    "chaid": bt.CHAIDClassifier(min_split=5, min_leaf=1, alpha_split=0.9),
    "tree": bt.DecisionTreeClassifier(missing="surrogate", max_depth=4),
    "multiway": bt.DecisionTreeClassifier(branching="multiway", missing="fractional"),
    "merge": bt.DecisionTreeClassifier(branching="merge"),
    "nbtree": bt.NBTreeClassifier(min_bayes=5),
    "optimal": bt.OptimalTreeClassifier(penalty=0.001),
    "streaming": bt.StreamingTreeClassifier(grace=10, confidence=0.1, max_bins=8),
    "streaming, adaptive": bt.StreamingTreeClassifier(leaves="adaptive", grace=10, confidence=0.1),
    "streaming, firm": bt.StreamingTreeClassifier(revise=False, grace=10, confidence=0.1, tie=1.0),
    "averaged": bt.DecisionTreeClassifier(averaging="prunings", max_depth=4),
    "sums": bt.DecisionTreeClassifier(max_split_columns=3),
    "naive Bayes": bt.NaiveBayesClassifier(),
    "kernel": bt.NaiveBayesClassifier(numeric="kernel"),
    "discretized": bt.NaiveBayesClassifier(numeric="discretized"),
    "joint": bt.JointDistribution(alpha=1.0),
    "lda": bt.LinearDiscriminantAnalysis(),
    "qda": bt.QuadraticDiscriminantAnalysis(shrinkage=0.5),
    "logistic": bt.LogisticRegression(),
    "additive": bt.AdditiveClassifier(interactions=3),
    "scorecard": bt.Scorecard(),
    "mars": bt.MARSClassifier(max_degree=2),
    "logistic cv": bt.LogisticRegressionCV(Cs=3, cv=3),
}
REGRESSORS = {
    "cart numbers": bt.CARTRegressor(cp=0.0),
    "chaid numbers": bt.CHAIDRegressor(min_split=5, min_leaf=1, alpha_split=0.9),
    "tree numbers": bt.DecisionTreeRegressor(max_depth=4),
    "linear": bt.LinearRegression(),
    "additive numbers": bt.AdditiveRegressor(smooth=1.0),
    "mars numbers": bt.MARSRegressor(max_degree=2),
    "ridge": bt.LinearRegression(penalty="l2", missing="mean"),
    "lasso by cv": bt.LinearRegressionCV(penalty="l1", lambdas=5, cv=3),
    "multiway numbers": bt.DecisionTreeRegressor(branching="multiway", max_depth=3),
    "merge numbers": bt.DecisionTreeRegressor(branching="merge", max_depth=3),
}
NOT_FOR = ("text", "infinite")  # what an estimator may refuse to read


def cases() -> list:
    """Every estimator with every kind of column; in the fast suite every estimator with two and every kind with eight."""
    names, kinds = [*CLASSIFIERS, *REGRESSORS], [*COLUMNS]
    return [
        pytest.param(names[i], kinds[j], marks=() if (i + j) % 5 == 0 else pytest.mark.slow)
        for i, j in product(range(len(names)), range(len(kinds)))
    ]


@pytest.mark.parametrize(("name", "kind"), cases())
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_is_loaded_as_it_was_saved(name, kind, tmp_path):
    estimator, label = (CLASSIFIERS[name], LABEL) if name in CLASSIFIERS else (REGRESSORS[name], NUMBER)
    frame = pd.DataFrame({kind: COLUMNS[kind], "noise": NOISE})
    if name == "joint":
        frame = frame[[kind]]
    schema = {"text": "text"} if kind == "text" else {"joint": {kind: "nominal"}}.get(name)
    try:
        model = estimator.set_params(schema=schema).fit(frame, label)
    except ValueError as refused:
        assert kind in NOT_FOR or name == "joint", refused
        return
    if (name, kind) == ("joint", "infinite"):  # infinity as the name of a level
        with pytest.raises(ValueError, match="cannot store"):
            bt.save(model, tmp_path / "m.baytree")
        return
    bt.save(model, tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    assert storage.dumps(loaded) == storage.dumps(model)
    answer = "predict_proba" if name in CLASSIFIERS else "predict"
    assert np.array_equal(getattr(loaded, answer)(frame), getattr(model, answer)(frame))


@pytest.mark.parametrize("conventions", ["c4.5", "j48"])
def test_a_tree_that_takes_ranks_by_level_is_loaded_again(conventions, tmp_path):
    frame = pd.DataFrame({"size": COLUMNS["ordinal"]})
    model = bt.C45Classifier(conventions=conventions).fit(frame, np.where(RANK % 2 == 0, "even", "odd"))
    assert model.n_leaves_ == 4
    bt.save(model, tmp_path / "m.baytree")
    assert np.array_equal(bt.load(tmp_path / "m.baytree").predict(frame), model.predict(frame))
