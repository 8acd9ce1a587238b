"""Wrapper selection: stepwise search for the columns with which an estimator does best in cross-validation."""

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
from baytree.folds.row_structure import GapLike, GroupsLike, TimeLike
from baytree.folds.splitters import CV
from baytree.metrics import scores as metrics
from baytree.model_selection.cross_validate import problem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Wrapper(MetaEstimatorMixin, ColumnSelector):
    """Base class of the wrappers: folds, scorer, and the choice of the step."""

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

    def fit(
        self,
        X: FrameLike,
        y: TargetLike = None,
        *,
        groups: GroupsLike = None,
        time: TimeLike = None,
        gap: GapLike = None,
    ) -> Self:
        """Search for the best subset.

        Parameters
        ----------
        X : data frame, dict of columns, or array
            Table with or without its target column.
        y : str or array
            Labels, or the name of the target column in `X`.
        groups : str or array, optional
            Column of groups, or the group of each row; rows of one group stay in the same fold. A column that is named here
            is no feature.
        time : str or array, optional
            Column of dates or numbers that orders the rows, or the time of each row: each fold is tested on rows after its
            training rows. A column that is named here is no feature.
        gap : float or timedelta, optional
            Time between training and test rows: in days for dates, else in the unit of the column.
        """
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise TypeError(f"estimator={self.estimator!r}: give an estimator instance, such as CARTClassifier()")
        problem = problem_of(self.estimator, X, y, groups=groups, time=time, gap=gap)
        candidates = problem.without_identifiers()
        names = candidates.schema.inputs
        self._check_parameters(len(names))
        metric = self.scoring or ("accuracy" if problem.is_classification else "R²")
        folds = candidates.folds(self.cv, seed=None).parts
        subset_scorer = scorer(self.estimator, candidates, folds, metric, self.n_jobs)
        steps = self._search(SubsetSearch(subset_scorer, names, self.floating), len(names))
        self.history_ = History(metric, tuple(steps), self._taken(steps))
        position = {name: j for j, name in enumerate(problem.schema.inputs)}
        self._set_fitted_state(problem, [position[name] for name in self.history_[self.history_.taken].names])
        self.n_features_to_select_ = int(self.support_.sum())
        return self

    def _criterion(self) -> str:
        best = self.history_[self.history_.taken]
        return f" by {self.history_.metric} {best.mean:.4g} in cross-validation"

    def _steps(self) -> History:
        return self.history_

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the history; needs matplotlib."""
        check_is_fitted(self, "history_")
        return self.history_.plot(ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags  # the search accepts whatever the estimator accepts
        return tags

    def _search(self, search: SubsetSearch, n_columns: int) -> list[SelectionStep]:
        raise NotImplementedError(f"{type(self).__name__} must define _search")

    def _taken(self, steps: list[SelectionStep]) -> int:
        """Index of the selected step.

        With a number k, the best step of k columns; with "best", the best mean, the smaller set on ties; with "1se", the
        smallest set within one standard error of the best.
        """
        means = np.array([step.mean for step in steps])
        sizes = np.array([len(step.columns) for step in steps])
        best = min(range(len(steps)), key=lambda position: (-means[position], sizes[position]))
        if self.k == "best":
            return best
        if self.k == "1se":
            near = np.flatnonzero(means >= means[best] - steps[best].standard_error)
            return int(min(near, key=lambda position: (sizes[position], -means[position])))
        return int(max(np.flatnonzero(sizes == self.k), key=lambda position: means[position]))

    def _check_parameters(self, n_columns: int) -> None:
        if not isinstance(self.k, (int, np.integer)):
            param_validation.one_of("k", self.k, ("best", "1se"))
        elif not 1 <= self.k <= n_columns:
            raise ValueError(f"k={self.k!r}: give a number of columns from 1 to {n_columns}, 'best' or '1se'")
        known = metrics.CLASSIFICATION if is_classifier(self.estimator) else metrics.REGRESSION
        param_validation.one_of("scoring", self.scoring, (*known, None))


class ForwardSelection(_Wrapper):
    """Forward selection: start without columns and repeatedly add the one that improves the score most.

    Parameters
    ----------
    estimator : estimator
        Estimator that is scored with each subset: naive Bayes by adding log-likelihoods, everything else by refitting.
    k : int, "best" or "1se"
        Number of columns; or the set with the best mean; or the smallest set within one standard error of it.
    cv : int, "loo", float, splitter, or list of (train, test)
        Folds, as in `cross_validate`; a number assigns rows in their order, as scikit-learn does.
    scoring : str, optional
        Metric such as "AUC" or "log loss"; by default accuracy, or R² for numeric targets.
    floating : bool
        After each addition, remove columns as long as that beats the best set of the smaller size.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    history_ : History
        All steps with their subset, mean and standard error; prints as a table.
    support_ : ndarray of shape (n_features_in_,)
        Mask of the selected columns.
    n_features_to_select_ : int
        Number of selected columns.
    n_features_in_ : int
        Number of input columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the input columns, if all are strings.

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
    """Backward selection: start with all columns and repeatedly remove the one that is missed least.

    Parameters
    ----------
    estimator : estimator
        Estimator that is scored with each subset: naive Bayes by adding log-likelihoods, everything else by refitting.
    k : int, "best" or "1se"
        Number of columns; or the set with the best mean; or the smallest set within one standard error of it.
    cv : int, "loo", float, splitter, or list of (train, test)
        Folds, as in `cross_validate`; a number assigns rows in their order, as scikit-learn does.
    scoring : str, optional
        Metric such as "AUC" or "log loss"; by default accuracy, or R² for numeric targets.
    floating : bool
        After each removal, add columns back as long as that beats the best set of the larger size.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    history_ : History
        All steps with their subset, mean and standard error; prints as a table.
    support_ : ndarray of shape (n_features_in_,)
        Mask of the selected columns.
    n_features_to_select_ : int
        Number of selected columns.
    n_features_in_ : int
        Number of input columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the input columns, if all are strings.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 8.0, 9.0] * 5, "noise": [1.0, 2.0] * 10, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.BackwardSelection(bt.NaiveBayesClassifier(), k=1).fit(rows, "y").get_support().tolist()
    [True, False]
    """

    def _search(self, search: SubsetSearch, n_columns: int) -> list[SelectionStep]:
        return search.backward(list(range(n_columns)), 1 if isinstance(self.k, str) else int(self.k))
