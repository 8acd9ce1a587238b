"""Logistic regression with the strength of the penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.linear.logistic import LogisticClassifier
from baytree.estimators.linear.regularization import (
    MOST_STRENGTHS,
    ConvergenceWarning,
    folds_setting,
    is_count,
    named_folds,
    positive_values,
)
from baytree.folds.splitters import CV, names_rows
from baytree.linear.logistic.learner import LogisticCVLearner
from baytree.linear.regularization_path import HeldOutLossCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LogisticRegressionCV(LogisticClassifier):
    """Logistic regression with the strength of the penalty chosen by cross-validation.

    The path of strengths is solved on all rows, then without each fold, judged by held-out loss, and the chosen strength
    is refitted on all rows. Folds depend on the rows alone, not on their order.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        What keeps coefficients small: the sum of their squares, that of their sizes, or both.
    Cs : int or sequence of float, default=10
        The inverse strengths to choose from, C = 1 / (n λ); a number of them is spread evenly in logs from 1e-4 to 1e4.
    cv : int, "loo", splitter, vector of folds, or pairs of rows (train, test), default=5
        A number of folds, dealt by what is in the rows and stratified by class; leave-one-out; any of scikit-learn's
        splitters; or folds as given. Every row must be held out once.
    rule : {"min", "1se"}, default="min"
        The least held-out loss, or the strongest penalty within one standard error of it.
    l1_ratio : float in [0, 1], optional
        The share of |b|₁ for ``penalty="elasticnet"``.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        Three or more classes in one model, or one model per class against the rest.
    standardize : bool, default=True
        Whether b is counted per standard deviation (divisor n) of its feature; coefficients come back in original units.
    ordinal : {"rank", "dummies"}, default="rank"
        An ordinal column as one number, its rank, or as one feature per level but the first.
    missing : {"mean+indicator", "mean", "error"}, default="mean+indicator"
        What a gap is: the mean (or the commonest level) and a mark that it was one, the mean alone, or an error.
    solver : {"auto", "newton", "lbfgs", "cd", "gradient_descent"}, default="auto"
        How the optimum is found; they agree to within `tol`.
    tol : float, default=1e-8
        The largest violation of optimality, in standard units, that counts as converged.
    max_iter : int, default=1000
        The largest number of steps.
    class_weight : dict, "balanced" or None, default=None
        What a row of each class counts for, by label; ``"balanced"`` makes all classes weigh the same.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The coefficients of the features in original units: of the second of two classes, else of each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts for features in original units.
    C_ : float
        The chosen inverse strength.
    lambda_ : float
        The chosen strength, λ = 1 / (n C).
    curve_ : Curve
        The held-out loss at each strength: of each fold, their mean and its standard error.
    path_ : Path
        The coefficients on all rows along the strengths.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        The number of steps of the last fit, of each class where each has a model of its own.
    gradient_norm_ : float
        The largest violation of optimality by a coefficient, in standard units.
    loss_curve_ : tuple of float, or list of them
        The objective after each step of the last fit; one tuple per class where each has a model of its own.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"hours": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 3, "passed": ["no", "no", "yes", "no", "yes", "yes"] * 3}
    >>> model = bt.LogisticRegressionCV(cv=3).fit(rows, "passed")
    >>> model.predict({"hours": [1.5, 5.5]}).tolist()
    ['no', 'yes']
    """

    curve_: HeldOutLossCurve

    def __init__(
        self,
        penalty: str = "l2",
        Cs: ArrayLike = 10,
        cv: CV = 5,
        rule: str = "min",
        l1_ratio: float | None = None,
        multi_class: str = "multinomial",
        standardize: bool = True,
        ordinal: str = "rank",
        missing: str = "mean+indicator",
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        class_weight: dict | str | None = None,
        monotone: Mapping[str, str] | None = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.penalty = penalty
        self.Cs = Cs
        self.cv = cv
        self.rule = rule
        self.l1_ratio = l1_ratio
        self.multi_class = multi_class
        self.standardize = standardize
        self.ordinal = ordinal
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.monotone = monotone
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def plot_curve(self, ax: Axes | None = None) -> Axes:
        """The held-out loss against the strength of the penalty (matplotlib)."""
        from baytree.rendering.plots.model_plots import plot_curve

        check_is_fitted(self, "curve_")
        curve = self.curve_
        return plot_curve(curve.lambdas, curve.mean, curve.error, (curve.best, curve.one_se), ax)

    def _learner(self, schema: Schema, fold: np.ndarray | None = None) -> LogisticCVLearner:
        if self.penalty is None:
            raise ValueError("penalty=None leaves nothing to choose; use LogisticRegression(penalty=None)")
        return LogisticCVLearner(
            self._options(schema),
            param_validation.class_weights(self.class_weight, schema.classes),
            _strengths(self.Cs),
            folds_setting(self.cv) if fold is None else fold,
            param_validation.one_of("rule", self.rule, ("min", "1se")),
            ConvergenceWarning,
        )

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, np.ndarray]:
        """The fold of each row that counts, where `cv` names rows of the table as it was given."""
        if not names_rows(self.cv):
            return {}
        return {"fold": named_folds(self.cv, entered, is_classification=True)}


def _strengths(given: ArrayLike) -> np.ndarray:
    """The values of C to choose from."""
    if is_count(given):
        return np.geomspace(1e-4, 1e4, param_validation.integer("Cs", given, 1, MOST_STRENGTHS))
    return positive_values("Cs", given)
