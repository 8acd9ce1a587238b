"""Model of a scorecard: whole points for each bin of each column, and the scale that turns their sum into odds.

The probability is a function of the points, so the card on paper and the model never differ:
log(good / bad) = log(base odds) + log 2 · (score − base points) / points to double.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.additive.axis import Axis
from baytree.base.model import Evidence, Explanation, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import check_floats, check_integers
from baytree.summary.scorecard import CardColumnSummary, ScorecardSummary
from baytree.uncertainty.intervals import no_interval

if TYPE_CHECKING:
    from baytree.formula import Formula


class Scale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Relation of points and odds.

    >>> np.exp(Scale(600, 50.0, 20.0).log_odds(np.array([600, 620]))).round(6).tolist()
    [50.0, 100.0]
    """

    base_points: int
    base_odds: float
    points_to_double: float

    @property
    def per_point(self) -> float:
        """Log-odds of one point."""
        return float(np.log(2.0) / self.points_to_double)

    @property
    def shift(self) -> float:
        """Log-odds of 0 points."""
        return float(np.log(self.base_odds) - self.base_points * self.per_point)

    def log_odds(self, score: np.ndarray) -> np.ndarray:
        """Log-odds of the good class at these scores."""
        return score * self.per_point + self.shift


class CardColumn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bins of a column with the weight of their training rows in each class and their points; missing values are last."""

    axis: Axis
    sums: np.ndarray  # float64 [n_bins, 2], weight of the rows in each class
    woe: np.ndarray  # float64 [n_bins], for the good class
    coefficient: float
    points: np.ndarray  # int32 [n_bins]
    information_value: float
    shape: str | None = None

    def __post_init__(self) -> None:
        check_floats("scorecard", sums=self.sums, woe=self.woe)
        check_integers("scorecard", points=self.points)

    def bins(self, table: Table) -> np.ndarray:
        """Bin of each row. int64 [n_rows]"""
        return self.axis.bins(np.ascontiguousarray(table.values[self.axis.column]))

    @property
    def average(self) -> float:
        """Mean points of the training rows."""
        weight = self.sums.sum(axis=1)
        return float(weight @ self.points / max(float(weight.sum()), 1e-300))

    @property
    def best(self) -> int:
        """Most points that a bin with training rows has."""
        occurs = self.sums.sum(axis=1) > 0
        return int(self.points[occurs].max()) if occurs.any() else 0

    @property
    def width(self) -> int:
        """Range of the points."""
        return int(np.ptp(self.points))


class ScorecardModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="scorecard"):
    """Score: `start` + Σ points of the bins. A higher score means higher odds of the class with code `good`."""

    scale: Scale
    good: int
    start: int
    columns: tuple[CardColumn, ...]
    unused: tuple[tuple[int, float], ...]  # columns without points, with their information values
    score_cuts: np.ndarray  # float64, upper edges of ten groups of training rows by score, without the last
    score_weight: np.ndarray  # float64 [len(score_cuts) + 1], weight of the training rows of each group
    n_good: float  # weight of the training rows of the good class

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the card fits the schema."""
        if len(schema.classes) != 2 or self.good not in (0, 1):
            raise ValueError("scorecard: the target needs two classes")
        if not (self.scale.points_to_double > 0 and self.scale.base_odds > 0 and np.isfinite(self.scale.shift)):
            raise ValueError("scorecard: base odds and points to double must be positive")
        for each in self.columns:
            each.axis.check(schema)
            if len(each.points) != each.axis.n_bins or each.woe.shape != each.points.shape:
                raise ValueError("scorecard: a column needs points and a weight of evidence for each bin")
            if each.sums.shape != (each.axis.n_bins, 2):
                raise ValueError("scorecard: a column needs the weight of each class in each bin")
        if any(not 0 <= j < len(schema) for j, _ in self.unused) or len(self.score_weight) != len(self.score_cuts) + 1:
            raise ValueError("scorecard: columns or groups of scores do not fit")

    def points(self, table: Table) -> np.ndarray:
        """Points of each column. int64 [n_rows, n_columns of the card]"""
        found = [each.points[each.bins(table)] for each in self.columns]
        return np.stack(found, axis=1).astype(np.int64) if found else np.zeros((len(table), 0), np.int64)

    def scores(self, table: Table) -> np.ndarray:
        """Total points of each row. int64 [n_rows]"""
        return self.start + self.points(table).sum(axis=1)

    def predict(self, table: Table) -> np.ndarray:
        """Probability of each class. float64 [n_rows, 2]"""
        return self.probabilities(self.scores(table))

    def probabilities(self, score: np.ndarray) -> np.ndarray:
        """Probability of each class at these scores. float64 [n, 2]"""
        return softmax(self._per_class(self.scale.log_odds(score.astype(np.float64))))

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Raise ValueError: the bins were chosen on the rows that give their rates."""
        raise no_interval("the bins of a scorecard are chosen on the same rows as its points")

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row in points for the good class."""
        points, probability = self._per_class(self.points(table).astype(np.float64)), self.predict(table)
        start = self._per_class(np.array(float(self.start)))
        named = [(table.schema.columns[each.axis.column], table.values[each.axis.column]) for each in self.columns]
        return [
            Explanation(
                table.schema.target.classes or (),
                start,
                tuple(Evidence(c.name, c.show(values[i]), points[i, k]) for k, (c, values) in enumerate(named)),
                probability[i],
                "points",
                points_for=self.good,
            )
            for i in range(len(table))
        ]

    def formula(self, schema: Schema) -> Formula:
        """Card as an expression of the raw columns."""
        from baytree.scorecard.formula import formula_of

        return formula_of(self, schema)

    def summary(self, schema: Schema) -> ScorecardSummary:
        """Bins, points and rates, the column with the widest range of points first."""
        ordered = sorted(self.columns, key=lambda each: (-each.width, each.axis.column))
        return ScorecardSummary(
            schema.target.name,
            str(schema.classes[self.good]),
            str(schema.classes[1 - self.good]),
            self.scale.base_points,
            self.scale.base_odds,
            self.scale.points_to_double,
            self.start,
            tuple(self._summary_of(each, schema) for each in ordered),
            tuple((schema.columns[j].name, value) for j, value in self.unused),
            float(self.score_weight.sum()),
            self.n_good,
        )

    @property
    def size(self) -> int:
        """Number of lines of the card."""
        return 1 + sum(len(each.points) for each in self.columns)

    def stability_groups(self, table: Table) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Name, training weight [n_groups] and group of each row [n_rows], for the score and then each column."""
        group = np.searchsorted(self.score_cuts, self.scores(table), side="left")
        return [
            ("score", self.score_weight, group),
            *(
                (table.schema.columns[each.axis.column].name, each.sums.sum(axis=1), each.bins(table))
                for each in self.columns
            ),
        ]

    def _per_class(self, values: np.ndarray) -> np.ndarray:
        """Values of the good class, and 0 for the other. [..., 2]"""
        other = np.zeros_like(values)
        return np.stack([other, values] if self.good else [values, other], axis=-1)

    def _summary_of(self, each: CardColumn, schema: Schema) -> CardColumnSummary:
        column = schema.columns[each.axis.column]
        weight = each.sums.sum(axis=1)
        return CardColumnSummary(
            column.name,
            each.coefficient,
            each.information_value,
            each.shape,
            tuple(each.axis.names(column)),
            tuple(each.points.tolist()),
            tuple(each.woe.tolist()),
            tuple(weight.tolist()),
            tuple(each.sums[:, self.good].tolist()),
        )
