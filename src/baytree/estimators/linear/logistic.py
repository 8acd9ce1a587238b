"""Logistic regression at one strength of the penalty."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from baytree import settings
from baytree.estimators.linear.convergence import ConvergenceWarning
from baytree.estimators.linear.face import LogisticClassifier
from baytree.estimators.linear.strengths import MOST_STRENGTHS
from baytree.linear.logistic.learner import Logistic
from baytree.table.schema import Schema


class LogisticRegression(LogisticClassifier):
    """Logistic regression on a raw table: binary, multinomial or one against the rest, with l2, l1 or both.

    Minimises mean loss + λ (l1_ratio |b|₁ + (1 − l1_ratio) / 2 |b|²), intercepts free. Nominal columns become one feature
    per level but the first, gaps are filled by the mean or the commonest level and marked by a feature of their own.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        What keeps coefficients small: the sum of their squares, that of their sizes, both, or nothing.
    C : float, default=1.0
        The inverse strength of the penalty, as in scikit-learn: λ = 1 / (n C) for rows that weigh n in all.
    lambda_ : float, optional
        The strength λ itself, as in glmnet; takes the place of `C`.
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
        How the optimum is found; they agree to within `tol`. ``gradient_descent`` is for teaching: see `learning_rate`
        and `loss_curve_`.
    tol : float, default=1e-8
        The largest violation of optimality, in standard units, that counts as converged.
    max_iter : int, default=1000
        The largest number of steps.
    class_weight : dict, "balanced" or None, default=None
        What a row of each class counts for, by label; ``"balanced"`` makes all classes weigh the same.
    warm_start : bool, default=False
        Whether to begin where the last fit ended.
    learning_rate : float, optional
        Of ``solver="gradient_descent"``; by default one that always descends.
    path : int, default=0
        How many strengths to solve on the way, from the one that keeps no column; kept as `path_`. 0 keeps none.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The coefficients of the features in original units: of the second of two classes, else of each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts for features in original units.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        The number of steps, of each class where each has a model of its own.
    gradient_norm_ : float
        The largest violation of optimality by a coefficient, in standard units.
    loss_curve_ : tuple of float, or list of them
        The objective after each step; one tuple per class where each has a model of its own.
    path_ : Path
        The coefficients along the strengths, where `path` asks for them.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"hours": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "passed": ["no", "no", "yes", "no", "yes", "yes"]}
    >>> model = bt.LogisticRegression().fit(rows, "passed")
    >>> model.predict({"hours": [1.5, 5.5]}).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        penalty: str | None = "l2",
        C: float = 1.0,
        lambda_: float | None = None,
        l1_ratio: float | None = None,
        multi_class: str = "multinomial",
        standardize: bool = True,
        ordinal: str = "rank",
        missing: str = "mean+indicator",
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        class_weight: dict | str | None = None,
        warm_start: bool = False,
        learning_rate: float | None = None,
        path: int = 0,
        monotone: Mapping[str, str] | None = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.penalty = penalty
        self.C = C
        self.lambda_ = lambda_
        self.l1_ratio = l1_ratio
        self.multi_class = multi_class
        self.standardize = standardize
        self.ordinal = ordinal
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.learning_rate = learning_rate
        self.path = path
        self.monotone = monotone
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _learner(self, schema: Schema) -> Logistic:
        rate = self.learning_rate
        options = msgspec.structs.replace(
            self._options(schema),
            C=settings.positive("C", self.C),
            lambda_=None if self.lambda_ is None else settings.finite("lambda_", self.lambda_, 0),
            learning_rate=None if rate is None else settings.positive("learning_rate", rate),
        )
        class_weight = settings.class_weights(self.class_weight, schema.classes)
        n_path = settings.whole("path", self.path, 0, MOST_STRENGTHS)
        return Logistic(options, class_weight, n_path, self._start(), ConvergenceWarning)

    def _start(self) -> tuple[np.ndarray, ...]:
        """Where the last fit ended, if that is where to begin."""
        return getattr(self, "_thetas", ()) if settings.flag("warm_start", self.warm_start) else ()
