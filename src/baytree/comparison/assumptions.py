"""Naive Bayes, discriminant analysis and logistic regression side by side: what each assumes, and what that costs."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from baytree import _warnings
from baytree._typing import FrameLike, TargetLike
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.display.terminal import aligned
from baytree.estimators.linear.discriminant import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from baytree.estimators.linear.logistic import LogisticRegression
from baytree.estimators.naive_bayes.naive_bayes import NaiveBayesClassifier
from baytree.folds.splitters import CV
from baytree.model_selection.cross_validate import cross_validate

_GENERATIVE, _DISCRIMINATIVE = "generative", "discriminative"

# What each model is, and what it takes for granted.
KINDS = {
    NaiveBayesClassifier: (_GENERATIVE, "columns independent within each class"),
    LinearDiscriminantAnalysis: (_GENERATIVE, "normal columns, one covariance for all classes"),
    QuadraticDiscriminantAnalysis: (_GENERATIVE, "normal columns, a covariance for each class"),
    LogisticRegression: (_DISCRIMINATIVE, "log-odds linear in the columns"),
}


@dataclass(frozen=True)
class Assumption:
    """One model: how it learns, what it assumes, how many numbers it learns, how long it takes, how well it answers."""

    model: str
    learns: str
    assumes: str
    parameters: int
    seconds: float
    accuracy: float
    log_loss: float


@dataclass(frozen=True)
class Assumptions:
    """The models side by side; prints as a table."""

    rows: tuple[Assumption, ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per model."""
        return [asdict(row) for row in self.rows]

    def __str__(self) -> str:
        header = ["model", "learns", "parameters", "fit (ms)", "accuracy", "log loss", "assumes"]
        return aligned(header, [_cells(row) for row in self.rows])


def compare_assumptions(frame: FrameLike, target: TargetLike, *, cv: CV = 10) -> Assumptions:
    """Generative and discriminative classifiers on one table: parameters, time, held-out accuracy and log loss.

    A generative model describes the columns of each class, P(x | class), and turns them around by Bayes' rule; it learns in
    one read, from few rows, and is wrong where its description is. A discriminative one models P(class | x) alone.

    Parameters
    ----------
    frame : data frame, dict of columns, or array
        The table, with its target column or without it.
    target : str or array
        The name of the target column, or the labels.
    cv : int, "loo", float, splitter, or list of (train, test)
        The folds, as in `cross_validate`.

    Returns
    -------
    Assumptions
        Prints as a table; `rows` and `to_dicts` give it.

    Examples
    --------
    >>> import baytree as bt
    >>> found = bt.compare_assumptions(bt.datasets.load("iris"), "species", cv=3)
    >>> [(row.model, row.learns, row.parameters) for row in found.rows][-1]
    ('LogisticRegression', 'discriminative', 10)
    """
    return Assumptions(tuple(_assumption(kind, frame, target, cv) for kind in KINDS))


def parameters_of(kind: type, schema: Schema, n_features: int) -> int:
    """How many free numbers a model of this kind learns from a table of this schema."""
    k, p = len(schema.classes), n_features
    if kind is LogisticRegression:
        return (k - 1) * (p + 1)
    if kind is NaiveBayesClassifier:
        return k - 1 + k * sum(_of_column(column) for column in schema.columns)
    covariance = p * (p + 1) // 2
    return k - 1 + k * p + covariance * (1 if kind is LinearDiscriminantAnalysis else k)


def _of_column(column: Any) -> int:
    return 2 if column.kind is Kind.NUMERIC else max(len(column.levels) - 1, 0)


def _assumption(kind: type, frame: FrameLike, target: TargetLike, cv: CV) -> Assumption:
    with _warnings.capture():  # collinear columns are told by fit; here they are only compared
        start = time.perf_counter()
        fitted = kind().fit(frame, target)
        seconds = time.perf_counter() - start
        found = cross_validate(kind(), frame, target, cv=cv)
    design = getattr(fitted.model_, "design", None)
    parameters = parameters_of(kind, fitted.schema_, 0 if design is None else len(design))
    learns, assumes = KINDS[kind]
    return Assumption(
        kind.__name__, learns, assumes, parameters, seconds, float(found.mean("accuracy")), float(found.mean("log loss"))
    )


def _cells(row: Assumption) -> list[str]:
    return [
        row.model, row.learns, f"{row.parameters:,}", f"{1e3 * row.seconds:.1f}", f"{row.accuracy:.3f}",
        f"{row.log_loss:.3f}", row.assumes,
    ]  # fmt: skip
