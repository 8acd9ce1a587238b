"""What the page's own scripts read: the columns, what may be answered for each, and where an interview begins."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.interview.belief import Imagined
from baytree.interview.cells import Cells, cells_of
from baytree.interview.interview import class_weights
from baytree.reports.subject import Subject
from baytree.statistics.counts import Counts
from baytree.statistics.sketch import Sketch
from baytree.table.schema import Column, Kind


def asking(subject: Subject) -> tuple[list[dict[str, Any]], dict[str, Any] | None, tuple[Cells, ...]]:
    """The columns, the beginning of an interview (None without classes or profile), and the cells of each column."""
    predictor, profile = subject.predictor, subject.profile
    schema = predictor.schema
    if profile is None:
        return [_described(column) for column in schema.columns], None, ()
    cells = cells_of(predictor, profile, predictor.model.formula(schema))
    start = None
    if subject.classes and any(map(len, cells)):
        prior = class_weights(profile)
        imagined = Imagined(predictor, cells, prior, {})
        cells = imagined.cells
        rows = {"imagined": len(imagined.weight), "hasLikelihoods": imagined.has_likelihoods}
        start = {"prior": prior.tolist(), **rows}
    each = zip(schema.columns, profile.columns, cells, strict=True)
    return [_described(column) | _seen(column, seen) | _cells(own) for column, seen, own in each], start, cells


def _described(column: Column) -> dict[str, Any]:
    told: dict[str, Any] = {"name": column.name, "kind": column.kind.value, "typical": None, "least": 0, "most": 1}
    told["point"] = []
    if column.kind in (Kind.NOMINAL, Kind.ORDINAL):
        told["levels"] = [str(level) for level in column.levels]
    return told | ({"unit": column.unit} if column.unit else {})


def _seen(column: Column, seen: Sketch | Counts) -> dict[str, Any]:
    if isinstance(seen, Counts):
        has_levels = column.kind is not Kind.TEXT and len(column.levels) > 0
        return {"typical": str(column.levels[int(np.argmax(seen.known().sum(axis=1)))])} if has_levels else {}
    points, weight = seen.points(), seen.counts.known().sum(axis=1)
    finite = np.isfinite(points)
    if not finite.any():
        return {}
    points, weight = points[finite], weight[finite]
    middle = points[np.searchsorted(np.cumsum(weight), weight.sum() / 2)]
    typical = None if column.unit else float(f"{middle:.4g}")
    return {"least": float(seen.edges[finite][0]), "most": float(points[-1]), "typical": typical}


def _cells(cells: Cells) -> dict[str, Any]:
    if not len(cells):
        return {"point": [], "share": [], "low": [], "high": [], "isCut": False}
    return {
        "point": [int(each) for each in cells.point] if np.isnan(cells.low[0]) else cells.point.tolist(),
        "share": [[float(f"{each:.9g}") for each in row] for row in cells.share.tolist()],
        "low": [_open(each) for each in cells.low.tolist()],
        "high": [_open(each) for each in cells.high.tolist()],
        "isCut": cells.is_cut,
    }


def _open(value: float) -> float | None:
    return value if np.isfinite(value) else None
