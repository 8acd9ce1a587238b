"""What is believed of a single decision tree while some columns are still unknown, from the tree's own counts.

Each leaf starts with the proportion of the training weight that reaches it, so before the first answer the belief is the
class distribution of the root. The path to a leaf restricts some columns to some of their cells. An answer removes the
leaves that it contradicts and multiplies the weight of the others by P(answer | cells that the path allows), where cells are
as frequent as among the training rows. A value that is not known follows the tree's rule for missing values: surrogates, the
branch of missing values, fractions, or a stop at the node.

This is one joint distribution of leaf and cell: the beliefs after each possible answer average to the belief before it, so a
gain never exceeds the entropy of the belief.

The page does the same in JavaScript (class `TreeInterview` in `show/report/templates/scripts/ask.js`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from baytree.base.model import predict_codes
from baytree.base.predictor import Predictor
from baytree.data.schema.column import Kind
from baytree.formula.inputs import SPREAD, STOP, FormulaNode, FormulaTest
from baytree.interview.answer_cells import AnswerCells, rows_of
from baytree.interview.posterior import Known, QuestionValue, entropy

_EMPTY = 1e-12  # of its parent's weight: what a node without training rows counts, so that an answer may lead there

_SAME = 1e-12  # difference of probabilities below which leaves predict alike

_MOST_INTERVALS = 8  # of a number that are offered; of more, those of the node where the answers lead

_TINY = float(np.finfo(float).tiny)

Allowed = slice | np.ndarray

"""The cells of a column that a path allows: a range of intervals, or bool [n_cells] of levels."""


def both(one: Allowed, other: Allowed) -> Allowed:
    """The cells of a column that are in both sets."""
    if isinstance(one, slice):
        assert isinstance(other, slice)  # of intervals, too
        start = max(one.start, other.start)
        return slice(start, max(start, min(one.stop, other.stop)))
    return one & other


class TreePaths(msgspec.Struct, frozen=True):
    """A tree as an interview reads it: how each test maps cells to branches, and what the nodes have counted."""

    predictor: Predictor
    nodes: tuple[FormulaNode, ...]
    cells: tuple[AnswerCells, ...]
    frequency: tuple[np.ndarray, ...]  # of each cell among the training rows, by column: float64 [n_cells]
    reach: np.ndarray  # float64 [n_nodes], the proportion of the training weight that reaches a node
    value: np.ndarray  # float64 [n_nodes, n_classes], the class probabilities of a node

    @classmethod
    def of(cls, predictor: Predictor, cells: tuple[AnswerCells, ...], prior: np.ndarray) -> TreePaths | None:
        """The paths of a model that is a single tree; None for any other."""
        distribution = getattr(predictor.model, "node_distribution", lambda: None)()
        if distribution is None:
            return None
        nodes = predictor.model.formula(predictor.schema).trees[0]
        shares = prior / max(prior.sum(), _TINY)
        frequency = tuple(each.share @ shares if len(each) else np.zeros(0) for each in cells)
        return cls(predictor, nodes, cells, frequency, *distribution)

    def leads(self, test: FormulaTest, branch: int) -> Allowed:
        """The cells of the column of a test that lead to a branch; none lead to the branch of missing values."""
        cells = self.cells[test.column]
        if self.has_levels(test.column):
            codes = cells.point.astype(np.int64)
            return np.array([code < len(test.branches) and test.branches[code] == branch for code in codes], bool)
        cuts = np.nextafter(test.cuts, -np.inf) if test.is_strict else np.array(test.cuts)
        ends = [0, *(np.searchsorted(cells.high, cuts, "right")).tolist(), len(cells)]
        places = [place for place, leads_to in enumerate(test.branches) if leads_to == branch]
        return slice(ends[places[0]], ends[places[-1] + 1]) if places else slice(0, 0)

    def has_levels(self, column: int) -> bool:
        """Whether the cells of a column are levels, not intervals."""
        return self.predictor.schema.columns[column].kind is not Kind.NUMERIC

    def everything(self, column: int) -> Allowed:
        """All cells of a column."""
        return np.ones(len(self.cells[column]), bool) if self.has_levels(column) else slice(0, len(self.cells[column]))

    def total(self, column: int, allowed: Allowed) -> float:
        """How frequent these cells are together."""
        return float(self.frequency[column][allowed].sum())


class Leaf(msgspec.Struct):
    """A node where a row may come to rest, with its weight and the cells that its path allows, by column."""

    node: int
    weight: float
    allowed: dict[int, Allowed]


class TreeBelief:
    """The leaves that are still possible, with the interface of `belief.Imagined`."""

    def __init__(self, paths: TreePaths, answers: dict[int, Known]):
        self.paths, self.cells = paths, paths.cells
        self._answers = answers
        self._answered = {j: self._answered_cells(j, each) for j, each in answers.items() if each is not None}
        self.leaves = self._possible_leaves()

    @property
    def belief(self) -> np.ndarray:
        """The probability of each class: [n_classes]."""
        if not self._open_columns:
            return self.paths.predictor.model.predict(self._rows([Leaf(0, 1.0, {})]))[0]
        weight = np.array([leaf.weight for leaf in self.leaves])
        return weight @ self._values() / weight.sum()

    @property
    def choice(self) -> int:
        """The class that the model predicts in every leaf that is still possible, else the most probable one."""
        leaves = self.leaves if self._open_columns else [Leaf(0, 1.0, {})]
        predicted = np.unique(predict_codes(self.paths.predictor.model, self._rows(leaves)))
        return int(predicted[0]) if len(predicted) == 1 else int(np.argmax(self.belief))

    def questions(self) -> list[int]:
        """The columns of the nodes where the answers so far lead; none where the leaves below predict alike."""
        return [] if np.ptp(self._values(), axis=0).max() <= _SAME else self._open_columns

    def ask(self, column: int, among: np.ndarray) -> QuestionValue:
        """What is expected of asking for a column whose value lies in these cells: bool [n_cells]."""
        frequency = np.where(among, self.paths.frequency[column], 0.0)
        mass = np.zeros((len(among), self.paths.value.shape[1]))
        is_edge, known = np.zeros(len(among) + 1, bool), 0.0
        for leaf in self.leaves:
            allowed = leaf.allowed.get(column, slice(0, len(among)))
            total = frequency[allowed].sum()
            if total <= 0:
                continue
            known += leaf.weight
            mass[allowed] += leaf.weight / total * self.paths.value[leaf.node]
            if isinstance(allowed, slice):
                is_edge[[allowed.start, allowed.stop]] = True
        places = np.flatnonzero(among)
        mass = mass[places] * frequency[places, None]
        probability = mass.sum(axis=1) / max(mass.sum(), _TINY)
        after = mass / np.maximum(mass.sum(axis=1, keepdims=True), _TINY)
        gain = entropy(probability @ after) - float(probability @ np.array([entropy(each) for each in after]))
        part = known / sum(leaf.weight for leaf in self.leaves)
        if is_edge[places[1:]].sum() >= _MOST_INTERVALS:
            is_edge[:] = False
            is_edge[[end for span in self._open_spans(column) for end in (span.start, span.stop)]] = True
        return QuestionValue(max(gain, 0.0) * part, probability, ~is_edge[places[1:]])

    def _open_spans(self, column: int) -> list[slice]:
        """The intervals of a column that the nodes where the answers lead tell apart."""
        tests = [test for test in self._open_tests if test.column == column]
        spans = [self.paths.leads(test, branch) for test in tests for branch in {*test.branches} - {-1}]
        return [span for span in spans if isinstance(span, slice)]

    @property
    def _open_columns(self) -> list[int]:
        return sorted({test.column for test in self._open_tests})

    @cached_property
    def _open_tests(self) -> list[FormulaTest]:
        """The tests of the first nodes whose branch the answers do not decide."""
        found, waiting = [], [0]
        while waiting:
            node = self.paths.nodes[waiting.pop()]
            test, branches = self._route(node, {})
            if test is not None and len(branches) > 1:
                found.append(test)
            else:
                waiting += [node.first + branch for branch in branches]
        return found

    def _values(self) -> np.ndarray:
        return self.paths.value[[leaf.node for leaf in self.leaves]]

    def _possible_leaves(self) -> list[Leaf]:
        found, waiting = [], [Leaf(0, 1.0, {})]
        while waiting:
            leaf = waiting.pop()
            node = self.paths.nodes[leaf.node]
            test, branches = self._route(node, leaf.allowed)
            if not branches:
                found.append(leaf)
            elif test is None:
                shares = node.shares if node.missing == SPREAD else (1.0,)
                parts = zip(branches, shares, strict=True)
                waiting += [Leaf(node.first + branch, leaf.weight * part, leaf.allowed) for branch, part in parts]
            else:
                waiting += [self._child(leaf, node, test, branch) for branch in branches]
                found += self._rest(leaf, node, test)
        for leaf in found:
            leaf.weight *= self._likelihood(leaf)
        return [leaf for leaf in found if leaf.weight > 0] or found[:1]

    def _route(self, node: FormulaNode, allowed: dict[int, Allowed]) -> tuple[FormulaTest | None, list[int]]:
        """The test that decides, or will once its column is answered, and the branches that are still possible.

        Where every column is answered as not known there is no test, and the rule for missing values names the branches.
        There is no branch where a row comes to rest.
        """
        for test in node.tests:
            if test.column in self._answers and test.column not in self._answered:
                continue  # not known: the next surrogate is asked
            inside = self._answered.get(test.column, allowed.get(test.column))
            branches = sorted({*test.branches} - {-1})
            if inside is not None:
                branches = [each for each in branches if self._overlaps(test, each, inside)]
            if test.column not in self._answers and node.missing >= 0 and node.missing not in test.branches:
                branches.append(node.missing)  # the branch of missing values
            if branches:
                return test, branches
        if not node.tests or node.missing == STOP:
            return None, []
        return None, list(range(len(node.shares))) if node.missing == SPREAD else [node.missing]

    def _overlaps(self, test: FormulaTest, branch: int, inside: Allowed) -> bool:
        return self.paths.total(test.column, both(self.paths.leads(test, branch), inside)) > 0

    def _child(self, leaf: Leaf, node: FormulaNode, test: FormulaTest, branch: int) -> Leaf:
        """A child with its part of the weight, and the cells that lead to it."""
        reach, child = self.paths.reach, node.first + branch
        leads = self.paths.leads(test, branch)
        allowed = both(leads, leaf.allowed[test.column]) if test.column in leaf.allowed else leads
        part = max(reach[child] / max(reach[leaf.node], _TINY), _EMPTY)
        return Leaf(child, leaf.weight * part, {**leaf.allowed, test.column: allowed})

    def _rest(self, leaf: Leaf, node: FormulaNode, test: FormulaTest) -> list[Leaf]:
        """The node itself, where training rows without a value have stopped at it."""
        if node.missing != STOP or test.column in self._answers:
            return []
        n_branches = 1 + max(max(each.branches) for each in node.tests)
        below = self.paths.reach[node.first : node.first + n_branches].sum()
        part = 1 - below / max(self.paths.reach[leaf.node], _TINY)
        nothing = self.paths.leads(test, n_branches)
        return [Leaf(leaf.node, leaf.weight * part, {**leaf.allowed, test.column: nothing})] if part > 1e-9 else []

    def _likelihood(self, leaf: Leaf) -> float:
        """P(answers | leaf), the product over the columns that are answered."""
        product = 1.0
        for column, answered in self._answered.items():
            allowed = leaf.allowed.get(column, self.paths.everything(column))
            total = self.paths.total(column, allowed)
            inside = self.paths.total(column, both(allowed, answered))
            product *= inside / total if total > 0 else 0.0
        return product

    def _answered_cells(self, column: int, answer: float | tuple[float, float]) -> Allowed:
        """The cells that an answer names."""
        cells = self.cells[column]
        if self.paths.has_levels(column):
            return cells.point == answer
        if not isinstance(answer, tuple):
            place = cells.place(answer)
            return slice(place, place + 1)
        places = np.flatnonzero(cells.within(*answer))
        return slice(int(places[0]), int(places[-1]) + 1)

    def _rows(self, leaves: list[Leaf]) -> Any:
        """A row for each leaf: the answers, a value that its path allows where there is none, else missing."""
        columns = self.paths.predictor.schema.columns
        rows = np.array([[self._value_of(j, leaf) for j in range(len(columns))] for leaf in leaves])
        is_level = np.array([column.kind is not Kind.NUMERIC for column in columns])
        rows[:, is_level] = np.where(np.isnan(rows[:, is_level]), -1.0, rows[:, is_level])
        return rows_of(self.paths.predictor.schema, list(rows.T.copy()))

    def _value_of(self, column: int, leaf: Leaf) -> float:
        answer = self._answers.get(column)
        if isinstance(answer, float | int):
            return float(answer)
        inside = leaf.allowed.get(column)
        if isinstance(answer, tuple):
            low, high = answer
            answered = self._answered[column]
            points = self.cells[column].point[answered if inside is None else both(answered, inside)]
            return float(np.clip(points[0], np.nextafter(low, np.inf), high)) if len(points) else np.nan
        points = np.zeros(0) if inside is None or column in self._answers else self.cells[column].point[inside]
        return float(points[0]) if len(points) else np.nan
