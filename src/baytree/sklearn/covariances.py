"""Class covariances as scikit-learn estimates them: divisor n, shrunk in original units, or by a given estimator.

`LinearByEstimate` and `QuadraticByEstimate` are the learners of the discriminant drop-ins; without shrinkage by Ledoit and
Wolf or an estimator, covariances follow from scatter matrices and no rows are gathered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from baytree.base.learner import FitResult
from baytree.data.encoding.labels import within_doubles
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions
from baytree.linear.discriminant.covariance import DiscriminantOptions, PooledCovariance
from baytree.linear.discriminant.derive import linear_rule, quadratic_rule
from baytree.linear.discriminant.learner import QuadraticDiscriminantLearner
from baytree.linear.discriminant.model import LinearDiscriminant, QuadraticDiscriminant
from baytree.parallel.blas import at_most
from baytree.param_validation import ClassAmounts


@dataclass(frozen=True)
class Estimate:
    """How the covariance of a class is estimated."""

    shrinkage: float | str | None = None  # proportion of the mean variance, or "auto" (Ledoit and Wolf)
    estimator: Any = None  # its `fit` sets `covariance_`
    reg_param: float = 0.0  # proportion of the identity matrix

    @property
    def needs_rows(self) -> bool:
        """Whether the estimate needs the rows, not only their scatter matrix."""
        return self.estimator is not None or isinstance(self.shrinkage, str)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Covariance of these rows. float64 [n_features, n_features]"""
        if self.estimator is None:
            return _standardised_ledoit_wolf(rows)
        self.estimator.fit(rows)
        covariance = getattr(self.estimator, "covariance_", None)
        if covariance is None:
            raise ValueError(f"{type(self.estimator).__name__} does not have a covariance_ attribute")
        return covariance

    def of_sums(self, covariance: np.ndarray) -> np.ndarray:
        """Shrunk covariance, from one with divisor n. float64 [n_features, n_features]"""
        n, identity = len(covariance), np.eye(len(covariance))
        amount = float(self.shrinkage or 0.0)
        shrunk = (1 - amount) * covariance + amount * np.trace(covariance) / n * identity
        return (1 - self.reg_param) * shrunk + self.reg_param * identity


@dataclass(frozen=True)
class LinearByEstimate:
    """LDA with the prior-weighted mean of the estimated class covariances."""

    estimate: Estimate
    priors: ClassAmounts | None

    def learn(self, rows: Partitions) -> FitResult:
        """Train the rule; the statistic is not stored, since rows cannot be added."""
        with at_most(rows.n_jobs):
            pooled, covariances = _covariances(rows, self.priors, self.estimate)
            correlation = np.einsum("k,kij->ij", pooled.prior, covariances)
            rule = linear_rule(msgspec.structs.replace(pooled, correlation=correlation), _MLE, rows.schema.columns)
            return FitResult(rule)


@dataclass(frozen=True)
class QuadraticByEstimate:
    """QDA with estimated class covariances; one without full rank raises an error."""

    estimate: Estimate
    priors: ClassAmounts | None
    tol: float
    advice: str  # added to the error if a class has fewer rows than columns

    def learn(self, rows: Partitions) -> FitResult:
        """Train the rule."""
        with at_most(rows.n_jobs):
            pooled, covariances = _covariances(rows, self.priors, self.estimate)
            unit = np.outer(pooled.design.scale, pooled.design.scale)
            for k, (covariance, weight) in enumerate(zip(covariances, pooled.seen.weight, strict=True)):
                _refuse_flat(covariance * unit, weight, rows.schema.classes[k], self)
            return FitResult(quadratic_rule(pooled, list(covariances)))


def covariance_of(model: LinearDiscriminant) -> np.ndarray:
    """Covariance within classes, in original units. float64 [n_features, n_features]"""
    return model.correlation * np.outer(model.design.scale, model.design.scale)


def covariances_of(model: QuadraticDiscriminant) -> list[np.ndarray]:
    """Covariance of each class, in original units."""
    root = np.linalg.inv(model.whiten) * model.design.scale[:, None]
    return list(root @ root.transpose(0, 2, 1))


_MLE = DiscriminantOptions(covariance="mle")


def _covariances(rows: Partitions, priors: ClassAmounts | None, estimate: Estimate) -> tuple[PooledCovariance, np.ndarray]:
    """Pooled statistic, and the covariance of each class in its units. float64 [n_classes, n_features, n_features]"""
    rule = QuadraticDiscriminantLearner("mle", np.zeros(1), priors)
    statistic = rule.observe_all(rows)
    pooled = rule.pooled(statistic, rows.schema)
    unit = np.outer(pooled.design.scale, pooled.design.scale)
    if estimate.needs_rows:
        return pooled, np.array([estimate.of_rows(part) / unit for part in _by_class(rows.gather(), pooled)])
    class_unit = np.outer(pooled.scale, pooled.scale)
    weights = np.maximum(pooled.seen.weight, 1e-300)
    return pooled, np.array(
        [estimate.of_sums(s / w / class_unit * unit) / unit for s, w in zip(pooled.seen.spread, weights, strict=True)]
    )


def _by_class(table: Table, pooled: PooledCovariance) -> Iterator[np.ndarray]:
    """Features of the rows of each class, in original units."""
    table, design = within_doubles(table), pooled.design
    features = np.concatenate([block * design.scale + design.centre for _, block in design.blocks(table)])
    for k in range(table.n_classes):
        yield features[table.label == k]


def _standardised_ledoit_wolf(rows: np.ndarray) -> np.ndarray:
    from sklearn.covariance import ledoit_wolf
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    shrunk = ledoit_wolf(scaler.fit_transform(rows))[0]
    return scaler.scale_[:, None] * shrunk * scaler.scale_


def _refuse_flat(covariance: np.ndarray, weight: float, label: Any, learner: QuadraticByEstimate) -> None:
    has_few = bool(learner.advice) and weight < len(covariance)
    if not has_few and (np.linalg.eigvalsh(covariance) > learner.tol).all():
        return
    advice = learner.advice if has_few else ""
    raise np.linalg.LinAlgError(
        f"The covariance matrix of class {label} is not full rank.{advice} Leave columns out, or shrink it."
    )


def check_classes(table: Table, schema: Schema, minimum: int) -> None:
    """Raise ValueError if a class has fewer than `minimum` rows."""
    counts = np.bincount(table.label, minlength=len(schema.classes))
    for label, count in zip(schema.classes, counts, strict=True):
        if count < minimum:
            raise ValueError(f"y has only {count} sample in class {label}; a covariance needs at least {minimum}")
