"""Class probabilities of a single decision tree while some columns are unknown, from the tree's own counts.

Each leaf starts with the proportion of the training weight that reaches it, so before the first answer the result is the
class distribution of the root. The path to a leaf restricts some columns to some of their cells. An answer removes the
leaves that it contradicts and multiplies the weight of the others by P(answer | cells that the path allows), where cells are
as frequent as among the training rows. A value that is unknown follows the tree's rule for missing values: surrogates, the
branch of missing values, fractions, or a stop at the node.

This is one joint distribution of leaf and cell: the probabilities after each possible answer average to those before it, so
a gain never exceeds the current entropy. The page has the same algorithm in JavaScript (class `TreeInterview` in
`rendering/page/templates/scripts/ask.js`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from baytree.base.predictor import Predictor
from baytree.data.schema.column import Kind
from baytree.formula.inputs import FormulaNode, FormulaTest
from baytree.interview.answer_cells import AnswerCells, rows_of
from baytree.interview.posterior import Known, QuestionValue, entropy
from baytree.summary.tree import SPREAD, STOP

_EMPTY = 1e-12  # of its parent's weight: assumed weight of a node without training rows, so that an answer may lead there

_SAME = 1e-12  # difference of probabilities below which leaves predict the same

_MAX_INTERVALS = 8  # intervals of a number that are offered; if there are more, those of the node that the answers lead to

_TINY = float(np.finfo(float).tiny)

Allowed = slice | np.ndarray

"""The cells of a column that a path allows: a range of intervals, or bool [n_cells] of levels."""


def both(one: Allowed, other: Allowed) -> Allowed:
    """Intersection of two sets of cells of a column."""
    if isinstance(one, slice):
        assert isinstance(other, slice)  # both are intervals
        start = max(one.start, other.start)
        return slice(start, max(start, min(one.stop, other.stop)))
    return one & other


class TreePaths(msgspec.Struct, frozen=True):
    """A tree prepared for an interview: how tests map cells to branches, and the statistics of its nodes."""

    predictor: Predictor
    nodes: tuple[FormulaNode, ...]
    cells: tuple[AnswerCells, ...]
    frequency: tuple[np.ndarray, ...]  # of each cell among the training rows, by column: float64 [n_cells]
    reach: np.ndarray  # float64 [n_nodes], the proportion of the training weight that reaches a node
    value: np.ndarray  # float64 [n_nodes, n_classes], the class probabilities of a node

    @classmethod
    def of(cls, predictor: Predictor, cells: tuple[AnswerCells, ...], prior: np.ndarray) -> TreePaths | None:
        """Paths of a model that is a single tree; None for any other model."""
        distribution = getattr(predictor.model, "node_distribution", lambda: None)()
        if distribution is None:
            return None
        nodes = predictor.model.formula(predictor.schema).trees[0]
        proportions = prior / max(prior.sum(), _TINY)
        frequency = tuple(each.share @ proportions if len(each) else np.zeros(0) for each in cells)
        return cls(predictor, nodes, cells, frequency, *distribution)

    def leads(self, test: FormulaTest, branch: int) -> Allowed:
        """Cells of a test's column that lead to a branch; none lead to the branch of missing values."""
        cells = self.cells[test.column]
        if self.has_levels(test.column):
            codes = cells.point.astype(np.int64)
            return np.array([code < len(test.branches) and test.branches[code] == branch for code in codes], bool)
        cuts = np.nextafter(test.cuts, -np.inf) if test.is_strict else np.array(test.cuts)
        ends = [0, *(np.searchsorted(cells.high, cuts, "right")).tolist(), len(cells)]
        positions = [position for position, leads_to in enumerate(test.branches) if leads_to == branch]
        return slice(ends[positions[0]], ends[positions[-1] + 1]) if positions else slice(0, 0)

    def has_levels(self, column: int) -> bool:
        """Whether the cells of a column are levels, not intervals."""
        return self.predictor.schema.columns[column].kind is not Kind.NUMERIC

    def everything(self, column: int) -> Allowed:
        """All cells of a column."""
        return np.ones(len(self.cells[column]), bool) if self.has_levels(column) else slice(0, len(self.cells[column]))

    def total(self, column: int, allowed: Allowed) -> float:
        """Total frequency of these cells."""
        return float(self.frequency[column][allowed].sum())


class Leaf(msgspec.Struct):
    """A node in which a row may end, with its weight and the cells that its path allows, by column."""

    node: int
    weight: float
    allowed: dict[int, Allowed]


