"""Logistic regression with the penalty strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import CostsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.inner_folds import InnerFolds, inner_folds
from baytree.estimators.linear.logistic import LogisticClassifier
from baytree.estimators.linear.regularization import (
    MAX_STRENGTHS,
    ConvergenceWarning,
    folds_setting,
    is_count,
    positive_values,
)
from baytree.folds.row_structure import RowStructure
from baytree.folds.splitters import CV
from baytree.linear.logistic.held_out_scores import SCORINGS
from baytree.linear.logistic.learner import LogisticCVLearner
from baytree.linear.regularization_path import HeldOutLossCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LogisticRegressionCV(InnerFolds, LogisticClassifier):
    """Logistic regression with the penalty strength chosen by cross-validation.

    The regularization path is solved on all rows, then on all rows outside each fold, and evaluated by held-out loss. The
    model is refitted on all rows with the chosen strength. Folds depend on the contents of the rows, not on their order.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        Penalty on the coefficients: sum of squares, sum of absolute values, or both.
    Cs : int or sequence of float, default=10
        Inverse strengths C = 1 / (n λ) to choose from, or their number: they are then log-spaced from 1e-4 to 1e4.
    cv : int, "loo", splitter, vector of folds, or pairs of rows (train, test), default=5
        Number of folds, assigned by the contents of the rows and stratified by class; leave-one-out; any scikit-learn
        splitter; or given folds.
    rule : {"min", "1se"}, default="min"
        Choose the smallest held-out loss, or the strongest penalty within one standard error of it.
    scoring : {"log_loss", "accuracy", "auc", "brier"}, default="log_loss"
        Held-out loss that compares the strengths: log loss, proportion of wrong predictions, 1 − area under the ROC curve
        (three or more classes: the mean of each against the rest), or Brier score. Equals go to the strongest penalty.
    l1_ratio : float in [0, 1], optional
        Proportion of |b|₁ in the penalty, for ``penalty="elasticnet"``.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        For three or more classes: one joint model, or one model per class against the rest.
    standardize : bool, default=True
        Whether to penalise coefficients per standard deviation (divisor n) of their feature; fitted coefficients are in
        original units.
    ordinal : {"rank", "dummies"}, default="rank"
        Encode an ordinal column as one number, its rank, or as one feature per level except the first.
    missing : {"mean+indicator", "mean", "error"}, default="mean+indicator"
        How to treat missing values: replace them by the mean (or the most frequent level) and add a missing indicator,
        replace them only, or raise an error.
    solver : {"auto", "newton", "lbfgs", "cd", "gradient_descent"}, default="auto"
        Optimisation algorithm; solutions agree to within `tol`.
    tol : float, default=1e-8
        Tolerance: the fit has converged if no optimality condition is violated by more than this, in standard units.
    max_iter : int, default=1000
        Maximum number of iterations.
    class_weight : dict, "balanced" or None, default=None
        Weight of the rows of each class, by label; ``"balanced"`` gives all classes the same total weight.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the features in original units: of the second of two classes, else of each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts for features in original units.
    C_ : float
        Chosen inverse strength.
    lambda_ : float
        Chosen strength, λ = 1 / (n C).
    curve_ : Curve
        Held-out loss at each strength, by `scoring`: per fold, mean and standard error of the mean.
    path_ : Path
        Coefficients of the fit to all rows along the regularization path.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Number of iterations of the final fit; with ``multi_class="ovr"``, of each model.
    gradient_norm_ : float
        Largest violation of an optimality condition over all coefficients, in standard units.
    loss_curve_ : tuple of float, or list of them
        Objective after each iteration of the final fit; with ``multi_class="ovr"``, one tuple per model.

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
        scoring: str = "log_loss",
        costs: CostsLike = None,
    ):
        self.penalty = penalty
        self.Cs = Cs
        self.cv = cv
        self.rule = rule
        self.scoring = scoring
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
        self.costs = costs

    def plot_curve(self, ax: Axes | None = None) -> Axes:
        """Plot the held-out loss against the penalty strength with matplotlib."""
        from baytree.rendering.plots.model_plots import plot_curve

        check_is_fitted(self, "curve_")
        curve = self.curve_
        return plot_curve(curve.lambdas, curve.mean, curve.error, (curve.best, curve.one_se), ax)

    def _learner(self, schema: Schema, fold: np.ndarray | None = None) -> LogisticCVLearner:
        if self.penalty is None:
            raise ValueError("penalty=None has no strength to choose; use LogisticRegression(penalty=None)")
        return LogisticCVLearner(
            self._options(schema),
            param_validation.class_weights(self.class_weight, schema.classes),
            _strengths(self.Cs),
            folds_setting(self.cv) if fold is None else fold,
            param_validation.one_of("rule", self.rule, ("min", "1se")),
            ConvergenceWarning,
            param_validation.one_of("scoring", self.scoring, SCORINGS),
        )

    def _row_dependent_settings(
        self, entered: PreparedRows, structure: RowStructure | None = None
    ) -> dict[str, np.ndarray | None]:
        """Folds of the training rows, if they depend on their groups and times or on row numbers."""
        return {"fold": inner_folds(self.cv, entered, True, structure)}


def _strengths(given: ArrayLike) -> np.ndarray:
    """Values of C to choose from."""
    if is_count(given):
        return np.geomspace(1e-4, 1e4, param_validation.integer("Cs", given, 1, MAX_STRENGTHS))
    return positive_values("Cs", given)
