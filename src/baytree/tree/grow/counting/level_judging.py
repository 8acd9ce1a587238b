"""The groups of all columns' codes at all nodes of a level, and how likely it is that they do not differ.

One call of the core tells it by the tests and rules that the core knows; what else there is, merges in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log

import msgspec
import numpy as np

from baytree import _core
from baytree.engine import threads
from baytree.tree.grow.counting.association import KERNELS
from baytree.tree.grow.counting.candidate import Rules
from baytree.tree.grow.counting.level_cells import Column, Where
from baytree.tree.grow.counting.level_runs import MOST_LEVELS, is_line, runs
from baytree.tree.grow.counting.merging import merge, settle


class Judged(msgspec.Struct, frozen=True):
    """The groups of each column's codes at each node, and log p that they do not differ."""

    n_groups: np.ndarray  # int32 [n_nodes, n_columns]
    log_p: np.ndarray  # float64 [n_nodes, n_columns]
    group: list[np.ndarray]  # [n_columns], int32 [n_cells]


def judge(columns: list[Column], where: Where, rules: Rules) -> Judged:
    """By the rules."""
    by_core = rules.test in KERNELS and rules.alpha_resplit is None
    return _in_core(columns, where, rules) if by_core else _side_by_side(columns, where, rules)


def _in_core(columns: list[Column], where: Where, rules: Rules) -> Judged:
    """By the tests that the core knows."""
    run, run_of = _runs(columns, where)
    is_long = (where.last - where.first).sum() >= _WORTH_A_THREAD
    n_groups, log_p, group = _core.try_columns(
        [(column.cells.sums, column.weight, column.is_ordered) for column in columns],
        (where.first, where.last, run, where.has_missing),
        run_of,
        rules.test,
        _core.TrialRules(
            log(rules.alpha_merge) if rules.alpha_merge > 0 else -inf,
            rules.min_leaf,
            rules.min_prob,
            bool(rules.exhaustive),
            MOST_LEVELS,
        ),
        threads.free() if is_long else 1,
    )
    return Judged(n_groups, log_p, group)


_WORTH_A_THREAD = 1 << 13  # cells


def _runs(columns: list[Column], where: Where) -> tuple[np.ndarray, np.ndarray]:
    """Where the runs of a column's levels begin at each node, −1 where the core finds them or levels are few, and these."""
    begin, found, n = np.full(where.first.shape, -1, np.int64), [np.zeros(0, np.int32)], 0
    unknown = [not (column.is_ordered or is_line(column.cells.sums.shape[1], column.is_mean)) for column in columns]
    for at, column in np.argwhere((where.last - where.first > MOST_LEVELS) & unknown).tolist():
        own = columns[column].candidate(*where.cells(at, column))
        if len(own.weight) > MOST_LEVELS:
            begin[at, column] = n
            found.append(runs(own))
            n += len(own.weight)
    return begin, np.concatenate(found)


def _side_by_side(columns: list[Column], where: Where, rules: Rules) -> Judged:
    """By rules that the core does not know: merges advance together, but not so many that memory grows."""
    shape = where.first.shape
    judged = Judged(np.zeros(shape, np.int32), np.zeros(shape), [np.zeros(len(c.weight), np.int32) for c in columns])
    for batch in threads.streamed(lambda pairs: _settled(columns, where, rules, pairs), _batches(where)):
        for (at, column), (n_groups, log_p, group) in batch:
            judged.n_groups[at, column], judged.log_p[at, column] = n_groups, log_p
            judged.group[column][where.first[at, column] : where.last[at, column]] = group
    return judged


Pair = tuple[int, int]  # the place of a node, and a column
_TOGETHER = 200_000  # pairs of codes


def _batches(where: Where) -> Iterator[list[Pair]]:
    """Nodes and columns in order, as many together as have so many pairs of codes."""
    batch: list[Pair] = []
    n_pairs = 0
    for (at, column), n_codes in np.ndenumerate(where.last - where.first):
        batch.append((at, column))
        n_pairs += int(n_codes) ** 2
        if n_pairs > _TOGETHER:
            yield batch
            batch, n_pairs = [], 0
    yield batch


def _settled(
    columns: list[Column], where: Where, rules: Rules, pairs: list[Pair]
) -> list[tuple[Pair, tuple[int, float, np.ndarray]]]:
    candidates = [columns[column].candidate(*where.cells(at, column)) for at, column in pairs]
    groupings = settle([merge(each, rules) for each in candidates], rules.test)
    found = []
    for pair, grouping in zip(pairs, groupings, strict=True):
        group = grouping.group_of
        if where.has_missing[pair]:  # its cell is the first one
            group = np.append(grouping.floating, group) if columns[pair[1]].is_ordered else np.roll(group, 1)
        found.append((pair, (grouping.n_groups, grouping.log_p, group)))
    return found
