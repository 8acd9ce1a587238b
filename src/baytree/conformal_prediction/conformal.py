"""Prediction sets with a guarantee that holds for any model and any distribution of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree import _warnings, param_validation
from baytree._typing import EstimatorLike, FrameLike, TargetLike, WeightsLike
from baytree.base.learner import MergeableLearner
from baytree.conformal_prediction.fold_models import FoldModel, NewRows, RefittedFoldModel, models_of
from baytree.conformal_prediction.nonconformity import (
    CalibrationFold,
    ConformalScores,
    CrossConformal,
    FullConformal,
    JackknifePlus,
)
from baytree.conformal_prediction.sets import PredictionIntervals, PredictionSets, Promise
from baytree.estimators.learner_access import learner_of
from baytree.folds.splitters import CV, Fold, Folds
from baytree.model_selection.cross_validate import problem_of
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.trials import can_subtract, codes_among, encodes_identically, fit_all_rows, with_fixed_kinds

MOST_ROWS = 2000  # of a table whose rows are all asked again for every new row, unless that was asked for

_ONE_BY_ONE = ("loo", "leave-one-out")


def conformal(
    estimator: EstimatorLike,
    frame: FrameLike,
    target: TargetLike,
    alpha: float = 0.1,
    *,
    method: str = "auto",
    cv: CV = 10,
    by_class: bool = False,
    groups: ArrayLike | None = None,
    sample_weight: WeightsLike = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PredictionSets | PredictionIntervals:
    """Sets of classes, or intervals of numbers, that hold the truth of a new row in at least 1 − α of all cases.

    Nothing is assumed but that the new row is of the same kind as those of the table: whatever the model, an answer is left
    out of the set only where the row with that answer would conform worse than nearly all rows seen (Vovk, Gammerman and
    Shafer 2005). A good model makes sets small; a bad one makes them large, not wrong. For models that add up (naive Bayes,
    joint table, discriminants, least squares) a row more or less is a sum or a difference, so that full conformal prediction
    and the jackknife+ need no refit.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor with its parameters; it is learnt anew, unless ``cv="fitted"``.
    frame : data frame, dict of columns or array
        The table, with its target column or without it.
    target : str or array
        The name of the target column, or the labels.
    alpha : float, default=0.1
        How often the truth may be missed.
    method : {"auto", "full", "cross"}, default="auto"
        ``"full"`` learns from the new row with each class it might have and compares it with all rows: guaranteed at 1 − α;
        for classifiers that add up. ``"cross"`` compares with rows by models that have not learnt from them, as `cv` says.
        ``"auto"``: full where it can be, for tables of up to 2,000 rows, else cross.
    cv : int, "loo", float, splitter, list of (train, test), or "fitted", default=10
        Which rows a model leaves out. Folds give cross-conformal sets and CV+ intervals, ``"loo"`` the jackknife+, both
        guaranteed at about 1 − 2α and in practice near 1 − α (Barber and others 2021). A share, such as 0.3, holds that
        many rows out once: guaranteed at 1 − α. ``"fitted"``: the estimator is fitted already, to other rows than these.
    by_class : bool, default=False
        Whether the promise is to hold within each class (Mondrian): rare classes are not left out for the common ones'
        sake.
    groups : array, optional
        Rows of one group stay together in folds.
    sample_weight : array or str, optional
        How many rows each row stands for, or the name of the column that says so.
    random_state : int, default=0
        The seed that shuffles the rows.
    n_jobs : int, optional
        How many threads share the folds; all cores by default. Their number changes no result.

    Returns
    -------
    PredictionSets or PredictionIntervals
        `predict(X)` gives the set or interval of each row, `predict_set(X)` the same as an array, `p_values(X)` how well
        each class conforms, `coverage(X, y)` how often the truth was held. Prints what is promised.

    Examples
    --------
    >>> import baytree as bt
    >>> flowers = bt.datasets.load("iris")
    >>> sets = bt.conformal(bt.NaiveBayesClassifier(), flowers, "species", alpha=0.05)
    >>> print(sets)
    prediction sets of NaiveBayesClassifier: full conformal, 150 rows compared with; 95% asked for, 95% guaranteed for \
