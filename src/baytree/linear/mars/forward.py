"""The forward pass: terms are added, a hinge and its mirror at a time, as long as they explain more.

What a candidate is worth is found by the core (`KnotSearch`); here is in which order candidates come, which one is taken
and when to stop. The same table gives the same terms whatever the number of threads: each pair of a parent and a column is
searched by itself, and the pairs are compared in the order of parents, then columns.

Fast MARS (Friedman 1993): which terms are tried as parents at the next step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from baytree import _core
from baytree.linear.mars.features import MarsOptions, SplineRows, rest_of, spans_of, standard_responses
from baytree.linear.mars.model import FALLING, LINEAR, RISING, Hinge, Term
from baytree.parallel.threads import free, map_ordered

_TIE = 1e-10  # a candidate must be better by this share, lest the last bit decide

_NEW_LINE = 0.01  # squared length of what is new in a line, in the units of the column

_TOLERANCE, _CROWDED, _MANY = (
    0.01,
    1e-5,
    15,
)  # share of a hinge that must be new, with fewer columns than that, and from there

_WEIGHTED_TOLERANCE, _LEAD = 1e-10, 1e-10

_NOTHING = 1e-10

_MEMORY = 1 << 30  # bytes that the search may keep between steps

_PIECE = 1 << 21  # rows times parents of one call, so that Ctrl-C is answered soon

_DEPENDENT = 1e-8


@dataclass(frozen=True)
class BestTerm:
    """The winner of a step: a column beside a parent, as a line or with a knot."""

    gain: float
    parent: int  # a slot
    feature: int
    rank: int  # of the knot; -1 for a line
    has_mirror: bool  # whether the last knot that led has a mirror; a line as a hinge takes after it


def grow(rows: SplineRows, options: MarsOptions) -> list[Term]:
    """The terms in the order in which they came, the constant first, without those that earlier ones determine."""
    if options.slots(len(rows.x)) < 3 or not len(rows.x) or rows.n_rows < 2:
        return [()]
    growth = _Growth(rows, options)
    while growth.step():
        pass
    return growth.independent()


class _Growth:
    def __init__(self, rows: SplineRows, options: MarsOptions) -> None:
        self.rows, self.options = rows, options
        self.most = options.slots(len(rows.x))
        self.root = rows.root
        self.y = standard_responses(rows)
        self.null = self.rss = max(float(np.square(self.y).sum()), 1e-8 * rows.n_rows)
        self.last = self.null  # gain of the last step
        self.terms: dict[int, Term] = {0: ()}  # by slots
        self.columns = np.empty((self.most + 2, rows.n_rows))  # by slots
        self.is_free = np.ones((self.most + 2, len(rows.x)), np.uint8)  # by slots, which features a term does not have yet
        self.spans = np.zeros((self.most + 2, 3), np.int64)  # by slots
        self.used, self.n_terms = 1, 1
        self.queue = ParentQueue(options.fast_k, options.fast_beta)
        self.search = _core.KnotSearch(rows.x, self.y, self.most + 2, rows.weight is None, _MEMORY, free())
        self._put(0, (), self.root)

    def step(self) -> bool:
        """Adds the best term or pair; false where the pass ends."""
        found = self._best()
        if found is None:
            return False
        is_line = found.rank < 0
        pair = self._terms(found)
        n_terms = self.n_terms + (1 if is_line else len(pair))
        gain = found.gain / self.null
        rss = self.rss - found.gain
        rss = 0.0 if abs(rss) < _NOTHING else rss
        gain = 0.0 if abs(gain) < _NOTHING else gain
        threshold, n = self.options.threshold, self.rows.n_rows
        relative = 1 - self.options.gcv(rss, n_terms, n) / self.options.gcv(self.null, 1, n)
        if threshold and (gain < threshold or relative < -10):
            return False
        self._take(pair)
        self.rss, self.last, self.n_terms = rss, found.gain, n_terms
        return 1 - rss / self.null < 1 - threshold and self.used < self.most - 1

    def independent(self) -> list[Term]:
        """The terms whose columns are not determined by those before them."""
        kept: list[Term] = []
        basis = np.empty((len(self.terms), self.rows.n_rows))
        for slot, term in sorted(self.terms.items()):
            column = self.columns[slot]
            rest = rest_of(column, basis[: len(kept)])
            own, new = np.sqrt(column @ column), np.sqrt(rest @ rest)
            if new > _DEPENDENT * own:
                basis[len(kept)] = rest / new
                kept.append(term)
        return kept

    def _best(self) -> BestTerm | None:
        """The winner among all pairs of a parent and a column; the queue is told what each parent gave."""
        parents = [slot for slot in self.queue.parents() if self._may_grow(slot)]
        if not parents:
            return None
        is_tried = np.ascontiguousarray(self.is_free[parents].T)  # [n_features, n_parents]
        share = 1 if self.rows.weight is not None else 1 + _TIE
        best, gain, k, *winner = _core.leading_candidate(*self._candidates(parents, is_tried), is_tried, share)
        for slot, value in zip(parents, best.tolist(), strict=True):
            self.queue.tried(slot, value, self.used)
        return BestTerm(gain, parents[k], *winner) if gain > 0 else None

    def _may_grow(self, slot: int) -> bool:
        return slot in self.terms and len(self.terms[slot]) < self.options.max_degree

    def _candidates(self, parents: list[int], is_tried: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, p = self.rows.n_rows, len(self.rows.x)
        asked = np.array(parents, np.int32), self.columns[parents], is_tried, self.spans[parents], self._rules()
        n_pieces = min(p, max(1, n * p * len(parents) // _PIECE))
        if n_pieces == 1:
            return self.search.search(0, p, *asked)
        ends = [p * k // n_pieces for k in range(n_pieces + 1)]
        done = map_ordered(lambda k: self.search.search(ends[k], ends[k + 1], *asked), range(n_pieces))
        gains, rank, has_line = zip(*done, strict=True)
        return np.concatenate(gains, axis=1), np.concatenate(rank), np.concatenate(has_line)

    def _spans(self, term: Term, column: np.ndarray) -> tuple[int, int, int]:
        """Where the knots of a term's children may lie."""
        n_support = int(np.count_nonzero(column > 0))
        spans = spans_of(self.options, self.rows.n_rows, len(self.rows.x), n_support, len(term) + 1)
        return spans.end, spans.first, spans.step

    def _rules(self) -> np.ndarray:
        """What this step asks of candidates, as the core reads it."""
        if self.rows.weight is not None:
            return np.array([_NEW_LINE, _WEIGHTED_TOLERANCE, _WEIGHTED_TOLERANCE, 0.0, _LEAD, np.inf])
        beside = _TOLERANCE if self.used + 1 < _MANY else _CROWDED
        alone = _TOLERANCE if self.used < _MANY else _CROWDED
        return np.array([_NEW_LINE, beside, alone, _TIE, 0.0, min(1.01 * self.rss, 10 * self.last)])

    def _terms(self, found: BestTerm) -> list[tuple[Term, np.ndarray]]:
        """The new terms and their columns."""
        x, parent, j = self.rows.x[found.feature], found.parent, found.feature
        if found.rank < 0 and self.options.auto_linear:
            hinges = [Hinge(j, LINEAR)]
        else:
            cut = self.search.value(j, max(found.rank, 0))
            hinges = [Hinge(j, RISING, cut), Hinge(j, FALLING, cut)][: 1 + found.has_mirror]
        pair: list[tuple[Term, np.ndarray]] = [
            ((*self.terms[parent], hinge), self.columns[parent] * hinge.of(x)) for hinge in hinges
        ]
        return pair if self.rows.weight is None or len(pair) < 2 or self._has_new(pair) else pair[:1]

    def _has_new(self, pair: list[tuple[Term, np.ndarray]]) -> bool:
        """Whether a weighted mirror is long enough beside its hinge, the terms and a constant."""
        before = [np.ones(self.rows.n_rows), *(self.columns[slot] for slot in sorted(self.terms) if slot), pair[0][1]]
        rest = rest_of(pair[1][1], np.linalg.qr(np.stack(before, axis=1))[0].T)
        return float(rest @ rest) > _NEW_LINE

    def _take(self, pair: list[tuple[Term, np.ndarray]]) -> None:
        for k, (term, column) in enumerate(pair):
            self._put(self.used + k, term, column)
        self.queue.append(len(pair), self.used)
        self.used += 2

    def _put(self, slot: int, term: Term, column: np.ndarray) -> None:
        self.terms[slot], self.columns[slot], self.spans[slot] = term, column, self._spans(term, column)
        self.is_free[slot, [hinge.feature for hinge in term]] = 0
        self.search.add(column)


