"""`ColumnBins`: the bins of a column as users see them, a table that an expert may edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.binning.coarse_bins import CoarseBins
from baytree.binning.fine_bins import FineBins
from baytree.binning.objective import OBJECTIVE_OF, information_value, rates, weight_of_evidence
from baytree.data.schema.column import Kind
from baytree.display.results import frame_of
from baytree.display.terminal import aligned, listed, number, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NAME_LENGTH = 32  # characters of a bin's name in a printed table

_TITLES = {
    "information_value": "information value",
    "log_likelihood": "log-likelihood gain",
    "squared_error": "explained sum of squares",
}


class ColumnBins(msgspec.Struct, frozen=True):
    """Bins of a column with their rows, rates and, for two classes, weight of evidence. Made by `bin_column`.

    Attributes
    ----------
    target : str
        Name of the target.
    classes : tuple
        Classes of the target; empty for a number.
    objective : str
        What the bins maximise.
    shape : str or None
        Constraint that the rates follow: ``up``, ``down``, ``peak``, ``valley``; None without one.
    edits : tuple of str
        Edits by hand, each with its price.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"age": [20, 30, 40, 50] * 10, "owes": (["yes"] * 3 + ["no"]) * 5 + ["yes", "yes", "no", "no"] * 5}
    >>> bins = bt.bin_column(rows, "age", "owes")
    >>> print(bins.merge(1, 2).edits[0])
    merge(1, 2): information value 4.9483 → 3.0701
    """

    fine: FineBins
    bins: CoarseBins
    target: str
    classes: tuple[Any, ...]
    objective: str
    edits: tuple[str, ...] = ()

    @property
    def shape(self) -> str | None:
        """Constraint that the rates follow."""
        return self.bins.shape

    @property
    def names(self) -> list[str]:
        """Names of the bins."""
        return [self._name(cells) for cells in self.bins.cells]

    @property
    def cuts(self) -> list[float]:
        """Upper edges of the intervals of a numeric or ordinal column, without the last; empty for nominal levels."""
        if self.fine.column.kind is Kind.NOMINAL:
            return []
        last = [max(cell for cell in cells if cell < self.fine.n_ordered) for cells in self._intervals]
        is_numeric = self.fine.column.kind is Kind.NUMERIC
        return [float(self.fine.edges[cell]) if is_numeric else float(cell) for cell in last[:-1]]

    @property
    def value(self) -> float:
        """Objective of all bins together."""
        return float(OBJECTIVE_OF[self.objective](self._sums, self._total).sum())

    @property
    def information_value(self) -> float:
        """Information value of all bins; NaN unless the target has two classes."""
        return float(information_value(self._sums, self._total).sum()) if len(self.classes) == 2 else float("nan")

    @property
    def woe(self) -> np.ndarray:
        """Weight of evidence of each bin: log of its proportion of the second class over that of the first. [n_bins]"""
        if len(self.classes) != 2:
            raise ValueError(f"weight of evidence needs two classes, but the target {self.target!r} has {self._has()}")
        return weight_of_evidence(self._sums, self._total)

    def bins_of(self, values: np.ndarray) -> np.ndarray:
        """Bin of each encoded value, from 0; −1 if there is none, as for a level without training rows: int64 [n_rows]."""
        bin_of_cell = np.full(len(self.fine.sums), -1)
        for k, cells in enumerate(self.bins.cells):
            bin_of_cell[list(cells)] = k
        return bin_of_cell[self.fine.cells_of(values)]

    def merge(self, first: int, second: int) -> ColumnBins:
        """Merge two bins, by their numbers in the table; intervals must be neighbours.

        Parameters
        ----------
        first, second : int
            Numbers of the bins, from 1.

        Returns
        -------
        ColumnBins
            The new bins; the price of the edit is printed below the table.
        """
        n = len(self.bins.cells)
        low, high = sorted((first, second))
        if not (1 <= low < high <= n):
            raise ValueError(f"merge({first}, {second}): give two different bins of 1 to {n}")
        joined = (*self.bins.cells[low - 1], *self.bins.cells[high - 1])
        if high > low + 1 and self.fine.column.kind is not Kind.NOMINAL and high <= len(self._intervals):
            raise ValueError(
                f"merge({first}, {second}): these intervals are not neighbours; merge the bins between them too"
            )
        cells = [each for k, each in enumerate(self.bins.cells, 1) if k not in (low, high)]
        cells.insert(low - 1, joined)
        return self._edited(tuple(cells), f"merge({first}, {second})")

    def split_at(self, value: float) -> ColumnBins:
        """Split the interval that contains a number: values up to it, and values above it.

        Parameters
        ----------
        value : float
            Upper edge of the lower part. Between two fine bins it is moved to the nearest edge below.

        Returns
        -------
        ColumnBins
            The new bins; the gain of the edit is printed below the table.
        """
        if self.fine.column.kind is not Kind.NUMERIC:
            raise ValueError(f"split_at({value!r}): column {self.fine.column.name!r} has levels; use merge on smaller bins")
        edge = int(np.searchsorted(self.fine.edges, value, side="right")) - 1  # cells 0 … edge are at most the value
        position = next((k for k, cells in enumerate(self.bins.cells) if edge in cells and edge + 1 in cells), None)
        if edge < 0 or position is None:
            raise ValueError(
                f"split_at({value!r}): no rows of one bin lie on both sides; the bins end at {self._cut_list()}"
            )
        own = self.bins.cells[position]
        parts = tuple(c for c in own if c <= edge), tuple(c for c in own if c > edge)
        cells = (*self.bins.cells[:position], *parts, *self.bins.cells[position + 1 :])
        at = number(float(self.fine.edges[edge]))
        return self._edited(cells, f"split_at({number(float(value))})" + ("" if at == number(value) else f", after {at}"))

    def to_dict(self) -> dict[str, list]:
        """Table as a dict of lists: bin, rows, share, then rate or mean, WoE and IV, or the rate of each class."""
        weight = self._sums[:, 0] if self.fine.is_number else self._sums.sum(axis=1)
        table: dict[str, list] = {
            "bin": self.names,
            "rows": [float(w) for w in weight],
            "share": (weight / weight.sum()).tolist(),
        }
        if self.fine.is_number:
            return {**table, "mean": rates(self._sums, is_number=True).tolist()}
        if len(self.classes) != 2:
            proportion = self._sums / weight[:, None]
            return {**table, **{f"P({label})": proportion[:, c].tolist() for c, label in enumerate(self.classes)}}
        value = information_value(self._sums, self._total)
        rate = rates(self._sums, is_number=False)
        return {**table, f"P({self.classes[1]})": rate.tolist(), "WoE": self.woe.tolist(), "IV": value.tolist()}

    def to_frame(self) -> Any:
        """Table as a data frame with one row per bin."""
        return frame_of(self.to_dict())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the rate (or mean, or weight of evidence) of each bin over its share of rows; needs matplotlib."""
        from baytree.rendering.plots.charts import bars_with_line

        table = self.to_dict()
        name = "WoE" if "WoE" in table else "mean" if "mean" in table else list(table)[-1]
        return bars_with_line(self.names, table["share"], table[name], name, self._title(), ax)

    def __str__(self) -> str:
        """Table of the bins, their objective and the edits."""
        return "\n".join([aligned(self._header, self._rows()), *self._notes()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from baytree.display.results import table

        return table(self._title(), self._header, self._rows(), self._notes())

    # --- implementation ---------------------------------------------------------------------------------------------------

    @property
    def _sums(self) -> np.ndarray:
        return np.array([self.fine.sums[list(cells)].sum(axis=0) for cells in self.bins.cells])

    @property
    def _total(self) -> np.ndarray:
        return self.fine.sums.sum(axis=0)

    @property
    def _intervals(self) -> list[tuple[int, ...]]:
        """Bins that hold intervals or levels."""
        return [cells for cells in self.bins.cells if min(cells) < self.fine.n_ordered]

    def _edited(self, cells: tuple[tuple[int, ...], ...], edit: str) -> ColumnBins:
        new = msgspec.structs.replace(self, bins=CoarseBins(cells))
        price = f"{edit}: {_TITLES[self.objective]} {self.value:.4f} → {new.value:.4f}"
        return msgspec.structs.replace(new, edits=(*self.edits, price))

    def _name(self, cells: tuple[int, ...]) -> str:
        column, n = self.fine.column, self.fine.n_ordered
        ordered = sorted(cell for cell in cells if cell < n)
        names = [column.show(float(self.fine.special[cell - n])) for cell in cells if n <= cell < len(self.fine.sums) - 1]
        names += ["missing"] if len(self.fine.sums) - 1 in cells else []
        if not ordered:
            return " or ".join(names)
        if column.kind is Kind.NUMERIC:
            own = _interval(self.fine, ordered[0], ordered[-1])
        elif column.kind is Kind.ORDINAL and len(ordered) > 2:
            own = f"{column.show(ordered[0])} … {column.show(ordered[-1])}"
        else:
            own = listed([column.show(cell) for cell in ordered])
        return " or ".join([own, *names])

    @property
    def _header(self) -> list[str]:
        return ["", *self.to_dict()]

    def _rows(self) -> list[list[object]]:
        table = self.to_dict()
        return [
            [k, shortened(str(values[0]), _MAX_NAME_LENGTH), number(values[1]), f"{values[2]:.1%}", *map(_short, values[3:])]
            for k, values in enumerate(zip(*table.values(), strict=True), 1)
        ]

    def _notes(self) -> list[str]:
        shape = f", {self.shape}" if self.shape else ""
        return [f"{_TITLES[self.objective]} for {self.target}: {self.value:.4f}{shape}", *self.edits]

    def _title(self) -> str:
        return f"{self.fine.column.name} for {self.target}"

    def _has(self) -> str:
        return f"{len(self.classes)} classes" if self.classes else "numbers"

    def _cut_list(self) -> str:
        return ", ".join(map(number, self.cuts)) or "no cut"


def _short(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1e4 else f"{value:.6g}"


def _interval(fine: FineBins, first: int, last: int) -> str:
    """Interval of cells: `≤ 25`, `25 < … ≤ 40`, `> 40`, or `any value`."""
    low = fine.column.show(float(fine.edges[first - 1])) if first else None
    high = fine.column.show(float(fine.edges[last])) if last < len(fine.edges) else None
    if low is None:
        return "any value" if high is None else f"≤ {high}"
    return f"> {low}" if high is None else f"{low} < … ≤ {high}"
