"""Model of the additive estimators: terms with a value per cell, and a link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from baytree.additive.axis import Axis
from baytree.base.model import Evidence, Explanation, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import check_floats
from baytree.summary.additive import AdditiveSummary
from baytree.uncertainty.intervals import no_interval

if TYPE_CHECKING:
    from baytree.formula import Formula

Link = Literal["identity", "sigmoid", "softmax"]


class AdditiveTerm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Curve over the bins of one column, or surface over the cells of two; its weighted mean over the rows is 0."""

    axes: tuple[Axis, ...]
    values: np.ndarray  # float64 [n_cells, n_scores]; the cells of the second axis vary fastest
    errors: np.ndarray  # float64 [n_cells, n_scores], standard errors
    weight: np.ndarray  # float64 [n_cells], of the training rows

    def __post_init__(self) -> None:
        check_floats("additive term", values=self.values, errors=self.errors, weight=self.weight)

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns that the term reads."""
        return tuple(axis.column for axis in self.axes)

    def cells(self, table: Table) -> np.ndarray:
        """Cell of each row. int64 [n_rows]"""
        cell = np.zeros(len(table), np.int64)
        for axis in self.axes:
            cell = cell * axis.n_bins + axis.bins(np.ascontiguousarray(table.values[axis.column]))
        return cell

    @property
    def importance(self) -> float:
        """Mean absolute value over the training rows; with several scores, of the largest."""
        return float((self.weight @ np.abs(self.values)).max() / max(self.weight.sum(), 1e-300))

    @property
    def n_pieces(self) -> int:
        """Number of pieces that a person sees: runs of equal values of a curve, or different cells of a surface."""
        known = self.values[:-1] if len(self.axes) == 1 else self.values
        if len(self.axes) == 1 and not len(self.axes[0].bin_of_level):
            return 1 + int((known[1:] != known[:-1]).any(axis=1).sum())
        return len(np.unique(known, axis=0))


class AdditiveModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="additive"):
    """Scores intercept + Σ terms. Links: `identity` for a number, `sigmoid` for the second of two classes, `softmax` for the
    scores of all classes.
    """

    intercept: np.ndarray  # float64 [n_scores]
    terms: tuple[AdditiveTerm, ...]  # curves in the order of the columns, then surfaces
    link: Link
    n_rows: float  # weight of the training rows
    edf: float  # effective degrees of freedom
    edits: tuple[str, ...] = ()  # curves that were set by hand

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless terms and scores fit the schema."""
        n_classes = {"sigmoid": 2, "identity": 0}.get(self.link, len(self.intercept))
        if n_classes != len(schema.classes) or (self.link != "softmax" and len(self.intercept) != 1):
            raise ValueError("additive model: the number of classes differs from the schema")
        for term in self.terms:
            for axis in term.axes:
                axis.check(schema)
            n_cells = int(np.prod([axis.n_bins for axis in term.axes]))
            shape = (n_cells, len(self.intercept))
            if not 1 <= len(term.axes) <= 2 or term.values.shape != shape or term.errors.shape != shape:
                raise ValueError("additive model: the values of a term must be [n_cells, n_scores]")
            if term.weight.shape != (n_cells,) or not np.isfinite(term.values).all():
                raise ValueError("additive model: a term needs finite values, and the weight of each cell")

    def effects(self, table: Table) -> tuple[np.ndarray, list[np.ndarray]]:
        """Start [n_outputs] and the effect of each term, each [n_rows, n_outputs]."""
        return self.per_class(self.intercept), [self.per_class(term.values)[term.cells(table)] for term in self.terms]

    def scores(self, table: Table) -> np.ndarray:
        """start + Σ effects, summed in order. [n_rows, n_outputs]"""
        start, effects = self.effects(table)
        total = np.tile(start, (len(table), 1))
        for effect in effects:
            total = total + effect
        return total

    def predict(self, table: Table) -> np.ndarray:
        """Probability of each class, or the number. [n_rows, n_outputs]"""
        scores = self.scores(table)
        return scores if self.link == "identity" else softmax(scores)

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Raise ValueError: the curves are penalised, and their standard errors ignore the choice of strengths and pairs."""
        raise no_interval("the curves of an additive model are penalised; each has a band of its own, see curves_ and plot")

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the effect of each column and of each pair."""
        start, effects = self.effects(table)
        answers, target = self.predict(table), table.schema.target
        classes, unit = ((target.name,), "number") if target.classes is None else (target.classes, "log-odds")
        shown = [_shown(table, term.columns) for term in self.terms]
        return [
            Explanation(
                classes,
                start,
                tuple(Evidence(name, values[i], effect[i]) for (name, values), effect in zip(shown, effects, strict=True)),
                answers[i],
                unit,
            )
            for i in range(len(table))
        ]

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""
        from baytree.additive.formula import formula_of

        return formula_of(self, schema)

    def summary(self, schema: Schema) -> AdditiveSummary:
        """Terms with their pieces, values and standard errors."""
        from baytree.additive.curves import summary_of

        return summary_of(self, schema)

    @property
    def size(self) -> int:
        """Number of pieces of all terms."""
        return sum(term.n_pieces for term in self.terms)

    def per_class(self, values: np.ndarray) -> np.ndarray:
        """Values for each class; those of the first of two classes are 0."""
        if self.link != "sigmoid":
            return values
        return np.concatenate([np.zeros_like(values), values], axis=-1)


def _shown(table: Table, columns: tuple[int, ...]) -> tuple[str, list[str]]:
    """Names of the columns joined by ×, and their values in each row."""
    named = [table.schema.columns[j] for j in columns]
    values = [[column.show(value) for value in table.values[j]] for j, column in zip(columns, named, strict=True)]
    return " × ".join(column.name for column in named), [" × ".join(each) for each in zip(*values, strict=True)]
