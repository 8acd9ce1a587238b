"""Conformal prediction sets and intervals with a distribution-free coverage guarantee (Vovk, Gammerman and Shafer, 2005).

`conformal` chooses the method (full conformal, jackknife+, cross-conformal or split conformal), fits the models that it
needs
and returns `PredictionSets` or `PredictionIntervals`. The scores of the methods are in `nonconformity`, the models of the
folds in `fold_models`, the results in `sets`.
"""

from __future__ import annotations

import numpy as np
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
from baytree.folds.row_structure import NO_STRUCTURE, GapLike, GroupsLike, TimeLike
from baytree.folds.splitters import CV, Fold, Folds
from baytree.model_selection.cross_validate import problem_of
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.trials import can_subtract, codes_among, encodes_identically, fit_all_rows, with_fixed_kinds

# rows: largest table for which method="auto" uses full conformal, which scores all rows again for every new row
MAX_ROWS = 2000

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
    groups: GroupsLike = None,
    time: TimeLike = None,
    gap: GapLike = None,
    test_size: float | None = None,
    sample_weight: WeightsLike = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PredictionSets | PredictionIntervals:
    """Return prediction sets (classes) or intervals (numbers) that contain the truth of a new row with probability 1 − α.

    The only assumption is that new rows are exchangeable with those of the table. Whatever the model, a value is left
    out of the set only if the row with that value would conform worse than nearly all observed rows (Vovk, Gammerman and
    Shafer 2005). A good model gives small sets; a bad one gives large sets, not wrong ones. For mergeable learners (naive
    Bayes, joint table, discriminants, least squares) adding or removing a row is a sum or a difference, so full conformal
    prediction and the jackknife+ need no refit.

    Parameters
    ----------
    estimator : estimator

        Any classifier or regressor with its parameters; it is cloned and fitted, unless ``cv="fitted"``.
    frame : data frame, dict of columns or array
        The table, with or without its target column.
    target : str or array
        Name of the target column, or the labels.
    alpha : float, default=0.1
        Accepted error rate: the proportion of sets that may miss the truth.
    method : {"auto", "full", "cross"}, default="auto"
        ``"full"`` fits a model to all rows and the new row with each possible class and compares it with all rows:
        guaranteed at 1 − α; for mergeable classifiers. ``"cross"`` compares each row by a model that was not trained on it,
        as set by `cv`. ``"auto"``: full if possible and the table has at most 2,000 rows, else cross.
    cv : int, "loo", float, splitter, list of (train, test), or "fitted", default=10
        Rows that each model leaves out. Folds give cross-conformal sets and CV+ intervals, ``"loo"`` the jackknife+, both
        guaranteed at about 1 − 2α and in practice near 1 − α (Barber and others 2021). A proportion, such as 0.3, holds
        out that part of the rows once: guaranteed at 1 − α. ``"fitted"``: the estimator is already fitted, to other rows.
    by_class : bool, default=False
        Guarantee the coverage within each class (Mondrian), so that rare classes are not missed more often than common
        ones.
    groups : str or array, optional
        Column of groups, or the group of each row; rows of one group stay in the same fold. A column that is named here is
        no feature.
    time : str, optional
        Column of dates or numbers that orders the rows: each fold is tested on rows after its training rows (an expanding
        window). It is no feature.
    gap : float or timedelta, optional
        Time between training and test rows: in days for dates, else in the unit of the column.
    test_size : int or float, optional
        Rows in each test block of `time`: a number or a proportion; by default an equal part for each fold.
    sample_weight : array or str, optional
        Weight of each row, or the name of the column of weights.
    random_state : int, default=0
        Seed for shuffling the rows.
    n_jobs : int, optional
        Number of threads; all cores by default. Does not change the result.

    Returns
    -------
    PredictionSets or PredictionIntervals
        `predict(X)` returns the set or interval of each row, `predict_set(X)` the same as an array, `p_values(X)` how well
        each class conforms, `coverage(X, y)` the observed coverage. Prints the guarantee.

    Examples
    --------
    >>> import baytree as bt
    >>> flowers = bt.datasets.load("iris")
    >>> sets = bt.conformal(bt.NaiveBayesClassifier(), flowers, "species", alpha=0.05)
    >>> print(sets)
    prediction sets of NaiveBayesClassifier: full conformal, 150 calibration rows; coverage 95% requested, 95% \
guaranteed for exchangeable rows
    >>> new = {"sepal_length": [5.0, 6.1], "sepal_width": [3.4, 2.8], "petal_length": [1.5, 4.9], "petal_width": [0.2, 1.7]}
    >>> sets.predict(new)
    [('setosa',), ('versicolor', 'virginica')]
    """
    alpha = param_validation.open_interval("alpha", alpha)
    param_validation.one_of("method", method, ("auto", "full", "cross"))
    param_validation.flag("by_class", by_class)
    structure = {"groups": groups, "time": time, "gap": gap, "test_size": test_size}
    problem = problem_of(estimator, frame, target, sample_weight, **structure).without_identifiers()
    is_structured = problem.structure is not NO_STRUCTURE
    if is_structured and (method == "full" or (isinstance(cv, str) and cv == "fitted")):
        raise ValueError("groups= and time= say how folds are made, which method='full' and cv='fitted' have none of")
    if by_class and not problem.is_classification:
        raise ValueError("by_class=True needs classes, but the target is a number")
    if isinstance(cv, str) and cv == "fitted":
        return _of_fitted(estimator, problem, alpha, by_class)
    additive = _additive(estimator, problem)
    whole = fit_all_rows(estimator, problem)
    if is_structured:
        comparison, promise = _folded(estimator, problem, problem.folds(cv, random_state), alpha, n_jobs)
    elif method == "full" or (method == "auto" and additive and problem.is_classification and len(problem) <= MAX_ROWS):
        comparison, promise = _full(estimator, additive, problem, alpha)
    elif additive and isinstance(cv, str) and cv in _ONE_BY_ONE:
        comparison = JackknifePlus(additive, additive.observe(problem.table), problem.table)
        promise = Promise(alpha, "jackknife+", max(1 - 2 * alpha, 0.0), float(problem.weight.sum()))
    else:
        comparison, promise = _folded(estimator, problem, problem.folds(cv, random_state), alpha, n_jobs)
    return _result(whole, problem, comparison, promise, by_class)


