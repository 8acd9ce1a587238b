"""Laws of learning that hold for every estimator: what may be done to a table without a change of the answers.

A law takes a subject (an estimator and the tables that suit it) and a seed, and gives the largest change of any answer.
The suite tries each law on a few seeds, `make reliability` on hundreds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier

import baytree as bt


@dataclass(frozen=True)
class Rows:
    """A frame and its labels, with the source of what the laws draw."""

    X: pd.DataFrame
    y: np.ndarray  # int64, the classes
    number: np.ndarray  # float64, for those that predict a number
    random: np.random.Generator

    def take(self, rows: np.ndarray) -> Rows:
        return Rows(self.X.iloc[rows].reset_index(drop=True), self.y[rows], self.number[rows], self.random)

    def with_column(self, name: str, values: object) -> Rows:
        return replace(self, X=self.X.assign(**{name: values}))


def numbers(seed: int) -> Rows:
    """Eighths: sums and cuts of them are exact, and values repeat."""
    random = np.random.default_rng(seed)
    y = _classes(random)
    X = random.normal(size=(len(y), 3)) + y[:, None] * random.random(3)
    return _with_number(pd.DataFrame(np.round(X * 8) / 8, columns=list("abc")), y, random)


def mixed(seed: int) -> Rows:
    """Two numeric and two nominal columns, a tenth of the cells missing."""
    rows = numbers(seed)
    random, y = rows.random, rows.y
    level = (y[:, None] + random.integers(0, 3, (len(y), 2))) % 4
    X = rows.X.drop(columns="c").mask(random.random((len(y), 2)) < 0.1)
    for j, name in enumerate("uv"):
        is_missing = (random.random(len(y)) < 0.1) & X.notna().any(axis=1)  # rpart leaves rows without any value out
        X[name] = pd.Categorical.from_codes(np.where(is_missing, -1, level[:, j]), list("pqrs"))
    return replace(rows, X=X)


def complete(seed: int) -> Rows:
    """The same columns without missing cells."""
    rows = mixed(seed)
    X = rows.X.fillna({"a": 0.25, "b": -0.25, "u": "p", "v": "s"})
    return replace(rows, X=X)


def counts(seed: int) -> Rows:
    random = np.random.default_rng(seed)
    y = _classes(random)
    rate = 0.3 + 2 * random.random((y.max() + 1, 4))
    return _with_number(pd.DataFrame(random.poisson(rate[y]), columns=list("abcd")).astype(float), y, random)


def _with_number(X: pd.DataFrame, y: np.ndarray, random: np.random.Generator) -> Rows:
    """The number hangs on the class and the first column, in eighths."""
    return Rows(X, y, np.round(8 * (y + X.iloc[:, 0] + random.normal(size=len(y)))).to_numpy() / 8, random)


def _classes(random: np.random.Generator) -> np.ndarray:
    """Two to four classes, each with at least two of 12 to 60 rows."""
    n_classes = random.integers(2, 5)
    return random.permutation(
        np.r_[np.repeat(np.arange(n_classes), 2), random.integers(0, n_classes, random.integers(4, 52))]
    )


@dataclass(frozen=True, eq=False)
class Subject:
    """An estimator, its tables, how exactly its laws hold, and the laws that are not its own, with the reason."""

    estimator: object
    tables: tuple[Callable[[int], Rows], ...] = (numbers, mixed)
    is_bitwise: bool = False  # where a law leaves every statistic as it was, the answers are the same bit for bit
    spread: float = 1e-12  # else the largest change
    exempt: dict[str, str] = field(default_factory=dict)

    @property
    def takes_levels(self) -> bool:
        return mixed in self.tables or complete in self.tables

    def rows(self, seed: int) -> Rows:
        return self.tables[seed % len(self.tables)](seed // len(self.tables))

    def answers(self, rows: Rows, asked: pd.DataFrame, weight: np.ndarray | None = None, **parameters: object) -> np.ndarray:
        y = rows.y if is_classifier(self.estimator) else rows.number
        model = clone(self.estimator).set_params(**parameters).fit(rows.X, y, sample_weight=weight)
        return model.predict_proba(asked) if is_classifier(model) else model.predict(asked)


@lru_cache(maxsize=1)  # law after law asks for the same
def plain(subject: Subject, seed: int) -> np.ndarray:
    """The answers that a law must not change."""
    rows = subject.rows(seed)
    return subject.answers(rows, rows.X)


BITS = "a condition of a rule costs the logarithm of the number of columns"
BORROWS = "a class of few rows borrows spread from the others"
CODES = "its columns are codes or counts"
COUNTS = "a further column makes every split less likely beforehand"
FOLDS = "folds are dealt by what is in the rows"
FIRST = "of equal classes and columns the first one wins"
GATE = "another column changes the average gain that a test must reach"
MORE = "every column and its levels count in the smoothing"
ONE_IN_N = "a direction without spread within classes gets that of one row in n"
PRIOR = "a prior weighs less beside more rows"
SPANS = "the spans between knots grow with the number of columns"
NOISE = "rounding decides which ranks may be knots"
UNITS = "what is new in a line is measured in the units of its column"
SIZES = "its limits count rows"
IN_ORDER = "rows are learnt in their order"
TIES = "among trees of equal cost and size the search takes the one it finds first, and weights set its bounds"
MEAN = "weights are taken over their mean, and rows are counted beside them"
WEIGHS = "a copied column counts twice"


def _naive(estimator: object, tables: tuple = (numbers, mixed), **exempt: str) -> Subject:
    return Subject(estimator, tables, is_bitwise=True, exempt={"copy": WEIGHS, **exempt})


def _tree(estimator: object, tables: tuple = (numbers, mixed), **exempt: str) -> Subject:
    return Subject(estimator, tables, is_bitwise=True, exempt={"columns": FIRST, "turned_names": FIRST, **exempt})


def _rounded(tree: Subject) -> Subject:
    """A tree whose leaves are sums of fractions or of numbers, which are rounded in the order of the rows."""
    return replace(tree, is_bitwise=False)


_SPLINES = {
    "columns": FIRST, "turned_names": FIRST, "double": SIZES, "constant": SPANS, "copy": SPANS,
    "shift": NOISE, "scale": UNITS,
}  # fmt: skip

SUBJECTS = {
    "GaussianNB": _naive(bt.GaussianNB(), (numbers,), scale="var_smoothing is a share of the largest variance"),
    "BernoulliNB": _naive(bt.BernoulliNB(binarize=0.5), (counts,), double=PRIOR, shift=CODES, scale=CODES, constant=MORE),
    "MultinomialNB": _naive(bt.MultinomialNB(), (counts,), double=PRIOR, shift=CODES, scale=CODES, constant=MORE),
    "ComplementNB": _naive(bt.ComplementNB(), (counts,), double=PRIOR, shift=CODES, scale=CODES, constant=MORE),
    "CategoricalNB": _naive(bt.CategoricalNB(), (counts,), double=PRIOR, shift=CODES, scale=CODES, constant=MORE),
    "naive Bayes, mle": _naive(bt.NaiveBayesClassifier(estimate="mle")),
    "naive Bayes, map": _naive(bt.NaiveBayesClassifier(estimate="map", alpha=2.0), double=PRIOR),
    "naive Bayes, bayes": _naive(bt.NaiveBayesClassifier(), double=PRIOR),
    "joint table": _naive(bt.JointDistribution(), (counts,), double=PRIOR, constant=MORE),
    "LDA": Subject(bt.LinearDiscriminantAnalysis(covariance="mle"), (numbers,)),
    "LDA, mixed": Subject(
        bt.LinearDiscriminantAnalysis(covariance="mle"), (mixed,), spread=1e-9, exempt={"double": ONE_IN_N, "copy": ONE_IN_N}
    ),
    "QDA": Subject(
        bt.QuadraticDiscriminantAnalysis(covariance="mle"), spread=1e-9, exempt={"copy": WEIGHS, "double": BORROWS}
    ),
    "logistic, l2": Subject(bt.LogisticRegression(), exempt={"copy": WEIGHS}),
    "logistic, l1": Subject(bt.LogisticRegression(penalty="l1"), exempt={"copy": WEIGHS}),
    "logistic, one against rest": Subject(bt.LogisticRegression(multi_class="ovr"), exempt={"copy": WEIGHS}),
    "elastic net": Subject(bt.LogisticRegression(penalty="elasticnet", l1_ratio=0.5), exempt={"copy": WEIGHS}),
    "least squares": Subject(bt.LinearRegression(), spread=1e-9),
    "lasso of numbers": Subject(bt.LinearRegression(penalty="l1"), spread=1e-9),
    "ridge of numbers": Subject(bt.LinearRegression(penalty="l2"), spread=1e-9, exempt={"copy": WEIGHS}),
    "lasso of numbers, by CV": Subject(
        bt.LinearRegressionCV(penalty="l1", cv=3, lambdas=20),
        spread=1e-9,
        exempt=dict.fromkeys(("columns", "double", "constant", "copy", "shift", "scale"), FOLDS),
    ),
    "MARS of numbers": Subject(bt.MARSRegressor(max_terms=5, threshold=0.05), spread=1e-9, exempt=_SPLINES),
    "MARS": Subject(bt.MARSClassifier(max_terms=5, threshold=0.05), spread=1e-6, exempt=_SPLINES),
    "additive": Subject(bt.AdditiveClassifier(), spread=1e-5, exempt={"copy": WEIGHS, "double": PRIOR}),
    "additive, without pairs": Subject(
        bt.AdditiveClassifier(interactions=0), spread=1e-5, exempt={"copy": WEIGHS, "double": PRIOR}
    ),
    "additive of numbers": Subject(bt.AdditiveRegressor(), spread=1e-5, exempt={"copy": WEIGHS, "double": PRIOR}),
    "tree": _tree(bt.DecisionTreeClassifier()),
    "tree, entropy": _tree(bt.DecisionTreeClassifier(criterion="entropy")),
    "tree, sums": _tree(bt.DecisionTreeClassifier(max_split_columns=3), constant=COUNTS, copy=COUNTS, double=SIZES),
    "tree, averaged": _tree(bt.DecisionTreeClassifier(averaging="prunings"), copy=COUNTS, double=PRIOR),
    "tree of numbers": _rounded(_tree(bt.DecisionTreeRegressor(max_depth=4))),
    "CART": _tree(bt.CARTClassifier(cp=0.0, min_split=2), double=SIZES),
    "CART of numbers": _rounded(_tree(bt.CARTRegressor(min_split=2), double=SIZES)),
    # Without missing cells: release 8 adds fractions of cases in float32, where a last bit decides what is large enough.
    "C4.5": _tree(bt.C45Classifier(), (numbers, complete), double=SIZES, copy=GATE),
    "C4.5, gain": _tree(bt.C45Classifier(criterion="gain"), (numbers, complete), double=SIZES),
    "J48": _rounded(_tree(bt.C45Classifier(conventions="j48"), double=SIZES, copy=GATE)),
    "C5.0": _tree(bt.C50Classifier(), (numbers, complete), double=SIZES, copy=GATE, whole_weights=MEAN),
    **{
        f"C5.0, {name}": _tree(model, (numbers, complete), double=SIZES, copy=GATE, whole_weights=MEAN, **exempt)
        for name, model, exempt in (
            ("rules", bt.C50Classifier(rules=True), {"constant": BITS}),
            ("trials", bt.C50Classifier(trials=4), {}),
            ("soft", bt.C50Classifier(fuzzy=True), {}),
            ("trials of rules", bt.C50Classifier(rules=True, trials=3), {"constant": BITS}),
        )
    },
    "ID3": _tree(bt.ID3Classifier(), (counts,)),
    "tree with naive Bayes leaves": _tree(bt.NBTreeClassifier(min_bayes=10), copy=COUNTS, double=PRIOR),
    "optimal tree": _tree(bt.OptimalTreeClassifier(max_depth=3, time_limit=None), double=TIES),
    "streaming tree": _tree(bt.StreamingTreeClassifier(grace=10, confidence=0.1), order=IN_ORDER, double=IN_ORDER),
    "streaming tree, adaptive": _tree(
        bt.StreamingTreeClassifier(leaves="adaptive", grace=10, confidence=0.1),
        **dict.fromkeys(("order", "double"), IN_ORDER),
        **dict.fromkeys(("constant", "copy"), COUNTS),
    ),
    "CHAID": _tree(bt.CHAIDClassifier(), double=SIZES),
    "CHAID of numbers": _rounded(_tree(bt.CHAIDRegressor(), double=SIZES)),
}

# Laws that leave every statistic as it was; under the others sums are rounded otherwise.
KEEP_STATISTICS = ("order", "names", "whole_weights", "weight_zero")


def order(subject: Subject, seed: int) -> float:
    """The order of the rows does not matter."""
    rows = subject.rows(seed)
    turned = rows.take(rows.random.permutation(len(rows.y)))
    return _apart(plain(subject, seed), subject.answers(turned, rows.X))


def columns(subject: Subject, seed: int) -> float:
    """Nor does the order of the columns."""
    rows = subject.rows(seed)
    X = rows.X[list(rows.random.permutation(rows.X.columns))]
    return _apart(plain(subject, seed), subject.answers(replace(rows, X=X), X))


def names(subject: Subject, seed: int) -> float:
    """Nor do the names of the classes, as long as their order stays."""
    rows = subject.rows(seed)
    if not is_classifier(subject.estimator):
        return 0.0
    renamed = replace(rows, y=np.array(["a", "a\0", "b" * 40, "é"], dtype=object)[rows.y])
    return _apart(plain(subject, seed), subject.answers(renamed, rows.X))


def turned_names(subject: Subject, seed: int) -> float:
    """Nor does the order of their names."""
    rows = subject.rows(seed)
    if not is_classifier(subject.estimator):
        return 0.0
    turned = subject.answers(replace(rows, y=rows.y.max() - rows.y), rows.X)[:, ::-1]
    return _apart(plain(subject, seed), turned)


def whole_weights(subject: Subject, seed: int) -> float:
    """A weight of two is the row twice."""
    rows = subject.rows(seed)
    weight = rows.random.integers(1, 4, len(rows.y))
    repeated = rows.take(np.repeat(np.arange(len(rows.y)), weight))
    return _apart(subject.answers(rows, rows.X, weight.astype(float)), subject.answers(repeated, rows.X))


def weight_zero(subject: Subject, seed: int) -> float:
    """A weight of zero is no row."""
    rows = subject.rows(seed)
    weight = np.where(rows.random.random(len(rows.y)) < 0.3, 0.0, 1.0)
    weight[np.unique(rows.y, return_index=True)[1]] = 1.0
    present = rows.take(np.flatnonzero(weight))
    return _apart(subject.answers(rows, rows.X, weight), subject.answers(present, rows.X))


def double(subject: Subject, seed: int) -> float:
    """A table twice over teaches the same, and so do all weights times four."""
    rows = subject.rows(seed)
    twice = rows.take(np.tile(np.arange(len(rows.y)), 2))
    C = getattr(subject.estimator, "C", None)  # the penalty stands beside a sum over rows
    by_two, by_four = ({}, {}) if C is None else ({"C": C / 2}, {"C": C / 4})
    once = plain(subject, seed)
    heavy = subject.answers(rows, rows.X, np.full(len(rows.y), 4.0), **by_four)
    return max(_apart(once, subject.answers(twice, rows.X, **by_two)), _apart(once, heavy))


def constant(subject: Subject, seed: int) -> float:
    """A constant column teaches nothing."""
    rows = subject.rows(seed)
    wider = rows.with_column("k", 2.0)
    return _apart(plain(subject, seed), subject.answers(wider, wider.X))


def copy(subject: Subject, seed: int) -> float:
    """A copy of a column teaches a tree nothing."""
    rows = subject.rows(seed)
    wider = rows.with_column("k", rows.X.iloc[:, 0])
    return _apart(plain(subject, seed), subject.answers(wider, wider.X))


def shift(subject: Subject, seed: int) -> float:
    """Where zero lies does not matter."""
    rows = subject.rows(seed)
    moved = replace(rows, X=_numeric(rows.X, lambda values: values + 1024))
    return _apart(plain(subject, seed), subject.answers(moved, moved.X))


def scale(subject: Subject, seed: int) -> float:
    """Nor do units."""
    rows = subject.rows(seed)
    scaled = replace(rows, X=_numeric(rows.X, lambda values: values * 0.25))
    return _apart(plain(subject, seed), subject.answers(scaled, scaled.X))


LAWS = (order, columns, names, turned_names, whole_weights, weight_zero, double, constant, copy, shift, scale)


def own_laws(subject: Subject) -> list[Callable[[Subject, int], float]]:
    """All laws but those that it is exempt from."""
    return [law for law in LAWS if law.__name__ not in subject.exempt]


def level_classifiers() -> list[str]:
    """The classifiers among the subjects that take any column."""
    return [name for name, subject in SUBJECTS.items() if subject.takes_levels and is_classifier(subject.estimator)]


def allowed(subject: Subject, law: Callable[[Subject, int], float]) -> float:
    """The largest change that still is none."""
    is_kept = law.__name__ in KEEP_STATISTICS
    return 0.0 if subject.is_bitwise and is_kept else subject.spread


def _numeric(X: pd.DataFrame, change: Callable[[pd.Series], pd.Series]) -> pd.DataFrame:
    return X.assign(**{name: change(X[name]) for name in X.columns if X[name].dtype == float})


def _apart(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.abs(left - right).max()) if left.shape == right.shape else np.inf
