"""How a model depends on its rows: the learning curve over their number, and the stability of a tree's first question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from baytree.choose.problem import Problem
from baytree.choose.validate.fold_tables import to_learn_from
from baytree.choose.validate.folds import Fold, Folds
from baytree.choose.validate.significance import Interval
from baytree.choose.validate.trials import prepared, reads_alike, trials
from baytree.choose.validate.validation import CrossValidation
from baytree.show.results import Shown, frame_of
from baytree.show.terminal import aligned


@dataclass(frozen=True, repr=False)
class LearningCurve(Shown):
    """The score on rows kept back, by the number of rows learnt from."""

    metric: str
    n_rows: tuple[int, ...]
    scores: tuple[Interval, ...]

    def to_frame(self) -> Any:
        """A data frame, one row per number of rows."""
        mean, low, high = map(list, zip(*self.scores, strict=True))
        return frame_of({"rows": list(self.n_rows), self.metric: mean, "low": low, "high": high})

    def plot(self, ax: Any = None) -> Any:
        """The curve with its intervals; needs matplotlib."""
        from baytree.show.charts import band

        mean, low, high = map(np.array, zip(*self.scores, strict=True))
        return band(np.array(self.n_rows), mean, (high - low) / 2, ("rows", self.metric), len(mean) - 1, ax)

    def __str__(self) -> str:
        rows = [[n, *(float(value) for value in interval)] for n, interval in zip(self.n_rows, self.scores, strict=True)]
        return aligned(["rows", self.metric, "low", "high"], rows)


def learning_curve(
    estimator: Any,
    frame: Any,
    target: Any,
    *,
    shares: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: Any = 10,
    metric: str | None = None,
    random_state: int = 0,
) -> LearningCurve:
    """The cross-validated score when only a share of each fold's training rows is learnt from."""
    task = "classification" if is_classifier(estimator) else "regression"
    problem = Problem.of(frame, target, task, getattr(estimator, "schema", None)).without_identifiers()
    folds = Folds.of(problem, cv, None, random_state)
    metric = metric or ("accuracy" if problem.is_classification else "RMSE")
    order = [np.random.default_rng(random_state).permutation(fold.train) for fold in folds.parts]
    sizes, scores = [], []
    for share in shares:
        parts = tuple(Fold(_first(rows, share), fold.test) for rows, fold in zip(order, folds.parts, strict=True))
        answered = tuple(trials(estimator, problem, parts))
        result = CrossValidation(type(estimator).__name__, problem.label, answered, folds.how)
        sizes.append(len(parts[0].train))
        scores.append(result.summary(metric))
    return LearningCurve(metric, tuple(sizes), tuple(scores))


@dataclass(frozen=True, repr=False)
class Stability(Shown):
    """How often each column is the first question of a tree, over tables drawn with replacement."""

    shares: tuple[tuple[str, float], ...]
    n_times: int

    def to_frame(self) -> Any:
        """A data frame, one row per column."""
        names, shares = zip(*self.shares, strict=True)
        return frame_of({"root": list(names), "share": list(shares)})

    def plot(self, ax: Any = None) -> Any:
        """A bar for each column; needs matplotlib."""
        from baytree.show.charts import bars

        names, shares = zip(*self.shares, strict=True)
        return bars(list(names), list(shares), f"first question in {self.n_times} samples", ax)

    def __str__(self) -> str:
        return aligned(["first question", "share"], [[name, f"{share:.0%}"] for name, share in self.shares])


def root_stability(estimator: Any, frame: Any, target: Any, *, n_times: int = 100, random_state: int = 0) -> Stability:
    """How often each column is the root of a tree when the rows are drawn anew with replacement.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 8.0, 9.0] * 5, "noise": [1.0, 2.0] * 10, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.root_stability(bt.DecisionTreeClassifier(), rows, "y", n_times=20).shares
    (('x', 1.0),)
    """
    task = "classification" if is_classifier(estimator) else "regression"
    problem = Problem.of(frame, target, task, getattr(estimator, "schema", None)).without_identifiers()
    rng = np.random.default_rng(random_state)
    tree = prepared(estimator, problem)
    if not hasattr(tree, "nodes"):
        raise ValueError(f"{type(estimator).__name__} is no tree and has no first question; give a tree")
    grow = _root_of_table if reads_alike(tree, problem) else _root
    roots = Counter(grow(tree, problem, rng.integers(0, len(problem), len(problem))) for _ in range(n_times))
    return Stability(tuple((name, n / n_times) for name, n in roots.most_common()), n_times)


def _root_of_table(tree: Any, problem: Problem, rows: np.ndarray) -> str:
    return _first_question(clone(tree).fit(to_learn_from(problem.table, rows)))


def _root(tree: Any, problem: Problem, rows: np.ndarray) -> str:
    return _first_question(clone(tree).fit(*problem.rows(rows)))


def _first_question(fitted: Any) -> str:
    return next(iter(fitted.nodes()))["column"] or "(no question)"


def _first(rows: np.ndarray, share: float) -> np.ndarray:
    return np.sort(rows[: max(2, round(share * len(rows)))])
