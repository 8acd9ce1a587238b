"""Model of MARS: for each score a sum of terms, which are products of hinges.

`Terms` stores them as flat arrays; `Hinge` and `column_of` evaluate them. The model also stores RSS, GCV and what pruning
says of the importance of features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from baytree.base.model import Evidence, Explanation, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import check_floats, check_integers
from baytree.linear.linear_model import shares_of_sigmoids
from baytree.linear.mars.features import SplineFeatures
from baytree.summary.linear import SplineSummary
from baytree.uncertainty.intervals import no_interval

if TYPE_CHECKING:
    from baytree.formula import Formula

Link = Literal["identity", "sigmoid", "ovr"]

MAX_DEGREE = 3


class Terms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Terms as flat arrays: the hinges of term k are start[k] … start[k + 1]; the first term is the constant and
    has none.
    """

    start: np.ndarray  # int32 [n_terms + 1]
    feature: np.ndarray  # int32 [n_hinges]
    side: np.ndarray  # int32 [n_hinges], RISING, FALLING or LINEAR
    cut: np.ndarray  # float64 [n_hinges], in units of the feature

    def __post_init__(self) -> None:
        check_integers("terms", start=self.start, feature=self.feature, side=self.side)
        check_floats("terms", cut=self.cut)
        bounds, n = self.start, len(self.feature)
        if len(bounds) < 2 or bounds[0] != 0 or bounds[1] != 0 or bounds[-1] != n or (np.diff(bounds[1:]) < 1).any():
            raise ValueError("terms: the first term must be the constant, and every other term needs a hinge")
        if (np.diff(bounds) > MAX_DEGREE).any() or len(self.side) != n or self.cut.shape != (n,):
            raise ValueError(f"terms: a term has at most {MAX_DEGREE} hinges, each with a side and a cut")
        if not np.isin(self.side, (RISING, FALLING, LINEAR)).all() or (n and self.feature.min() < 0):
            raise ValueError("terms: a hinge must be rising, falling or linear, and its feature must not be negative")

    @classmethod
    def of(cls, terms: list[Term]) -> Terms:
        """Arrays of a list of terms."""
        hinges = [hinge for term in terms for hinge in term]
        return cls(
            np.cumsum([0, *map(len, terms)]).astype(np.int32),
            np.array([hinge.feature for hinge in hinges], np.int32),
            np.array([hinge.side for hinge in hinges], np.int32),
            np.array([hinge.cut for hinge in hinges], np.float64),
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, k: int) -> Term:
        hinge_range = range(self.start[k], self.start[k + 1])
        return tuple(Hinge(int(self.feature[h]), int(self.side[h]), float(self.cut[h])) for h in hinge_range)


class MarsModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="splines"):
    """Scores that are sums of terms. Links: `identity` for a number, `sigmoid` for the second of two classes, `ovr` for each
    class.

    `worth` holds, per feature, the number of pruning subsets that contain it, and by how much GCV and RSS fell with those
    subsets. RSS and GCV are those of least squares, for classes on their indicators.
    """

    features: SplineFeatures
    terms: Terms
    coefficient: np.ndarray  # float64 [n_scores, n_terms], in units of the features
    link: Link
    worth: np.ndarray  # float64 [n_features, 3]
    n_rows: int
    rss: float
    gcv: float
    r2: float
    relative_gcv: float  # 1 − GCV / GCV of the constant alone

    def __post_init__(self) -> None:
        check_floats("splines", coefficient=self.coefficient, worth=self.worth)
        if self.coefficient.ndim != 2 or self.coefficient.shape[1] != len(self.terms) or not len(self.coefficient):
            raise ValueError("splines: the coefficients must be [n_scores, n_terms]")
        if self.link != "ovr" and len(self.coefficient) != 1:
            raise ValueError(f"splines: link {self.link!r} needs exactly one score")
        if self.worth.shape != (len(self.features), 3):
            raise ValueError("splines: worth must be [n_features, 3]")
        if len(self.terms.feature) and self.terms.feature.max() >= len(self.features):
            raise ValueError("splines: a hinge belongs to a feature that does not exist")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless features and scores fit the schema."""
        self.features.check(schema)
        n_classes = {"sigmoid": 2, "identity": 0}.get(self.link, len(self.coefficient))
        if n_classes != len(schema.classes):
            raise ValueError("splines: the number of classes differs from the schema")

    def groups(self) -> list[tuple[tuple[int, ...], list[int]]]:
        """Terms grouped by the columns that they read: groups of one column first, then of two, then of three."""
        source, groups = self.features.layout.source, {}
        for k in range(1, len(self.terms)):
            columns = tuple(sorted({int(source[hinge.feature]) for hinge in self.terms[k]}))
            groups.setdefault(columns, []).append(k)
        return sorted(groups.items(), key=lambda group: (len(group[0]), group[0]))

    def effects(self, table: Table) -> tuple[np.ndarray, list[np.ndarray]]:
        """Start [n_classes] and the effect of each group of terms on the scores, each [n_rows, n_classes]."""
        x, coefficient = self.features.of(table), self.per_class(self.coefficient)
        effects = []
        for _, terms in self.groups():
            total = np.zeros((len(table), len(coefficient)))
            for k in terms:
                total += column_of(self.terms[k], x)[:, None] * coefficient[:, k]
            effects.append(total)
        return coefficient[:, 0], effects

    def scores(self, table: Table) -> np.ndarray:
        """start + Σ effects, summed in order. [n_rows, n_classes]"""
        start, effects = self.effects(table)
        total = np.tile(start, (len(table), 1))
        for effect in effects:
            total = total + effect
        return total

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Raise ValueError: least squares does not account for the search for knots."""
        raise no_interval(
            "MARS chooses its knots from the training rows, so least-squares standard errors on these rows are too small"
        )

    def predict(self, table: Table) -> np.ndarray:
        """Probability of each class, or the number. [n_rows, n_outputs]"""
        return self._answers(self.scores(table))

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the contribution of each column and of each set of interacting columns."""
        start, effects = self.effects(table)
        total = start
        for effect in effects:
            total = total + effect
        answers = self._answers(np.broadcast_to(total, (len(table), len(start))))
        group_values = [_shown(table, columns) for columns, _ in self.groups()]
        target = table.schema.target
        classes, unit = ((target.name,), "number") if target.classes is None else (target.classes, "log-odds")
        return [
            Explanation(
                classes,
                start,
                tuple(
                    Evidence(name, values[i], effect[i])
                    for (name, values), effect in zip(group_values, effects, strict=True)
                ),
                answers[i],
                unit,
            )
            for i in range(len(table))
        ]

    def in_original_units(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients [n_scores, n_terms] and cut points [n_hinges] in the units of the columns."""
        unit, largest = self.features.unit[self.terms.feature], np.finfo(np.float64).max
        coefficient = self.coefficient.copy()
        with np.errstate(over="ignore"):
            for k in range(len(self.terms)):
                for h in range(self.terms.start[k], self.terms.start[k + 1]):
                    coefficient[:, k] /= unit[h]
            return np.clip(coefficient, -largest, largest), np.clip(self.terms.cut * unit, -largest, largest)

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""
        from baytree.linear.mars.formula import formula_of

        return formula_of(self, schema)

    def summary(self, schema: Schema) -> SplineSummary:
        """Terms as text, and measures of fit."""
        from baytree.linear.mars.text import summary_of

        return summary_of(self, schema)

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        if self.link == "identity":
            return scores
        return shares_of_sigmoids(scores) if self.link == "ovr" else softmax(scores)

    def per_class(self, coefficient: np.ndarray) -> np.ndarray:
        """Coefficients of each class; those of the first of two classes are 0."""
        return np.vstack([np.zeros_like(coefficient), coefficient]) if self.link == "sigmoid" else coefficient


def _shown(table: Table, columns: tuple[int, ...]) -> tuple[str, list[str]]:
    """Names of some columns joined by ×, and their values in each row."""
    named = [table.schema.columns[j] for j in columns]
    values = [[column.show(value) for value in table.values[j]] for j, column in zip(columns, named, strict=True)]
    return " × ".join(column.name for column in named), [" × ".join(each) for each in zip(*values, strict=True)]


RISING, FALLING, LINEAR = 1, -1, 0


class Hinge(msgspec.Struct, frozen=True):
    """max(0, x − cut), max(0, cut − x), or x itself."""

    feature: int
    side: int  # RISING, FALLING or LINEAR
    cut: float = 0.0  # 0 for LINEAR

    def of(self, x: np.ndarray) -> np.ndarray:
        """Hinge of these values."""
        if self.side == LINEAR:
            return x
        return np.maximum(0.0, x - self.cut if self.side == RISING else self.cut - x)


Term = tuple[Hinge, ...]


def column_of(term: Term, x: np.ndarray) -> np.ndarray:
    """Product of a term's hinges, from the left. x [n_features, n_rows] → [n_rows]"""
    product = np.ones(x.shape[1])
    for hinge in term:
        product = product * hinge.of(x[hinge.feature])
    return product


def columns_of(terms: list[Term], x: np.ndarray) -> np.ndarray:
    """Columns of all terms. [n_rows, n_terms]"""
    return np.stack([column_of(term, x) for term in terms], axis=1)
