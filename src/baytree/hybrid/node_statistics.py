"""Naive Bayes statistics of the rows that reach each node of a tree, and leave-one-out losses of both kinds of leaf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.naive_bayes.events.registry import Statistic
from baytree.naive_bayes.learner import NaiveBayesLearner, leave_one_out_by_weight, leave_one_out_log_priors
from baytree.naive_bayes.statistic import NaiveBayesStatistic
from baytree.statistics.moments import Moments
from baytree.tree.model import routing
from baytree.tree.model.traversal import depths, parents
from baytree.tree.model.tree import Tree

MIN_PROBABILITY = 1e-300  # lower bound of a class probability, so that its logarithm is finite


class NodeCandidates(msgspec.Struct, frozen=True):
    """Nodes of a tree that may become naive Bayes models, and their learner."""

    tree: Tree
    node: np.ndarray  # int32 [n_models], ascending
    learner: NaiveBayesLearner

    def tables(self, table: Table) -> Iterator[tuple[int, Table]]:
        """Index of each candidate node that rows reach, with these rows; the deepest first."""
        index = np.full(len(self.tree), -1)
        index[self.node] = np.arange(len(self.node))
        for node, rows in rows_by_node(self.tree, routing.leaves(self.tree, table)):
            if index[node] >= 0:
                yield int(index[node]), table.take(rows)


class NodeStatistics(msgspec.Struct, frozen=True):
    """Naive Bayes statistic of the rows of each candidate node; additive over partitions."""

    by_node: tuple[NaiveBayesStatistic, ...]

    @classmethod
    def of(cls, table: Table, offer: NodeCandidates) -> Self:
        """Statistics of the rows of a table, by node."""
        empty = offer.learner.observe(table.rows(0, 0))
        statistics = [empty] * len(offer.node)
        for index, part in offer.tables(table):
            statistics[index] = offer.learner.observe(part)
        return cls(tuple(statistics))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(one + more for one, more in zip(self.by_node, other.by_node, strict=True)))


def drop_constant_columns(observed: NaiveBayesStatistic) -> NaiveBayesStatistic:
    """Statistic without columns that have a single level at the node: smoothed, such a column would favour the
    larger class.
    """
    pairs = [pair for pair in zip(observed.groups, observed.statistics, strict=True) if _varies(pair[1])]
    return NaiveBayesStatistic(
        tuple(group for group, _ in pairs), observed.classes, tuple(statistic for _, statistic in pairs)
    )


def _varies(statistic: Statistic) -> bool:
    weights = statistic.level_weights()
    return weights is None or bool(np.count_nonzero(weights) > 1)


def leave_one_out_losses(table: Table, offer: NodeCandidates, observed: tuple[NaiveBayesStatistic, ...]) -> Moments:
    """Sum of −log p(class | the node's other rows) per candidate node, by naive Bayes and by counts alone. [n_models, 2]

    A row of weight 2 leaves one of its two copies out. Sums are exact.
    """
    code, weight, loss = [np.zeros(0, np.int32)], [np.zeros(0)], [np.zeros((0, 2))]
    for index, part in offer.tables(table):
        code.append(np.full(len(part), index, np.int32))
        weight.append(part.weight)
        loss.append(_losses(offer.learner, part, observed[index]))
    return Moments.of(np.concatenate(loss), np.concatenate(code), np.concatenate(weight), len(offer.node))


def rows_by_node(tree: Tree, leaf: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each node that rows reach on their paths to `leaf` [n_rows], and the indices of these rows; the deepest nodes
    first.
    """
    node, depth, parent = leaf.copy(), depths(tree), parents(tree)
    for level in range(int(depth[node].max(initial=-1)), -1, -1):
        at_level = np.flatnonzero(depth[node] == level)
        order = at_level[np.argsort(node[at_level], kind="stable")]
        starts = np.flatnonzero(np.diff(node[order], prepend=-1))
        yield from zip(node[order[starts]].tolist(), np.split(order, starts[1:]), strict=True)
        node[at_level] = parent[node[at_level]]


def _losses(learner: NaiveBayesLearner, table: Table, observed: NaiveBayesStatistic) -> np.ndarray:
    """−log p of each row's class without the row, by naive Bayes and by counts. [n_rows, 2]"""
    rows, single = np.arange(len(table)), msgspec.structs.replace(table, weight=np.minimum(table.weight, 1.0))
    probability = leave_one_out_by_weight(learner, table, observed)[rows, table.label]
    log_prior = leave_one_out_log_priors(observed.classes.known()[:, 0], single, learner.estimation)[rows, table.label]
    return -np.column_stack([np.log(np.maximum(probability, MIN_PROBABILITY)), log_prior])
