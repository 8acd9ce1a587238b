"""What discriminant analysis learns: Gaussian classes, with one covariance (linear scores) or one each (quadratic).

Rows drawn from a discriminant model: a class by its prior, features by its Gaussian, columns by their kind.
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

MOST_COVARIANCES = 40  # features whose covariances are told

_FLAT = 1e-8  # of a correlation: directions of no spread, along which nothing is measured

UNSEEN = 1e-150  # whitens a column that never varied: any distance along it is nothing


class LinearDiscriminant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="linear_discriminant"):
    """Gaussian classes with one covariance: linear scores, and the axes that keep the classes apart."""

    linear: LinearModel
    axes: np.ndarray  # float64 [n_features, n_axes], from standard units
    strength: np.ndarray  # float64 [n_axes], how far apart the classes are, falling
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
        """Raises an error unless the model fits a schema."""
        self.linear.check(schema)

    @property
    def design(self) -> Design:
        """The features."""
        return self.linear.design

    def predict(self, table: Table) -> np.ndarray:
        """The probability of each class. [n_rows, n_classes]"""
        return self.linear.predict(table)

    def explain(self, table: Table) -> list[Explanation]:
        """What each column adds to the score of each class."""
        return explain_linear(table, *self.linear.effects(table), self.predict(table))

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns."""
        from baytree.linear.formula import linear

        return linear("linear discriminant analysis", self.linear, schema)

    def summary(self, schema: Schema) -> LinearSummary:
        """The coefficients of the linear scores, and the share of each axis in what keeps the class means apart."""
        coefficients = coefficient_table(self.linear, np.zeros((0, 0)), schema)
        share = np.square(self.strength) / max(np.square(self.strength).sum(), 1e-300)
        return coefficients.summary("linear discriminant analysis", schema.target.name, tuple(share.tolist()))

    def squares(self, table: Table) -> tuple[np.ndarray, int]:
        """Mahalanobis' squared distance of each row to each class mean, and in how many dimensions. [n_rows, n_classes]"""
        root, vector = np.linalg.eigh(self.correlation)
        kept = root > _FLAT
        sphere = vector[:, kept] / np.sqrt(root[kept])
        out, places = np.empty((len(table), len(self.prior))), self.mean @ sphere
        for rows, x in self.design.blocks(table):
            out[rows] = np.square((x @ sphere)[:, None] - places).sum(axis=2)
        return out, int(kept.sum())

    def coordinates(self, table: Table) -> np.ndarray:
        """The rows on the discriminant axes. [n_rows, n_axes]"""
        return self.design.scores(table, self.axes)


class QuadraticDiscriminant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="quadratic_discriminant"):
    """Gaussian classes with a covariance each: score = start − |whitened distance to the class mean|² / 2."""

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
        """Raises an error unless the model fits a schema."""
        self.design.check(schema)
        if len(self.start) != len(schema.classes):
            raise ValueError("quadratic: another number of classes than in the schema")

    def scores(self, table: Table) -> np.ndarray:
        """The log density of each class, up to a constant. [n_rows, n_classes]"""
        out = np.empty((len(table), len(self.start)))
        for rows, x in self.design.blocks(table):
            for k in range(len(self.start)):
                out[rows, k] = self.start[k] - _half_square(product(x - self.mean[k], self.whiten[k].T))
        return out

    def predict(self, table: Table) -> np.ndarray:
        """The probability of each class. [n_rows, n_classes]"""
        return softmax(self.scores(table))

    def squares(self, table: Table) -> tuple[np.ndarray, int]:
        """Mahalanobis' squared distance of each row to each class mean, and in how many dimensions. [n_rows, n_classes]"""
        return 2 * (self.start - self.scores(table)), int((np.abs(self.whiten[0].diagonal()) > UNSEEN).sum())

    def effects(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Start and the effect of each column; the effect of a pair of columns is shared by both."""
        layout = self.design.layout
        effect = np.zeros((len(table), layout.n_columns, len(self.start)))
        for rows, x in self.design.blocks(table):
            for k in range(len(self.start)):
                apart = x - self.mean[k]
                part = -apart * (apart @ self.whiten[k].T @ self.whiten[k]) / 2
                for j in np.unique(layout.source):
                    effect[rows, j, k] = part[:, layout.of_column(int(j))].sum(axis=1)
        return self.start, effect

    def explain(self, table: Table) -> list[Explanation]:
        """What each column adds to the score of each class; a pair of columns shares what both add together."""
        return explain_linear(table, *self.effects(table), self.predict(table))

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns."""
        from baytree.linear.discriminant.formula import quadratic

        return quadratic("quadratic discriminant analysis", self, schema)

    def summary(self, schema: Schema) -> QuadraticSummary:
        """Priors, class means and covariances, in the units of the columns."""
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
        """Of each class, in the units of the columns; none where features are many. [n_classes, n_features, n_features]"""
        if len(self.design) > MOST_COVARIANCES:
            return np.zeros((0, 0, 0))
        with np.errstate(over="ignore", invalid="ignore"):
            root = np.linalg.inv(self.whiten) * self.design.scale[:, None]
            return root @ root.transpose(0, 2, 1)


def _half_square(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.minimum(np.einsum("ij,ij->i", x, x) / 2, -LOG_ZERO)


def sample(model: LinearDiscriminant | QuadraticDiscriminant, schema: Schema, n: int, random: np.random.Generator) -> Any:
    """A frame of n rows with their classes."""
    label = random.choice(len(model.prior), size=n, p=model.prior)
    x = np.empty((n, len(model.design)))
    for k in np.unique(label):
        own = np.flatnonzero(label == k)
        noise = random.standard_normal((len(own), x.shape[1]))
        x[own] = model.mean[k] + noise @ _root(model, int(k)).T
    x = x * model.design.scale + model.design.centre
    columns = {c.name: _column(x, model.design, j, c) for j, c in enumerate(schema.columns)}
    columns[schema.target.name] = np.array(schema.classes, dtype=object)[label]
    return frame_of(columns)


def _root(model: LinearDiscriminant | QuadraticDiscriminant, k: int) -> np.ndarray:
    """A square root of the class's covariance in standard units."""
    if isinstance(model, QuadraticDiscriminant):
        varies = model.whiten[k].diagonal() > UNSEEN
        return np.where(varies[:, None], np.linalg.inv(model.whiten[k]), 0.0)
    root, vector = np.linalg.eigh(model.correlation)
    return vector * np.sqrt(np.maximum(root, 0.0))


def _column(x: np.ndarray, design: Design, j: int, column: Column) -> np.ndarray:
    """The column that these features come from: a number, the nearest rank, or the level with the largest mark."""
    own = design.layout.of_column(j)
    level = design.layout.level[own]
    x = x[:, own]
    if (level == VALUE).any():
        number = x[:, level == VALUE][:, 0]
        values = number if not column.levels else _named(np.clip(np.rint(number), 0, len(column.levels) - 1), column)
    else:
        marks = np.flatnonzero(level >= 0)
        rest = 1 - x[:, marks].sum(axis=1, keepdims=True)
        codes = np.append(design.reference[j], level[marks])
        values = _named(codes[np.hstack([rest, x[:, marks]]).argmax(axis=1)], column)
    gap = (x[:, level == MISSING] > 0.5).any(axis=1)
    values = values.copy()
    values[gap] = np.nan if values.dtype.kind == "f" else None
    return values


def _named(codes: np.ndarray, column: Column) -> np.ndarray:
    return np.array(column.levels, dtype=object)[codes.astype(int)]
