"""Learner of additive models: curves of all columns together, then the pairs that are worth their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from baytree.additive.axis import Axis, column_axis
from baytree.additive.design import GroupedRows, TermCells, curve_cells, group_rows, surface_cells
from baytree.additive.fit import FittedScore, fit_classes, fit_number, scores_of, working
from baytree.additive.model import AdditiveModel, AdditiveTerm, Link
from baytree.additive.pairs import find_pairs, pair_axis
from baytree.additive.pieces import with_few_pieces
from baytree.base.learner import FitResult
from baytree.data.encoding.labels import within_doubles
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.parallel.blas import at_most

_AUTO_PAIRS = 8  # pairs that "auto" admits at most

_MAX_COEFFICIENTS = 1000  # of all curves: a Newton step takes the cube of their number

_MAX_SURFACE_CELLS = 1100  # of all surfaces

_SIDES = (16, 12, 8, 6)  # bins along the sides of surfaces, the finest that the limit allows

_QUANTILES = 64  # bins of a column with more values than `max_bins`


@dataclass(frozen=True)
class AdditiveLearner:
    """Settings of an additive model."""

    max_pairs: int | None = None  # None: up to `_AUTO_PAIRS`
    max_bins: int = 256
    monotone: tuple[tuple[str, int], ...] = ()
    smooth: float = 0.0  # standard errors by which a curve may move to have fewer pieces

    def learn(self, rows: Partitions) -> FitResult:
        """Model of these rows, which are gathered."""
        with at_most(rows.n_jobs):
            return FitResult(_learn(within_doubles(rescale_weights(rows).gather()), self))


def _learn(table: Table, options: AdditiveLearner) -> AdditiveModel:
    rows = group_rows(table, _axes(table, options))
    directions = dict(options.monotone)
    names, kinds = table.schema.names, [column.kind for column in table.schema.columns]
    curves = [
        curve_cells(
            rows, k, is_ordered=kinds[axis.column] is not Kind.NOMINAL, direction=directions.get(names[axis.column], 0)
        )
        for k, axis in enumerate(rows.axes)
    ]
    n_classes = table.n_classes
    fits = _fit(rows, curves, n_classes, ())
    surfaces = _surfaces(rows, curves, fits, table, options)
    axes: list[tuple[Axis, ...]] = [(axis,) for axis in rows.axes]
    if surfaces:
        fits = _fit(rows, [*curves, *(term for term, _ in surfaces)], n_classes, fits)
        axes += [own for _, own in surfaces]
    terms = [*curves, *(term for term, _ in surfaces)]
    model = AdditiveModel(
        np.array([fitted.intercept for fitted in fits]),
        tuple(_term(own, term, k, fits) for k, (own, term) in enumerate(zip(axes, terms, strict=True))),
        _link(n_classes),
        float(rows.weight.sum()),
        float(1 + np.sum([fitted.edf.sum() for fitted in fits])),
    )
    return with_few_pieces(model, options.smooth, table.schema, options.monotone) if options.smooth else model


def _fit(rows: GroupedRows, terms: Sequence[TermCells], n_classes: int, start: Sequence[FittedScore]) -> list[FittedScore]:
    return fit_classes(rows, terms, n_classes, start) if n_classes else [fit_number(rows, terms)]


def _link(n_classes: int) -> Link:
    return "identity" if not n_classes else "sigmoid" if n_classes == 2 else "softmax"


def _axes(table: Table, options: AdditiveLearner) -> list[Axis]:
    """Axes of the columns that vary; fewer bins if there are very many columns."""
    found = _axes_with(table, options.max_bins, min(_QUANTILES, options.max_bins))
    if sum(axis.n_bins for axis in found) <= _MAX_COEFFICIENTS:
        return found
    n_bins = max(_MAX_COEFFICIENTS // max(len(found), 1), 4)
    return _axes_with(table, min(n_bins, options.max_bins), min(n_bins, options.max_bins))


def _axes_with(table: Table, max_bins: int, n_quantiles: int) -> list[Axis]:
    axes = (column_axis(table, j, max_bins, n_quantiles) for j in range(len(table.schema)))
    return [axis for axis in axes if axis is not None]


def _surfaces(
    rows: GroupedRows, curves: Sequence[TermCells], fits: Sequence[FittedScore], table: Table, options: AdditiveLearner
) -> list[tuple[TermCells, tuple[Axis, Axis]]]:
    """Terms of the pairs that are admitted, with their axes."""
    max_pairs = _AUTO_PAIRS if options.max_pairs is None else options.max_pairs
    constrained = frozenset(k for k, term in enumerate(curves) if term.direction)
    scores = scores_of(rows, curves, fits)
    pairs = find_pairs(rows, working(rows, scores, table.n_classes, _variance(rows, fits)), max_pairs, constrained)
    if not pairs:
        return []
    surfaces: list[tuple[TermCells, tuple[Axis, Axis]]] = []
    kinds = [column.kind for column in table.schema.columns]
    for side in _SIDES:
        axes = [(pair_axis(rows, j, side), pair_axis(rows, k, side)) for j, k in pairs]
        if sum(a.n_bins * b.n_bins for a, b in axes) <= _MAX_SURFACE_CELLS or side == _SIDES[-1]:
            for pair, own in zip(pairs, axes, strict=True):
                ordered = tuple(kinds[axis.column] is not Kind.NOMINAL for axis in own)
                surfaces.append((surface_cells(rows, pair, own, (ordered[0], ordered[1])), own))
            break
    return surfaces


def _variance(rows: GroupedRows, fits: Sequence[FittedScore]) -> float:
    """Residual variance of a number; 1 for classes."""
    mean = rows.weight @ rows.label / rows.weight.sum()
    spread = float(rows.weight @ (rows.label - mean) ** 2 + rows.within) / float(rows.weight.sum())
    return max(fits[0].dispersion * spread, 1e-300)


def _term(axes: tuple[Axis, ...], cells: TermCells, k: int, fits: Sequence[FittedScore]) -> AdditiveTerm:
    return AdditiveTerm(
        axes,
        np.stack([fitted.values[k] for fitted in fits], axis=1),
        np.stack([fitted.errors[k] for fitted in fits], axis=1),
        cells.weight,
    )
