"""Monitoring of the server: metrics for Prometheus, a JSON log, and drift of the served rows from the training rows.

Nothing of the rows is logged. Drift is computed from additive profiles, at most `MAX_PROFILED_ROWS_PER_MINUTE`; rows are not
kept.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from threading import Lock

import msgspec

from baytree.base.predictor import Predictor
from baytree.data.frames.raw import RawFrame
from baytree.drift_detection.batch import Batch
from baytree.drift_detection.drift import Drift
from baytree.serve.cell_values import RequiredColumns, from_json
from baytree.serve.json_body import Columns, joined

# Upper bounds of the histogram of response times: from below the usual time of a short request to BODY_TIMEOUT.
LATENCY_BUCKETS_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Labels = tuple[tuple[str, str], ...]

Sample = tuple[Labels, float]


class Metrics:
    """Counters: requests by route, method and status, their times by route, rows by model, reloads by model and outcome."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: dict[str, list[int]] = {}
        self.total_seconds: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.reloads: Counter[tuple[str, str]] = Counter()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self.requests[route, method, status] += 1
        self.total_seconds[route] += seconds  # type: ignore
        buckets = self.seconds.get(route)
        if buckets is None:
            buckets = self.seconds[route] = [0] * (len(LATENCY_BUCKETS_SECONDS) + 1)
        buckets[bisect_left(LATENCY_BUCKETS_SECONDS, seconds)] += 1

    def text(self, more: Iterable[str] = ()) -> str:
        """Return all counters in the text format of Prometheus, followed by further families."""
        requests = [
            ((("route", route), ("method", method), ("status", str(status))), n)
            for (route, method, status), n in self.requests.items()
        ]
        rows = [((("model", name),), n) for name, n in self.rows.items()]
        reloads = [((("model", name), ("outcome", outcome)), n) for (name, outcome), n in self.reloads.items()]
        parts = [
            family("baytree_requests_total", "counter", "Number of answered requests.", requests),
            self._times(),
            family("baytree_rows_total", "counter", "Number of predicted rows.", rows),
            family("baytree_reloads_total", "counter", "Number of reloads of model files.", reloads),
        ]
        return "".join([*parts, *more])

    def _times(self) -> str:
        name, lines = "baytree_request_seconds", []
        for route, buckets in self.seconds.items():
            cumulative = 0
            for bound, n in zip((*map(str, LATENCY_BUCKETS_SECONDS), "+Inf"), buckets, strict=True):
                cumulative += n
                lines.append(_line(f"{name}_bucket", (("route", route), ("le", bound)), cumulative))
            lines.append(_line(f"{name}_sum", (("route", route),), self.total_seconds[route]))
            lines.append(_line(f"{name}_count", (("route", route),), cumulative))
        return _head(name, "histogram", "Time from request to response.") + "".join(lines)


