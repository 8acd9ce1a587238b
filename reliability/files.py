"""D2, D4: whatever happens to a model file, loading it ends in a model or in a clear error, and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

from test_model_files import try_mutations

from crafted_models import LIMIT, faults_under_limit
from figure import Figure, Scope, each

_AT_ONCE = 5_000
_CRAFTED_AT_ONCE = 1_000


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


def memory(scope: Scope) -> Iterator[Figure]:
    """D4: small files with a right digest and huge sizes, loaded by processes with a limit of memory."""
    seeds = scope.seeds(20_000 // _CRAFTED_AT_ONCE)
    faults = [fault for seed in seeds for fault in faults_under_limit(_CRAFTED_AT_ONCE, seed)]
    promise = f"a small file is loaded or refused within {LIMIT >> 20} MB of memory"
    n_files = _CRAFTED_AT_ONCE * len(seeds)
    yield Figure("D4", "crafted model files", promise, n_files, faults[0] if faults else "no fault", not faults)


CHECKS = {"D2": mutations, "D4": memory}
