"""Comparison of generative and discriminative classifiers: naive Bayes, discriminant analysis and logistic regression.

`compare_assumptions` shows for each model what it assumes, its number of parameters, its fit time and its cross-validated
scores.
"""

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

# Type of learning and assumption of each model.
KINDS = {
    NaiveBayesClassifier: (_GENERATIVE, "columns independent within each class"),
    LinearDiscriminantAnalysis: (_GENERATIVE, "normal columns, one covariance for all classes"),
    QuadraticDiscriminantAnalysis: (_GENERATIVE, "normal columns, a covariance for each class"),
    LogisticRegression: (_DISCRIMINATIVE, "log-odds linear in the columns"),
}


@dataclass(frozen=True)
class Assumption:
    """One model of the comparison: its type, assumption, number of parameters, fit time and cross-validated scores."""

    model: str
    learns: str
    assumes: str
    parameters: int
    seconds: float
    accuracy: float
    log_loss: float


@dataclass(frozen=True)
class Assumptions:
    """Result of `compare_assumptions`, one row per model; prints as a table."""

    rows: tuple[Assumption, ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict per model."""
        return [asdict(row) for row in self.rows]

    def __str__(self) -> str:
        header = ["model", "learns", "parameters", "fit (ms)", "accuracy", "log loss", "assumes"]
        return aligned(header, [_cells(row) for row in self.rows])


def compare_assumptions(frame: FrameLike, target: TargetLike, *, cv: CV = 10) -> Assumptions:
    """Compare generative and discriminative classifiers on one table: parameters, time, held-out accuracy and log loss.

    A generative model estimates P(x | class) and applies Bayes' rule; it trains in one pass, needs few rows, and is biased
    if its assumption is wrong. A discriminative model estimates P(class | x) directly.

    Parameters
    ----------
    frame : data frame, dict of columns, or array
        The table, with or without its target column.
    target : str or array
        Name of the target column, or the labels.
    cv : int, "loo", float, splitter, or list of (train, test)
        The folds, as in `cross_validate`.

    Returns
    -------
    Assumptions
        Prints as a table; see also `rows` and `to_dicts`.

    Examples
    --------
    >>> import baytree as bt
    >>> found = bt.compare_assumptions(bt.datasets.load("iris"), "species", cv=3)
    >>> [(row.model, row.learns, row.parameters) for row in found.rows][-1]
    ('LogisticRegression', 'discriminative', 10)
    """
    return Assumptions(tuple(_assumption(kind, frame, target, cv) for kind in KINDS))


def parameters_of(kind: type, schema: Schema, n_features: int) -> int:
    """Return the number of free parameters of a model of class `kind` on a table of this schema."""
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
    with _warnings.capture():  # fit warns about collinear columns, which is no news in a comparison
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