_LEAST = 3  # parents that are tried in any case


@dataclass
class QueueEntry:
    """A place of the queue: the best gain that its slot gave when it was last tried, and at which slot that was."""

    value: float
    stamp: int


class ParentQueue:
    """Parents by their last gains; those that were not tried for long sink by `beta` for each slot since.

    The k-th entry stands for slot k. A step of one term takes two slots and one entry, so that the newest terms may have to
    wait, and slots without a term may be named: that is how earth does it, and its models depend on it.
    """

    def __init__(self, fast_k: int, beta: float) -> None:
        self.most = max(fast_k, _LEAST) if fast_k else None
        self.beta = beta
        self.entries = [QueueEntry(math.inf, 0)]

    def append(self, n_terms: int, slot: int) -> None:
        """New terms, which are tried before all others."""
        self.entries += [QueueEntry(math.inf, slot) for _ in range(n_terms)]

    def tried(self, slot: int, value: float, at: int) -> None:
        """Keeps what a parent gave."""
        self.entries[slot] = QueueEntry(value, at)

    def parents(self) -> list[int]:
        """The slots to be tried, the best first."""
        entries = self.entries
        by_value = sorted(range(len(entries)), key=lambda k: (-entries[k].value, k))
        late = {k: rank - self.beta * entries[k].stamp for rank, k in enumerate(by_value)}
        return sorted(by_value, key=lambda k: (late[k], -entries[k].value, k))[: self.most]
