"""Forward pass of MARS (Friedman 1991): add the linear term or pair of mirrored hinges that reduces RSS most, as long as it
helps.

The core (`KnotSearch`) finds the best knot of a (parent, column) pair; this module decides the order of candidates, the
winner and when to stop. Results do not depend on the number of threads: pairs are searched independently and compared in the
order of parents, then columns. `ParentQueue` is Fast MARS (Friedman 1993): which terms are tried as parents in the next
step. Rules and constants reproduce R's earth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from baytree import _core
from baytree.linear.mars.features import MarsOptions, SplineRows, rest_of, spans_of, standard_responses
from baytree.linear.mars.model import FALLING, LINEAR, RISING, Hinge, Term
from baytree.parallel.threads import free, map_ordered

_TIE_TOLERANCE = 1e-10  # a candidate must be better by this relative margin, or the last bit would decide ties

_MIN_NEW_NORM = 0.01  # minimum squared norm of the new part of a linear term, in the units of the column

# minimum new proportion of a hinge, below and from `_MANY_COLUMNS` columns
_MIN_NEW_PROPORTION, _MIN_NEW_PROPORTION_MANY, _MANY_COLUMNS = 0.01, 1e-5, 15

_MIN_NEW_PROPORTION_WEIGHTED, _MIN_LEAD_WEIGHTED = 1e-10, 1e-10

_ROUNDING_TOLERANCE = 1e-10  # smaller sums of squares and gains are rounding error and count as 0

_MAX_CACHE_BYTES = 1 << 30  # bytes that the search may cache between steps

_MAX_WORK_PER_CALL = 1 << 21  # rows × columns × parents per call, so that Ctrl-C is answered soon

_DEPENDENCE_TOLERANCE = 1e-8  # squared norm of the new part of a column, relative to the column; less is a dependent one


@dataclass(frozen=True)
class BestTerm:
    """Winner of a step: a column multiplied with a parent term, as a linear term or with a knot."""

    gain: float
    parent: int  # slot of the parent term
    feature: int
    rank: int  # rank of the knot; -1 for a linear term
    has_mirror: bool  # whether the last knot in the lead has a mirror; a linear term written as a hinge inherits it


def grow(rows: SplineRows, options: MarsOptions) -> list[Term]:
    """Terms in the order in which they were added, the constant first, without linearly dependent ones."""
    if options.slots(len(rows.x)) < 3 or not len(rows.x) or rows.n_rows < 2:
        return [()]
    growth = _Growth(rows, options)
    while growth.step():
        pass
    return growth.independent()


class _Growth:
    """State of the forward pass. Arrays indexed by slot; slots without a term stay unused."""

    def __init__(self, rows: SplineRows, options: MarsOptions) -> None:
        self.rows, self.options = rows, options
        self.most = options.slots(len(rows.x))
        self.root = rows.root
        self.y = standard_responses(rows)
        self.null = self.rss = max(float(np.square(self.y).sum()), 1e-8 * rows.n_rows)
        self.last = self.null  # gain of the previous step
        self.terms: dict[int, Term] = {0: ()}  # by slots
        self.columns = np.empty((self.most + 2, rows.n_rows))  # by slots
        self.is_free = np.ones((self.most + 2, len(rows.x)), np.uint8)  # by slot: which features a term does not contain yet
        self.spans = np.zeros((self.most + 2, 3), np.int64)  # by slots
        self.used, self.n_terms = 1, 1
        self.queue = ParentQueue(options.fast_k, options.fast_beta)
        self.search = _core.KnotSearch(rows.x, self.y, self.most + 2, rows.weight is None, _MAX_CACHE_BYTES, free())
        self._put(0, (), self.root)

    def step(self) -> bool:
        """Add the best term or pair; False if the pass ends."""
        found = self._best()
        if found is None:
            return False
        is_linear = found.rank < 0
        new_terms = self._terms(found)
        n_terms = self.n_terms + (1 if is_linear else len(new_terms))
        gain = found.gain / self.null
        rss = self.rss - found.gain
        rss = 0.0 if abs(rss) < _ROUNDING_TOLERANCE else rss
        gain = 0.0 if abs(gain) < _ROUNDING_TOLERANCE else gain
        threshold, n = self.options.threshold, self.rows.n_rows
        grsq = 1 - self.options.gcv(rss, n_terms, n) / self.options.gcv(self.null, 1, n)
        if threshold and (gain < threshold or grsq < -10):
            return False
        self._take(new_terms)
        self.rss, self.last, self.n_terms = rss, found.gain, n_terms
        return 1 - rss / self.null < 1 - threshold and self.used < self.most - 1

    def independent(self) -> list[Term]:
        """Terms whose columns are not linearly dependent on those before them."""
        independent: list[Term] = []
        basis = np.empty((len(self.terms), self.rows.n_rows))
        for slot, term in sorted(self.terms.items()):
            column = self.columns[slot]
            residual = rest_of(column, basis[: len(independent)])
            norm, new_norm = np.sqrt(column @ column), np.sqrt(residual @ residual)
            if new_norm > _DEPENDENCE_TOLERANCE * norm:
                basis[len(independent)] = residual / new_norm
                independent.append(term)
        return independent

    def _best(self) -> BestTerm | None:
        """Winner among all pairs of a parent and a column; records the best gain of each parent in the queue."""
        parents = [slot for slot in self.queue.parents() if self._may_grow(slot)]
        if not parents:
            return None
        is_tried = np.ascontiguousarray(self.is_free[parents].T)  # [n_features, n_parents]
        margin = 1 if self.rows.weight is not None else 1 + _TIE_TOLERANCE
        best, gain, k, *winner = _core.leading_candidate(*self._candidates(parents, is_tried), is_tried, margin)
        for slot, value in zip(parents, best.tolist(), strict=True):
            self.queue.tried(slot, value, self.used)
        return BestTerm(gain, parents[k], *winner) if gain > 0 else None

    def _may_grow(self, slot: int) -> bool:
        return slot in self.terms and len(self.terms[slot]) < self.options.max_degree

    def _candidates(self, parents: list[int], is_tried: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, p = self.rows.n_rows, len(self.rows.x)
        request = np.array(parents, np.int32), self.columns[parents], is_tried, self.spans[parents], self._rules()
        n_pieces = min(p, max(1, n * p * len(parents) // _MAX_WORK_PER_CALL))
        if n_pieces == 1:
            return self.search.search(0, p, *request)
        bounds = [p * k // n_pieces for k in range(n_pieces + 1)]
        results = map_ordered(lambda k: self.search.search(bounds[k], bounds[k + 1], *request), range(n_pieces))
        gains, rank, has_line = zip(*results, strict=True)
        return np.concatenate(gains, axis=1), np.concatenate(rank), np.concatenate(has_line)

    def _spans(self, term: Term, column: np.ndarray) -> tuple[int, int, int]:
        """Spans of the knots of a term's children."""
        n_support = int(np.count_nonzero(column > 0))
        spans = spans_of(self.options, self.rows.n_rows, len(self.rows.x), n_support, len(term) + 1)
        return spans.end, spans.first, spans.step

    def _rules(self) -> np.ndarray:
        """Thresholds for candidates of this step, in the order in which the core reads them."""
        if self.rows.weight is not None:
            return np.array(
                [_MIN_NEW_NORM, _MIN_NEW_PROPORTION_WEIGHTED, _MIN_NEW_PROPORTION_WEIGHTED, 0.0, _MIN_LEAD_WEIGHTED, np.inf]
            )
        new_form_tolerance = _MIN_NEW_PROPORTION if self.used + 1 < _MANY_COLUMNS else _MIN_NEW_PROPORTION_MANY
        tolerance = _MIN_NEW_PROPORTION if self.used < _MANY_COLUMNS else _MIN_NEW_PROPORTION_MANY
        return np.array(
            [_MIN_NEW_NORM, new_form_tolerance, tolerance, _TIE_TOLERANCE, 0.0, min(1.01 * self.rss, 10 * self.last)]
        )

    def _terms(self, found: BestTerm) -> list[tuple[Term, np.ndarray]]:
        """New terms and their columns."""
        x, parent, j = self.rows.x[found.feature], found.parent, found.feature
        if found.rank < 0 and self.options.auto_linear:
            hinges = [Hinge(j, LINEAR)]
        else:
            cut = self.search.value(j, max(found.rank, 0))
            hinges = [Hinge(j, RISING, cut), Hinge(j, FALLING, cut)][: 1 + found.has_mirror]
        new_terms: list[tuple[Term, np.ndarray]] = [
            ((*self.terms[parent], hinge), self.columns[parent] * hinge.of(x)) for hinge in hinges
        ]
        return new_terms if self.rows.weight is None or len(new_terms) < 2 or self._has_new(new_terms) else new_terms[:1]

    def _has_new(self, pair: list[tuple[Term, np.ndarray]]) -> bool:
        """Whether, with weights, the mirror has a large enough part that is new beside its hinge, the terms and a
        constant.
        """
        earlier = [np.ones(self.rows.n_rows), *(self.columns[slot] for slot in sorted(self.terms) if slot), pair[0][1]]
        residual = rest_of(pair[1][1], np.linalg.qr(np.stack(earlier, axis=1))[0].T)
        return float(residual @ residual) > _MIN_NEW_NORM

    def _take(self, pair: list[tuple[Term, np.ndarray]]) -> None:
        for k, (term, column) in enumerate(pair):
            self._put(self.used + k, term, column)
        self.queue.append(len(pair), self.used)
        self.used += 2

    def _put(self, slot: int, term: Term, column: np.ndarray) -> None:
        self.terms[slot], self.columns[slot], self.spans[slot] = term, column, self._spans(term, column)
        self.is_free[slot, [hinge.feature for hinge in term]] = 0
        self.search.add(column)


