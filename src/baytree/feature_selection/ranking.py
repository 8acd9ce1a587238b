"""Columns in the order of what they tell about the target, each score with the way it was found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned
from baytree.feature_selection import measures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Rank:
    """What one column, or one word of a text column, tells about the target."""

    column: str
    kind: str
    score: float
    how: str
    known: float = 1.0
    p: float = np.nan
    bonferroni: float = np.nan
    fdr: float = np.nan

    def order(self, by: str) -> tuple[bool, float, float]:
        """Smaller is better: for tests the p-value, then the size of the score; unknown scores last."""
        if np.isnan(self.score):
            return True, 0.0, 0.0
        return False, self.p if by in ("chi2", "anova") else 0.0, -abs(self.score)


_WIDE = 60  # letters of a name in a notebook


@dataclass(frozen=True, repr=False)
class Ranking(TextResult):
    """Columns from the most to the least telling. Prints as a table, converts with `to_frame`, draws with `plot`."""

    by: str
    target: str
    ranks: tuple[Rank, ...]

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def columns(self) -> list[str]:
        """The names, best first."""
        return [rank.column for rank in self.ranks]

    def head(self, n: int = 10) -> Ranking:
        """The first n ranks."""
        return replace(self, ranks=self.ranks[:n])

    def to_frame(self) -> Any:
        """A data frame, one row per rank."""
        return frame_of(self.to_dict())

    def to_dict(self) -> dict[str, list]:
        """The table as lists by column."""
        names = ["column", "kind", "score", *(["p", "bonferroni", "fdr"] if self._has_p else []), "known", "how"]
        return {name: [getattr(rank, name) for rank in self.ranks] for name in names}

    def plot(self, ax: Axes | None = None) -> Axes:
        """A bar for each rank; needs matplotlib."""
        from baytree.rendering.plots.charts import bars

        return bars(self.columns, [rank.score for rank in self.ranks], f"{self.by} for {self.target}", ax)

    def __str__(self) -> str:
        """The table, names and ways cut as short as eighty columns ask."""
        shown = (self._table(width) for width in (24, 20, 16, 12, 9))
        return next((table for table in shown if max(map(len, table.splitlines())) <= 80), self._table(9))

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only a notebook asks for it

        return table(f"{self.by} for {self.target}", self._header, self._rows(_WIDE))

    def _table(self, width: int) -> str:
        return aligned(self._header, self._rows(width))

    @property
    def _header(self) -> list[str]:
        return ["", "column", "kind", self.by, *(["p", "Bonferroni", "FDR"] if self._has_p else []), "known", "how"]

    def _rows(self, width: int) -> list[list[object]]:
        return [self._row(place, rank, width) for place, rank in enumerate(self.ranks, 1)]

    @property
    def _has_p(self) -> bool:
        return any(not np.isnan(rank.p) for rank in self.ranks)

    def _row(self, place: int, rank: Rank, width: int) -> list[object]:
        tests = [_p(rank.p), _p(rank.bonferroni), _p(rank.fdr)] if self._has_p else []
        score = "" if np.isnan(rank.score) else f"{rank.score:.4f}" if abs(rank.score) < 1e4 else f"{rank.score:.4g}"
        return [place, _short(rank.column, width), rank.kind, score, *tests, f"{rank.known:.0%}", _short(rank.how, width)]


def ordered(by: str, target: str, ranks: list[Rank]) -> Ranking:
    """The ranking of these ranks, with adjusted p-values; equals stay in the order of the columns."""
    p = np.array([rank.p for rank in ranks])
    adjusted = zip(ranks, measures.bonferroni(p), measures.false_discovery_rate(p), strict=True)
    ranks = [replace(rank, bonferroni=float(b), fdr=float(f)) for rank, b, f in adjusted]
    return Ranking(by, target, tuple(sorted(ranks, key=lambda rank: rank.order(by))))


def _p(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}" if value >= 1e-4 or value == 0 else f"{value:.0e}"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
