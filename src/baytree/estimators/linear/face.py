"""What both logistic regressions share: their common parameters, and how a fitted model is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import settings
from baytree.estimators.base import Classifier
from baytree.given import FrameLike
from baytree.linear.coefficients import CoefficientTable
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.logistic.model import LogisticModel
from baytree.linear.logistic.options import SOLVERS, Options
from baytree.linear.penalty_path import Path
from baytree.table.schema import Kind, Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_L1_SHARE = {"l2": 0.0, "l1": 1.0, None: 0.0}


class LogisticClassifier(Classifier):
    """A classifier whose model is logistic."""

    penalty: str | None
    l1_ratio: float | None
    multi_class: str
    standardize: bool
    ordinal: str
    missing: str
    solver: str
    tol: float
    max_iter: int
    class_weight: dict | str | None
    monotone: Mapping[str, str] | None
    model_: LogisticModel
    path_: Path
    loss_curve_: tuple[float, ...] | list[tuple[float, ...]]
    _accepts_infinite = True  # infinities are refused while reading, which saves a read of the table

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the features in original units. [1 or n_classes, n_features]

        A column of numbers that is left out, as an identifier, has the coefficient 0.
        """
        return self.schema_.with_numbers_left_out(
            self.model_.linear.in_original_units()[0], self.model_.linear.design.source
        )

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts for features in original units. [1 or n_classes]"""
        return self.model_.linear.in_original_units()[1]

    def decision_function(self, X: FrameLike) -> np.ndarray:
        """The linear scores: of the second of two classes, else one per class."""
        table = self._encoded(X)
        scores = self.model_.linear.scores(table)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def coefficients(self, level: float = 0.95) -> CoefficientTable:
        """The coefficients with odds ratios and, for an unpenalised fit, errors, z, p and intervals of this level."""
        check_is_fitted(self, "model_")
        return self.model_.coefficients(self.schema_, level)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """The coefficients against the strength of the penalty (matplotlib)."""
        from baytree.show.pictures.linear_plots import plot_path

        check_is_fitted(self, "path_")
        return plot_path(self.path_.lambdas, self.path_.importance, self.path_.names, ax)

    def plot_loss(self, ax: Axes | None = None) -> Axes:
        """The objective after each step, as for `solver="gradient_descent"` (matplotlib)."""
        from baytree.show.pictures.linear_plots import plot_loss

        check_is_fitted(self, "model_")
        return plot_loss(self.loss_curve_ if isinstance(self.loss_curve_, list) else [self.loss_curve_], ax)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # the parameter `lambda_` ends like a fitted attribute, and is none

    def _options(self, schema: Schema) -> Options:
        """What all logistic regressions let users choose."""
        return Options(
            l1_share=l1_share_of(self.penalty, self.l1_ratio),
            is_penalised=self.penalty is not None,
            multi_class=settings.one_of("multi_class", self.multi_class, ("multinomial", "ovr")),
            standardize=settings.flag("standardize", self.standardize),
            ordinal=settings.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=settings.one_of("missing", self.missing, MISSING_POLICIES),
            solver=settings.one_of("solver", self.solver, SOLVERS),
            tol=settings.positive("tol", self.tol),
            max_iter=settings.whole("max_iter", self.max_iter, 1),
            monotone=followed_columns(self.monotone, self.ordinal, schema),
        )


def followed_columns(given: object, ordinal: str, schema: Schema) -> tuple[tuple[str, int], ...]:
    """Columns that one score must follow, each by one number: its own, or its rank."""
    if given is not None and len(schema.classes) > 2:
        raise ValueError(
            f"monotone: the {len(schema.classes)} classes of {schema.target.name!r} have a score each, and none of them "
            "says how answers follow a column; use DecisionTreeClassifier(monotone=…), or a target of two classes"
        )
    followed = settings.monotone(given, schema)
    for name, _ in followed:
        if ordinal != "rank" and schema[name].kind is Kind.ORDINAL:
            raise ValueError(f"monotone: ordinal={ordinal!r} gives each level of {name!r} a coefficient; use ordinal='rank'")
    return followed


def l1_share_of(penalty: str | None, l1_ratio: float | None) -> float:
    """The share of |b|₁ in a penalty."""
    settings.one_of("penalty", penalty, ("l2", "l1", "elasticnet", None))
    if penalty != "elasticnet":
        return _L1_SHARE[penalty]
    if l1_ratio is None:
        raise ValueError("penalty='elasticnet' needs l1_ratio, the share of the l1 part, from 0 to 1")
    return settings.number("l1_ratio", l1_ratio, 0, 1)