_MIN_PARENTS = 3  # minimum number of parents that are tried


@dataclass
class QueueEntry:
    """Entry of the queue: best gain of its slot when it was last tried, and the first slot of that step."""

    value: float
    stamp: int


class ParentQueue:
    """Priority queue of parents by their last gain; parents not tried recently sink by `beta` per slot since then.

    Entry k stands for slot k. A step that adds one term uses two slots but appends one entry, so the newest terms may have
    to wait and slots without a term may be returned. earth behaves like this, and its models depend on it.
    """

    def __init__(self, fast_k: int, beta: float) -> None:
        self.most = max(fast_k, _MIN_PARENTS) if fast_k else None
        self.beta = beta
        self.entries = [QueueEntry(math.inf, 0)]

    def append(self, n_terms: int, slot: int) -> None:
        """Add new terms, which are tried before all others."""
        self.entries += [QueueEntry(math.inf, slot) for _ in range(n_terms)]

    def tried(self, slot: int, value: float, at: int) -> None:
        """Record the best gain of a parent."""
        self.entries[slot] = QueueEntry(value, at)

    def parents(self) -> list[int]:
        """Slots to be tried, best first."""
        entries = self.entries
        by_value = sorted(range(len(entries)), key=lambda k: (-entries[k].value, k))
        priority = {k: rank - self.beta * entries[k].stamp for rank, k in enumerate(by_value)}
        return sorted(by_value, key=lambda k: (priority[k], -entries[k].value, k))[: self.most]
