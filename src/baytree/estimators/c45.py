"""C4.5: gain ratio among tests of at least average gain, fractional cases, and error-based pruning (Quinlan 1993, 1996)."""

from __future__ import annotations

from typing import Any, Self
from warnings import warn

import msgspec
import numpy as np

from baytree import _core
from baytree import settings as given
from baytree.engine import threads
from baytree.estimators.quinlan import QuinlanClassifier
from baytree.table import encode
from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.fractional import Growth, Rows, Rules, grow, regrown, ripen, rows_of
from baytree.tree.grow.trace import trace_of
from baytree.tree.grow.units import near_one
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import with_complexity
from baytree.tree.prune.error_pruning import collapse, pessimism, prune_by_estimate, prune_on_held_out
from baytree.tree.prune.holding import held_share

_MANY_LEVELS = 0.3  # of the rows: so many are a column's names for rows rather than for kinds of rows
_NO_TEST = (
    "column {name!r} is not used: hardly any of its {n} levels occurs min_objects={least} times, so C4.5 has no test "
    "for it; leave it out, or unite levels by subset=True"
)


class Conventions(msgspec.Struct, frozen=True):
    """Where two programs that both call themselves C4.5 differ."""

    single: bool  # float32 where it decides
    tolerance: float  # a > b means a - b > tolerance
    min_info: float
    zero_ratio_wins: bool
    empty: str  # what a leaf without training rows answers
    most_confident: float


CONVENTIONS = {
    "c4.5": Conventions(True, 0.0, 1e-3, True, "class", 1.0),
    "j48": Conventions(False, 1e-6, 0.0, False, "parent", 0.5),
}