def _additive(estimator: EstimatorLike, problem: SupervisedProblem) -> MergeableLearner | None:
    """Return the learner if its statistics allow rows to be added and removed, else None."""
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
        raise ValueError(f"method='full' needs a mergeable learner, which {name} is not; use method='cross'")
    if not problem.is_classification:
        raise ValueError("method='full' needs classes, but the target is a number; use cv='loo' for the jackknife+")
    with _warnings.capture():
        comparison = FullConformal(additive, additive.observe(problem.table), problem.table)
    return comparison, Promise(alpha, "full conformal", 1 - alpha, float(problem.weight.sum()))


def _folded(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: Folds, alpha: float, n_jobs: int | None
) -> tuple[ConformalScores, Promise]:
    if len(folds.parts) > 1 and problem.structure.time is None:  # in time, the first rows are in no test fold
        folds.of_rows(len(problem))  # raises unless every row is in a test fold
    models = models_of(estimator, problem, folds.parts, n_jobs)
    parts = tuple(_part(problem, fold, model) for fold, model in zip(folds.parts, models, strict=True))
    weight = float(sum(part.weight.sum() for part in parts))
    return CrossConformal(parts), Promise(
        alpha, f"cross-conformal, {folds.how}", _guaranteed(alpha, len(parts), weight), weight
    )


def _part(problem: SupervisedProblem, fold: Fold, model: FoldModel) -> CalibrationFold:
    held_out = NewRows(problem.rows(fold.test)[0], lambda: problem.table.take(fold.test))
    return CalibrationFold(model, problem.label.values[fold.test], problem.weight[fold.test], model.answers(held_out))


def _guaranteed(alpha: float, n_folds: int, n_rows: float) -> float:
    """Return the guaranteed coverage: 1 − α for one fold, else 1 − 2α less the loss of folds against the jackknife+.

    See Barber and others (2021) on CV+.
    """
    if n_folds == 1:
        return 1 - alpha
    lost = min(2 * (1 - 1 / n_folds) / (n_rows / n_folds + 1), (1 - n_folds / n_rows) / (n_folds + 1))
    return max(1 - 2 * alpha - max(lost, 0.0), 0.0)


def _of_fitted(
    estimator: EstimatorLike, problem: SupervisedProblem, alpha: float, by_class: bool
) -> PredictionSets | PredictionIntervals:
    """Return the sets or intervals of a model that is already fitted, calibrated on rows that it was not trained on."""
    check_is_fitted(estimator)
    known = tuple(np.asarray(estimator.classes_, dtype=object).tolist()) if problem.is_classification else ()
    unknown = [label for label in problem.label.target.classes or () if label not in known]
    if unknown:
        raise ValueError(f"the class {unknown[0]!r} is unknown to the fitted model; its classes are {list(known)!r}")
    model = RefittedFoldModel(estimator, known)
    label = codes_among(problem.classes, known)[problem.label.values] if known else problem.label.values
    predictions = model.answers(NewRows.of(problem.X, estimator))
    promise = Promise(alpha, "split conformal with a fitted model", 1 - alpha, float(problem.weight.sum()))
    comparison = CrossConformal((CalibrationFold(model, label, problem.weight, predictions),))
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
    """Return the total weight of the rows that each class is compared with, float64 [n_classes]."""
    return np.bincount(label, weight, n_classes) if by_class else np.full(n_classes, weight.sum())
