"""Models and rows that every export is tried with: raw tables with gaps, new levels, dates and words."""

import warnings
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_regressor

import baytree as bt

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.baytree"))
N_ROWS = 160
RNG = np.random.default_rng(11)
WORDS = "the cat sat on a mat with some café dogs and 42 naïve birds under_score was here again"


def with_gaps(values: list, share: float = 0.1) -> list:
    return [None if RNG.random() < share else value for value in values]


def number(values: np.ndarray) -> list:
    return with_gaps(np.round(values, 3).tolist())


CLASS = RNG.integers(0, 3, N_ROWS)
TABLE = {
    "size": number(RNG.normal(CLASS, 1.0)),
    "price": number(1e6 * RNG.gamma(2.0, 1.0 + CLASS)),
    "steps": number(RNG.integers(0, 4, N_ROWS) + CLASS.astype(float)),
    "day": with_gaps([datetime(2020, 1, 1) + timedelta(days=int(d)) for d in 90 * CLASS + RNG.integers(0, 200, N_ROWS)]),
    "grade": with_gaps([("low", "mid", "high")[k] for k in (CLASS + RNG.integers(0, 2, N_ROWS)) % 3]),
    "colour": with_gaps([("red", "O'Brien", "grün\n")[k] for k in (CLASS * RNG.integers(0, 2, N_ROWS)) % 3]),
    "zip": with_gaps([98101 + int(k) for k in RNG.integers(0, 3, N_ROWS)]),
    "flag": with_gaps([bool(k) for k in RNG.integers(0, 2, N_ROWS)]),
    "review": with_gaps([" ".join(RNG.choice(WORDS.split()[c : c + 12], 9)) for c in CLASS]),
}
SCHEMA = {"grade": ["low", "mid", "high"], "zip": "nominal", "review": bt.Text(), "colour": "nominal"}
NAMES = np.array(["ant", "bee", "cow"], object)[CLASS]
TARGET = 3.0 * CLASS + RNG.normal(size=N_ROWS)
NUMBERS, COUNTS, LEVELS = ("size", "price", "steps"), ("steps", "price"), ("grade", "colour", "zip", "flag")
MIXED = (*NUMBERS, "day", *LEVELS)
ALL = (*MIXED, "review")
A_FEW = ("size", "day", "grade", "colour")  # of each kind, where a number is long in SQL


def disturbed() -> list[dict]:
    """The rows of the table, and as many with gaps, new levels, numbers beyond the range, and cells that are left out."""
    rows = [{name: values[i] for name, values in TABLE.items()} for i in range(N_ROWS)]
    for row in [dict(row) for row in rows]:
        for name in row:
            chance = RNG.random()
            if chance < 0.1:
                row[name] = None
            elif chance < 0.2 and name in ("grade", "colour", "review"):
                row[name] = "never seen"
            elif chance < 0.2 and name == "zip":
                row[name] = 5
            elif chance < 0.3 and name in NUMBERS:
                row[name] = float(RNG.choice([0.0, 1e3, 2.0, 1e9, 3.5]))
        rows.append(row)
    return [*rows, dict.fromkeys(TABLE)]


ROWS = disturbed()


def named(estimator: type, columns: tuple[str, ...] = MIXED, **parameters: object) -> pytest.param:
    shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return pytest.param(estimator, columns, parameters, id=f"{estimator.__name__}({shown})"[:60])


def events(event: str, columns: tuple[str, ...] = COUNTS, **parameters: object) -> pytest.param:
    return named(bt.NaiveBayesClassifier, columns, events=dict.fromkeys(columns, event), **parameters)


