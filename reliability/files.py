"""D2: whatever happens to a model file, loading it ends in a model or in a clear error."""

from __future__ import annotations

from collections.abc import Iterator

from figure import Figure, Scope, each
from test_storage import try_mutations

_AT_ONCE = 5_000


def mutations(scope: Scope) -> Iterator[Figure]:
    """D2: mutations of the structure, with the digest made right again."""
    seeds = scope.seeds(100_000 // _AT_ONCE)
    faults = [fault for fault in each(_fault, seeds) if fault]
    promise = "a mutated file with a right digest ends in a model or a clear error"
    yield Figure("D2", "model files", promise, _AT_ONCE * len(seeds), faults[0] if faults else "no fault", not faults)


def _fault(seed: int) -> str:
    try:
        try_mutations(_AT_ONCE, seed)
    except Exception as fault:  # whatever it is, it is a fault
        return f"seed {seed}: {fault!r}"
    return ""


CHECKS = {"D2": mutations}
