"""Wrappers: columns chosen by how well an estimator does with them, step by step, on rows kept back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from baytree.choose import metrics
from baytree.choose.problem import Problem
from baytree.choose.select.scorers import Scorer, scorer
from baytree.choose.select.selector import ColumnSelector
from baytree.choose.validate.folds import Fold
from baytree.show.results import Shown, frame_of
from baytree.show.terminal import aligned


@dataclass(frozen=True)
class Step:
    """A set of columns that the search went through."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    move: str  # what was done to get here
    scores: np.ndarray  # [n_folds], larger is better

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean over the folds."""
        return float(np.std(self.scores, ddof=1) / np.sqrt(len(self.scores))) if len(self.scores) > 1 else 0.0


@dataclass(frozen=True, repr=False)
class History(Shown):
    """Every step of a search, in order, and the place of the one that was taken."""

    metric: str
    steps: tuple[Step, ...]
    taken: int

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> Step:
        return self.steps[place]

    def to_frame(self) -> Any:
        """A data frame, one row per step."""
        columns = {
            "columns": [len(step.columns) for step in self.steps],
            "move": [step.move for step in self.steps],
            "mean": [step.mean for step in self.steps],
            "standard_error": [step.standard_error for step in self.steps],
            "set": [", ".join(step.names) for step in self.steps],
            "taken": [place == self.taken for place in range(len(self.steps))],
        }
        return frame_of(columns)

    def plot(self, ax: Any = None) -> Any:
        """The mean and its standard error by the number of columns; needs matplotlib."""
        from baytree.show.charts import band

        order = sorted(range(len(self.steps)), key=lambda place: (len(self.steps[place].columns), place))
        size = np.array([len(self.steps[place].columns) for place in order])
        mean = np.array([self.steps[place].mean for place in order])
        error = np.array([self.steps[place].standard_error for place in order])
        return band(size, mean, error, ("columns", self.metric), order.index(self.taken), ax)

    def __str__(self) -> str:
        rows = [
            [len(step.columns), step.move, step.mean, step.standard_error, "taken" if place == self.taken else ""]
            for place, step in enumerate(self.steps)
        ]
        return aligned(["columns", "step", self.metric, "± SE", ""], rows)


class _Wrapper(MetaEstimatorMixin, ColumnSelector):
    """What the wrappers share: folds, scores, and which step of the history is taken."""

    def __init__(
        self,
        estimator: Any,
        k: int | str = "best",
        *,
        cv: Any = 5,
        scoring: str | None = None,
        floating: bool = False,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.k = k
        self.cv = cv
        self.scoring = scoring
        self.floating = floating
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Searches; `y` is the labels, or the name of the target column in `X`."""
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise TypeError(f"estimator={self.estimator!r}: give an estimator to try, such as CARTClassifier()")
        task = "classification" if is_classifier(self.estimator) else "regression"
        problem = Problem.of(X, y, task, getattr(self.estimator, "schema", None))
        kept = problem.without_identifiers()
        names = kept.schema.inputs
        self._check_parameters(len(names))
        metric = self.scoring or ("accuracy" if problem.is_classification else "R²")
        score = scorer(self.estimator, kept, self._folds(kept), metric, self.n_jobs)
        steps = self._search(Search(score, names, self.floating), len(names))
        self.history_ = History(metric, tuple(steps), self._taken(steps))
        place = {name: j for j, name in enumerate(problem.schema.inputs)}
        self._settle(problem, [place[name] for name in self.history_[self.history_.taken].names])
        self.n_features_to_select_ = int(self.support_.sum())
        return self

    def plot(self, ax: Any = None) -> Any:
        """The history as a picture; needs matplotlib."""
        check_is_fitted(self, "history_")
        return self.history_.plot(ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags  # what the estimator takes can be searched
        return tags

    def _search(self, search: Search, n_columns: int) -> list[Step]:
        raise NotImplementedError(f"{type(self).__name__} must say in which direction it searches")

    def _folds(self, problem: Problem) -> tuple[Fold, ...]:
        """As scikit-learn makes them: a whole number is stratified folds in the order of the rows."""
        splitter = check_cv(self.cv, problem.label.values, classifier=problem.is_classification)
        pairs = splitter.split(np.zeros((len(problem), 1)), problem.label.values)
        return tuple(Fold(train, test) for train, test in pairs)

    def _taken(self, steps: list[Step]) -> int:
        """The step of k columns; or the best, the smaller of equals; or the smallest within one standard error of it."""
        means = np.array([step.mean for step in steps])
        sizes = np.array([len(step.columns) for step in steps])
        best = min(range(len(steps)), key=lambda place: (-means[place], sizes[place]))
        if self.k == "best":
            return best
        if self.k == "1se":
            near = np.flatnonzero(means >= means[best] - steps[best].standard_error)
            return int(min(near, key=lambda place: (sizes[place], -means[place])))
        return int(max(np.flatnonzero(sizes == self.k), key=lambda place: means[place]))

    def _check_parameters(self, n_columns: int) -> None:
        if self.k not in ("best", "1se") and not (isinstance(self.k, (int, np.integer)) and 1 <= self.k <= n_columns):
            raise ValueError(f"k={self.k!r}: give a number of columns from 1 to {n_columns}, 'best' or '1se'")
        known = metrics.CLASSIFICATION if is_classifier(self.estimator) else metrics.REGRESSION
        if self.scoring is not None and self.scoring not in known:
            raise ValueError(f"scoring={self.scoring!r}: give one of {', '.join(map(repr, known))}")


class ForwardSelection(_Wrapper):
    """Begins with no column and adds the one that helps most, again and again.

    Parameters
    ----------
    estimator : estimator
        What is tried with each set of columns. Naive Bayes is tried by adding log-likelihoods, everything else by refitting.
    k : int, "best" or "1se"
        How many columns to keep: a number; the set with the best mean; or the smallest set within one standard error of it.
    cv : int or splitter
        The folds, as in scikit-learn.
    scoring : str, optional
        A metric such as "AUC" or "log loss"; accuracy, or R² for numbers, by default.
    floating : bool
        After each addition, take columns away as long as that beats the best set of the smaller size.

    Fitted: `history_` (set, mean and standard error of every step), `support_`.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 8.0, 9.0] * 5, "noise": [1.0, 2.0] * 10, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.ForwardSelection(bt.NaiveBayesClassifier(), k=1).fit(rows, "y").get_support().tolist()
    [True, False]
    """

    def _search(self, search: Search, n_columns: int) -> list[Step]:
        return search.forward(n_columns if isinstance(self.k, str) else int(self.k))


class BackwardSelection(_Wrapper):
    """Begins with all columns and takes away the one that is missed least, again and again.

    Parameters are those of `ForwardSelection`; with `floating`, a column comes back after a removal as long as that beats
    the best set of the larger size.
    """

    def _search(self, search: Search, n_columns: int) -> list[Step]:
        return search.backward(list(range(n_columns)), 1 if isinstance(self.k, str) else int(self.k))


class Search:
    """A walk through sets of columns; equal scores go to the earlier column."""

    def __init__(self, score: Scorer, names: Sequence[str], is_floating: bool):
        self._score, self._names, self._is_floating = score, names, is_floating
        self._steps: list[Step] = []
        self._best: dict[int, float] = {}  # the best mean of each size

    def forward(self, size: int) -> list[Step]:
        """The steps from the empty set up to a size."""
        chosen: list[int] = []
        while len(chosen) < size:
            chosen = self._add(chosen)
            while self._is_floating and len(chosen) > 2:
                smaller, scores = self._least_missed(chosen)
                if scores.mean() <= self._best[len(smaller)]:
                    break
                chosen = self._record(smaller, f"− {self._gone(chosen, smaller)}", scores)
        return self._steps

    def backward(self, chosen: list[int], size: int) -> list[Step]:
        """The steps from this set down to a size."""
        first = self._score.added(chosen[:-1], chosen[-1:])[0]
        chosen = self._record(chosen, "all columns", first)
        everything = list(chosen)
        while len(chosen) > size:
            smaller, scores = self._least_missed(chosen)
            chosen = self._record(smaller, f"− {self._gone(chosen, smaller)}", scores)
            while self._is_floating and len(chosen) < len(everything) - 1:
                larger, scores = self._most_wanted(chosen, everything)
                if scores.mean() <= self._best[len(larger)]:
                    break
                chosen = self._record(larger, f"+ {self._names[larger[-1]]}", scores)
        return self._steps

    def _add(self, chosen: list[int]) -> list[int]:
        larger, scores = self._most_wanted(chosen, range(len(self._names)))
        return self._record(larger, f"+ {self._names[larger[-1]]}", scores)

    def _most_wanted(self, chosen: list[int], candidates: Sequence[int]) -> tuple[list[int], np.ndarray]:
        candidates = [j for j in candidates if j not in chosen]
        scores = self._score.added(chosen, candidates)
        best = int(np.argmax(scores.mean(axis=1)))
        return [*chosen, candidates[best]], scores[best]

    def _least_missed(self, chosen: list[int]) -> tuple[list[int], np.ndarray]:
        candidates = sorted(chosen)
        scores = self._score.removed(chosen, candidates)
        best = int(np.argmax(scores.mean(axis=1)))
        return [j for j in chosen if j != candidates[best]], scores[best]

    def _gone(self, chosen: list[int], smaller: list[int]) -> str:
        return self._names[next(j for j in chosen if j not in smaller)]

    def _record(self, chosen: list[int], move: str, scores: np.ndarray) -> list[int]:
        columns = tuple(sorted(chosen))
        self._steps.append(Step(columns, tuple(self._names[j] for j in columns), move, scores))
        self._best[len(columns)] = max(self._best.get(len(columns), -np.inf), float(scores.mean()))
        return chosen
