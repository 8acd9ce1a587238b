"""MARS models for readers: terms as text and dicts, importance, summary record, and effect curves for plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import MISSING, VALUE
from baytree.linear.mars.backward import SplineImportanceTable, importance_table
from baytree.linear.mars.model import LINEAR, RISING, column_of
from baytree.rendering.plots.model_plots import SplineAxis, SplineCurve
from baytree.summary.linear import SplineSummary, SplineTerm

if TYPE_CHECKING:
    from baytree.linear.mars.model import MarsModel

_CURVE_POINTS = 101  # points of a curve

_SIDES = {RISING: "above", LINEAR: "linear"}


def terms_of(model: MarsModel, schema: Schema) -> list[dict[str, Any]]:
    """Each term as a dict: text, hinges and coefficient (by class if there are three or more)."""
    coefficient, cut = model.in_original_units()
    result = []
    for k in range(len(model.terms)):
        hinge_range = range(model.terms.start[k], model.terms.start[k + 1])
        hinges = [_hinge(model, schema, h, float(cut[h])) for h in hinge_range]
        value: Any = float(coefficient[0, k])
        if model.link == "ovr":
            value = {label: float(c) for label, c in zip(schema.classes, coefficient[:, k], strict=True)}
        text = " · ".join(hinge["text"] for hinge in hinges) or "1"
        result.append({"term": text, "hinges": hinges, "coefficient": value})
    return result


def importances_of(model: MarsModel, schema: Schema) -> SplineImportanceTable:
    """Importance table of the features."""
    layout = model.features.layout
    columns = [schema.columns[j].name for j in layout.source]
    return importance_table(model.worth, layout.names(schema.columns), columns, set(model.terms.feature.tolist()))


def summary_of(model: MarsModel, schema: Schema) -> SplineSummary:
    """Summary record: terms and measures of fit."""
    coefficient, _ = model.in_original_units()
    terms = terms_of(model, schema)
    layout = model.features.layout
    used = {int(j) for j in layout.source[model.terms.feature]}
    with_references = {int(layout.source[f]) for f in model.terms.feature if layout.level[f] >= 0}
    return SplineSummary(
        schema.target.name,
        _scores(model, schema),
        tuple(
            SplineTerm(tuple(hinge["text"] for hinge in term["hinges"]), tuple(coefficient[:, k].tolist()))
            for k, term in enumerate(terms)
        ),
        tuple(column.name for j, column in enumerate(schema.columns) if j in used),
        tuple(column.name for j, column in enumerate(schema.columns) if j not in used),
        tuple(
            (schema.columns[j].name, schema.columns[j].show(int(model.features.reference[j])))
            for j in sorted(with_references)
        ),
        model.n_rows,
        model.rss,
        model.gcv,
        model.r2,
        model.relative_gcv,
    )


def curves_of(model: MarsModel, schema: Schema) -> tuple[SplineCurve, ...]:
    """Effect of each group of terms of one or two columns over the range of its columns; groups of one column first, then
    largest first.
    """
    found = [_curve(model, schema, columns, terms) for columns, terms in model.groups() if len(columns) <= 2]
    return tuple(sorted(found, key=lambda curve: (len(curve.axes), -float(np.ptp(curve.effect)))))


def _curve(model: MarsModel, schema: Schema, columns: tuple[int, ...], terms: list[int]) -> SplineCurve:
    grids = [_grid(model, schema, j) for j in columns]
    points = np.meshgrid(*grids, indexing="ij")
    effect = _effect(model, schema, terms, {j: point.ravel() for j, point in zip(columns, points, strict=True)})
    axes = tuple(
        SplineAxis(schema.columns[j].name, grid, _level_names(grid, schema, j))
        for j, grid in zip(columns, grids, strict=True)
    )
    scores = tuple(map(str, schema.classes)) if model.link == "ovr" else (schema.target.name,)
    unit = "log-odds" if model.link == "ovr" else _scores(model, schema)[0]
    return SplineCurve(axes, effect.reshape(*(len(grid) for grid in grids), -1), scores, f"added to {unit}")


def _grid(model: MarsModel, schema: Schema, j: int) -> np.ndarray:
    """Values of a column at which its terms are plotted: missing and all levels, or equal steps from minimum to maximum."""
    features, column = model.features, schema.columns[j]
    level = features.layout.level[features.layout.of_column(j)]
    if column.kind is not Kind.NUMERIC:
        return np.arange(-1.0 if MISSING in level else 0.0, len(column.levels))
    ends = features.range[features.layout.of_column(j)] * features.unit[features.layout.of_column(j), None]
    low, high = ends[level == VALUE][0]
    return np.linspace(low, high, _CURVE_POINTS)


def _level_names(grid: np.ndarray, schema: Schema, j: int) -> tuple[str, ...]:
    column = schema.columns[j]
    return tuple(column.show(int(code)) for code in grid) if column.kind is not Kind.NUMERIC else ()


def _effect(model: MarsModel, schema: Schema, terms: list[int], values: dict[int, np.ndarray]) -> np.ndarray:
    """Effect of some terms on the scores where their columns have these values or codes. [n, n_scores]"""
    layout, unit = model.features.layout, model.features.unit
    x = np.zeros((len(layout), len(next(iter(values.values())))))
    for j, column_values in values.items():
        is_missing = (column_values < 0) & (schema.columns[j].kind is not Kind.NUMERIC)
        for f in range(*layout.of_column(j).indices(len(layout))):
            level = layout.level[f]
            is_one = is_missing if level == MISSING else np.where(is_missing, layout.mode[j], column_values) == level
            x[f] = np.where(is_missing, layout.fill[j], column_values) / unit[f] if level == VALUE else is_one
    return np.sum([column_of(model.terms[k], x)[:, None] * model.coefficient[:, k] for k in terms], axis=0)


def _scores(model: MarsModel, schema: Schema) -> tuple[str, ...]:
    target = schema.target.name
    if model.link == "identity":
        return (target,)
    classes = tuple(map(str, schema.classes))
    if model.link == "sigmoid":
        return (f"log-odds of {target} = {classes[1]} against {classes[0]}",)
    return tuple(f"log-odds of {target} = {label} against the rest" for label in classes)


def _hinge(model: MarsModel, schema: Schema, h: int, cut: float) -> dict[str, Any]:
    layout = model.features.layout
    feature, side = int(model.terms.feature[h]), int(model.terms.side[h])
    column, level = schema.columns[int(layout.source[feature])], int(layout.level[feature])
    name = layout.names(schema.columns)[feature]
    if side == LINEAR:
        text = f"({name})" if level != VALUE else name
        return {"column": column.name, "feature": name, "side": "linear", "cut": None, "text": text}
    cut_text = _at(
        column.show(cut) if level == VALUE and float(cut).is_integer() and column.levels else "", column, level, cut
    )
    text = f"max(0, {_difference(name, cut_text)})" if side == RISING else f"max(0, {_difference(cut_text, name)})"
    return {"column": column.name, "feature": name, "side": _SIDES.get(side, "below"), "cut": cut, "text": text}


def _at(level_name: str, column: Any, level: int, cut: float) -> str:
    """Cut point as shown to users: a level of an ordinal column, a date, or a number."""
    if level_name:
        return level_name
    is_number = column.kind is Kind.NUMERIC and level == VALUE
    return column.show(cut) if is_number else f"{cut:.6g}"


def _difference(left: str, right: str) -> str:
    return f"{left} + {right[1:]}" if right.startswith("-") else f"{left} − {right}"
