"""What linear learners give back: frozen records of a design and numbers that turn its features into probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from baytree.linear.coefficients import CoefficientTable, coefficient_table
from baytree.linear.design.design import Design
from baytree.linear.design.features import check_floats
from baytree.model import Evidence, Explanation, softmax
from baytree.summary import LinearSummary, QuadraticSummary
from baytree.table.schema import Schema
from baytree.table.table import SparseColumns, Table, Tokens

if TYPE_CHECKING:
    from baytree.formula import Formula

NEVER = -1e300  # the log of a prior of 0, kept finite so that sums and explanations stay numbers
UNSEEN = 1e-150  # whitens a column that never varied: any distance along it is nothing


class LinearModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="linear"):
    """Scores that are linear in the design's features: intercept + features @ weight.

    `softmax`: one score per class. `sigmoid`: one score, for the second of two classes against the first.
    `ovr`: one score per class against the rest, the probabilities brought to sum 1.
    """

    design: Design
    weight: np.ndarray  # float64 [n_scores, n_features], in standard units
    intercept: np.ndarray  # float64 [n_scores]
    link: Literal["softmax", "sigmoid", "ovr"]

    def __post_init__(self) -> None:
        check_floats("linear model", weight=self.weight, intercept=self.intercept)
        if self.weight.shape != (len(self.intercept), len(self.design)) or len(self.intercept) < 1:
            raise ValueError("linear model: weight must be [n_scores, n_features], intercept [n_scores]")
        if self.link == "sigmoid" and len(self.intercept) != 1:
            raise ValueError("linear model: a sigmoid has one score")

    def check(self, schema: Schema) -> None:
        """Raises an error unless features and scores fit a schema."""
        self.design.check(schema)
        if self.n_classes != len(schema.classes):
            raise ValueError("linear model: another number of classes than in the schema")

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return 2 if self.link == "sigmoid" else len(self.intercept)

    def scores(self, table: Table) -> np.ndarray:
        """The linear score of each class; of the first of two classes, 0. [n_rows, n_classes]"""
        return self._per_class(self.intercept + self.design.scores(table, self.weight.T))

    def answers(self, table: Table) -> np.ndarray:
        """The probability of each class. [n_rows, n_classes]"""
        scores = self.scores(table)
        return shares_of_sigmoids(scores) if self.link == "ovr" else softmax(scores)

    def effects(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Start and the effect of each column: scores = start + effects.sum over columns.

        [n_classes], [n_rows, n_columns, n_classes]
        """
        return self._per_class(self.intercept), self._per_class(self.design.effects(table, self.weight.T))

    def in_original_units(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts for features that are neither centred nor scaled.

        A coefficient of a column smaller than 1e-308 may be no double; the largest one stands for it.
        """
        design, largest = self.design, np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            coefficient = np.clip(self.weight / design.scale, -largest, largest)
        own = slice(design.n_dense)
        return coefficient, self.intercept - self.weight[:, own] @ (design.centre / design.scale[own])

    def _per_class(self, scores: np.ndarray) -> np.ndarray:
        if self.link != "sigmoid":
            return scores
        return np.concatenate([np.zeros_like(scores), scores], axis=-1)


class LogisticModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="logistic"):
    """Logistic regression: linear scores and, where nothing was penalised, how sure their coefficients are."""

    linear: LinearModel
    covariance: np.ndarray  # float64 [m, m] of the coefficients in standard units, the constant last; or [0, 0]
    total: float  # sum of the weights

    def __post_init__(self) -> None:
        check_floats("logistic", covariance=self.covariance)
        k, q = len(self.linear.intercept), len(self.linear.design) + 1
        sizes = (0, q if self.linear.link == "sigmoid" else (k - 1) * q, k * q)
        if self.covariance.shape not in [(m, m) for m in sizes]:
            raise ValueError("logistic: the covariance must fit the coefficients")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the model fits a schema."""
        self.linear.check(schema)

    @property
    def design(self) -> Design:
        """The features."""
        return self.linear.design

    def answers(self, table: Table) -> np.ndarray:
        """The probability of each class. [n_rows, n_classes]"""
        return self.linear.answers(table)

    def explain(self, table: Table) -> list[Explanation]:
        """What each column adds to the score of each class."""
        return ledgers(table, *self.linear.effects(table), self.answers(table))

    def coefficients(self, schema: Schema, level: float = 0.95) -> CoefficientTable:
        """The coefficients in original and standard units, and how sure they are."""
        return coefficient_table(self.linear, self.covariance, schema, level)

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns."""
        from baytree.linear.formula import linear

        return linear("logistic regression", self.linear, schema)

    def summary(self, schema: Schema) -> LinearSummary:
        """The coefficients, and how sure they are."""
        return self.coefficients(schema).summary("logistic regression", schema.target.name)


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

    def answers(self, table: Table) -> np.ndarray:
        """The probability of each class. [n_rows, n_classes]"""
        return self.linear.answers(table)

    def explain(self, table: Table) -> list[Explanation]:
        """What each column adds to the score of each class."""
        return ledgers(table, *self.linear.effects(table), self.answers(table))

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns."""
        from baytree.linear.formula import linear

        return linear("linear discriminant analysis", self.linear, schema)

    def summary(self, schema: Schema) -> LinearSummary:
        """The coefficients of the linear scores, and the share of each axis in what keeps the class means apart."""
        coefficients = coefficient_table(self.linear, np.zeros((0, 0)), schema)
        share = np.square(self.strength) / max(np.square(self.strength).sum(), 1e-300)
        return coefficients.summary("linear discriminant analysis", schema.target.name, tuple(share.tolist()))

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
                out[rows, k] = self.start[k] - _half_square((x - self.mean[k]) @ self.whiten[k].T)
        return out

    def answers(self, table: Table) -> np.ndarray:
        """The probability of each class. [n_rows, n_classes]"""
        return softmax(self.scores(table))

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
        return ledgers(table, *self.effects(table), self.answers(table))

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns."""
        from baytree.linear.formula import quadratic

        return quadratic("quadratic discriminant analysis", self, schema)

    def summary(self, schema: Schema) -> QuadraticSummary:
        """Priors and class means, in the units of the columns."""
        mean = self.design.centre + self.mean * self.design.scale
        return QuadraticSummary(
            schema.target.name,
            tuple(map(str, schema.classes)),
            tuple(self.prior.tolist()),
            tuple(self.design.names(schema.columns)),
            tuple(map(tuple, mean.T.tolist())),
        )


def ledgers(table: Table, start: np.ndarray, effects: np.ndarray, probability: np.ndarray) -> list[Explanation]:
    """One explanation per row: what each column adds to the score of each class."""
    shown = _shown(table)
    names = [column.name for column in table.schema.columns]
    return [
        Explanation(
            table.schema.classes,
            start,
            tuple(Evidence(name, shown[j][i], effects[i, j]) for j, name in enumerate(names)),
            probability[i],
        )
        for i in range(len(table))
    ]


def shares_of_sigmoids(scores: np.ndarray) -> np.ndarray:
    """sigmoid(scores) brought to sum 1 in each row; taken from logs, so that no row sums to 0."""
    return softmax(-np.logaddexp(0.0, -scores))


def _half_square(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.minimum(np.einsum("ij,ij->i", x, x) / 2, -NEVER)


def _shown(table: Table) -> list[list[str]]:
    values = table.values.matrix.toarray().T if isinstance(table.values, SparseColumns) else table.values
    return [
        _words_in(column) if isinstance(column, Tokens) else [named.show(value) for value in column]
        for named, column in zip(table.schema.columns, values, strict=True)
    ]


def _words_in(tokens: Tokens) -> list[str]:
    length = np.diff(tokens.start)
    return ["missing" if gone else f"{n} words" for n, gone in zip(length, tokens.missing, strict=True)]