exchangeable rows
    >>> new = {"sepal_length": [5.0, 6.1], "sepal_width": [3.4, 2.8], "petal_length": [1.5, 4.9], "petal_width": [0.2, 1.7]}
    >>> sets.predict(new)
    [('setosa',), ('versicolor', 'virginica')]
    """
    alpha = param_validation.open_interval("alpha", alpha)
    param_validation.one_of("method", method, ("auto", "full", "cross"))
    param_validation.flag("by_class", by_class)
    problem = problem_of(estimator, frame, target, sample_weight).without_identifiers()
    if by_class and not problem.is_classification:
        raise ValueError("by_class=True is for classes; numbers have none")
    if isinstance(cv, str) and cv == "fitted":
        return _of_fitted(estimator, problem, alpha, by_class)
    additive = _additive(estimator, problem)
    whole = fit_all_rows(estimator, problem)
    if method == "full" or (method == "auto" and additive and problem.is_classification and len(problem) <= MOST_ROWS):
        comparison, promise = _full(estimator, additive, problem, alpha)
    elif additive and isinstance(cv, str) and cv in _ONE_BY_ONE:
        comparison = JackknifePlus(additive, additive.observe(problem.table), problem.table)
        promise = Promise(alpha, "jackknife+", max(1 - 2 * alpha, 0.0), float(problem.weight.sum()))
    else:
        comparison, promise = _folded(estimator, problem, problem.folds(cv, groups, random_state), alpha, n_jobs)
    return _result(whole, problem, comparison, promise, by_class)


def _additive(estimator: EstimatorLike, problem: SupervisedProblem) -> MergeableLearner | None:
    """The learner, where rows can be added to what it has seen and taken away from it."""
    ready = with_fixed_kinds(estimator, problem)
    if not encodes_identically(ready, problem):
        return None
    learner = learner_of(ready, problem.table.schema)
    return learner if can_subtract(learner, problem.table.schema) else None


def _full(
    estimator: EstimatorLike, additive: MergeableLearner | None, problem: SupervisedProblem, alpha: float
) -> tuple[ConformalScores, Promise]:
    name = type(estimator).__name__
    if additive is None:
        raise ValueError(
            f"method='full' learns anew for every row and class, and {name} does not add up; use method='cross'"
        )
    if not problem.is_classification:
        raise ValueError("method='full' tries every class, and numbers have no end; use cv='loo' for the jackknife+")
    with _warnings.capture():
        comparison = FullConformal(additive, additive.observe(problem.table), problem.table)
    return comparison, Promise(alpha, "full conformal", 1 - alpha, float(problem.weight.sum()))


def _folded(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: Folds, alpha: float, n_jobs: int | None
) -> tuple[ConformalScores, Promise]:
    if len(folds.parts) > 1:
        folds.of_rows(len(problem))  # every row is compared with
    models = models_of(estimator, problem, folds.parts, n_jobs)
    parts = tuple(_part(problem, fold, model) for fold, model in zip(folds.parts, models, strict=True))
    weight = float(sum(part.weight.sum() for part in parts))
    return CrossConformal(parts), Promise(
        alpha, f"cross-conformal, {folds.how}", _guaranteed(alpha, len(parts), weight), weight
    )


def _part(problem: SupervisedProblem, fold: Fold, model: FoldModel) -> CalibrationFold:
    held = NewRows(problem.rows(fold.test)[0], lambda: problem.table.take(fold.test))
    return CalibrationFold(model, problem.label.values[fold.test], problem.weight[fold.test], model.answers(held))


def _guaranteed(alpha: float, n_folds: int, n_rows: float) -> float:
    """1 − α of one fold; of several 1 − 2α, less what folds lose beside the jackknife (Barber and others 2021)."""
    if n_folds == 1:
        return 1 - alpha
    lost = min(2 * (1 - 1 / n_folds) / (n_rows / n_folds + 1), (1 - n_folds / n_rows) / (n_folds + 1))
    return max(1 - 2 * alpha - max(lost, 0.0), 0.0)


def _of_fitted(
    estimator: EstimatorLike, problem: SupervisedProblem, alpha: float, by_class: bool
) -> PredictionSets | PredictionIntervals:
    """By a model as it is, compared with rows that it has not learnt from."""
    check_is_fitted(estimator)
    known = tuple(np.asarray(estimator.classes_, dtype=object).tolist()) if problem.is_classification else ()
    strangers = [label for label in problem.label.target.classes or () if label not in known]
    if strangers:
        raise ValueError(f"the class {strangers[0]!r} is not one that the fitted model knows: {list(known)!r}")
    model = RefittedFoldModel(estimator, known)
    label = codes_among(problem.classes, known)[problem.label.values] if known else problem.label.values
    answers = model.answers(NewRows.of(problem.X, estimator))
    promise = Promise(alpha, "split conformal, a model fitted before", 1 - alpha, float(problem.weight.sum()))
    comparison = CrossConformal((CalibrationFold(model, label, problem.weight, answers),))
    if not known:
        return PredictionIntervals(estimator, promise, comparison, problem.weight)
    totals = _totals(label, problem.weight, len(known), by_class)
    return PredictionSets(estimator, np.asarray(estimator.classes_), promise, by_class, comparison, totals)


def _result(
    whole: EstimatorLike, problem: SupervisedProblem, comparison: ConformalScores, promise: Promise, by_class: bool
) -> PredictionSets | PredictionIntervals:
    parts = comparison.parts if isinstance(comparison, CrossConformal) else ()
    label = np.concatenate([part.label for part in parts]) if parts else problem.label.values
    weight = np.concatenate([part.weight for part in parts]) if parts else problem.weight
    if not problem.is_classification:
        return PredictionIntervals(whole, promise, comparison, weight)
    totals = _totals(label, weight, len(problem.classes), by_class)
    return PredictionSets(whole, problem.classes, promise, by_class, comparison, totals)


def _totals(label: np.ndarray, weight: np.ndarray, n_classes: int, by_class: bool) -> np.ndarray:
    """The weight of the rows that each class is compared with. [n_classes]"""
    return np.bincount(label, weight, n_classes) if by_class else np.full(n_classes, weight.sum())
