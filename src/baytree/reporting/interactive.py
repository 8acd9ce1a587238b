"""Data of the page's scripts (columns, answer cells, start of an interview), and page records of explained rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from baytree.base.model import Explanation
from baytree.base.predictor import Predictor
from baytree.data.schema.column import Column, Kind
from baytree.formula.inputs import FormulaNode, FormulaTest
from baytree.interview.answer_cells import AnswerCells, cells_of
from baytree.interview.interview import class_weights
from baytree.interview.posterior import SimulatedRows
from baytree.interview.tree_posterior import TreePaths
from baytree.rendering.page.table_views import RowsView, RowView
from baytree.reporting.subject import EvaluatedRows, ReportSubject
from baytree.statistics.counts import Counts
from baytree.statistics.profile import Histogram


def interview_payload(subject: ReportSubject) -> tuple[list[dict[str, Any]], dict[str, Any] | None, tuple[AnswerCells, ...]]:
    """Columns, start of an interview (None without classes or profile), and the answer cells of each column."""
    predictor, profile = subject.predictor, subject.profile
    schema = predictor.schema
    if profile is None:
        return [_described(column) for column in schema.columns], None, ()
    cells = cells_of(predictor, profile, predictor.model.formula(schema))
    start = None
    if subject.classes and any(map(len, cells)):
        prior = class_weights(profile)
        start, cells = _start(predictor, cells, prior)
    items = zip(schema.columns, profile.columns, cells, strict=True)
    return (
        [_described(column) | _statistics(column, distribution) | _cells(own) for column, distribution, own in items],
        start,
        cells,
    )


def _start(
    predictor: Predictor, cells: tuple[AnswerCells, ...], prior: np.ndarray
) -> tuple[dict[str, Any], tuple[AnswerCells, ...]]:
    """Start of an interview: the paths of a single tree, or the number of simulated rows; and the cells."""
    paths = TreePaths.of(predictor, cells, prior)
    if paths is not None:
        return {"prior": prior.tolist(), "tree": _paths(paths)}, cells
    simulated = SimulatedRows(predictor, cells, prior, {})
    rows = {"imagined": len(simulated.weight), "hasLikelihoods": simulated.has_likelihoods}
    return {"prior": prior.tolist(), **rows}, simulated.cells


def _paths(paths: TreePaths) -> dict[str, Any]:
    """Tree for the script: nodes with their tests, the weight that reaches each, and its class probabilities."""
    return {
        "reach": [float(f"{each:.12g}") for each in paths.reach.tolist()],
        "value": [[float(f"{each:.12g}") for each in row] for row in paths.value.tolist()],
        "nodes": [_node(paths, node) for node in paths.nodes],
    }


def _node(paths: TreePaths, node: FormulaNode) -> dict[str, Any]:
    if not node.tests:
        return {}
    proportions = {"shares": list(node.shares)} if node.shares else {}
    return {
        "first": node.first,
        "missing": node.missing,
        "tests": [_test(paths, test) for test in node.tests],
        **proportions,
    }


def _test(paths: TreePaths, test: FormulaTest) -> dict[str, Any]:
    """Column of a test, and the branch of each level; for intervals, where each branch begins and ends."""
    branches = sorted({*test.branches} - {-1})
    if paths.has_levels(test.column):
        return {"column": test.column, "branches": list(test.branches)}
    spans = [(branch, span) for branch in branches if isinstance(span := paths.leads(test, branch), slice)]
    return {"column": test.column, "spans": [[branch, span.start, span.stop] for branch, span in spans]}


def _described(column: Column) -> dict[str, Any]:
    described: dict[str, Any] = {"name": column.name, "kind": column.kind.value, "typical": None, "least": 0, "most": 1}
    described["point"] = []
    if column.kind in (Kind.NOMINAL, Kind.ORDINAL):
        described["levels"] = [str(level) for level in column.levels]
    return described | ({"unit": column.unit} if column.unit else {})


def _statistics(column: Column, distribution: Histogram | Counts) -> dict[str, Any]:
    if isinstance(distribution, Counts):
        has_levels = column.kind is not Kind.TEXT and len(column.levels) > 0
        return {"typical": str(column.levels[int(np.argmax(distribution.known().sum(axis=1)))])} if has_levels else {}
    points, weight = distribution.points(), distribution.counts.known().sum(axis=1)
    finite = np.isfinite(points)
    if not finite.any():
        return {}
    points, weight = points[finite], weight[finite]
    median = points[np.searchsorted(np.cumsum(weight), weight.sum() / 2)]
    typical = None if column.unit else float(f"{median:.4g}")
    return {"least": float(distribution.edges[finite][0]), "most": float(points[-1]), "typical": typical}


def _cells(cells: AnswerCells) -> dict[str, Any]:
    if not len(cells):
        return {"point": [], "share": [], "low": [], "high": [], "isCut": False}
    return {
        "point": [int(each) for each in cells.point] if np.isnan(cells.low[0]) else cells.point.tolist(),
        "share": [[float(f"{each:.9g}") for each in row] for row in cells.share.tolist()],
        "low": [_finite_or_none(each) for each in cells.low.tolist()],
        "high": [_finite_or_none(each) for each in cells.high.tolist()],
        "isCut": cells.is_cut,
    }


def _finite_or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None


MAX_CONTRIBUTIONS = 12  # lines of an explained row, those of largest effect


def rows_view(subject: ReportSubject, rows: int | Sequence[int]) -> RowsView:
    """Explanations of the requested rows."""
    evaluated_rows = subject.evaluated
    if evaluated_rows is None:
        raise ValueError("rows= needs a frame whose rows can be explained: report(frame, rows=5)")
    chosen = _selected_rows(subject, evaluated_rows, rows)
    table = evaluated_rows.table.take(np.array([position for _, position in chosen], np.int64))
    explanations = subject.predictor.explain_encoded(table)
    return RowsView(
        tuple(_row(explanation, *each, evaluated_rows) for explanation, each in zip(explanations, chosen, strict=True))
    )


def _selected_rows(
    subject: ReportSubject, evaluated_rows: EvaluatedRows, rows: int | Sequence[int]
) -> list[tuple[str, int]]:
    if not isinstance(rows, int):
        index_of = {int(given): k for k, given in enumerate(evaluated_rows.row_numbers)}
        absent = [row for row in rows if row not in index_of]
        if absent:
            raise ValueError(f"rows={list(rows)!r}: there is no row {absent[0]} with a known label")
        return [(f"row {row}", index_of[row]) for row in rows]
    if not subject.classes:
        errors = np.abs(evaluated_rows.table.label - evaluated_rows.predictions[:, 0])
        return [("large error", int(k)) for k in np.argsort(-errors, kind="stable")[:rows]]
    truth = evaluated_rows.predictions[np.arange(len(evaluated_rows.choice)), evaluated_rows.table.label]
    wrong = [int(k) for k in np.argsort(truth, kind="stable") if evaluated_rows.choice[k] != evaluated_rows.table.label[k]][
        :rows
    ]
    best = np.sort(evaluated_rows.predictions, axis=1)
    doubtful = np.argsort(best[:, -1] - best[:, -2], kind="stable")[:rows].tolist() if best.shape[1] > 1 else []
    return [("error", k) for k in wrong] + [("uncertain", k) for k in doubtful]


def _row(explanation: Explanation, heading: str, position: int, evaluated_rows: EvaluatedRows) -> RowView:
    answer, unit, (start, *amounts), _ = explanation.against_runner_up()
    contributions = zip(explanation.evidence, amounts, strict=True)
    lines = [("start", "", start), *((line.column, line.value, amount) for line, amount in contributions)]
    largest = max((abs(amount) for _, _, amount in lines if np.isfinite(amount)), default=0.0) or 1.0
    ordered = [lines[0], *sorted(lines[1:], key=lambda line: -abs(line[2]))[:MAX_CONTRIBUTIONS]]
    shown = tuple((name, value, f"{x:+.3f}", float(np.clip(x / largest, -1, 1))) for name, value, x in ordered)
    classes = explanation.classes
    truth = (
        f"{evaluated_rows.table.label[position]:.6g}"
        if explanation.unit == "number"
        else str(classes[evaluated_rows.table.label[position]])
    )
    return RowView(f"{heading}: row {evaluated_rows.row_numbers[position]}, actual {truth}", answer, unit, shown)