def family(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> str:
    """Format one metric and its samples.

    >>> print(family("rows", "counter", "Rows.", [((("model", "a"),), 3)]), end="")
    # HELP rows Rows.
    # TYPE rows counter
    rows{model="a"} 3
    """
    return _head(name, kind, help_text) + "".join(_line(name, labels, value) for labels, value in samples)


def labels_of(named: Mapping[str, str]) -> Labels:
    """Convert a dict to labels."""
    return tuple(named.items())


def _head(name: str, kind: str, help_text: str) -> str:
    return f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n"


def _line(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{inside}}} {value:.10g}\n" if labels else f"{name} {value:.10g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Log:
    """Writes lines to a file descriptor, standard error by default, without ever blocking.

    A line that would block (a pipe that nobody reads, a stopped terminal) or cannot be written (a closed pipe, a full disk)
    is dropped and counted. A line is shorter than PIPE_BUF, so a writable pipe takes it whole.
    """

    def __init__(self, descriptor: int | None = None):
        self._descriptor = sys.stderr.fileno() if descriptor is None else descriptor
        self.n_dropped = 0
        self._poll = None
        if hasattr(select, "poll"):  # Windows has no poll
            self._poll = select.poll()
            self._poll.register(self._descriptor, select.POLLOUT)

    def write(self, event: str, **fields: str | int | float | None) -> None:
        """Write one line: the time, the event, and its fields except those that are None."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        known = {key: value for key, value in fields.items() if value is not None}
        line = msgspec.json.encode({"time": now, "event": event, **known}) + b"\n"
        try:
            if self._poll is None or self._poll.poll(0):
                os.write(self._descriptor, line)
                return
        except OSError:
            pass
        self.n_dropped += 1


class LogHandler(logging.Handler):
    """Forwards records of Python's logging to a `Log`, with their origin only, since their text may contain values."""

    def __init__(self, log: Log):
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        position = f"{record.module}:{record.lineno}"
        self._log.write("message", level=record.levelname.lower(), logger=record.name, place=position)


# Rows of a minute beyond this number are not profiled: they would take processor time and sharpen the proportions little.
MAX_PROFILED_ROWS_PER_MINUTE = 20_000

_BUFFER_ROWS = 2048  # rows of small requests that are profiled together; one by one would take longer than predicting them


class DriftMonitor:
    """Profile of the rows that one version of a model has predicted; empty if the model has no training profile."""

    def __init__(self, predictor: Predictor, required: RequiredColumns):
        self._predictor, self._required = predictor, required
        self._buffered: list[Columns] = []
        self._n_buffered = 0
        self._batch: Batch | None = None
        self._minute, self._n_this_minute = 0, 0
        self._lock = Lock()

    def add_few(self, columns: Columns, frame: RawFrame) -> None:
        """Add a few rows: buffered with others, unless the parsing of their values depends on other rows."""
        if not columns.n_rows or not self._is_within_limit(columns.n_rows):
            return
        if not self._required.is_rowwise(columns):
            self._add(frame)
            return
        with self._lock:
            self._buffered.append(columns)
            self._n_buffered += columns.n_rows
        if self._n_buffered >= _BUFFER_ROWS:
            self._flush()

    def add_many(self, frame: RawFrame) -> None:
        """Add many rows, immediately."""
        if frame.n_rows and self._is_within_limit(frame.n_rows):
            self._add(frame)

    def drift(self) -> Drift | None:
        """Return the drift so far; None if no rows were added."""
        self._flush()
        return None if self._batch is None else Drift(self._predictor, self._batch)

    def _is_within_limit(self, n_rows: int) -> bool:
        if self._predictor.profile is None:
            return False
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._n_this_minute = minute, 0
        self._n_this_minute += n_rows
        return self._n_this_minute <= MAX_PROFILED_ROWS_PER_MINUTE

    def _flush(self) -> None:
        with self._lock:
            buffered, self._buffered, self._n_buffered = self._buffered, [], 0
        if buffered:
            self._add(from_json(self._required, joined(buffered)))

    def _add(self, frame: RawFrame) -> None:
        batch = Batch.of(self._predictor, frame)
        with self._lock:
            self._batch = batch if self._batch is None else self._batch + batch


def families(drifts: Iterable[tuple[str, Drift]]) -> str:
    """Return the drift of models, by name, in the text format of Prometheus."""
    rows: list[Sample] = []
    out_of_range: list[Sample] = []
    columns: dict[str, list[Sample]] = {name: [] for name in _DRIFT_METRICS}
    for model, drift in drifts:
        rows.append(((("model", model),), drift.n_rows))
        out_of_range.append(((("model", model),), drift.out_of_range))
        for column in drift.columns:
            labels = (("model", model), ("column", column.column))
            for name, column_samples in columns.items():
                column_samples.append((labels, float(getattr(column, name))))
    metrics = [
        family(f"baytree_drift_{_DRIFT_METRICS[name][0]}", "gauge", _DRIFT_METRICS[name][1], samples)
        for name, samples in columns.items()
    ]
    head = family("baytree_drift_rows", "gauge", "Number of rows compared with the training rows.", rows)
    return "".join(
        [
            head,
            family(
                "baytree_drift_unlike_share", "gauge", "Proportion of rows with a value outside of training.", out_of_range
            ),
            *metrics,
        ]
    )


_DRIFT_METRICS = {
    "distance": ("distance", "Distance between the distribution of a column and training, 0 to 1."),
    "missing": ("missing_share", "Proportion of missing values of a column."),
    "new": ("new_level_share", "Proportion of values of a column with a level unknown from training."),
    "is_alarming": ("alarm", "Whether the change of a column is significant."),
    "effect": ("effect", "Effect of the change of a column on the predictions."),
}
