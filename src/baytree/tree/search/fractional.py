"""The fractional search: rows without a value go down every branch in fractions, and levels may have a branch each.

C4.5, J48, ID3 and relatives. The core grows the nodes, pruning works on them, `fractional_tree` makes a `Tree` of them.

Pruning by error: collapse, Quinlan's pessimistic estimate with or without subtree raising, and held-out rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.tree.model.tree import Tree
from baytree.tree.policy.policy import (
    SUITS,
    Branching,
    Collapse,
    Criterion,
    ErrorBased,
    Missing,
    Policy,
    ReducedError,
    ReferenceProgram,
    SplitSelection,
)
from baytree.tree.pruning.pessimistic_error import pessimism

MISSING = (Missing.FRACTIONAL, Missing.CATEGORY, Missing.LARGEST, Missing.LEARNED)

_EXACT_SINGLE = 2**24  # float32 counts every whole number up to here


class ProgramArithmetic(msgspec.Struct, frozen=True, kw_only=True):
    """Where programs with fractional cases differ in their arithmetic."""

    single: bool = False  # float32 where it decides
    tolerance: float = 0.0  # a > b means a - b > tolerance
    zero_gain: float = 0.0  # a gain up to here is none
    min_info: float = 0.0
    quinlan_sides: bool = False  # each side of a cut holds 10 % of an average class, at least min_leaf, at most 25
    zero_ratio_wins: bool = False
    cuts_ranks: bool = False  # ordinal columns are cut by rank; otherwise they have a branch for each level
    empty: str = "parent"  # what a leaf without training rows answers: its "class", or its parent's distribution


PROGRAMS = {
    ReferenceProgram.C45: ProgramArithmetic(
        single=True, min_info=1e-3, quinlan_sides=True, zero_ratio_wins=True, empty="class"
    ),
    ReferenceProgram.C50: ProgramArithmetic(single=True),
    ReferenceProgram.J48: ProgramArithmetic(tolerance=1e-6, quinlan_sides=True),
    ReferenceProgram.ID3: ProgramArithmetic(zero_gain=1e-9),  # rounding leaves this much where nothing is gained
    # fractions of rows are sums of rounded shares: ties must not hang on their order
    ReferenceProgram.OWN: ProgramArithmetic(tolerance=1e-10, zero_gain=1e-12, cuts_ranks=True),
}


class FractionalRows(msgspec.Struct, frozen=True):
    """A table as the core reads it: contiguous columns, and the rows to look at."""

    names: tuple[str, ...]
    columns: list[np.ndarray]
    levels: np.ndarray  # int32 [n_columns], 0 = numeric
    label: np.ndarray
    weight: np.ndarray
    chosen: np.ndarray  # int32
    total: float  # weight of the whole table, the base of the many-levels rule

    def weighed(self, share: np.ndarray) -> FractionalRows:
        """The rows that have a share, with that much of their weight."""
        chosen = self.chosen[share[self.chosen] > 0]
        return msgspec.structs.replace(self, weight=self.weight * share, chosen=chosen)


Tried = list[tuple[int, int, float, float, float, int]]  # node, column, gain, gain before charges, information, cuts


class FractionalNodes(msgspec.Struct, frozen=True):
    """Grown nodes in the core, with what was tried at each of them."""

    nodes: _core.Growth
    tried: Tried
    single: bool


def rows_of(table: Table, arithmetic: ReferenceProgram) -> FractionalRows:
    """The rows that have weight, as a program reads them."""
    cuts_ranks = PROGRAMS[arithmetic].cuts_ranks
    return FractionalRows(
        table.schema.names,
        [_contiguous(table, j, cuts_ranks) for j in range(len(table.schema))],
        np.array([0 if _is_cut(c.kind, cuts_ranks) else max(len(c.levels), 1) for c in table.schema], np.int32),
        np.ascontiguousarray(table.label, np.int32),
        np.ascontiguousarray(table.weight, np.float64),
        np.flatnonzero(table.weight > 0).astype(np.int32),
        float(table.weight.sum()),
    )


def grow_nodes(
    rows: FractionalRows, n_classes: int, policy: Policy, n_threads: int = 1, traces: bool = False
) -> FractionalNodes:
    """The full tree of these rows, neither collapsed nor pruned."""
    single = PROGRAMS[policy.arithmetic].single and _is_counted_in_single(rows.weight)
    with refusing_branches(rows.names, rows.levels):
        nodes, tried = _core.fractional_grow(
            rows.columns, rows.levels, rows.label, rows.weight, rows.chosen, n_classes,
            core_rules(policy, rows.total), single, n_threads, traces,
        )  # fmt: skip
    return FractionalNodes(nodes, tried, single)


@contextmanager
def refusing_branches(names: Sequence[str], levels: np.ndarray) -> Iterator[None]:
    """Refuses in words what the core refuses by a column's place: more branches than are sensible beside the rows."""
    try:
        yield
    except IndexError as refused:
        j = int(str(refused))
        raise ValueError(
            f"column {names[j]!r} has {levels[j]} levels; a branch for each of them at every node would make the "
            f"tree far larger than the table: leave the column out, or let it be split in two (binary=True, CARTClassifier)"
        ) from None


