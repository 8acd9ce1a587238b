"""C5.0's trees as one model: a single tree predicts by itself, several vote, each for its class with its confidence.

Also the operations on votes that trees and rules share (winner, proportions, explanations), and soft thresholds,
rounded to float32 as C5.0 prints and reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.base.model import Evidence, Explanation
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.display.terminal import quoted
from baytree.summary.tree import TreeSummary, TrialsSummary
from baytree.tree.model import routing
from baytree.tree.model.tree import C50Tree, Tree
from baytree.tree.search.c50 import prediction_counts
from baytree.uncertainty.intervals import no_interval, proportion_intervals, proportion_moments

if TYPE_CHECKING:
    from baytree.formula import Formula

PROPORTION_GRID = (
    2.0**40
)  # soft proportions are rounded to multiples of 1 / PROPORTION_GRID, so that the order of summation breaks no ties


class TreeTrials(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="tree_trials"):
    """Trees of the trials, in order."""

    trees: tuple[C50Tree, ...]
    usage: np.ndarray  # float64 [n_columns], proportion of training rows for which the column's value was read
    costs: np.ndarray | None = None  # float64 [n_classes (predicted), n_classes (true)]
    soft: tuple[np.ndarray, ...] = ()  # per tree float64 [n_nodes, 4]: low, middle, high, grid

    def predict(self, table: Table) -> np.ndarray:
        """Class probabilities, float64 [n_rows, n_classes]: smoothed leaf proportions of one tree, vote proportions of
        several.
        """
        if len(self.trees) == 1:
            return self._proportions(0, table)[1]
        return normalize_votes(self._votes(table))

    def predict_codes(self, table: Table) -> np.ndarray:
        """Class of most weight or least expected cost, int64 [n_rows]; ties go to the class of the root."""
        if len(self.trees) == 1:
            return self._choices(self._proportions(0, table)[0])
        return most_voted(self._votes(table), self.first_class)

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Intervals of the class proportions in the leaf of a single tree, [n_rows, n_classes, 2]."""
        if len(self.trees) > 1:
            raise no_interval("boosted trees have no intervals, because votes are not proportions of rows; set trials=1")
        mean, variance = proportion_moments(prediction_counts(self.trees[0])[0])
        soft = self.soft[0] if self.soft else None
        mixture = routing.mixtures(self.trees[0], table, np.column_stack([mean, variance]), soft)
        n_classes = mean.shape[1]
        return proportion_intervals(mixture[:, :n_classes], mixture[:, n_classes:], level)

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the change at each test, or the votes."""
        if len(self.trees) == 1:
            return routing.explained(self.trees[0], table, self.predict(table))
        trials = [self._trial(k, table) for k in range(len(self.trees))]
        return vote_explanations(
            table, named_trials(table, trials), normalize_votes(np.sum([votes for votes, _ in trials], axis=0))
        )

    def formula(self, schema: Schema) -> Formula:
        """The trees as an expression of the raw columns."""
        from baytree.tree.boosting.formula import tree_trials

        return tree_trials(self, schema)

    def node_distribution(self) -> tuple[np.ndarray, np.ndarray] | None:
        """`Tree.node_distribution` of a single tree with sharp thresholds; else None."""
        if len(self.trees) > 1 or self.soft:
            return None
        counts, weight = prediction_counts(self.trees[0])
        smooth = (counts + prior(self.trees[0])) / (weight + 1.0)[:, None]
        return self.trees[0].weight / self.trees[0].weight[0], smooth / smooth.sum(axis=1, keepdims=True)

    def summary(self, schema: Schema) -> TreeSummary | TrialsSummary:
        """Summary record of the trees, one by one."""
        summaries = tuple(tree.summary(schema) for tree in self.trees)
        return summaries[0] if len(summaries) == 1 else TrialsSummary(schema.target.name, summaries)

    def check(self, schema: Schema) -> None:
        """Raise an error unless every tree fits the schema, and every array the trees."""
        n = len(schema.classes)
        for tree in self.trees:
            tree.check(schema)
        if not self.trees or self.usage.shape != (len(schema),):
            raise ValueError("the model has no tree, or its columns do not fit the schema")
        if self.costs is not None and self.costs.shape != (n, n):
            raise ValueError("the cost matrix does not fit the classes")
        if self.soft and [bounds.shape for bounds in self.soft] != [(len(tree), 4) for tree in self.trees]:
            raise ValueError("the bounds of soft thresholds do not fit the trees")

    @property
    def title(self) -> str:
        """Name of the kind of model."""
        return "decision tree" if len(self.trees) == 1 else f"{len(self.trees)} boosted decision trees"

    @property
    def first_class(self) -> int:
        """Class of the root, which wins ties."""
        return int(self.trees[0].prediction[0])

    def _votes(self, table: Table) -> np.ndarray:
        return np.sum([self._trial(k, table)[0] for k in range(len(self.trees))], axis=0)

    def _trial(self, k: int, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Votes of tree k, float64 [n_rows, n_classes], and its predicted classes, int64 [n_rows]."""
        plain, smooth = self._proportions(k, table)
        choice = self._choices(plain, int(self.trees[k].prediction[0]))
        return confidence_votes(choice, self._confidence(plain, smooth, choice), plain.shape[1]), choice

    def _confidence(self, plain: np.ndarray, smooth: np.ndarray, choice: np.ndarray) -> np.ndarray:
        rows = np.arange(len(choice))
        if self.costs is None:
            return smooth[rows, choice]
        expected = plain @ self.costs.T
        total = expected.sum(axis=1)
        return 1.0 - np.divide(expected[rows, choice], total, out=np.zeros(len(total)), where=total > 0)

    def _proportions(self, k: int, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Class proportions of each row's leaf, plain and smoothed by one row, float64 [n_rows, n_classes] each."""
        tree = self.trees[k]
        mixture = routing.mixtures(tree, table, node_proportions(tree), self.soft[k] if self.soft else None)
        plain, weight = mixture[:, :-1], mixture[:, -1:]
        smooth = (weight * plain + prior(tree)) / (weight + 1.0)
        return plain, smooth / smooth.sum(axis=1, keepdims=True)

    def _choices(self, plain: np.ndarray, first: int | None = None) -> np.ndarray:
        plain = np.rint(plain * PROPORTION_GRID) if self.soft else plain
        if self.costs is None:
            return most_voted(plain, self.first_class if first is None else first)
        return np.argmin(np.where(plain > 0, plain @ self.costs.T, np.inf), axis=1)


def node_proportions(tree: Tree) -> np.ndarray:
    """Class proportions by which each node predicts, and their weight, float64 [n_nodes, n_classes + 1]."""
    counts, weight = prediction_counts(tree)
    return np.column_stack([counts / weight[:, None], weight])


def prior(tree: Tree) -> np.ndarray:
    """Class proportions of all rows, float64 [n_classes]."""
    counts, weight = prediction_counts(tree)
    return counts[0] / weight[0]


def confidence_votes(choice: np.ndarray, confidence: np.ndarray, n_classes: int) -> np.ndarray:
    """Each row's confidence in its predicted class, 0 for others, float64 [n_rows, n_classes]."""
    votes = np.zeros((len(choice), n_classes))
    votes[np.arange(len(choice)), choice] = confidence
    return votes


def most_voted(votes: np.ndarray, first: int) -> np.ndarray:
    """Class of most votes, int64 [n_rows]; `first` unless another has more."""
    return np.where(votes.max(axis=1) > votes[:, first], np.argmax(votes, axis=1), first)


def normalize_votes(votes: np.ndarray) -> np.ndarray:
    """Votes divided by their sum, float64 [n_rows, n_classes]."""
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full(votes.shape, 1.0 / votes.shape[1]), where=total > 0)


