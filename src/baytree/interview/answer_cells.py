"""Possible answers to a question: the levels of a column or intervals of its numbers, with their probabilities per class.

If a model reads a number only by thresholds, as trees do, the intervals are those between its thresholds: the model does not
distinguish numbers within one interval. Otherwise the intervals hold about equally many rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from baytree.base.predictor import Predictor
from baytree.data.encoding.table import Table, Tokens
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import parts
from baytree.formula.expressions import Lookup, Number
from baytree.formula.transforms import columns_of
from baytree.statistics.counts import Counts
from baytree.statistics.profile import Histogram, Profile

MAX_LEVELS = 24  # levels that are offered; if there are more, the most frequent ones

MAX_CUTS = 24

QUANTILES = 8  # intervals of a number that a model reads as it is

_PSEUDO = 0.5  # rows that are added to each class, distributed like all rows, so that no cell has probability 0


class AnswerCells(msgspec.Struct, frozen=True):
    """Possible values of one column: a representative of each, its interval low < x ≤ high, and P(cell | class)."""

    point: np.ndarray  # float64 [n_cells], a number or the code of a level
    share: np.ndarray  # float64 [n_cells, n_classes]
    low: np.ndarray  # float64 [n_cells], NaN for levels
    high: np.ndarray  # float64 [n_cells]
    is_cut: bool = False  # the model does not distinguish numbers within one cell

    def __len__(self) -> int:
        return len(self.point)

    def place(self, value: float) -> int:
        """Index of the cell of a number or a code; −1 for a level that has none."""
        if len(self) and np.isnan(self.low[0]):
            found = np.flatnonzero(self.point == value)
            return int(found[0]) if len(found) else -1
        return int(np.searchsorted(self.high[:-1], value, "left"))

    @property
    def offered(self) -> np.ndarray:
        """Levels that a question offers, the most frequent ones in the order of their codes: int64 [n_offered]."""
        return np.sort(np.argsort(-self.share.sum(axis=1), kind="stable")[:MAX_LEVELS])

    def within(self, low: float, high: float) -> np.ndarray:
        """Cells that overlap the interval: bool [n_cells]."""
        return (self.high > low) & (self.low < high)


def cells_of(predictor: Predictor, profile: Profile, formula: Formula) -> tuple[AnswerCells, ...]:
    """Cells of each column; none for text, which is not asked for.

    A single tree is not evaluated at each cell, so its cells are all levels and all intervals between its thresholds.
    """
    is_tree = getattr(predictor.model, "node_distribution", lambda: None)() is not None
    schema, cuts = predictor.schema, cuts_of(formula, None if is_tree else MAX_CUTS)
    max_levels = None if is_tree else MAX_LEVELS
    columns = zip(schema.columns, profile.columns, cuts, strict=True)
    return tuple(
        _NONE if column.kind is Kind.TEXT else _cells(statistic, own, max_levels) for column, statistic, own in columns
    )


def own_shares(predictor: Predictor, cells: tuple[AnswerCells, ...]) -> tuple[AnswerCells, ...] | None:
    """Cells with the model's own likelihoods; None if the model has none."""
    effects = log_likelihoods(predictor, [each.point for each in cells])
    if effects is None:
        return None
    return tuple(_with_own(each, effect) if len(effect) else each for each, effect in zip(cells, effects, strict=True))


def log_likelihoods(predictor: Predictor, points: list[np.ndarray]) -> list[np.ndarray] | None:
    """log p(point | class) of the points of each column: [n_points, n_classes] each; None if a model has no likelihoods.

    Columns are independent given the class, so all are evaluated in the same rows.
    """
    n, columns = max(map(len, points), default=0), predictor.schema.columns
    values = [np.resize(each, n) if len(each) else _missing(c, n) for each, c in zip(points, columns, strict=True)]
    explanations = predictor.model.explain(rows_of(predictor.schema, values)) if n else []
    if not explanations or explanations[0].unit != "log-likelihood":
        return None
    by_name = [{line.column: line.effect for line in explanation.evidence} for explanation in explanations]
    no_effects = np.zeros((0, len(predictor.schema.classes)))
    return [
        np.array([by_name[k][column.name] for k in range(len(each))])
        if len(each) and column.name in by_name[0]
        else no_effects
        for each, column in zip(points, columns, strict=True)
    ]


def rows_of(schema: Schema, values: list[np.ndarray]) -> Table:
    """Encoded rows from floats: numbers with NaN, or codes with −1."""
    pairs = zip(schema.columns, values, strict=True)
    return Table(schema, tuple(_encoded(column, each) for column, each in pairs), np.ones(len(values[0])), None, True)


