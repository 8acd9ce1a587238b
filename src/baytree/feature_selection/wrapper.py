"""Wrappers: columns chosen by how well an estimator does with them, step by step, on rows kept back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import EstimatorLike, FrameLike, TargetLike
from baytree.feature_selection.selector import ColumnSelector
from baytree.feature_selection.subset_scores import scorer
from baytree.feature_selection.subset_search import History, SelectionStep, SubsetSearch
from baytree.folds.splitters import CV
from baytree.metrics import scores as metrics
from baytree.model_selection.cross_validate import problem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Wrapper(MetaEstimatorMixin, ColumnSelector):
    """What the wrappers share: folds, scores, and which step of the history is taken."""

    def __init__(
        self,
        estimator: EstimatorLike,
        k: int | str = "best",
        *,
        cv: CV = 5,
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

    def fit(self, X: FrameLike, y: TargetLike = None) -> Self:
        """Searches; `y` is the labels, or the name of the target column in `X`."""
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise TypeError(f"estimator={self.estimator!r}: give an estimator to try, such as CARTClassifier()")
        problem = problem_of(self.estimator, X, y)
        kept = problem.without_identifiers()
        names = kept.schema.inputs
        self._check_parameters(len(names))
        metric = self.scoring or ("accuracy" if problem.is_classification else "R²")
        folds = kept.folds(self.cv, seed=None).parts
        score = scorer(self.estimator, kept, folds, metric, self.n_jobs)
        steps = self._search(SubsetSearch(score, names, self.floating), len(names))
        self.history_ = History(metric, tuple(steps), self._taken(steps))
        place = {name: j for j, name in enumerate(problem.schema.inputs)}
        self._set_fitted_state(problem, [place[name] for name in self.history_[self.history_.taken].names])
        self.n_features_to_select_ = int(self.support_.sum())
        return self

    def plot(self, ax: Axes | None = None) -> Axes:
        """The history as a picture; needs matplotlib."""
        check_is_fitted(self, "history_")
        return self.history_.plot(ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags  # what the estimator takes can be searched
        return tags

    def _search(self, search: SubsetSearch, n_columns: int) -> list[SelectionStep]:
        raise NotImplementedError(f"{type(self).__name__} must say in which direction it searches")

    def _taken(self, steps: list[SelectionStep]) -> int:
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
        if not isinstance(self.k, (int, np.integer)):
            param_validation.one_of("k", self.k, ("best", "1se"))
        elif not 1 <= self.k <= n_columns:
            raise ValueError(f"k={self.k!r}: give a number of columns from 1 to {n_columns}, 'best' or '1se'")
        known = metrics.CLASSIFICATION if is_classifier(self.estimator) else metrics.REGRESSION
        param_validation.one_of("scoring", self.scoring, (*known, None))


class ForwardSelection(_Wrapper):
    """Begins with no column and adds the one that helps most, again and again.

    Parameters
    ----------
    estimator : estimator
        What is tried with each set of columns. Naive Bayes is tried by adding log-likelihoods, everything else by refitting.
    k : int, "best" or "1se"
        How many columns to keep: a number; the set with the best mean; or the smallest set within one standard error of it.
    cv : int, "loo", float, splitter, or list of (train, test)
        The folds, as in `cross_validate`; a number deals the rows in their order, as scikit-learn does.
    scoring : str, optional
        A metric such as "AUC" or "log loss"; accuracy, or R² for numbers, by default.
    floating : bool
        After each addition, take columns away as long as that beats the best set of the smaller size.
    n_jobs : int, optional
        How many threads share the work; all cores by default.

    Attributes
    ----------
    history_ : History
        Every step with its set, mean and standard error; prints as a table.
    support_ : ndarray of shape (n_features_in_,)
        Which columns are kept.
    n_features_to_select_ : int
        How many these are.
    n_features_in_ : int
        The number of columns that were given.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all of them are strings.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 8.0, 9.0] * 5, "noise": [1.0, 2.0] * 10, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.ForwardSelection(bt.NaiveBayesClassifier(), k=1).fit(rows, "y").get_support().tolist()
    [True, False]
    """

    def _search(self, search: SubsetSearch, n_columns: int) -> list[SelectionStep]:
        return search.forward(n_columns if isinstance(self.k, str) else int(self.k))


class BackwardSelection(_Wrapper):
    """Begins with all columns and takes away the one that is missed least, again and again.

    Parameters
    ----------
    estimator : estimator
        What is tried with each set of columns. Naive Bayes is tried by adding log-likelihoods, everything else by refitting.
    k : int, "best" or "1se"
        How many columns to keep: a number; the set with the best mean; or the smallest set within one standard error of it.
    cv : int, "loo", float, splitter, or list of (train, test)
        The folds, as in `cross_validate`; a number deals the rows in their order, as scikit-learn does.
    scoring : str, optional
        A metric such as "AUC" or "log loss"; accuracy, or R² for numbers, by default.
    floating : bool
        After each removal, take columns back as long as that beats the best set of the larger size.
    n_jobs : int, optional
        How many threads share the work; all cores by default.

    Attributes
    ----------
    history_ : History
        Every step with its set, mean and standard error; prints as a table.
    support_ : ndarray of shape (n_features_in_,)
        Which columns are kept.
    n_features_to_select_ : int
        How many these are.
    n_features_in_ : int
        The number of columns that were given.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all of them are strings.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 8.0, 9.0] * 5, "noise": [1.0, 2.0] * 10, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.BackwardSelection(bt.NaiveBayesClassifier(), k=1).fit(rows, "y").get_support().tolist()
    [True, False]
    """

    def _search(self, search: SubsetSearch, n_columns: int) -> list[SelectionStep]:
        return search.backward(list(range(n_columns)), 1 if isinstance(self.k, str) else int(self.k))
