"""Models of discriminant analysis: `LinearDiscriminant` (one covariance) and `QuadraticDiscriminant` (one per class).

`sample` draws rows from a model: the class by its prior, the features by its Gaussian, then columns by their kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.base.model import Explanation, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column
from baytree.data.schema.schema import Schema
from baytree.display.results import frame_of
from baytree.linear.coefficients import coefficient_table
from baytree.linear.design.design import Design, product
from baytree.linear.design.feature_layout import MISSING, VALUE, check_floats
from baytree.linear.linear_model import LOG_ZERO, LinearModel, explain_linear
from baytree.summary.linear import LinearSummary, QuadraticSummary

if TYPE_CHECKING:
    from baytree.formula import Formula

MAX_COVARIANCE_FEATURES = 40  # features; with more, the summary has no covariances

_MIN_VARIANCE = 1e-8  # eigenvalue of the correlation below which a direction has no variance and is not measured

CONSTANT_WHITENING = 1e-150  # whitening factor of a constant column: any distance along it is 0


class LinearDiscriminant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="linear_discriminant"):
    """Gaussian classes with one covariance: linear scores, and the discriminant axes that separate the classes."""

    linear: LinearModel
    axes: np.ndarray  # float64 [n_features, n_axes], for features in standard units
    strength: np.ndarray  # float64 [n_axes], singular values: separation of the classes, decreasing
    mean: np.ndarray  # float64 [n_classes, n_features], in standard units
    correlation: np.ndarray  # float64 [n_features, n_features], within classes
    prior: np.ndarray  # float64 [n_classes]

    def __post_init__(self) -> None:
        k, p = self.linear.weight.shape
        check_floats("discriminant", axes=self.axes, strength=self.strength, mean=self.mean)
        check_floats("discriminant", correlation=self.correlation, prior=self.prior)
        if self.axes.shape != (p, len(self.strength)) or self.mean.shape != (k, p):
            raise ValueError("discriminant: axes and means must fit the features")
        if self.correlation.shape != (p, p) or self.prior.shape != (k,):
            raise ValueError("discriminant: correlation and priors must fit features and classes")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the model fits the schema."""
        self.linear.check(schema)

    @property
    def design(self) -> Design:
        """Design of the features."""
        return self.linear.design

    def covariance(self) -> np.ndarray:
        """Covariance within classes in original units, 0 along constant features. float64 [n_features, n_features]"""
        return self.correlation * np.outer(self.design.scale, self.design.scale)

    def predict(self, table: Table) -> np.ndarray:
        """Probability of each class. [n_rows, n_classes]"""
        return self.linear.predict(table)

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the contribution of each column to the score of each class."""
        return explain_linear(table, *self.linear.effects(table), self.predict(table))

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""
        from baytree.linear.formula import linear

        return linear("linear discriminant analysis", self.linear, schema)

    def summary(self, schema: Schema) -> LinearSummary:
        """Coefficients of the linear scores, and the proportion of the between-class variance on each axis."""
        coefficients = coefficient_table(self.linear, np.zeros((0, 0)), schema)
        proportion = np.square(self.strength) / max(np.square(self.strength).sum(), 1e-300)
        return coefficients.summary("linear discriminant analysis", schema.target.name, tuple(proportion.tolist()))

    def squares(self, table: Table) -> tuple[np.ndarray, int]:
        """Squared Mahalanobis distance of each row to each class mean [n_rows, n_classes], and the number of dimensions."""
        eigenvalue, eigenvector = np.linalg.eigh(self.correlation)
        has_variance = eigenvalue > _MIN_VARIANCE
        sphere = eigenvector[:, has_variance] / np.sqrt(eigenvalue[has_variance])
        out, projected_means = np.empty((len(table), len(self.prior))), self.mean @ sphere
        for rows, x in self.design.blocks(table):
            out[rows] = np.square((x @ sphere)[:, None] - projected_means).sum(axis=2)
        return out, int(has_variance.sum())

    def coordinates(self, table: Table) -> np.ndarray:
        """Rows on the discriminant axes. [n_rows, n_axes]"""
        return self.design.scores(table, self.axes)


class QuadraticDiscriminant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="quadratic_discriminant"):
    """Gaussian classes with one covariance each: score = start − |whitened distance to the class mean|² / 2."""

    design: Design
    mean: np.ndarray  # float64 [n_classes, n_features], in standard units
    whiten: np.ndarray  # float64 [n_classes, n_features, n_features], inverse Cholesky factors
    start: np.ndarray  # float64 [n_classes], log prior − log det / 2
    prior: np.ndarray  # float64 [n_classes]

    def __post_init__(self) -> None:
        check_floats("quadratic", mean=self.mean, whiten=self.whiten, start=self.start, prior=self.prior)
        k, p = len(self.start), len(self.design)
        if self.mean.shape != (k, p) or self.whiten.shape != (k, p, p) or self.prior.shape != (k,) or k < 1:
            raise ValueError("quadratic: means, factors and priors must fit features and classes")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the model fits the schema."""
        self.design.check(schema)
        if len(self.start) != len(schema.classes):
            raise ValueError("quadratic: the number of classes differs from the schema")

    def covariances(self) -> np.ndarray:
        """Covariance of each class in original units, 0 along constant features. [n_classes, n_features, n_features]"""
        factor = np.linalg.inv(self.whiten)
        factor[:, self.whiten[0].diagonal() <= CONSTANT_WHITENING] = 0.0
        return factor @ factor.transpose(0, 2, 1) * np.outer(self.design.scale, self.design.scale)

    def scores(self, table: Table) -> np.ndarray:
        """Log density of each class, up to a constant. [n_rows, n_classes]"""
        out = np.empty((len(table), len(self.start)))
        for rows, x in self.design.blocks(table):
            for k in range(len(self.start)):
                out[rows, k] = self.start[k] - _half_square(product(x - self.mean[k], self.whiten[k].T))
        return out

    def predict(self, table: Table) -> np.ndarray:
        """Probability of each class. [n_rows, n_classes]"""
        return softmax(self.scores(table))

    def squares(self, table: Table) -> tuple[np.ndarray, int]:
        """Squared Mahalanobis distance of each row to each class mean [n_rows, n_classes], and the number of dimensions."""
        return 2 * (self.start - self.scores(table)), int((np.abs(self.whiten[0].diagonal()) > CONSTANT_WHITENING).sum())

    def effects(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Start [n_classes] and effect of each column [n_rows, n_columns, n_classes]. A product of two columns counts half
        for each.
        """
        layout = self.design.layout
        effect = np.zeros((len(table), layout.n_columns, len(self.start)))
        for rows, x in self.design.blocks(table):
            for k in range(len(self.start)):
                difference = x - self.mean[k]
                contribution = -difference * (difference @ self.whiten[k].T @ self.whiten[k]) / 2
                for j in np.unique(layout.source):
                    effect[rows, j, k] = contribution[:, layout.of_column(int(j))].sum(axis=1)
        return self.start, effect

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the contribution of each column. The joint contribution of two columns is split between
        them.
        """
        return explain_linear(table, *self.effects(table), self.predict(table))

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""
        from baytree.linear.discriminant.formula import quadratic

        return quadratic("quadratic discriminant analysis", self, schema)

    def summary(self, schema: Schema) -> QuadraticSummary:
        """Priors, class means and covariances in the units of the columns."""
        mean = self.design.centre + self.mean * self.design.scale
        return QuadraticSummary(
            schema.target.name,
            tuple(map(str, schema.classes)),
            tuple(self.prior.tolist()),
            tuple(self.design.names(schema.columns)),
            tuple(map(tuple, mean.T.tolist())),
            tuple(tuple(map(tuple, each)) for each in self._covariance().tolist()),
        )

    def _covariance(self) -> np.ndarray:
        """Class covariances in units of the columns; empty above `MAX_COVARIANCE_FEATURES` features. [n_classes, n_features,
        n_features]
        """
        if len(self.design) > MAX_COVARIANCE_FEATURES:
            return np.zeros((0, 0, 0))
        with np.errstate(over="ignore", invalid="ignore"):
            root = np.linalg.inv(self.whiten) * self.design.scale[:, None]
            return root @ root.transpose(0, 2, 1)


def _half_square(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.minimum(np.einsum("ij,ij->i", x, x) / 2, -LOG_ZERO)


def sample(model: LinearDiscriminant | QuadraticDiscriminant, schema: Schema, n: int, random: np.random.Generator) -> Any:
    """Draw a data frame of n rows with their classes."""
    label = random.choice(len(model.prior), size=n, p=model.prior)
    x = np.empty((n, len(model.design)))
    for k in np.unique(label):
        rows = np.flatnonzero(label == k)
        noise = random.standard_normal((len(rows), x.shape[1]))
        x[rows] = model.mean[k] + noise @ _root(model, int(k)).T
    x = x * model.design.scale + model.design.centre
    columns = {c.name: _column(x, model.design, j, c) for j, c in enumerate(schema.columns)}
    columns[schema.target.name] = np.array(schema.classes, dtype=object)[label]
    return frame_of(columns)


def _root(model: LinearDiscriminant | QuadraticDiscriminant, k: int) -> np.ndarray:
    """Square root of a class's covariance in standard units."""
    if isinstance(model, QuadraticDiscriminant):
        varies = model.whiten[k].diagonal() > CONSTANT_WHITENING
        return np.where(varies[:, None], np.linalg.inv(model.whiten[k]), 0.0)
    eigenvalue, eigenvector = np.linalg.eigh(model.correlation)
    return eigenvector * np.sqrt(np.maximum(eigenvalue, 0.0))


def _column(x: np.ndarray, design: Design, j: int, column: Column) -> np.ndarray:
    """Column of these features: a number, the nearest rank, or the level with the largest one-hot value; missing if its
    indicator is > 0.5.
    """
    features = design.layout.of_column(j)
    level = design.layout.level[features]
    x = x[:, features]
    if (level == VALUE).any():
        number = x[:, level == VALUE][:, 0]
        values = number if not column.levels else _named(np.clip(np.rint(number), 0, len(column.levels) - 1), column)
    else:
        level_features = np.flatnonzero(level >= 0)
        reference_value = 1 - x[:, level_features].sum(axis=1, keepdims=True)
        codes = np.append(design.reference[j], level[level_features])
        values = _named(codes[np.hstack([reference_value, x[:, level_features]]).argmax(axis=1)], column)
    is_missing = (x[:, level == MISSING] > 0.5).any(axis=1)
    values = values.copy()
    values[is_missing] = np.nan if values.dtype.kind == "f" else None
    return values


def _named(codes: np.ndarray, column: Column) -> np.ndarray:
    return np.array(column.levels, dtype=object)[codes.astype(int)]
