"""Linear scores of a design's features, which linear and logistic regression and linear discriminant analysis share.

Explanations of linear models: what each column adds to the score of each class, or to the number.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from baytree.base.model import Evidence, Explanation, softmax
from baytree.data.encoding.table import SparseColumns, Table, Tokens
from baytree.data.schema.schema import Schema
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import check_floats

Link = Literal["softmax", "sigmoid", "ovr", "identity"]

LOG_ZERO = -1e300  # the log of a prior of 0, kept finite so that sums and explanations stay numbers


class LinearModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="linear"):
    """Scores that are linear in the design's features: intercept + features @ weight.

    `softmax`: one score per class. `sigmoid`: one score, for the second of two classes against the first.
    `ovr`: one score per class against the rest, the probabilities brought to sum 1. `identity`: one score, the number that
    is predicted.
    """

    design: Design
    weight: np.ndarray  # float64 [n_scores, n_features], in standard units
    intercept: np.ndarray  # float64 [n_scores]
    link: Link

    def __post_init__(self) -> None:
        check_floats("linear model", weight=self.weight, intercept=self.intercept)
        if self.weight.shape != (len(self.intercept), len(self.design)) or len(self.intercept) < 1:
            raise ValueError("linear model: weight must be [n_scores, n_features], intercept [n_scores]")
        if self.link in ("sigmoid", "identity") and len(self.intercept) != 1:
            raise ValueError(f"linear model: a {self.link} has one score")

    def check(self, schema: Schema) -> None:
        """Raises an error unless features and scores fit a schema."""
        self.design.check(schema)
        if self.n_classes != len(schema.classes):
            raise ValueError("linear model: another number of classes than in the schema")

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 where the score is the answer."""
        return {"sigmoid": 2, "identity": 0}.get(self.link, len(self.intercept))

    def scores(self, table: Table) -> np.ndarray:
        """The linear score of each class; of the first of two classes, 0. [n_rows, n_classes]"""
        return self._per_class(self.intercept + self.design.scores(table, self.weight.T))

    def predict(self, table: Table) -> np.ndarray:
        """The probability of each class, or the number. [n_rows, n_outputs]"""
        scores = self.scores(table)
        if self.link == "identity":
            return scores
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


def shares_of_sigmoids(scores: np.ndarray) -> np.ndarray:
    """sigmoid(scores) brought to sum 1 in each row; taken from logs, so that no row sums to 0."""
    return softmax(-np.logaddexp(0.0, -scores))


def explain_linear(table: Table, start: np.ndarray, effects: np.ndarray, answers: np.ndarray) -> list[Explanation]:
    """One explanation per row: what each column adds to the score of each class, or to the number."""
    shown, target = _shown(table), table.schema.target
    names = [column.name for column in table.schema.columns]
    classes, unit = ((target.name,), "number") if target.classes is None else (target.classes, "log-odds")
    return [
        Explanation(
            classes,
            start,
            tuple(Evidence(name, shown[j][i], effects[i, j]) for j, name in enumerate(names)),
            answers[i],
            unit,
        )
        for i in range(len(table))
    ]


def _shown(table: Table) -> list[list[str]]:
    values = table.values.matrix.toarray().T if isinstance(table.values, SparseColumns) else table.values
    return [
        _words_in(column) if isinstance(column, Tokens) else [named.show(value) for value in column]
        for named, column in zip(table.schema.columns, values, strict=True)
    ]


def _words_in(tokens: Tokens) -> list[str]:
    length = np.diff(tokens.start)
    return ["missing" if gone else f"{n} words" for n, gone in zip(length, tokens.missing, strict=True)]