def regrown(tree: Tree) -> _core.Growth:
    """The nodes of a finished tree in the core, to be pruned further."""
    return _core.growth_of(
        tree.column, tree.first, tree.branches, tree.cut, tree.start, tree.levels, tree.branch_of, tree.missing,
        tree.rows, tree.weight, tree.counts.ravel(), tree.prediction, tree.gain,
    )  # fmt: skip


def _is_counted_in_single(weight: np.ndarray) -> bool:
    """Whether float32 can hold these weights and their sum exactly."""
    return float(weight.sum()) <= _EXACT_SINGLE and np.array_equal(weight, np.floor(weight))


def refuse(policy: Policy) -> None:
    """Raises an error where a policy asks for what several branches cannot have."""
    if not SUITS[policy.criterion].multiway:
        known = ", ".join(repr(c.value) for c, suits in SUITS.items() if suits.multiway and not suits.numbers)
        raise ValueError(f"criterion={policy.criterion.value!r} cannot compare many branches; with 'multiway' give {known}")
    if policy.missing not in MISSING:
        known = ", ".join(repr(missing.value) for missing in MISSING)
        raise ValueError(f"missing={policy.missing.value!r} is for two branches; with 'multiway' give {known}")
    if policy.stopping.alpha is not None and policy.criterion is not Criterion.CHI2:
        raise ValueError("alpha with branching='multiway' needs criterion='chi2'")


def _is_cut(kind: Kind, cuts_ranks: bool) -> bool:
    return kind is Kind.NUMERIC or (cuts_ranks and kind is Kind.ORDINAL)


def _contiguous(table: Table, j: int, cuts_ranks: bool) -> np.ndarray:
    """The column as the core reads it: numbers, ranks as numbers where these are cut, or codes."""
    kind, values = table.schema.columns[j].kind, table.values[j]
    if kind is Kind.NUMERIC:
        return np.ascontiguousarray(values, np.float64)
    if not _is_cut(kind, cuts_ranks):
        return np.ascontiguousarray(values, np.int32)
    return np.where(values < 0, np.nan, values.astype(np.float64))


def core_rules(policy: Policy, total: float) -> _core.FractionalRules:
    """A policy as the core reads it; `total` is the weight of the whole table."""
    rules, program = _core.FractionalRules(), PROGRAMS[policy.arithmetic]
    for name in ("tolerance", "zero_gain", "min_info", "quinlan_sides", "zero_ratio_wins"):
        setattr(rules, name, getattr(program, name))
    rules.measure = "id3" if policy.arithmetic is ReferenceProgram.ID3 else policy.criterion.value
    rules.missing = policy.missing.value
    rules.by_ratio = SUITS[policy.criterion].by_ratio
    rules.gated = policy.choose is SplitSelection.AVERAGE_GAIN
    rules.binary = policy.branching is Branching.ONE_LEVEL
    rules.grouped = policy.branching is Branching.GROUPED
    rules.mdl, rules.midpoint = policy.cuts.mdl, policy.cuts.is_midpoint
    rules.total = total
    _set_stopping(rules, policy)
    return rules


def _set_stopping(rules: _core.FractionalRules, policy: Policy) -> None:
    stop = policy.stopping
    rules.min_side, rules.min_split, rules.min_impurity = stop.min_leaf, stop.min_split, stop.min_impurity
    rules.max_depth = -1 if stop.max_depth is None else stop.max_depth
    rules.max_leaves = -1 if stop.max_leaves is None else stop.max_leaves
    by_significance = policy.criterion is Criterion.CHI2 and stop.alpha
    rules.min_gain = -math.log(stop.alpha) if by_significance and stop.alpha else stop.min_gain


def prune_nodes(growth: FractionalNodes, policy: Policy, rows: FractionalRows, held_out: FractionalRows | None) -> None:
    """The pruning of a policy, one step after the other; `rows` are those that the nodes were grown from."""
    for step in policy.pruning:
        if isinstance(step, Collapse):
            collapse(growth)
        elif isinstance(step, ErrorBased):
            prune_by_estimate(growth, policy.arithmetic, step, rows)
        elif isinstance(step, ReducedError) and held_out is not None:
            prune_on_held_out(growth, held_out)


def collapse(growth: FractionalNodes) -> None:
    """Makes a leaf of every node whose subtree is no better on its training rows than a leaf."""
    _core.collapse(growth.nodes, growth.single)


def prune_by_estimate(
    growth: FractionalNodes, arithmetic: ReferenceProgram, step: ErrorBased, rows: FractionalRows | None
) -> None:
    """Error-based pruning. With the training rows a node may also give its place to its heaviest branch."""
    estimate = pessimism(arithmetic, step.confidence)
    how = (estimate.confidence, estimate.z, estimate.top_share)
    if rows is None or not step.raising:
        _core.error_prune(growth.nodes, *how, growth.single)
        return
    _core.error_prune_raising(growth.nodes, *_given(rows), *how, PROGRAMS[arithmetic].tolerance, growth.single)


def prune_on_held_out(growth: FractionalNodes, held_out: FractionalRows) -> None:
    """Reduced-error pruning: a subtree stays only if it beats a leaf on rows that it was not grown from."""
    _core.reduce_errors(growth.nodes, *_given(held_out), 1e-6)


def _given(rows: FractionalRows) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return rows.columns, rows.levels, rows.label, rows.weight, rows.chosen
