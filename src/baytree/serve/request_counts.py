"""What is counted while the server runs, and its text for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Labels = tuple[tuple[str, str], ...]
Sample = tuple[Labels, float]


class Metrics:
    """Requests by route, method and status, their time by route, rows by model, reloads by model and outcome."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: dict[str, list[int]] = {}
        self.total_seconds: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.reloads: Counter[tuple[str, str]] = Counter()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request is answered."""
        self.requests[route, method, status] += 1
        self.total_seconds[route] += seconds  # type: ignore
        buckets = self.seconds.get(route)
        if buckets is None:
            buckets = self.seconds[route] = [0] * (len(SECONDS) + 1)
        buckets[bisect_left(SECONDS, seconds)] += 1

    def text(self, more: Iterable[str] = ()) -> str:
        """All counts in the text format of Prometheus, and further families."""
        requests = [
            ((("route", route), ("method", method), ("status", str(status))), n)
            for (route, method, status), n in self.requests.items()
        ]
        rows = [((("model", name),), n) for name, n in self.rows.items()]
        reloads = [((("model", name), ("outcome", outcome)), n) for (name, outcome), n in self.reloads.items()]
        parts = [
            family("baytree_requests_total", "counter", "Requests that were answered.", requests),
            self._times(),
            family("baytree_rows_total", "counter", "Rows that were answered for.", rows),
            family("baytree_reloads_total", "counter", "Model files that were read again.", reloads),
        ]
        return "".join([*parts, *more])

    def _times(self) -> str:
        name, lines = "baytree_request_seconds", []
        for route, buckets in self.seconds.items():
            reached = 0
            for bound, n in zip((*map(str, SECONDS), "+Inf"), buckets, strict=True):
                reached += n
                lines.append(_line(f"{name}_bucket", (("route", route), ("le", bound)), reached))
            lines.append(_line(f"{name}_sum", (("route", route),), self.total_seconds[route]))
            lines.append(_line(f"{name}_count", (("route", route),), reached))
        return _head(name, "histogram", "Time from the first byte of a request to its answer.") + "".join(lines)


def family(name: str, kind: str, told: str, samples: Iterable[Sample]) -> str:
    """One metric and its samples.

    >>> print(family("rows", "counter", "Rows.", [((("model", "a"),), 3)]), end="")
    # HELP rows Rows.
    # TYPE rows counter
    rows{model="a"} 3
    """
    return _head(name, kind, told) + "".join(_line(name, labels, value) for labels, value in samples)


def labels_of(named: Mapping[str, str]) -> Labels:
    """Labels by name."""
    return tuple(named.items())


def _head(name: str, kind: str, told: str) -> str:
    return f"# HELP {name} {told}\n# TYPE {name} {kind}\n"


def _line(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{inside}}} {value:.10g}\n" if labels else f"{name} {value:.10g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