class C45Classifier(QuinlanClassifier):
    """Decision tree by C4.5: multiway, with fractional cases for missing values, pruned by estimated error.

    Parameters
    ----------
    conventions : {"c4.5", "j48"}
        The program whose trees are reproduced where programs differ: C4.5 release 8 or Weka's J48. Release 8 computes in
        float32; so does baytree, for whole weights up to 2^24 in all, and for columns whose values float32 tells apart.
    criterion : {"gain_ratio", "gain"}
        How the test of a node is chosen; gain ratio only among tests of at least average gain.
    min_objects : float
        At least two branches of a test must hold this weight.
    confidence : float
        Of the error estimate; smaller prunes more.
    pruning : {"error_based", "reduced_error", None}
        By the pessimistic estimate, on held-out rows (`fit(..., prune_on=rows)`, otherwise a third that is drawn by what
        the rows hold), or not at all.
    binary : bool
        Nominal tests ask for one level against the rest instead of having a branch for each level.
    subset : bool
        Nominal tests unite levels into groups while the gain ratio does not fall. The rule is baytree's own; it gives
        the groups of release 8 on 20 of 22 tables.
    raising : bool
        Pruning may put a node's heaviest branch in its place.
    collapse : bool
        Make a leaf of a subtree that is no better than a leaf on its own training rows.
    mdl : bool
        Charge numeric tests for the number of cuts they were chosen from (Quinlan 1996).
    midpoint : bool
        Cut half-way between two values instead of at a value of the training rows.
    laplace : bool
        Add 1 to every class of a leaf when giving probabilities.
    trace : bool
        Keep every candidate of every node in `trace_`.
    schema, unseen, n_jobs :
        As for every estimator: declared kinds, what to do with new levels, threads.

    Notes
    -----
    Neighbouring values must differ by 1e-5 for a cut between them, as in both programs; a column whose values all lie
    within 0.001 is free of that rule. Sample weights multiply rows: `min_objects` and the
    estimates count weight. Weights all below 2^-40 or some above 2^40 are scaled to a largest weight near 1.

    Examples
    --------
    >>> import baytree as bt
    >>> days = {"wind": ["weak", "strong", "weak", "strong"] * 2, "play": ["yes", "no", "yes", "no"] * 2}
    >>> print(bt.C45Classifier().fit(days, "play"))
    no (8 rows, 0.500)
    |  wind in {strong}: no (4 rows, 1.000)
    |  wind in {weak}: yes (4 rows, 1.000)
    """

    def __init__(
        self,
        *,
        conventions: str = "c4.5",
        criterion: str = "gain_ratio",
        min_objects: float = 2,
        confidence: float = 0.25,
        pruning: str | None = "error_based",
        binary: bool = False,
        subset: bool = False,
        raising: bool = True,
        collapse: bool = True,
        mdl: bool = True,
        midpoint: bool = False,
        laplace: bool = False,
        trace: bool = False,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.conventions = conventions
        self.criterion = criterion
        self.min_objects = min_objects
        self.confidence = confidence
        self.pruning = pruning
        self.binary = binary
        self.subset = subset
        self.raising = raising
        self.collapse = collapse
        self.mdl = mdl
        self.midpoint = midpoint
        self.laplace = laplace
        self.trace = trace
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, prune_on: Any = None) -> Self:
        """Learns from a table; `prune_on` names the rows that reduced-error pruning holds out (positions or a mask)."""
        self._check_parameters(prune_on)
        table, frame = self._enter(X, y, sample_weight)
        table = near_one(table)
        self._warn_of_columns_without_a_test(table)
        held_out = self._held_out(X, y, sample_weight, table, prune_on)
        growth = self._grown(table, held_out)
        self._settle(table.schema, self._ripe(growth), frame)
        if self.trace:
            self.trace_ = trace_of(growth, table.schema)
        return self

    def prune(self, how: str = "error_based", X: Any = None, y: Any = None, **options: Any) -> Any:
        """A new estimator with the fitted tree pruned further; nothing is grown again.

        "error_based" takes parameters of the new estimator, such as ``confidence=0.1``; with the training rows, subtrees
        may be raised. "reduced_error" takes held-out rows. Every other way is that of all trees (`snip`, ...).
        """
        if how not in ("error_based", "reduced_error"):
            return super().prune(how, *(() if X is None else (X,)), **options)
        pruned = self._with_tree(self.tree_, options)
        pruned._check_parameters(None)
        rows = None if X is None else rows_of(self._labelled(X, y))
        growth = Growth(regrown(self.tree_), [], self._program().single)
        if how == "reduced_error":
            if rows is None:
                raise ValueError("prune('reduced_error') needs held-out rows: give X and y")
            prune_on_held_out(growth, rows)
        else:
            prune_by_estimate(growth, pruned._estimate(), rows if pruned.raising else None, self._program().tolerance)
        pruned.model_ = pruned._ripe(growth)
        return pruned

    # --- growing ------------------------------------------------------------------------------------------------------

    def _grown(self, table: Table, held_out: np.ndarray | None) -> Growth:
        rows = rows_of(table) if held_out is None else _weighed(rows_of(table), 1.0 - held_out)
        growth = grow(rows, table.n_classes, self._rules(), threads=threads.count(self.n_jobs), traces=bool(self.trace))
        if held_out is not None:
            if held_out.any():
                prune_on_held_out(growth, _weighed(rows_of(table), held_out))
            return growth
        if self.collapse:
            collapse(growth)
        if self.pruning == "error_based":
            prune_by_estimate(growth, self._estimate(), rows if self.raising else None, self._program().tolerance)
        return self._with_shown_groups(growth)

    def _with_shown_groups(self, growth: Growth) -> Growth:
        """Groups do not name levels that a test above has already sent elsewhere."""
        if not self.subset:
            return growth
        nodes = growth.nodes.compact()
        _core.drop_excluded_levels(nodes)
        return msgspec.structs.replace(growth, nodes=nodes)

    def _ripe(self, growth: Growth) -> Tree:
        return with_complexity(ripen(growth, empty=self._program().empty, laplace=bool(self.laplace)))

    def _program(self) -> Conventions:
        return CONVENTIONS[self.conventions]

    def _rules(self) -> Rules:
        program = self._program()
        return Rules(
            by_ratio=self.criterion == "gain_ratio",
            binary=bool(self.binary),
            grouped=bool(self.subset),
            mdl=bool(self.mdl),
            midpoint=bool(self.midpoint),
            min_side=float(self.min_objects),
            single=program.single,
            tolerance=program.tolerance,
            min_info=program.min_info,
            zero_ratio_wins=program.zero_ratio_wins,
        )

    def _estimate(self) -> Any:
        return pessimism(self.conventions, float(self.confidence))

    def _warn_of_columns_without_a_test(self, table: Table) -> None:
        """A test needs two branches of `min_objects`, which the levels of an identifier never are."""
        if self.subset:
            return
        for column, codes in zip(table.schema, table.values, strict=True):
            if column.kind is Kind.NUMERIC or len(column.levels) < max(3, _MANY_LEVELS * len(table)):
                continue
            weight = np.bincount(codes[codes >= 0], table.weight[codes >= 0], len(column.levels))
            if np.count_nonzero(weight >= self.min_objects) < (1 if self.binary else 2):
                sentence = _NO_TEST.format(name=column.name, n=len(column.levels), least=self.min_objects)
                warn(sentence, UserWarning, stacklevel=3)

    # --- what the user asked for --------------------------------------------------------------------------------------

    def _held_out(self, X: Any, y: Any, sample_weight: Any, table: Table, prune_on: Any) -> np.ndarray | None:
        """float64 [n_rows]: the share of each row of the table to prune on, or None."""
        if self.pruning != "reduced_error":
            return None
        if prune_on is None:
            return held_share(table)
        frame, label = self._split(X, y)
        counts = (encode.weights(sample_weight, frame.n_rows)[0] > 0) & ~label.missing
        chosen = _as_mask(prune_on, frame.n_rows)
        if (counts & ~chosen).sum() == 0:
            raise ValueError("prune_on names every row; leave some to grow the tree from")
        return chosen[counts].astype(np.float64)

    def _check_parameters(self, prune_on: Any) -> None:
        given.one_of("conventions", self.conventions, tuple(CONVENTIONS))
        given.one_of("criterion", self.criterion, ("gain_ratio", "gain"))
        if self.pruning is not None:
            given.one_of("pruning", self.pruning, ("error_based", "reduced_error"))
        given.number("min_objects", self.min_objects, 1e-6)
        given.number("confidence", self.confidence, 1e-6, self._program().most_confident)
        if self.binary and self.subset:
            raise ValueError("binary=True and subset=True contradict each other; choose one")
        if prune_on is not None and self.pruning != "reduced_error":
            raise ValueError("prune_on is for pruning='reduced_error'; leave it out, or choose that pruning")


def _weighed(rows: Rows, share: np.ndarray) -> Rows:
    """The rows that have a share, with that much of their weight."""
    return msgspec.structs.replace(rows, weight=rows.weight * share, chosen=rows.chosen[share[rows.chosen] > 0])


def _as_mask(rows: Any, n_rows: int) -> np.ndarray:
    named = np.asarray(rows)
    if named.dtype == bool:
        if named.shape != (n_rows,):
            raise ValueError(f"prune_on is a mask of {named.size} rows; the table has {n_rows}")
        return named
    positions = named.astype(np.int64) if named.size else np.zeros(0, np.int64)
    if positions.size and not (np.array_equal(positions, named) and -n_rows <= positions.min() and positions.max() < n_rows):
        raise ValueError(f"prune_on names rows that are not there; rows go from 0 to {n_rows - 1}")
    mask = np.zeros(n_rows, bool)
    mask[positions] = True
    return mask
