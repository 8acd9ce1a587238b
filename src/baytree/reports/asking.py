"""What the page's own scripts read: the columns, what may be answered for each, and where an interview begins."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.formula.node_table import Node, Test
from baytree.interview.belief import Imagined
from baytree.interview.cells import Cells, cells_of
from baytree.interview.interview import class_weights
from baytree.interview.tree_belief import TreePaths
from baytree.predictor import Predictor
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
        start, cells = _start(predictor, cells, prior)
    each = zip(schema.columns, profile.columns, cells, strict=True)
    return [_described(column) | _seen(column, seen) | _cells(own) for column, seen, own in each], start, cells


def _start(predictor: Predictor, cells: tuple[Cells, ...], prior: np.ndarray) -> tuple[dict[str, Any], tuple[Cells, ...]]:
    """Where an interview begins: the paths of a single tree, or how many rows are imagined; and the cells."""
    paths = TreePaths.of(predictor, cells, prior)
    if paths is not None:
        return {"prior": prior.tolist(), "tree": _paths(paths)}, cells
    imagined = Imagined(predictor, cells, prior, {})
    rows = {"imagined": len(imagined.weight), "hasLikelihoods": imagined.has_likelihoods}
    return {"prior": prior.tolist(), **rows}, imagined.cells


def _paths(paths: TreePaths) -> dict[str, Any]:
    """A tree for the script: nodes with their tests, the weight that reaches each, and its class probabilities."""
    return {
        "reach": [float(f"{each:.12g}") for each in paths.reach.tolist()],
        "value": [[float(f"{each:.12g}") for each in row] for row in paths.value.tolist()],
        "nodes": [_node(paths, node) for node in paths.nodes],
    }


def _node(paths: TreePaths, node: Node) -> dict[str, Any]:
    if not node.tests:
        return {}
    shares = {"shares": list(node.shares)} if node.shares else {}
    return {"first": node.first, "missing": node.missing, "tests": [_test(paths, test) for test in node.tests], **shares}


def _test(paths: TreePaths, test: Test) -> dict[str, Any]:
    """The column of a test, and the branch of each cell; of intervals, where a branch begins and ends."""
    branches = sorted({*test.branches} - {-1})
    if paths.has_levels(test.column):
        return {"column": test.column, "branches": list(test.branches)}
    spans = [(branch, span) for branch in branches if isinstance(span := paths.leads(test, branch), slice)]
    return {"column": test.column, "spans": [[branch, span.start, span.stop] for branch, span in spans]}


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
