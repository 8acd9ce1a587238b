"""Dependence of a model on its training rows: learning curve, and stability of a tree's root split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from baytree import _warnings
from baytree._typing import EstimatorLike, FrameLike, TargetLike
from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned
from baytree.estimators.learner_access import fit_encoded
from baytree.estimators.tree.base import TreeEstimator
from baytree.folds.row_structure import GapLike, GroupsLike, TimeLike
from baytree.folds.splitters import CV, Fold
from baytree.model_selection.cross_validate import problem_of
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.result import CrossValidation
from baytree.model_selection.significance import Interval
from baytree.model_selection.trials import encodes_identically, fitted, predict_folds, training_table, with_fixed_kinds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class LearningCurve(TextResult):
    """Score on held-out rows by the number of training rows."""

    metric: str
    n_rows: tuple[int, ...]
    scores: tuple[Interval, ...]

    def to_frame(self) -> Any:
        """Data frame with one row per training size."""
        mean, low, high = map(list, zip(*self.scores, strict=True))
        return frame_of({"rows": list(self.n_rows), self.metric: mean, "low": low, "high": high})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve with its intervals; needs matplotlib."""
        from baytree.rendering.plots.charts import band

        mean, low, high = map(np.array, zip(*self.scores, strict=True))
        return band(np.array(self.n_rows), mean, (high - low) / 2, ("rows", self.metric), len(mean) - 1, ax)

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only notebooks need it

        rows = [[row[0], *(f"{value:.4g}" for value in row[1:])] for row in self._rows()]
        return table("Learning curve", ["rows", self.metric, "low", "high"], rows)

    def __str__(self) -> str:
        return aligned(["rows", self.metric, "low", "high"], self._rows())

    def _rows(self) -> list[list[float]]:
        return [[n, *(float(value) for value in interval)] for n, interval in zip(self.n_rows, self.scores, strict=True)]


def learning_curve(
    estimator: EstimatorLike,
    frame: FrameLike,
    target: TargetLike,
    *,
    train_sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: CV = 10,
    groups: GroupsLike = None,
    time: TimeLike = None,
    gap: GapLike = None,
    test_size: float | None = None,
    metric: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    shares: Sequence[float] | None = None,
) -> LearningCurve:
    """Cross-validated score when only a part of each fold's training rows is used.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor.
    frame : data frame, dict of columns, or array
        Table with or without its target column.
    target : str or array
        Name of the target column, or the labels.
    train_sizes : sequence of float
        Proportions of the training rows of each fold.
    cv : int, "loo", float, splitter, or list of (train, test)
        Folds, as in `cross_validate`.
    groups : str or array, optional
        Column of groups, or the group of each row; rows of one group stay in the same fold. A column that is named here is
        no feature.
    time : str, optional
        Column of dates or numbers that orders the rows: each fold is tested on rows after its training rows (an expanding
        window), and parts of the training rows are the latest ones. It is no feature.
    gap : float or timedelta, optional
        Time between training and test rows: in days for dates, else in the unit of the column.
    test_size : int or float, optional
        Rows in each test block of `time`: a number or a proportion; by default an equal part for each fold.
    metric : str, optional
        Metric such as "AUC" or "log loss"; by default accuracy, or RMSE for numeric targets.
    random_state : int
        Seed of the shuffle.
    n_jobs : int, optional
        Number of threads for the folds; all cores by default.
    shares : sequence of float, optional
        Deprecated name of `train_sizes`.

    Returns
    -------
    LearningCurve
        Prints as a table; `to_frame` and `plot` return the curve.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 10, "y": ["a", "a", "b", "b"] * 10}
    >>> bt.learning_curve(bt.NaiveBayesClassifier(), rows, "y", train_sizes=(0.5, 1.0), cv=4).n_rows
    (15, 30)
    """
    if shares is not None:
        _warnings.warn("shares is called train_sizes now", DeprecationWarning)
        train_sizes = shares
    structure = {"groups": groups, "time": time, "gap": gap, "test_size": test_size}
    problem = problem_of(estimator, frame, target, **structure).without_identifiers()
    folds = problem.folds(cv, random_state)
    metric = metric or ("accuracy" if problem.is_classification else "RMSE")
    order = [_preferred_first(problem, fold.train, random_state) for fold in folds.parts]
    sizes, scores = [], []
    for proportion in train_sizes:
        parts = tuple(Fold(_subset(rows, proportion), fold.test) for rows, fold in zip(order, folds.parts, strict=True))
        predictions = predict_folds(estimator, problem, parts, n_jobs)
        result = CrossValidation.of(type(estimator).__name__, problem, predictions, folds.how)
        sizes.append(len(parts[0].train))
        scores.append(result.summary(metric))
    return LearningCurve(metric, tuple(sizes), tuple(scores))


