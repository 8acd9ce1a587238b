"""Covariances of classes as scikit-learn estimates them: divisor n, shrunk in the columns' own units, or by an estimator."""

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
    """How a covariance follows from the rows of a class."""

    shrinkage: float | str | None = None  # a share of the mean variance, or "auto" after Ledoit and Wolf
    estimator: Any = None  # whose `fit` gives `covariance_`
    reg_param: float = 0.0  # the share of the identity

    @property
    def needs_rows(self) -> bool:
        """Whether sums do not suffice."""
        return self.estimator is not None or isinstance(self.shrinkage, str)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """The covariance of these rows. [n_features, n_features]"""
        if self.estimator is None:
            return _standardised_ledoit_wolf(rows)
        self.estimator.fit(rows)
        found = getattr(self.estimator, "covariance_", None)
        if found is None:
            raise ValueError(f"{type(self.estimator).__name__} does not have a covariance_ attribute")
        return found

    def of_sums(self, covariance: np.ndarray) -> np.ndarray:
        """The covariance (divisor n), shrunk."""
        n, identity = len(covariance), np.eye(len(covariance))
        amount = float(self.shrinkage or 0.0)
        shrunk = (1 - amount) * covariance + amount * np.trace(covariance) / n * identity
        return (1 - self.reg_param) * shrunk + self.reg_param * identity


@dataclass(frozen=True)
class LinearByEstimate:
    """Linear discriminant analysis whose covariance is that of the classes, each by the estimate, weighed by the priors."""

    estimate: Estimate
    priors: ClassAmounts | None

    def learn(self, rows: Partitions) -> FitResult:
        """The rule; sums are not kept, since rows cannot be added to it."""
        with at_most(rows.n_jobs):
            pooled, found = _covariances(rows, self.priors, self.estimate)
            correlation = np.einsum("k,kij->ij", pooled.prior, found)
            rule = linear_rule(msgspec.structs.replace(pooled, correlation=correlation), _MLE, rows.schema.columns)
            return FitResult(rule)


@dataclass(frozen=True)
class QuadraticByEstimate:
    """Quadratic discriminant analysis whose covariances are those of the estimate; one that has no full rank is refused."""

    estimate: Estimate
    priors: ClassAmounts | None
    tol: float
    advice: str  # where a class has fewer rows than columns

    def learn(self, rows: Partitions) -> FitResult:
        """The rule."""
        with at_most(rows.n_jobs):
            pooled, found = _covariances(rows, self.priors, self.estimate)
            unit = np.outer(pooled.design.scale, pooled.design.scale)
            for k, (covariance, weight) in enumerate(zip(found, pooled.seen.weight, strict=True)):
                _refuse_flat(covariance * unit, weight, rows.schema.classes[k], self)
            return FitResult(quadratic_rule(pooled, list(found)))


def covariance_of(model: LinearDiscriminant) -> np.ndarray:
    """The covariance within classes in the units of the columns. [n_features, n_features]"""
    return model.correlation * np.outer(model.design.scale, model.design.scale)


def covariances_of(model: QuadraticDiscriminant) -> list[np.ndarray]:
    """The covariance of each class in the units of the columns."""
    root = np.linalg.inv(model.whiten) * model.design.scale[:, None]
    return list(root @ root.transpose(0, 2, 1))


_MLE = DiscriminantOptions(covariance="mle")


def _covariances(rows: Partitions, priors: ClassAmounts | None, estimate: Estimate) -> tuple[PooledCovariance, np.ndarray]:
    """The statistic made ready, and the covariance of each class in its units. [n_classes, n_features, n_features]"""
    rule = QuadraticDiscriminantLearner("mle", np.zeros(1), priors)
    seen = rule.observe_all(rows)
    pooled = rule.pooled(seen, rows.schema)
    unit = np.outer(pooled.design.scale, pooled.design.scale)
    if estimate.needs_rows:
        return pooled, np.array([estimate.of_rows(part) / unit for part in _by_class(rows.gather(), pooled)])
    own = np.outer(pooled.scale, pooled.scale)
    weights = np.maximum(pooled.seen.weight, 1e-300)
    return pooled, np.array(
        [estimate.of_sums(s / w / own * unit) / unit for s, w in zip(pooled.seen.spread, weights, strict=True)]
    )


def _by_class(table: Table, pooled: PooledCovariance) -> Iterator[np.ndarray]:
    """The features of the rows of each class, in the units of the columns."""
    table, design = within_doubles(table), pooled.design
    features = np.concatenate([block * design.scale + design.centre for _, block in design.blocks(table)])
    for k in range(table.n_classes):
        yield features[table.label == k]


def _standardised_ledoit_wolf(rows: np.ndarray) -> np.ndarray:
    from sklearn.covariance import ledoit_wolf
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    found = ledoit_wolf(scaler.fit_transform(rows))[0]
    return scaler.scale_[:, None] * found * scaler.scale_


def _refuse_flat(covariance: np.ndarray, weight: float, label: Any, learner: QuadraticByEstimate) -> None:
    has_few = bool(learner.advice) and weight < len(covariance)
    if not has_few and (np.linalg.eigvalsh(covariance) > learner.tol).all():
        return
    advice = learner.advice if has_few else ""
    raise np.linalg.LinAlgError(
        f"The covariance matrix of class {label} is not full rank.{advice} Leave columns out, or shrink it."
    )


def check_classes(table: Table, schema: Schema, least: int) -> None:
    """Refuses a class of fewer rows."""
    counts = np.bincount(table.label, minlength=len(schema.classes))
    for label, count in zip(schema.classes, counts, strict=True):
        if count < least:
            raise ValueError(f"y has only {count} sample in class {label}; a covariance needs at least {least}")