def cuts_of(formula: Formula, maximum: int | None = MAX_CUTS) -> list[np.ndarray | None]:
    """Thresholds (x ≤ cut) by which a formula reads each column; None if it reads the number itself or over `maximum`."""
    cuts: list[set[float]] = [set() for _ in formula.columns]
    unbounded: set[int] = set()
    for record in _records(formula):
        if isinstance(record, Number):
            unbounded.add(record.column)
        elif isinstance(record, Lookup):
            cuts[record.column].update(record.cuts)
    for test in (test for nodes in formula.trees for node in nodes for test in node.tests):
        if test.column >= len(cuts):
            unbounded.update(columns_of(formula, test.column))
            continue
        # x < cut is x ≤ the previous double
        cuts[test.column].update(np.nextafter(test.cuts, -np.inf).tolist() if test.is_strict else test.cuts)
    found = [np.array(sorted(cut for cut in each if np.isfinite(cut))) for each in cuts]
    limit = np.inf if maximum is None else maximum
    return [None if j in unbounded or len(each) > limit else each for j, each in enumerate(found)]


def _records(formula: Formula) -> Iterator[msgspec.Struct]:
    waiting: list[Any] = [*(step.value for step in formula.steps), formula.answers]
    while waiting:
        record = waiting.pop()
        yield record
        waiting.extend(parts(record))


_NONE = AnswerCells(np.zeros(0), np.zeros((0, 1)), np.zeros(0), np.zeros(0))


def _cells(statistic: Histogram | Counts, cuts: np.ndarray | None, max_levels: int | None) -> AnswerCells:
    if isinstance(statistic, Counts):
        return _levels(statistic.known(), max_levels)
    points, weight = statistic.points(), statistic.counts.known()
    edges = _between_quantiles(points, weight.sum(axis=1)) if cuts is None else cuts
    return _intervals(points, weight, edges, cuts is not None)


def _levels(weight: np.ndarray, maximum: int | None) -> AnswerCells:
    """The most frequent levels, in the order of their codes."""
    frequent = np.sort(np.argsort(-weight.sum(axis=1), kind="stable")[:maximum])
    unknown = np.full(len(frequent), np.nan)
    return AnswerCells(frequent.astype(float), _shares(weight[frequent]), unknown, unknown)


def _intervals(points: np.ndarray, weight: np.ndarray, edges: np.ndarray, is_cut: bool) -> AnswerCells:
    position, n = np.searchsorted(edges, points, "left"), len(edges) + 1
    total = np.zeros((n, weight.shape[1]))
    np.add.at(total, position, weight)
    low, high = np.append(-np.inf, edges), np.append(edges, np.inf)
    point = np.array([_middle(points[position == k], weight[position == k].sum(axis=1), low[k], high[k]) for k in range(n)])
    return AnswerCells(point, _shares(total), low, high, is_cut)


def _between_quantiles(points: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Edges that split the rows into about equal parts; between all values if these are few."""
    if len(points) < 2:
        return np.zeros(0)
    between = (points[:-1] + points[1:]) / 2
    if len(points) <= QUANTILES:
        return between
    cumulative = np.cumsum(weight)[:-1] / weight.sum()
    positions = np.unique(np.searchsorted(cumulative, np.arange(1, QUANTILES) / QUANTILES).clip(0, len(between) - 1))
    return between[positions]


def _middle(points: np.ndarray, weight: np.ndarray, low: float, high: float) -> float:
    """Median of the rows in an interval; any number of the interval if it has no rows."""
    if weight.sum() > 0:
        return float(points[np.searchsorted(np.cumsum(weight), weight.sum() / 2)])
    if np.isfinite(low) and np.isfinite(high):
        return (low + high) / 2 if low < (low + high) / 2 else high
    return high if np.isfinite(high) else float(np.nextafter(low, np.inf)) if np.isfinite(low) else 0.0


def _shares(weight: np.ndarray) -> np.ndarray:
    """P(cell | class), smoothed: [n_cells, n_classes]."""
    total = weight.sum(axis=1, keepdims=True)
    overall = (total + 1) / (total.sum() + len(total))
    return (weight + _PSEUDO * overall) / (weight.sum(axis=0) + _PSEUDO)


def _with_own(cells: AnswerCells, effect: np.ndarray) -> AnswerCells:
    """Cells with the model's likelihoods at their points; densities are multiplied by the width of the cells."""
    density = np.exp(effect - effect.max(axis=0, where=np.isfinite(effect), initial=-700.0)) * _widths(cells)[:, None]
    total = density.sum(axis=0)
    return msgspec.structs.replace(cells, share=np.where(total > 0, density / np.where(total > 0, total, 1), cells.share))


def _widths(cells: AnswerCells) -> np.ndarray:
    if np.isnan(cells.low[0]) or cells.is_cut or len(cells) == 1:
        return np.ones(len(cells))
    width = cells.high - cells.low
    width[0], width[-1] = 2 * (cells.high[0] - cells.point[0]), 2 * (cells.point[-1] - cells.low[-1])
    return np.maximum(width, np.finfo(float).tiny)


def _missing(column: Column, n: int) -> np.ndarray:
    return np.full(n, np.nan if column.kind is Kind.NUMERIC else -1.0)


def _encoded(column: Column, values: np.ndarray) -> np.ndarray | Tokens:
    if column.kind is Kind.NUMERIC:
        return values
    if column.kind is Kind.TEXT:
        n = len(values)
        return Tokens(np.zeros(n + 1, np.int64), np.zeros(0, np.int32), np.zeros(0), np.ones(n, np.bool_))
    return values.astype(np.int32)
