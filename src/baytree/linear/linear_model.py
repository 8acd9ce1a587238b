"""`LinearModel`: linear scores over a `Design`, with a link. Shared by linear and logistic regression and linear
discriminant analysis.

Scores are intercept + features @ weight; the link turns them into probabilities or a number. `explain_linear` builds
explanations: the contribution of each column to each score.
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

LOG_ZERO = -1e300  # log of a zero prior, finite so that sums and explanations remain finite


class LinearModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="linear"):
    """Linear scores intercept + features @ weight, and a link.

    `softmax`: one score per class. `sigmoid`: one score, the log-odds of the second of two classes. `ovr`: one score per
    class against the rest; the sigmoids are normalised to sum 1. `identity`: one score, the predicted number.
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
            raise ValueError(f"linear model: link {self.link!r} needs exactly one score")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless features and scores fit the schema."""
        self.design.check(schema)
        if self.n_classes != len(schema.classes):
            raise ValueError("linear model: the number of classes differs from the schema")

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for a regression (identity link)."""
        return {"sigmoid": 2, "identity": 0}.get(self.link, len(self.intercept))

    def scores(self, table: Table) -> np.ndarray:
        """Linear score of each class; 0 for the first class if the link is sigmoid. float64 [n_rows, n_classes]"""
        return self._per_class(self.intercept + self.design.scores(table, self.weight.T))

    def predict(self, table: Table) -> np.ndarray:
        """Probability of each class, or the predicted number. float64 [n_rows, n_outputs]"""
        scores = self.scores(table)
        if self.link == "identity":
            return scores
        return shares_of_sigmoids(scores) if self.link == "ovr" else softmax(scores)

    def effects(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts [n_classes] and the effect of each column [n_rows, n_columns, n_classes].

        scores = intercepts + effects.sum(axis=1)
        """
        return self._per_class(self.intercept), self._per_class(self.design.effects(table, self.weight.T))

    def in_original_units(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients [n_scores, n_features] and intercepts [n_scores] for features that are neither centred nor scaled.

        A coefficient that would overflow (scale below about 1e-308) is clipped to the largest double.
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
    """sigmoid(scores) normalised to sum 1 per row, computed from logs so that no row sums to 0."""
    return softmax(-np.logaddexp(0.0, -scores))


def explain_linear(table: Table, start: np.ndarray, effects: np.ndarray, predictions: np.ndarray) -> list[Explanation]:
    """One explanation per row: the contribution of each column to the score of each class, or to the number."""
    shown, target = _shown(table), table.schema.target
    names = [column.name for column in table.schema.columns]
    classes, unit = ((target.name,), "number") if target.classes is None else (target.classes, "log-odds")
    return [
        Explanation(
            classes,
            start,
            tuple(Evidence(name, shown[j][i], effects[i, j]) for j, name in enumerate(names)),
            predictions[i],
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
    return ["missing" if is_missing else f"{n} words" for n, is_missing in zip(length, tokens.missing, strict=True)]
