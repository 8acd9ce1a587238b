"""Results of scorecards for users: the card as a table, and the reasons for the score of a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned, shortened
from baytree.rendering.scorecard_text import occurring, scale_sentence
from baytree.scorecard.model import CardColumn, ScorecardModel
from baytree.summary.scorecard import ScorecardSummary

COMPARISONS = ("best", "average")

_MAX_NAME_LENGTH = 32


class CardTable(TextResult, msgspec.Struct, frozen=True):
    """Card as a table: a line per bin with its rows, rates, weight of evidence, information value and points."""

    summary: ScorecardSummary

    def to_dict(self) -> dict[str, list]:
        """Table as a dict of lists; the first line holds the points of every row."""
        card = self.summary
        names = ("column", "bin", "rows", "share", card.good, card.bad, f"P({card.good})", "WoE", "IV", "points")
        rows: list[tuple] = [
            ("every row", "", card.weight, 1.0, *self._totals, self._totals[0] / card.weight, None, None, card.start)
        ]
        for column in card.columns:
            bad_total = self._totals[1] or 1.0
            for k in occurring(column):
                weight, good = column.weight[k], column.good[k]
                value = (good / (self._totals[0] or 1.0) - (weight - good) / bad_total) * column.woe[k]
                rate = good / weight if weight else None
                line = (weight, weight / card.weight, good, weight - good, rate, column.woe[k], value, column.points[k])
                rows.append((column.column, column.bins[k], *line))
        return {name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}

    def to_frame(self) -> Any:
        """Table as a data frame."""
        return frame_of(self.to_dict())

    def __str__(self) -> str:
        return aligned(*self._shown()) + f"\n{scale_sentence(self.summary)}"

    def _repr_html_(self) -> str:
        from baytree.display.results import table

        header, rows = self._shown()
        return table(f"scorecard for {self.summary.target}", header, rows, [scale_sentence(self.summary)])

    @property
    def _totals(self) -> tuple[float, float]:
        """Weight of the good class and of the other one."""
        card = self.summary
        return card.n_good, card.weight - card.n_good

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        table = self.to_dict()
        rows = []
        for k, values in enumerate(zip(*table.values(), strict=True)):
            name, bin_name, weight, share, good, bad, rate, woe, value, points = values
            is_new = not k or table["column"][k - 1] != name
            rows.append(
                [
                    shortened(name, _MAX_NAME_LENGTH) if is_new else "",
                    shortened(bin_name, _MAX_NAME_LENGTH),
                    f"{weight:,.6g}",
                    f"{share:.1%}",
                    f"{good:,.6g}",
                    f"{bad:,.6g}",
                    "" if rate is None else f"{rate:.3f}",
                    "" if woe is None else f"{woe:+.3f}",
                    "" if value is None else f"{value:.4f}",
                    f"{points:+d}",
                ]
            )
        return list(table), rows


class Reason(msgspec.Struct, frozen=True):
    """Column that costs a row points.

    Attributes
    ----------
    column : str
        Name of the column.
    bin : str
        Bin of the row's value.
    points : int
        Points of the bin.
    lost : float
        Points that the best bin, or the average of the training rows, has more.
    """

    column: str
    bin: str
    points: int
    lost: float


class Reasons(list[list[Reason]]):
    """Reasons of each row, those that cost most points first; prints a line per row."""

    def __repr__(self) -> str:
        return "\n".join("; ".join(f"{r.column} {r.bin} (−{r.lost:.4g})" for r in row) or "none" for row in self)

    def to_dict(self) -> dict[str, list]:
        """One line per row and reason: row, rank, column, bin, points, lost."""
        lines = [(i, k, *msgspec.structs.astuple(each)) for i, row in enumerate(self) for k, each in enumerate(row, 1)]
        names = ("row", "rank", "column", "bin", "points", "lost")
        return {name: [line[k] for line in lines] for k, name in enumerate(names)}

    def to_frame(self) -> Any:
        """Reasons as a data frame."""
        return frame_of(self.to_dict())


def reasons_of(model: ScorecardModel, schema: Schema, table: Table, n: int, compared_with: str) -> Reasons:
    """The `n` columns of each row that lose most points; equal losses in the order of the columns."""
    points = model.points(table)
    lost = _levels(model.columns, compared_with) - points
    order = np.argsort(-lost, axis=1, kind="stable")[:, :n]
    names = [each.axis.names(schema.columns[each.axis.column]) for each in model.columns]
    bins = [each.bins(table) for each in model.columns]
    columns = [schema.columns[each.axis.column].name for each in model.columns]
    return Reasons(
        [Reason(columns[k], names[k][bins[k][i]], int(points[i, k]), float(lost[i, k])) for k in row if lost[i, k] > 0]
        for i, row in enumerate(order.tolist())
    )


def _levels(columns: Sequence[CardColumn], compared_with: str) -> np.ndarray:
    """Points of each column that a row is compared with. float64 [n_columns]"""
    return np.array([float(each.best) if compared_with == "best" else each.average for each in columns])
