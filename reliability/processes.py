"""E2, E3 and E7: threads, allocations that fail, and child processes. The suite tries fewer."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import test_allocations as allocations

import test_children as estimators
from figure import Figure, Scope, each
from metamorphic import SUBJECTS


def threads(scope: Scope) -> Iterator[Figure]:
    """E2: eight threads teach and ask one estimator."""
    n = scope.cases(10_000 // 8)
    is_same = np.array_equal(*estimators.learn_together(8, n))
    promise = "no row is lost where eight threads teach and ask one estimator"
    yield Figure("E2", "GaussianNB", promise, 8 * n, "none lost" if is_same else "rows lost", is_same)


def failing_allocations(scope: Scope) -> Iterator[Figure]:
    """E3: memory ends at any allocation of the core."""
    promise = "an allocation that fails is a MemoryError, and the next fit is as ever"
    with tempfile.TemporaryDirectory() as folder:
        library = allocations.shim(Path(folder))
        tasks = [(name, scope.cases(5_000), library) for name in SUBJECTS]
        for name, (tried, found) in zip(SUBJECTS, each(_faults, tasks), strict=True):
            yield Figure("E3", name, promise, tried, found[0] if found else "no fault", not found)


def _faults(task: tuple[str, int, Path]) -> tuple[int, list[str]]:
    return allocations.faults(*task)


def children(scope: Scope) -> Iterator[Figure]:
    """E7: models that threads learn, in this process and in its children."""
    here = {name: estimators.digest(name) for name in estimators.MODELS}
    for method in multiprocessing.get_all_start_methods():
        n = scope.cases(20)
        other = sum(estimators.digests_of_children(method) != here for _ in range(n))
        promise = "a child process learns the same models, and none hangs"
        yield Figure("E7", method, promise, n * len(here), f"{other} others", not other)


CHECKS = {"E2": threads, "E3": failing_allocations, "E7": children}