@dataclass(frozen=True, repr=False)
class Stability(TextResult):
    """How often each column is the root split of a tree, over bootstrap samples."""

    shares: tuple[tuple[str, float], ...]
    n_bootstrap: int

    def to_frame(self) -> Any:
        """Data frame with one row per column."""
        names, proportions = zip(*self.shares, strict=True)
        return frame_of({"root": list(names), "share": list(proportions)})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot a bar for each column; needs matplotlib."""
        from baytree.rendering.plots.charts import bars

        names, proportions = zip(*self.shares, strict=True)
        return bars(list(names), list(proportions), f"root split in {self.n_bootstrap} samples", ax)

    def __str__(self) -> str:
        return aligned(["root", "share"], [[name, f"{proportion:.0%}"] for name, proportion in self.shares])


def root_stability(
    estimator: EstimatorLike,
    frame: FrameLike,
    target: TargetLike,
    *,
    n_bootstrap: int = 100,
    random_state: int = 0,
    n_times: int | None = None,
) -> Stability:
    """Proportion of bootstrap samples in which each column is the root of a tree.

    Parameters
    ----------
    estimator : estimator
        A tree.
    frame : data frame, dict of columns, or array
        Table with or without its target column.
    target : str or array
        Name of the target column, or the labels.
    n_bootstrap : int
        Number of bootstrap samples.
    random_state : int
        Seed of the samples.
    n_times : int, optional
        Deprecated name of `n_bootstrap`.

    Returns
    -------
    Stability
        Prints as a table; `shares` has each root column with the proportion of samples.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 8.0, 9.0] * 5, "noise": [1.0, 2.0] * 10, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.root_stability(bt.DecisionTreeClassifier(), rows, "y", n_bootstrap=20).shares
    (('x', 1.0),)
    """
    if n_times is not None:
        _warnings.warn("n_times is called n_bootstrap now", DeprecationWarning)
        n_bootstrap = n_times
    problem = problem_of(estimator, frame, target).without_identifiers()
    rng = np.random.default_rng(random_state)
    tree = with_fixed_kinds(estimator, problem)
    if not isinstance(tree, TreeEstimator):
        raise ValueError(f"{type(estimator).__name__} is not a tree, so it has no root split; give a tree")
    roots = Counter(_root_column(tree, problem, rng.integers(0, len(problem), len(problem))) for _ in range(n_bootstrap))
    return Stability(tuple((name, n / n_bootstrap) for name, n in roots.most_common()), n_bootstrap)


def _root_column(tree: Any, problem: SupervisedProblem, rows: np.ndarray) -> str:
    """Column of the root split of a tree that is trained on these rows."""
    copy = clone(tree)
    if encodes_identically(copy, problem):
        fit_encoded(copy, training_table(problem.table, rows), False)
    else:
        fitted(copy, problem, rows)
    return next(iter(copy.nodes()))["column"] or "(no split)"


def _preferred_first(problem: SupervisedProblem, rows: np.ndarray, seed: int) -> np.ndarray:
    """Training rows in random order, or the latest first."""
    times = problem.structure.time
    return np.random.default_rng(seed).permutation(rows) if times is None else rows[np.argsort(-times[rows], kind="stable")]


def _subset(rows: np.ndarray, proportion: float) -> np.ndarray:
    return np.sort(rows[: max(2, round(proportion * len(rows)))])
