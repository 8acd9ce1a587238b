"""Rows that were answered beside those of training: counted on the side, never kept, and only so many a minute."""

from __future__ import annotations

import time
from collections.abc import Iterable
from threading import Lock

from baytree.drifts import Batch, Drift
from baytree.predictor import Predictor
from baytree.serve.request_counts import Sample, family
from baytree.serve.wire.cell_values import Wanted, from_json
from baytree.serve.wire.json_body import Columns, joined
from baytree.table.frames import RawFrame

MOST_A_MINUTE = 20_000  # rows that are counted
_TOGETHER = 2048  # rows of small requests that are counted at once: one by one they would take longer than their answers


class Watch:
    """What the rows of one version of a model looked like since it went live; nothing where the model keeps no profile."""

    def __init__(self, predictor: Predictor, wanted: Wanted):
        self._predictor, self._wanted = predictor, wanted
        self._waiting: list[Columns] = []
        self._n_waiting = 0
        self._batch: Batch | None = None
        self._minute, self._n = 0, 0
        self._lock = Lock()

    def see(self, columns: Columns, frame: RawFrame) -> None:
        """Counts a few rows: later, together with others, unless their values would be read otherwise beside those."""
        if not columns.n_rows or not self._has_room(columns.n_rows):
            return
        if not self._wanted.is_rowwise(columns):
            self._add(frame)
            return
        with self._lock:
            self._waiting.append(columns)
            self._n_waiting += columns.n_rows
        if self._n_waiting >= _TOGETHER:
            self._count_waiting()

    def see_all(self, frame: RawFrame) -> None:
        """Counts many rows, at once."""
        if frame.n_rows and self._has_room(frame.n_rows):
            self._add(frame)

    def drift(self) -> Drift | None:
        """What has changed so far; None where nothing was counted."""
        self._count_waiting()
        return None if self._batch is None else Drift(self._predictor, self._batch)

    def _has_room(self, n_rows: int) -> bool:
        if self._predictor.profile is None:
            return False
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._n = minute, 0
        self._n += n_rows
        return self._n <= MOST_A_MINUTE

    def _count_waiting(self) -> None:
        with self._lock:
            waiting, self._waiting, self._n_waiting = self._waiting, [], 0
        if waiting:
            self._add(from_json(self._wanted, joined(waiting)))

    def _add(self, frame: RawFrame) -> None:
        batch = Batch.of(self._predictor, frame)
        with self._lock:
            self._batch = batch if self._batch is None else self._batch + batch


def families(drifts: Iterable[tuple[str, Drift]]) -> str:
    """The drift of models by their names, for Prometheus."""
    rows: list[Sample] = []
    unlike: list[Sample] = []
    columns: dict[str, list[Sample]] = {name: [] for name in _TOLD}
    for model, drift in drifts:
        rows.append(((("model", model),), drift.n_rows))
        unlike.append(((("model", model),), drift.unlike))
        for column in drift.columns:
            labels = (("model", model), ("column", column.column))
            for name, samples in columns.items():
                samples.append((labels, float(getattr(column, name))))
    told = [family(f"baytree_drift_{_TOLD[name][0]}", "gauge", _TOLD[name][1], each) for name, each in columns.items()]
    head = family("baytree_drift_rows", "gauge", "Rows that are compared with those of training.", rows)
    return "".join(
        [head, family("baytree_drift_unlike_share", "gauge", "Rows with a value beyond all of training.", unlike), *told]
    )


_TOLD = {
    "distance": ("distance", "How far a column is from its distribution in training, 0 to 1."),
    "missing": ("missing_share", "Missing values of a column."),
    "new": ("new_level_share", "Cells of a column with a level that training did not have."),
    "is_alarming": ("alarm", "Whether a column has changed by more than chance."),
    "effect": ("effect", "By how much the change of a column changes the answers."),
}
