"""Ranking of columns by a measure, with the score of each and how it was computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import TERMINAL_WIDTH, aligned
from baytree.statistics.binning import bonferroni, false_discovery_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Rank:
    """Score of one column, or of one word of a text column."""

    column: str
    kind: str
    score: float
    how: str
    known: float = 1.0
    p: float = np.nan
    bonferroni: float = np.nan
    fdr: float = np.nan

    def order(self, by: str) -> tuple[bool, float, float]:
        """Sort key: by p-value for tests, then by absolute score; undefined scores come last."""
        if np.isnan(self.score):
            return True, 0.0, 0.0
        return False, self.p if by in ("chi2", "anova") else 0.0, -abs(self.score)


_MAX_NAME_LENGTH = 60  # characters of a name in a notebook


@dataclass(frozen=True, repr=False)
class Ranking(TextResult):
    """Columns in descending order of their score. Prints as a table; see `to_frame` and `plot`."""

    by: str
    target: str
    ranks: tuple[Rank, ...]

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def columns(self) -> list[str]:
        """Names, best first."""
        return [rank.column for rank in self.ranks]

    def head(self, n: int = 10) -> Ranking:
        """The first n ranks."""
        return replace(self, ranks=self.ranks[:n])

    def to_frame(self) -> Any:
        """Data frame with one row per rank."""
        return frame_of(self.to_dict())

    def to_dict(self) -> dict[str, list]:
        """Table as a dict of lists."""
        names = ["column", "kind", "score", *(["p", "bonferroni", "fdr"] if self._has_p else []), "known", "how"]
        return {name: [getattr(rank, name) for rank in self.ranks] for name in names}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot a bar for each rank; needs matplotlib."""
        from baytree.rendering.plots.charts import bars

        return bars(self.columns, [rank.score for rank in self.ranks], f"{self.by} for {self.target}", ax)

    def __str__(self) -> str:
        """Table with names and descriptions shortened to fit into a terminal."""
        tables = (self._table(width) for width in (24, 20, 16, 12, 9))
        return next((table for table in tables if max(map(len, table.splitlines())) <= TERMINAL_WIDTH), self._table(9))

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only notebooks need it

        return table(f"{self.by} for {self.target}", self._header, self._rows(_MAX_NAME_LENGTH))

    def _table(self, width: int) -> str:
        return aligned(self._header, self._rows(width))

    @property
    def _header(self) -> list[str]:
        return ["", "column", "kind", self.by, *(["p", "Bonferroni", "FDR"] if self._has_p else []), "known", "how"]

    def _rows(self, width: int) -> list[list[object]]:
        return [self._row(position, rank, width) for position, rank in enumerate(self.ranks, 1)]

    @property
    def _has_p(self) -> bool:
        return any(not np.isnan(rank.p) for rank in self.ranks)

    def _row(self, position: int, rank: Rank, width: int) -> list[object]:
        tests = [_p(rank.p), _p(rank.bonferroni), _p(rank.fdr)] if self._has_p else []
        score = "" if np.isnan(rank.score) else f"{rank.score:.4f}" if abs(rank.score) < 1e4 else f"{rank.score:.4g}"
        return [position, _short(rank.column, width), rank.kind, score, *tests, f"{rank.known:.0%}", _short(rank.how, width)]


def ordered(by: str, target: str, ranks: list[Rank]) -> Ranking:
    """Ranking of these ranks, with adjusted p-values; ties stay in column order."""
    p = np.array([rank.p for rank in ranks])
    adjusted = zip(ranks, bonferroni(p), false_discovery_rate(p), strict=True)
    ranks = [replace(rank, bonferroni=float(b), fdr=float(f)) for rank, b, f in adjusted]
    return Ranking(by, target, tuple(sorted(ranks, key=lambda rank: rank.order(by))))


def _p(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}" if value >= 1e-4 or value == 0 else f"{value:.0e}"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
