"""The fractional search of C4.5, J48, ID3 and C5.0: a row with a missing value follows every branch with a fraction.

Quinlan (1986, 1993). Levels may have a branch each. The core grows the nodes; pruning (collapsing, pessimistic error
with or without subtree raising, held-out rows) works on them; `fractional_tree` converts them to a `Tree`.
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

_MAX_EXACT_SINGLE = 2**24  # float32 represents every integer up to here


class ProgramArithmetic(msgspec.Struct, frozen=True, kw_only=True):
    """Settings in which the arithmetic of programs with fractional rows differs."""

    single: bool = False  # float32 where comparisons decide
    tolerance: float = 0.0  # a > b means a - b > tolerance
    zero_gain: float = 0.0  # gains up to this count as zero
    min_info: float = 0.0
    quinlan_sides: bool = False  # each side of a threshold holds 10 % of an average class, at least min_leaf, at most 25
    zero_ratio_wins: bool = False
    cuts_ranks: bool = False  # ordinal columns are split by thresholds; otherwise they have one branch per level
    empty: str = "parent"  # prediction of a leaf without training rows: its "class", or its parent's distribution


PROGRAMS = {
    ReferenceProgram.C45: ProgramArithmetic(
        single=True, min_info=1e-3, quinlan_sides=True, zero_ratio_wins=True, empty="class"
    ),
    ReferenceProgram.C50: ProgramArithmetic(single=True),
    ReferenceProgram.J48: ProgramArithmetic(tolerance=1e-6, quinlan_sides=True),
    ReferenceProgram.ID3: ProgramArithmetic(zero_gain=1e-9),  # rounding error of a zero gain
    # fractional weights are sums of rounded numbers: ties must not depend on their order
    ReferenceProgram.OWN: ProgramArithmetic(tolerance=1e-10, zero_gain=1e-12, cuts_ranks=True),
}


class FractionalRows(msgspec.Struct, frozen=True):
    """Table as the core reads it: contiguous columns, and the indices of the rows in use."""

    names: tuple[str, ...]
    columns: list[np.ndarray]
    levels: np.ndarray  # int32 [n_columns], 0 = numeric
    label: np.ndarray
    weight: np.ndarray
    chosen: np.ndarray  # int32
    total: float  # weight of the whole table, the base of the rule for columns with many levels

    def weighed(self, proportion: np.ndarray) -> FractionalRows:
        """Rows with a positive proportion, their weights multiplied by it."""
        chosen = self.chosen[proportion[self.chosen] > 0]
        return msgspec.structs.replace(self, weight=self.weight * proportion, chosen=chosen)


# node, column, gain, gain before penalties, split information, number of thresholds
CandidateTraces = list[tuple[int, int, float, float, float, int]]


class FractionalNodes(msgspec.Struct, frozen=True):
    """Grown nodes in the core, with the candidate tests of each node."""

    nodes: _core.Growth
    candidates: CandidateTraces
    single: bool


def rows_of(table: Table, arithmetic: ReferenceProgram) -> FractionalRows:
    """Rows of positive weight, as a reference program reads them."""
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
    """Grow the full tree of these rows, neither collapsed nor pruned."""
    single = PROGRAMS[policy.arithmetic].single and _is_counted_in_single(rows.weight)
    rules = core_rules(policy, rows.total)
    rules.first_column = rows.names.index(policy.first_split) if policy.first_split in rows.names else -1
    with refusing_branches(rows.names, rows.levels):
        nodes, candidates = _core.fractional_grow(
            rows.columns, rows.levels, rows.label, rows.weight, rows.chosen, n_classes, rules, single, n_threads, traces
        )
    return FractionalNodes(nodes, candidates, single)


@contextmanager
def refusing_branches(names: Sequence[str], levels: np.ndarray) -> Iterator[None]:
    """Turn the core's refusal of too many branches (an IndexError with the column's index) into a ValueError."""
    try:
        yield
    except IndexError as error:
        j = int(str(error))
        raise ValueError(
            f"column {names[j]!r} has {levels[j]} levels; one branch per level at every node would make the "
            f"tree far larger than the table: drop the column, or use binary splits (binary=True, or CARTClassifier)"
        ) from None


def regrown(tree: Tree) -> _core.Growth:
    """Nodes of a finished tree in the core, for further pruning."""
    return _core.growth_of(
        tree.column, tree.first, tree.branches, tree.cut, tree.start, tree.levels, tree.branch_of, tree.missing,
        tree.rows, tree.weight, tree.counts.ravel(), tree.prediction, tree.gain,
    )  # fmt: skip


def _is_counted_in_single(weight: np.ndarray) -> bool:
    """Whether float32 represents these weights and their sum exactly."""
    return float(weight.sum()) <= _MAX_EXACT_SINGLE and np.array_equal(weight, np.floor(weight))


def refuse(policy: Policy) -> None:
    """Raise an error if a policy asks for something that multiway splits do not support."""
    if not SUITS[policy.criterion].multiway:
        known = ", ".join(repr(c.value) for c, suits in SUITS.items() if suits.multiway and not suits.numbers)
        raise ValueError(f"criterion={policy.criterion.value!r} cannot compare many branches; with 'multiway' use {known}")
    if policy.missing not in MISSING:
        known = ", ".join(repr(missing.value) for missing in MISSING)
        raise ValueError(f"missing={policy.missing.value!r} supports binary splits only; with 'multiway' use {known}")
    if policy.stopping.alpha is not None and policy.criterion is not Criterion.CHI2:
        raise ValueError("alpha with branching='multiway' needs criterion='chi2'")


def _is_cut(kind: Kind, cuts_ranks: bool) -> bool:
    return kind is Kind.NUMERIC or (cuts_ranks and kind is Kind.ORDINAL)


def _contiguous(table: Table, j: int, cuts_ranks: bool) -> np.ndarray:
    """Column as the core reads it: numbers, ordinal codes as numbers if they are split by thresholds, or codes."""
    kind, values = table.schema.columns[j].kind, table.values[j]
    if kind is Kind.NUMERIC:
        return np.ascontiguousarray(values, np.float64)
    if not _is_cut(kind, cuts_ranks):
        return np.ascontiguousarray(values, np.int32)
    return np.where(values < 0, np.nan, values.astype(np.float64))


def core_rules(policy: Policy, total: float) -> _core.FractionalRules:
    """Policy as the core reads it; `total` is the weight of the whole table."""
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
    rules.takes_no_gain = stop.takes_no_gain
    rules.max_depth = -1 if stop.max_depth is None else stop.max_depth
    rules.max_leaves = -1 if stop.max_leaves is None else stop.max_leaves
    by_significance = policy.criterion is Criterion.CHI2 and stop.alpha
    rules.min_gain = -math.log(stop.alpha) if by_significance and stop.alpha else stop.min_gain


def prune_nodes(growth: FractionalNodes, policy: Policy, rows: FractionalRows, held_out: FractionalRows | None) -> None:
    """Apply the pruning steps of a policy in order; `rows` are those from which the nodes were grown."""
    for step in policy.pruning:
        if isinstance(step, Collapse):
            collapse(growth)
        elif isinstance(step, ErrorBased):
            prune_by_estimate(growth, policy.arithmetic, step, rows)
        elif isinstance(step, ReducedError) and held_out is not None:
            prune_on_held_out(growth, held_out)


def collapse(growth: FractionalNodes) -> None:
    """Replace each subtree by a leaf if it is no better than the leaf on the training rows."""
    _core.collapse(growth.nodes, growth.single)


def prune_by_estimate(
    growth: FractionalNodes, arithmetic: ReferenceProgram, step: ErrorBased, rows: FractionalRows | None
) -> None:
    """Error-based pruning; with the training rows, subtree raising may replace a node by its heaviest branch."""
    estimate = pessimism(arithmetic, step.confidence)
    options = (estimate.confidence, estimate.z, estimate.top_share)
    if rows is None or not step.raising:
        _core.error_prune(growth.nodes, *options, growth.single)
        return
    _core.error_prune_raising(growth.nodes, *_core_arguments(rows), *options, PROGRAMS[arithmetic].tolerance, growth.single)


def prune_on_held_out(growth: FractionalNodes, held_out: FractionalRows) -> None:
    """Reduced-error pruning: a subtree is kept only if it beats a leaf on held-out rows."""
    _core.reduce_errors(growth.nodes, *_core_arguments(held_out), 1e-6)


def _core_arguments(rows: FractionalRows) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return rows.columns, rows.levels, rows.label, rows.weight, rows.chosen
