"""Rows on a page, only where they are asked for: the worst mistakes, the most doubtful ones, or chosen ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.model import Explanation
from baytree.reports.subject import Judged, Subject
from baytree.show.report.records.interactive_views import RowsView, RowView

MOST_LINES = 12


def rows_view(subject: Subject, rows: int | Sequence[int]) -> RowsView:
    """The ledgers of these rows."""
    judged = subject.judged
    if judged is None:
        raise ValueError("rows are explained on a page only where a frame is given: report(frame, rows=5)")
    chosen = _chosen(subject, judged, rows)
    table = judged.table.take(np.array([place for _, place in chosen], np.int64))
    told = subject.predictor.model.explain(table)
    return RowsView(tuple(_row(why, *each, judged) for why, each in zip(told, chosen, strict=True)))


def _chosen(subject: Subject, judged: Judged, rows: int | Sequence[int]) -> list[tuple[str, int]]:
    if not isinstance(rows, int):
        place = {int(given): k for k, given in enumerate(judged.places)}
        absent = [row for row in rows if row not in place]
        if absent:
            raise ValueError(f"rows={list(rows)!r}: there is no row {absent[0]} with a known label")
        return [(f"row {row}", place[row]) for row in rows]
    if not subject.classes:
        errors = np.abs(judged.table.label - judged.answers[:, 0])
        return [("far off", int(k)) for k in np.argsort(-errors, kind="stable")[:rows]]
    truth = judged.answers[np.arange(len(judged.choice)), judged.table.label]
    wrong = [int(k) for k in np.argsort(truth, kind="stable") if judged.choice[k] != judged.table.label[k]][:rows]
    best = np.sort(judged.answers, axis=1)
    doubtful = np.argsort(best[:, -1] - best[:, -2], kind="stable")[:rows].tolist() if best.shape[1] > 1 else []
    return [("mistake", k) for k in wrong] + [("doubtful", k) for k in doubtful]


def _row(why: Explanation, heading: str, place: int, judged: Judged) -> RowView:
    answer, unit, (start, *amounts), _ = why.against_runner_up()
    told = zip(why.evidence, amounts, strict=True)
    lines = [("start", "", start), *((line.column, line.value, amount) for line, amount in told)]
    largest = max((abs(amount) for _, _, amount in lines if np.isfinite(amount)), default=0.0) or 1.0
    order = [lines[0], *sorted(lines[1:], key=lambda line: -abs(line[2]))[:MOST_LINES]]
    shown = tuple((name, value, f"{x:+.3f}", float(np.clip(x / largest, -1, 1))) for name, value, x in order)
    classes = why.classes
    truth = f"{judged.table.label[place]:.6g}" if why.unit == "number" else str(classes[judged.table.label[place]])
    return RowView(f"{heading}: row {judged.places[place]}, in truth {truth}", answer, unit, shown)
