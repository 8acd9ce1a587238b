"""Result of drift detection: changes by column, their significance, and their effect on predictions."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from baytree._warnings import renamed
from baytree.base.predictor import Predictor
from baytree.display.results import TextResult
from baytree.display.terminal import aligned, escaped
from baytree.drift_detection.batch import Batch, profile_of
from baytree.drift_detection.distribution_tests import DistributionPair, adjust_holm, chances, distance, pair_distributions
from baytree.drift_detection.effects import effect, simulate_training_rows
from baytree.drift_detection.stability import PopulationStability, stability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILY_WISE_ERROR_RATE = 0.01  # probability that any column of unchanged rows raises an alarm

_MAX_LISTED_LEVELS = 3  # new levels of a column that its line lists


class ColumnDrift(msgspec.Struct, frozen=True):
    """Change of one column.

    Attributes
    ----------
    column : str
        The name of the column.
    distance : float
        From 0, distributed as in training, to 1: the largest difference of the cumulative distributions of numbers
        (Kolmogorov–Smirnov), or half the sum of the differences of all levels (total variation).
    p : float
        The p-value of the change: the smaller one of a test of the values and one of the missing values (chi-squared, Holm
        over all tests).
    missing : float
        The proportion of missing values, without new levels; 1 if the column is absent.
    missing_before : float
        The proportion of missing values in training.
    new : float
        The proportion of cells with a level that did not occur in training.
    new_levels : tuple of str
        The first of these levels.
    effect : float
        Mean change of the predictions if this column alone is distributed as now: half the sum of the differences of the
        class probabilities; for numbers, in standard deviations of the predictions.
    is_alarming : bool
        Whether the change is significant.
    """

    column: str
    distance: float
    p: float
    missing: float
    missing_before: float
    new: float
    new_levels: tuple[str, ...]
    effect: float
    is_alarming: bool


class Drift(TextResult):
    """Comparison of new rows with the training rows of a model. Drifts of one model are additive.

    Parameters
    ----------
    predictor : Predictor
        The model.
    batch : Batch
        The statistics of the new rows.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    alarms : list of str
        The columns that have changed significantly, those with the largest effect on predictions first.
    columns : list of ColumnDrift
        The change of each column; alarms first, then by their effect on predictions and their distance.
    out_of_range : float
        The proportion of rows with a new level or a number outside the range of training.
    stability : list of PopulationStability
        For a scorecard, the population stability index of its score and of each column: `name` and `index`.

    Examples
    --------
    >>> import baytree as bt
    >>> iris = bt.datasets.load("iris")
    >>> model = bt.NaiveBayesClassifier().fit(iris, "species")
    >>> days = [bt.drift(model, iris[:70]), bt.drift(model, iris[70:])]
    >>> (days[0] + days[1]).to_dict() == bt.drift(model, iris).to_dict()
    True
    """

    def __init__(self, predictor: Predictor, batch: Batch):
        self._predictor, self.batch = predictor, batch

    def __add__(self, other: Drift) -> Drift:
        """Drift of the rows of both."""
        if other._predictor.schema != self._predictor.schema:
            raise ValueError("drifts of different models cannot be added")
        return Drift(self._predictor, self.batch + other.batch)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.batch.rows

    @property
    def out_of_range(self) -> float:
        """Proportion of rows with a new level or a number outside the range of training."""
        return self.batch.unlike / max(self.n_rows, 1)

    @property
    def alarms(self) -> list[str]:
        """Columns that have changed significantly."""
        return [column.column for column in self.columns if column.is_alarming]

    @cached_property
    def _pairs(self) -> list[DistributionPair]:
        """Distributions of the training rows and the new rows of each column."""
        profile = profile_of(self._predictor)
        proportion = profile.n_sampled / max(int(profile.rows[0]), 1)
        pairs = zip(profile.columns, self.batch.columns, strict=True)
        return [pair_distributions(*change).known_by(proportion) for change in pairs]

    @cached_property
    def columns(self) -> list[ColumnDrift]:
        """Change of each column."""
        profile, batch, schema, pairs = profile_of(self._predictor), self.batch, self._predictor.schema, self._pairs
        tests = [chances(pair, new.n_cells) for pair, new in zip(pairs, batch.new, strict=True)]
        adjusted_p = iter(adjust_holm([p for column_tests in tests for p in column_tests]))
        adjusted = [min(next(adjusted_p) for _ in column_tests) for column_tests in tests]
        rows = simulate_training_rows(self._predictor, profile)
        changes = [
            self._column_drift(column.name, j, pairs[j], adjusted[j], rows if adjusted[j] < FAMILY_WISE_ERROR_RATE else None)
            for j, column in enumerate(schema.columns)
        ]
        return sorted(changes, key=lambda change: (not change.is_alarming, -change.effect, -change.distance))

    def _column_drift(self, name: str, j: int, pair: DistributionPair, p: float, rows: list[Any] | None) -> ColumnDrift:
        new, n = self.batch.new[j], max(self.n_rows, 1)
        n_before = max(float(pair.before.sum() + pair.missing_before), 1.0)
        return ColumnDrift(
            name,
            distance(pair, new.n_cells),
            p,
            (pair.missing_now - new.n_cells) / n,
            pair.missing_before / n_before,
            new.n_cells / n,
            tuple(level for level, _ in new.named),
            0.0 if rows is None else effect(self._predictor, rows, j, pair),
            rows is not None,
        )

    @cached_property
    def stability(self) -> list[PopulationStability]:
        """Population stability index of the score and of each column of a scorecard; empty for other models."""
        return stability(self._predictor, self.batch.groups)

    def to_dict(self) -> dict[str, Any]:
        """All results as plain values."""
        columns = [msgspec.to_builtins(column) for column in self.columns]
        found = {"rows": self.n_rows, "unlike": self.out_of_range, "alarms": self.alarms, "columns": columns}
        return found | ({"stability": {each.name: each.index for each in self.stability}} if self.stability else {})

    def _repr_html_(self) -> str:
        from baytree.display.results import stacked, table  # only notebooks need it

        views = [table(self._head(), _HEADER, [_row(column) for column in self.columns])]
        if self.stability:
            rows = [[each.name, f"{each.index:.4g}"] for each in self.stability]
            views.append(table("Population stability index", ["column", "PSI"], rows))
        return stacked(views)

    def __str__(self) -> str:
        return f"{self._head()}\n\n{aligned(_HEADER, [_row(column) for column in self.columns])}{self._stability_text()}"

    def _head(self) -> str:
        n, alarms = self.n_rows, self.alarms
        head = (
            f"{n:,} row{'s' * (n != 1)}, {self.out_of_range:.1%} with a new level or a number outside the range of training."
        )
        verdict = f"{len(alarms)} of {len(self.columns)} columns have changed" if alarms else "No column has changed"
        return f"{head} {verdict} significantly."

    def report(self, path: str | os.PathLike = "drift.html") -> Path:
        """Write one self-contained HTML page: per column the training rows behind the new rows, by effect."""
        from baytree.drift_detection.drift_page import drift_page
        from baytree.file_io.atomic import write_file
        from baytree.rendering.page.html_page import to_html

        by_name = {column.name: j for j, column in enumerate(self._predictor.schema.columns)}
        rows = []
        for each in self.columns:
            j = by_name[each.column]
            figures = {name: text for name, text in zip(_FIGURES, _row(each)[2:], strict=True) if text}
            rows.append((self._predictor.schema.columns[j], self._pairs[j], figures, each.is_alarming))
        page = drift_page(self._predictor.name, self._head(), rows)
        write_file(path, to_html(page).encode("utf-8", "backslashreplace"))
        return Path(path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot how far each column is from the training rows; needs matplotlib."""
        from baytree.rendering.plots.drift_plots import ColumnChange, plot_changes

        changes = [ColumnChange(each.column, each.distance, each.effect, each.is_alarming) for each in self.columns]
        return plot_changes(changes, f"{len(self.alarms)} of {len(changes)} columns have changed", ax)

    def _stability_text(self) -> str:
        if not self.stability:
            return ""
        table = aligned(("population stability index", "PSI"), [(each.name, each.index) for each in self.stability])
        return f"\n\n{table}\nbelow 0.1: little has changed; above 0.25: much has"

    unlike = renamed("unlike", "out_of_range")


_HEADER = ("column", "changed", "distance", "p", "missing", "in training", "new levels", "effect on predictions")


_FIGURES = ("distance", "p", "missing", "missing in training", "new levels", "effect on predictions")  # on the page


def _row(column: ColumnDrift) -> list[str]:
    more = ["…"] if len(column.new_levels) > _MAX_LISTED_LEVELS else []
    levels = ", ".join([escaped(level) for level in column.new_levels[:_MAX_LISTED_LEVELS]] + more)
    new = f"{column.new:.1%}: {levels}" if column.new else ""
    changed = "yes" if column.is_alarming else ""
    proportions = [f"{column.missing:.1%}", f"{column.missing_before:.1%}"]
    return [
        column.column,
        changed,
        f"{column.distance:.3f}",
        f"{column.p:.2g}",
        *proportions,
        new,
        f"{column.effect:.1%}" if changed else "",
    ]
