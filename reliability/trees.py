"""B2 and E5: splits are the best ones of an exact search, and depth is not a danger. The suite tries fewer and shorter."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import test_chains as chains
import test_exact_criteria as exact
import test_exact_named_trees as named

from figure import Figure, Scope, each

SEARCHES: dict[str, Callable[[int], object]] = {
    **{f"open tree, {criterion}": partial(exact.check_classes, criterion) for criterion in exact.CLASS_WORTHS},
    **{
        f"open tree, many classes, {criterion}": partial(exact.check_many_classes, criterion)
        for criterion in exact.CLASS_WORTHS
    },
    "open tree, numbers": exact.check_numbers,
    **{f"CART, {criterion}": partial(named.check_cart, criterion) for criterion in ("gini", "entropy")},
    "CART, numbers": named.check_cart_numbers,
    **{f"C4.5, {criterion}": partial(named.check_c45, criterion) for criterion in ("gain", "gain_ratio")},
    "ID3": named.check_id3,
    "CHAID": named.check_chaid,
}


def best_splits(scope: Scope) -> Iterator[Figure]:
    """B2: the root of every tree is the best test of an exact search by the rules of its algorithm."""
    cases = scope.cases(5_000)
    for name, fault in each(_search, [(name, cases) for name in SEARCHES]):
        yield Figure("B2", name, "the root is the best split of an exact search", cases, fault or "every root", not fault)


def _search(task: tuple[str, int]) -> tuple[str, str]:
    name, n_sets = task
    try:
        SEARCHES[name](n_sets)
    except AssertionError as fault:
        return name, str(fault)
    return name, ""


def long_chains(scope: Scope) -> Iterator[Figure]:
    """E5: a million nodes in one chain, on a stack of 64 kB."""
    n_rows = scope.cases(500_000) + 1
    fault = ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            chains.run_on_small_stack(lambda: chains.read_chain(n_rows, Path(folder)))
        except Exception as found:  # whatever it is, it is a fault
            fault = repr(found)
    promise = "a chain of so many nodes is grown, read, pruned and saved on 64 kB of stack"
    yield Figure("E5", "open tree", promise, 2 * n_rows - 1, fault or "no fault", not fault)


CHECKS = {"B2": best_splits, "E5": long_chains}