NOT_OF_TREES = [
    *(named(bt.NaiveBayesClassifier, ALL, estimate=estimate) for estimate in ("bayes", "map", "mle")),
    *(named(bt.NaiveBayesClassifier, conventions=program) for program in ("sklearn", "e1071")),
    named(bt.NaiveBayesClassifier, A_FEW, conventions="weka"),
    named(bt.NaiveBayesClassifier, A_FEW, numeric="kernel"),
    named(bt.NaiveBayesClassifier, numeric="discretized"),
    named(bt.NaiveBayesClassifier, A_FEW, numeric="kernel", conventions="weka"),
    *(
        events(event, estimate=estimate)
        for event in ("bernoulli", "poisson", "multinomial")
        for estimate in ("bayes", "mle")
    ),
    events("complement"),
    *(events(event, ("review",)) for event in ("bernoulli", "complement")),
    events("bernoulli", ("review",), estimate="mle"),
    events("multinomial", ("review",), conventions="sklearn"),
    named(bt.NaiveBayesClassifier, A_FEW, costs=[[0, 1, 5], [2, 0, 1], [1, 1, 0]]),
    named(bt.GaussianNB, NUMBERS),
    named(bt.BernoulliNB, NUMBERS, binarize=1.0),
    named(bt.CategoricalNB, LEVELS),
    named(bt.MultinomialNB, COUNTS),
    named(bt.ComplementNB, COUNTS),
    named(bt.ComplementNB, COUNTS, norm=True),
    *(named(bt.JointDistribution, ("grade", "colour", "flag"), alpha=alpha) for alpha in (0.0, 0.5)),
    named(bt.LinearDiscriminantAnalysis),
    named(bt.QuadraticDiscriminantAnalysis),
    named(bt.LogisticRegression, ALL),
    named(bt.LogisticRegression, ALL, multi_class="ovr"),
    named(bt.LogisticRegression, ordinal="dummies", standardize=False),
    named(bt.LogisticRegression, penalty="l1", C=0.5),
    named(bt.LogisticRegressionCV, NUMBERS, Cs=3, cv=3),
    named(bt.NBTreeClassifier, ("price", "day", "colour", "zip"), min_bayes=5),  # a tree, and naive Bayes at four nodes
    named(bt.NBTreeClassifier),  # naive Bayes of all rows
    named(bt.StreamingTreeClassifier, leaves="adaptive", grace=10, confidence=0.1),
    named(bt.StreamingTreeClassifier, leaves="adaptive", revise=False, grace=10, confidence=0.1, tie=1.0),
    named(bt.LinearRegression),
    named(bt.LinearRegression, penalty="l1", C=0.5, missing="mean", ordinal="dummies"),
    named(bt.LinearRegressionCV, NUMBERS, lambdas=3, cv=3),
    named(bt.MARSRegressor, max_degree=2, max_terms=15),
    named(bt.MARSRegressor, NUMBERS, max_degree=3, standardize=True, prune=False),
    named(bt.MARSClassifier, max_degree=2, ordinal="dummies"),
    named(bt.AdditiveClassifier),
    named(bt.AdditiveClassifier, NUMBERS, smooth=1.0),
    named(bt.AdditiveRegressor),
]
TREES = [
    named(bt.CARTClassifier),
    named(bt.CARTClassifier, cp=0.0, min_split=2, costs=[[0, 1, 5], [2, 0, 1], [1, 1, 0]]),
    named(bt.CARTRegressor, cp=0.0),
    named(bt.C45Classifier),
    named(bt.C45Classifier, conventions="j48", laplace=True),
    named(bt.C45Classifier, costs=[[0, 1, 5], [2, 0, 1], [1, 1, 0]]),
    named(bt.C45Classifier, subset=True, pruning=None),
    named(bt.ID3Classifier, LEVELS),
    named(bt.CHAIDClassifier, alpha_merge=0.3, alpha_split=0.9, min_split=4, min_leaf=2),
    named(bt.CHAIDRegressor, alpha_merge=0.3, alpha_split=0.9, min_split=4, min_leaf=2),
    *(named(bt.DecisionTreeClassifier, missing=m) for m in ("learned", "surrogate", "fractional", "category", "largest")),
    *(named(bt.DecisionTreeClassifier, branching=branching) for branching in ("multiway", "merge")),
    *(named(bt.DecisionTreeClassifier, missing=m, averaging="prunings") for m in ("learned", "fractional")),
    named(bt.OptimalTreeClassifier, penalty=0.0),
    named(bt.StreamingTreeClassifier, grace=10, confidence=0.1),
    named(bt.DecisionTreeRegressor),
    named(bt.DecisionTreeRegressor, branching="multiway"),
    named(bt.DecisionTreeRegressor, missing="surrogate"),
]
TRIALS = [
    named(bt.C50Classifier),
    named(bt.C50Classifier, subset=False, winnow=True),
    named(bt.C50Classifier, fuzzy=True),
    named(bt.C50Classifier, costs=[[0, 1, 5], [2, 0, 1], [1, 1, 0]]),
    named(bt.C50Classifier, trials=4, early_stopping=False),
    named(bt.C50Classifier, trials=2, early_stopping=False, fuzzy=True),
    named(bt.C50Classifier, trials=3, early_stopping=False, costs=[[0, 1, 5], [2, 0, 1], [1, 1, 0]]),
    named(bt.C50Classifier, rules=True),
    named(bt.C50Classifier, rules=True, costs=[[0, 1, 5], [2, 0, 1], [1, 1, 0]]),
    named(bt.C50Classifier, rules=True, trials=4, early_stopping=False),
]
CASES = [*NOT_OF_TREES, *TREES, *TRIALS]
FAR_MODELS = [
    *(named(bt.NaiveBayesClassifier, NUMBERS, **p) for p in ({}, {"estimate": "mle"}, {"conventions": "e1071"})),
    *(named(bt.NaiveBayesClassifier, ("size", "price"), **p) for p in ({"numeric": "kernel"}, {"conventions": "weka"})),
    *(named(estimator, NUMBERS) for estimator in (bt.LinearDiscriminantAnalysis, bt.QuadraticDiscriminantAnalysis)),
    named(bt.LogisticRegression, NUMBERS),
    named(bt.LinearRegression, NUMBERS),
    named(bt.MARSRegressor, NUMBERS),
    named(bt.MARSClassifier, NUMBERS, max_degree=2),
    named(bt.AdditiveClassifier, NUMBERS),
    *(named(bt.C50Classifier, NUMBERS, **p) for p in ({}, {"fuzzy": True}, {"rules": True})),
    named(bt.NBTreeClassifier, ("size", "price"), min_bayes=5),
]