class TreeBelief:
    """The leaves that are consistent with the answers; same interface as `posterior.SimulatedRows`."""

    def __init__(self, paths: TreePaths, predictions: dict[int, Known]):
        self.paths, self.cells = paths, paths.cells
        self._answers = predictions
        self._answered = {j: self._answered_cells(j, each) for j, each in predictions.items() if each is not None}
        self.leaves = self._possible_leaves()

    @property
    def belief(self) -> np.ndarray:
        """Probability of each class: [n_classes]."""
        if not self._open_columns:
            return self.paths.predictor.model.predict(self._rows([Leaf(0, 1.0, {})]))[0]
        weight = np.array([leaf.weight for leaf in self.leaves])
        return weight @ self._values() / weight.sum()

    @property
    def choice(self) -> int:
        """The predicted class if it is the same in every possible leaf, else the one that the belief decides."""
        leaves = self.leaves if self._open_columns else [Leaf(0, 1.0, {})]
        predicted = np.unique(self.paths.predictor.predict_codes(self._rows(leaves)))
        return int(predicted[0]) if len(predicted) == 1 else int(self.paths.predictor.choose(self.belief))

    def questions(self) -> list[int]:
        """Columns of the nodes that the answers lead to; none if all possible leaves predict the same."""
        return [] if np.ptp(self._values(), axis=0).max() <= _SAME else self._open_columns

    def ask(self, column: int, among: np.ndarray) -> QuestionValue:
        """Value of asking for a column whose value lies in these cells: bool [n_cells]."""
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
        positions = np.flatnonzero(among)
        mass = mass[positions] * frequency[positions, None]
        probability = mass.sum(axis=1) / max(mass.sum(), _TINY)
        after = mass / np.maximum(mass.sum(axis=1, keepdims=True), _TINY)
        gain = entropy(probability @ after) - float(probability @ np.array([entropy(each) for each in after]))
        known_proportion = known / sum(leaf.weight for leaf in self.leaves)
        if is_edge[positions[1:]].sum() >= _MAX_INTERVALS:
            is_edge[:] = False
            is_edge[[end for span in self._open_spans(column) for end in (span.start, span.stop)]] = True
        return QuestionValue(max(gain, 0.0) * known_proportion, probability, ~is_edge[positions[1:]])

    def _open_spans(self, column: int) -> list[slice]:
        """Intervals of a column that the nodes reached by the answers distinguish."""
        tests = [test for test in self._open_tests if test.column == column]
        spans = [self.paths.leads(test, branch) for test in tests for branch in {*test.branches} - {-1}]
        return [span for span in spans if isinstance(span, slice)]

    @property
    def _open_columns(self) -> list[int]:
        return sorted({test.column for test in self._open_tests})

    @cached_property
    def _open_tests(self) -> list[FormulaTest]:
        """Tests of the first nodes whose branch the answers do not determine."""
        found, stack = [], [0]
        while stack:
            node = self.paths.nodes[stack.pop()]
            test, branches = self._route(node, {})
            if test is not None and len(branches) > 1:
                found.append(test)
            else:
                stack += [node.first + branch for branch in branches]
        return found

    def _values(self) -> np.ndarray:
        return self.paths.value[[leaf.node for leaf in self.leaves]]

    def _possible_leaves(self) -> list[Leaf]:
        found, stack = [], [Leaf(0, 1.0, {})]
        while stack:
            leaf = stack.pop()
            node = self.paths.nodes[leaf.node]
            test, branches = self._route(node, leaf.allowed)
            if not branches:
                found.append(leaf)
            elif test is None:
                proportions = node.shares if node.missing == SPREAD else (1.0,)
                fractions = zip(branches, proportions, strict=True)
                stack += [Leaf(node.first + branch, leaf.weight * fraction, leaf.allowed) for branch, fraction in fractions]
            else:
                stack += [self._child(leaf, node, test, branch) for branch in branches]
                found += self._rest(leaf, node, test)
        for leaf in found:
            leaf.weight *= self._likelihood(leaf)
        return [leaf for leaf in found if leaf.weight > 0] or found[:1]

    def _route(self, node: FormulaNode, allowed: dict[int, Allowed]) -> tuple[FormulaTest | None, list[int]]:
        """The test that decides or will decide once its column is answered, and the branches that are still possible.

        If every column is answered as unknown there is no test, and the rule for missing values determines the branches.
        There is no branch where a row ends.
        """
        for test in node.tests:
            if test.column in self._answers and test.column not in self._answered:
                continue  # unknown: the next surrogate is tested
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
        """Child node with its part of the weight, and the cells that lead to it."""
        reach, child = self.paths.reach, node.first + branch
        leads = self.paths.leads(test, branch)
        allowed = both(leads, leaf.allowed[test.column]) if test.column in leaf.allowed else leads
        part = max(reach[child] / max(reach[leaf.node], _TINY), _EMPTY)
        return Leaf(child, leaf.weight * part, {**leaf.allowed, test.column: allowed})

    def _rest(self, leaf: Leaf, node: FormulaNode, test: FormulaTest) -> list[Leaf]:
        """The node itself, if training rows without a value have stopped there."""
        if node.missing != STOP or test.column in self._answers:
            return []
        n_branches = 1 + max(max(each.branches) for each in node.tests)
        below = self.paths.reach[node.first : node.first + n_branches].sum()
        fraction = 1 - below / max(self.paths.reach[leaf.node], _TINY)
        no_cells = self.paths.leads(test, n_branches)
        return [Leaf(leaf.node, leaf.weight * fraction, {**leaf.allowed, test.column: no_cells})] if fraction > 1e-9 else []

    def _likelihood(self, leaf: Leaf) -> float:
        """P(answers | leaf): product over the answered columns."""
        product = 1.0
        for column, answered in self._answered.items():
            allowed = leaf.allowed.get(column, self.paths.everything(column))
            total = self.paths.total(column, allowed)
            inside = self.paths.total(column, both(allowed, answered))
            product *= inside / total if total > 0 else 0.0
        return product

    def _answered_cells(self, column: int, answer: float | tuple[float, float]) -> Allowed:
        """Cells that are consistent with an answer."""
        cells = self.cells[column]
        if self.paths.has_levels(column):
            return cells.point == answer
        if not isinstance(answer, tuple):
            position = cells.place(answer)
            return slice(position, position + 1)
        positions = np.flatnonzero(cells.within(*answer))
        return slice(int(positions[0]), int(positions[-1]) + 1)

    def _rows(self, leaves: list[Leaf]) -> Any:
        """One row per leaf: the answers, a value that the leaf's path allows for unanswered columns, else missing."""
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
