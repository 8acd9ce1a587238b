"""Additive models for readers: curves as dicts, the summary record, and curves for plots."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.additive.axis import Axis
from baytree.additive.pieces import piece_bounds
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.rendering.plots.additive_plots import PlottedTerm
from baytree.summary.additive import AdditiveSummary, TermSummary

if TYPE_CHECKING:
    from baytree.additive.model import AdditiveModel, AdditiveTerm

_MAX_OUTLINE = 8  # pieces of a curve as text


def curves_of(model: AdditiveModel, schema: Schema) -> list[dict[str, Any]]:
    """Each term as a dict: columns, edges or levels of each, values, standard errors and weight of the cells."""
    found = []
    for term in model.terms:
        columns = [schema.columns[j] for j in term.columns]
        shape = (*(axis.n_bins for axis in term.axes), term.values.shape[1])
        bins = [
            axis.cuts.tolist() if column.kind is Kind.NUMERIC else axis.names(column)[:-1]
            for axis, column in zip(term.axes, columns, strict=True)
        ]
        found.append(
            {
                "columns": [column.name for column in columns],
                "bins": bins,
                "values": term.values.reshape(shape),
                "errors": term.errors.reshape(shape),
                "weight": term.weight.reshape(shape[:-1]),
                "importance": term.importance,
            }
        )
    return found


def score_names(model: AdditiveModel, schema: Schema) -> tuple[str, ...]:
    """What the terms add up to: the target, the log-odds of the second class, or a score per class."""
    target = schema.target.name
    if model.link == "identity":
        return (target,)
    classes = tuple(map(str, schema.classes))
    if model.link == "sigmoid":
        return (f"log-odds of {target} = {classes[1]} against {classes[0]}",)
    return tuple(f"log-odds of {target} = {label}" for label in classes)


def summary_of(model: AdditiveModel, schema: Schema) -> AdditiveSummary:
    """Summary record, the most important term first."""
    terms = sorted(model.terms, key=lambda term: (-term.importance, term.columns))
    used = {j for term in model.terms for j in term.columns}
    return AdditiveSummary(
        schema.target.name,
        score_names(model, schema),
        tuple(model.intercept.tolist()),
        tuple(_summary_of_term(term, schema) for term in terms),
        tuple(column.name for j, column in enumerate(schema.columns) if j in used),
        tuple(column.name for j, column in enumerate(schema.columns) if j not in used),
        model.n_rows,
        model.edf,
        model.edits,
    )


def _summary_of_term(term: AdditiveTerm, schema: Schema) -> TermSummary:
    columns = [schema.columns[j] for j in term.columns]
    groups = runs(term)
    names = [_name(term.axes, columns, group) for group in groups]
    return TermSummary(
        tuple(column.name for column in columns),
        tuple(names),
        tuple(tuple(term.values[group[0]].tolist()) for group in groups),
        tuple(tuple(term.errors[group].max(axis=0).tolist()) for group in groups),
        tuple(float(term.weight[group].sum()) for group in groups),
        term.importance,
        _outline(term, columns),
    )


def _outline(term: AdditiveTerm, columns: list[Column]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """At most `_MAX_OUTLINE` pieces of a curve of numbers, within as few standard errors as possible, and missing values."""
    n_known = len(term.values) - 1
    if len(term.axes) == 2 or len(term.axes[0].bin_of_level) or n_known <= _MAX_OUTLINE:
        return ()
    values, errors, weight = term.values[:-1], term.errors[:-1] + 1e-12, term.weight[:-1]
    bounds = [0, n_known]
    for factor in np.arange(0.0, 20.0, 0.5):
        found = piece_bounds(values - factor * errors, values + factor * errors)
        if len(found) - 1 <= _MAX_OUTLINE:
            bounds = found
            break
    outline = []
    for start, end in pairwise(bounds):
        total = max(float(weight[start:end].sum()), 1e-300)
        mean = weight[start:end] @ values[start:end] / total
        outline.append((_name(term.axes, columns, np.arange(start, end)), tuple(mean.tolist())))
    missing = [("missing", tuple(term.values[-1].tolist()))] if term.weight[-1] > 0 else []
    return (*outline, *missing)


def runs(term: AdditiveTerm) -> list[np.ndarray]:
    """Cells with equal values: of an interval axis neighbours, of other terms each cell alone."""
    n = len(term.values)
    if len(term.axes) == 2 or len(term.axes[0].bin_of_level):
        return [np.array([cell]) for cell in range(n)]
    is_new = np.ones(n, bool)
    is_new[1:-1] = (term.values[1:-1] != term.values[:-2]).any(axis=1)
    return np.split(np.arange(n), np.flatnonzero(is_new)[1:])


def _name(axes: tuple[Axis, ...], columns: list[Column], group: np.ndarray) -> str:
    names = [axis.names(column) for axis, column in zip(axes, columns, strict=True)]
    if len(axes) == 2:
        first, second = divmod(int(group[0]), axes[1].n_bins)
        return f"{names[0][first]} × {names[1][second]}"
    if len(group) == 1:
        return names[0][int(group[0])]
    low = columns[0].show(float(axes[0].cuts[group[0] - 1])) if group[0] else None
    high = columns[0].show(float(axes[0].cuts[group[-1]])) if group[-1] < len(axes[0].cuts) else None
    if low is None:
        return "any value" if high is None else f"≤ {high}"
    return f"> {low}" if high is None else f"{low} < … ≤ {high}"


def plotted(model: AdditiveModel, schema: Schema, term: AdditiveTerm) -> PlottedTerm:
    """Term for a plot: its bins, values, standard errors and weights."""
    columns = [schema.columns[j] for j in term.columns]
    shape = tuple(axis.n_bins for axis in term.axes)
    return PlottedTerm(
        tuple(column.name for column in columns),
        tuple(axis.cuts for axis in term.axes),
        tuple(tuple(axis.names(column)) for axis, column in zip(term.axes, columns, strict=True)),
        term.values.reshape(*shape, -1),
        term.errors.reshape(*shape, -1),
        term.weight.reshape(shape),
        score_names(model, schema),
    )