def fitted(
    estimator: type,
    columns: tuple[str, ...],
    parameters: dict,
    target: np.ndarray | None = None,
    rows: range = range(N_ROWS),
):
    if target is None:
        target = TARGET if is_regressor(estimator()) else NAMES
    schema = {name: kind for name, kind in SCHEMA.items() if name in columns}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = {name: [TABLE[name][i] for i in rows] for name in columns}
        return estimator(schema=schema, **parameters).fit(table, target[rows])


def with_sums(missing: str) -> tuple[bt.DecisionTreeClassifier, tuple[str, ...], list[dict]]:
    """A tree some of whose tests read two or three columns, its columns, and rows of which some lack a value."""
    random = np.random.default_rng(5)
    u, v, w = random.normal(size=(3, 400)).round(3)
    label = np.digitize(u + 1.5 * v - 0.75 * w * (u > 0), [-1, 1])
    table = {"u": u, "v\n<": 1e3 * v, "w": w, "colour": np.array(["red", "O'Brien"])[random.integers(0, 2, 400)]}
    drawn = {name: [None if random.random() < 0.05 else value for value in each.tolist()] for name, each in table.items()}
    model = bt.DecisionTreeClassifier(max_split_columns=3, missing=missing).fit(drawn, label)
    return model, tuple(table), [*(dict(zip(drawn, row, strict=True)) for row in zip(*drawn.values(), strict=True))]


def with_pairs(estimator: type) -> tuple[bt.AdditiveClassifier, tuple[str, ...], list[dict]]:
    """An additive model with surfaces of two numbers and of a number and levels, its columns, and rows with gaps."""
    random = np.random.default_rng(5)
    u, v = random.normal(size=(2, 400)).round(3)
    colour = np.array(["red", "O'Brien", "blue"])[random.integers(0, 3, 400)]
    score = 2 * np.sign(u * v) + 2 * v * np.where(colour == "red", 1, -1)
    table = {"u": u, "v\n<": 1e3 * v, "colour": colour}
    drawn = {name: [None if random.random() < 0.05 else value for value in each.tolist()] for name, each in table.items()}
    model = estimator(interactions=2).fit(drawn, score if is_regressor(estimator()) else np.digitize(score, [-1, 1]))
    assert sum(len(curve["columns"]) == 2 for curve in model.curves_) == 2
    rows = [dict(zip(drawn, row, strict=True)) for row in zip(*drawn.values(), strict=True)]
    return model, tuple(table), [*rows[:150], {"u": 9.0, "v\n<": -1e9, "colour": "never seen"}, dict.fromkeys(table)]


def with_card() -> tuple[bt.Scorecard, tuple[str, ...], list[dict]]:
    """A scorecard of columns of every kind, its columns, and rows with gaps, new levels and far numbers."""
    labels = np.where(NAMES == "ant", "good", "bad")
    return fitted(bt.Scorecard, MIXED, {"min_bin": 0.1}, labels), MIXED, ROWS


def wide_fractional() -> tuple[bt.ID3Classifier, tuple[str, ...], list[dict]]:
    """A tree of about a thousand nodes that rows with missing cells pass in parts, its columns, and such rows."""
    random = np.random.default_rng(3)
    levels = np.array(["a", "b", "c", "d", None], dtype=object)
    columns = {f"c{j}": levels[random.choice(5, 380, p=[0.24] * 4 + [0.04])] for j in range(7)}
    model = bt.ID3Classifier().fit(columns, np.array(list("uvwxyz"))[random.integers(0, 6, 380)])
    drawn = levels[random.integers(0, 5, (60, 7))]
    return model, tuple(columns), [dict(zip(columns, row, strict=True)) for row in drawn.tolist()]
