"""Timing beside the peers, best of several runs in one process; and how time and memory grow with the size of a table."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import log
from pathlib import Path

DOUBLINGS = 3


@dataclass(frozen=True)
class Row:
    """One comparison: how long the peer and baytree took for the same work, and how much faster baytree should be."""

    workload: str
    peer: str
    peer_seconds: float
    seconds: float
    goal: float
    note: str = ""
    unit: str = "ms"  # of the two numbers: milliseconds, or MB of memory in thousands

    @property
    def ratio(self) -> float:
        return self.peer_seconds / self.seconds


@dataclass(frozen=True)
class Sized:
    """The work on a table of one size, and the bytes that the table takes when it is encoded."""

    work: Callable[[], object]
    table_bytes: int


@dataclass(frozen=True)
class Growth:
    """Time and peak memory of one workload while one thing, such as the rows, doubles."""

    workload: str
    axis: str  # what doubles: rows, columns, classes, levels
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    peaks: tuple[float, ...]  # the most memory that the work took beside what there was before, over the encoded table
    note: str = ""

    @property
    def exponent(self) -> float:
        """The e of time ~ size^e: the slope of the logarithms by least squares."""
        x, y = [log(size) for size in self.sizes], [log(max(each, 1e-9)) for each in self.seconds]
        mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
        return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)


def growth(workload: str, axis: str, first: int, prepare: Callable[[int], Sized], runs: int = 3, note: str = "") -> Growth:
    """Times the work that `prepare(size)` gives, for `first` of what the axis names and three doublings of it.

    >>> def prepare(n_rows):
    ...     X, y = numbers(n_rows, 20)
    ...     return Sized(lambda: bt.GaussianNB().fit(X, y), X.nbytes)
    >>> growth("Gaussian naive Bayes", "rows", 50_000, prepare)  # doctest: +SKIP
    """
    sizes = tuple(first << k for k in range(DOUBLINGS + 1))
    seconds, peaks = [], []
    for size in sizes:
        sized = prepare(size)
        sized.work()  # what is imported or compiled at the first call is not counted
        seconds.append(best(sized.work, runs))
        peaks.append(peak(sized.work) / max(sized.table_bytes, 1))
    return Growth(workload, axis, sizes, tuple(seconds), tuple(peaks), note)


def best(work: Callable[[], object], runs: int = 3) -> float:
    """The shortest time of several runs, in seconds."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def processor(work: Callable[[], object], runs: int = 3) -> float:
    """The least processor time of several runs, in seconds: all threads together, whatever else the machine does."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def in_turn(peer: Callable[[], object], work: Callable[[], object], runs: int) -> tuple[float, float]:
    """The least processor time of each, one after the other again and again: a machine is not as fast all the time."""
    times = [(processor(peer, 1), processor(work, 1)) for _ in range(runs)]
    return min(each for each, _ in times), min(each for _, each in times)


def peak(work: Callable[[], object]) -> float:
    """The bytes that the process held at most while it worked, beside those before (Linux; elsewhere NaN)."""
    gc.collect()
    clear = Path("/proc/self/clear_refs")
    if not clear.exists():
        return float("nan")
    ctypes.CDLL(None).malloc_trim(0)  # memory that was freed but kept would otherwise be reused without counting
    clear.write_text("5")  # the peak starts again
    before = _status("VmRSS")
    result = work()
    most = _status("VmHWM") - before
    del result
    return max(most, 0.0)


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * float(next(line for line in lines if line.startswith(field)).split()[1])