VoterLines = list[tuple[str, list[str], np.ndarray]]  # of each voter: its name, its statement on each row, its votes


def named_trials(table: Table, trials: Sequence[tuple[np.ndarray, np.ndarray]]) -> VoterLines:
    """Trials by number, with the class that each votes for."""
    classes = [quoted(label) for label in table.schema.classes]
    return [(f"trial {k}", [classes[code] for code in choice], votes) for k, (votes, choice) in enumerate(trials, 1)]


def vote_explanations(table: Table, lines: VoterLines, probability: np.ndarray) -> list[Explanation]:
    """One explanation per row: who voted, for what, and how much; voters without a vote are left out."""
    classes, start = tuple(table.schema.classes), np.zeros(probability.shape[1])
    return [
        Explanation(classes, start, tuple(_votes_of_row(lines, row)), probability[row], "votes")
        for row in range(len(probability))
    ]


def _votes_of_row(lines: VoterLines, row: int) -> list[Evidence]:
    return [Evidence(name, statements[row], votes[row]) for name, statements, votes in lines if votes[row].any()]


def soft_thresholds(low: np.ndarray, threshold: np.ndarray, high: np.ndarray, is_inner: np.ndarray) -> np.ndarray:
    """Low bound, middle, high bound and rounding grid of soft thresholds, float64 [n_nodes, 4]; zeros at other nodes."""
    soft = np.zeros((len(threshold), 4))
    for node in np.flatnonzero(is_inner & np.isfinite(threshold)):
        soft[node] = _soft_threshold(float(low[node]), float(threshold[node]), float(high[node]))
    return soft


def _soft_threshold(low: float, threshold: float, high: float) -> tuple[float, float, float, float]:
    """Bounds to seven digits, the middle to eight, and the spacing of float32 numbers at the low bound.

    A number that equals the low bound must still do so after rounding, because the middle may coincide with it.
    """
    bounds = [_round_to_float32(low, 7), _round_to_float32(threshold, 8), _round_to_float32(high, 7)]
    if not np.isfinite(bounds).all() or not bounds[0] <= bounds[1] <= bounds[2]:
        return low, threshold, high, 0.0  # float32 cannot represent them
    return bounds[0], bounds[1], bounds[2], float(np.spacing(np.float32(abs(bounds[0]))))


def _round_to_float32(value: float, digits: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(f"{value:.{digits}g}"))
