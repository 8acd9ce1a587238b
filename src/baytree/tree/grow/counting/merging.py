"""CHAID's merging: the levels of a column become groups, by joining again and again the two that differ least.

Kass (1980). The core merges by the tests that it knows, without re-splitting; these and ordered classes are at home here.
Each merge is a generator: it yields statistics [n_tables, n_groups, n_statistics] that it wants tested and is
sent their log p, so that the merges of many columns and nodes advance side by side and share each call of the test.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import inf, log

import numpy as np

from baytree.tree.grow.counting.association import test_groups
from baytree.tree.grow.counting.candidate import Candidate, Grouping, Rules, least_size, totals
from baytree.tree.grow.counting.groups import Groups, part_again
from baytree.tree.grow.counting.level_runs import in_order, reduced, runs

Merge = Generator[np.ndarray, np.ndarray, Grouping]


def merge(candidate: Candidate, rules: Rules) -> Merge:
    """Groups of a column's levels, by the rules."""
    group_of = yield from _merge_known(candidate, rules)
    floating = -1
    if candidate.floating is not None:
        floating = yield from _place_floating(candidate, candidate.floating, group_of, rules)
    n_groups = int(max(group_of.max(initial=-1), floating)) + 1
    log_p = yield from _whole(totals(candidate, group_of, floating))
    return Grouping(group_of=group_of, floating=floating, n_groups=n_groups, log_p=log_p)


def settle(merges: Sequence[Merge], test: str) -> list[Grouping]:
    """The results of merges that advance side by side."""
    results: dict[int, Grouping] = {}
    waiting = {k: next(each) for k, each in enumerate(merges)}
    while waiting:
        answers = _answer(waiting, test)
        waiting = {}
        for k, answer in answers.items():
            try:
                waiting[k] = merges[k].send(answer)
            except StopIteration as done:
                results[k] = done.value
    return [results[k] for k in range(len(merges))]


def _merge_known(candidate: Candidate, rules: Rules) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    """The groups of the levels that are known; very many levels are first put into runs."""
    run_of = runs(candidate)
    n_runs = int(run_of.max(initial=-1)) + 1
    if n_runs < 2:
        return run_of
    united = candidate if n_runs == len(run_of) else reduced(candidate, run_of)
    groups = Groups(united.statistics, united.weight, united.is_ordered)
    left, right = (np.arange(n_runs - 1), np.arange(1, n_runs)) if united.is_ordered else np.triu_indices(n_runs, 1)
    yield from groups.measure(left, right)
    step = _merge_exhaustively if rules.exhaustive else _merge_similar
    group_of = yield from step(groups, united, rules)
    return in_order(group_of[run_of])


def _merge_similar(groups: Groups, candidate: Candidate, rules: Rules) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    threshold = log(rules.alpha_merge) if rules.alpha_merge > 0 else -inf
    seen: set[bytes] = set()
    while len(groups) > 1:
        k, other = groups.closest()
        is_alike = len(groups) > 2 and groups.log_p[k, other] > threshold
        if not is_alike and groups.weight[groups.alive].min() >= least:
            break
        yield from groups.join(k, other)
        if rules.alpha_resplit is not None and len(groups.members[k]) > 2 and groups.group_of().tobytes() not in seen:
            seen.add(groups.group_of().tobytes())  # the same groups never part twice, so that merging ends
            yield from part_again(groups, k, candidate, rules.alpha_resplit, least)
    return groups.group_of()


def _merge_exhaustively(groups: Groups, candidate: Candidate, rules: Rules) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    """Down to two groups, whatever p; then the step with the smallest p of all, the first of several (Biggs et al. 1991)."""
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    best, best_groups = inf, np.zeros(0, np.int64)
    while True:
        if groups.weight[groups.alive].min() >= least or len(groups) == 1:
            log_p = yield from _whole(groups.statistics[groups.alive])
            if log_p < best or not len(best_groups):
                best, best_groups = log_p, groups.group_of()
        if len(groups) == 1 or (len(groups) == 2 and len(best_groups)):
            return best_groups
        yield from groups.join(*groups.closest())


def _place_floating(
    candidate: Candidate, floating: np.ndarray, group_of: np.ndarray, rules: Rules
) -> Generator[np.ndarray, np.ndarray, int]:
    """The group of the rows without a value: their own, or the most similar one if that gives the smaller p."""
    n_groups = int(group_of.max(initial=-1)) + 1
    if n_groups == 0:
        return 0
    known = totals(candidate, group_of, -1)
    log_p = yield np.stack([known, np.broadcast_to(floating, known.shape)], axis=1)
    nearest = int(np.argmax(log_p))
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    if candidate.floating_weight < least:
        return nearest
    apart = yield from _whole(totals(candidate, group_of, n_groups))
    joined = yield from _whole(totals(candidate, group_of, nearest))
    return nearest if joined < apart else n_groups


def _whole(statistics: np.ndarray) -> Generator[np.ndarray, np.ndarray, float]:
    log_p = yield statistics[None]
    return float(log_p[0])


def _answer(waiting: dict[int, np.ndarray], test: str) -> dict[int, np.ndarray]:
    """log p of every table that is waited for; tables with as many groups are tested together."""
    answers: dict[int, np.ndarray] = {}
    by_groups: dict[int, list[int]] = {}
    for k, tables in waiting.items():
        by_groups.setdefault(tables.shape[1], []).append(k)
    for keys in by_groups.values():
        log_p = _in_blocks(np.concatenate([waiting[k] for k in keys]), test)
        ends = np.cumsum([len(waiting[k]) for k in keys])
        answers.update(zip(keys, np.split(log_p, ends[:-1]), strict=True))
    return answers


_BLOCK = 1 << 18  # numbers that a test looks at together, so that its working space stays small


def _in_blocks(tables: np.ndarray, test: str) -> np.ndarray:
    size = max(1, _BLOCK // max(1, tables.shape[1] * tables.shape[2]))
    return np.concatenate([test_groups(tables[k : k + size], test) for k in range(0, len(tables), size)])
