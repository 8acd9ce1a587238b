"""Which rows reach which nodes of a tree, and what naive Bayes sees of them and would have said of each without it."""

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

LEAST_PROBABILITY = 1e-300  # of a class: what rounds to 0 has a logarithm too


class NodeCandidates(msgspec.Struct, frozen=True):
    """The nodes of a tree that may be naive Bayes models, and the learner of these."""

    tree: Tree
    node: np.ndarray  # int32 [n_models], ascending
    learner: NaiveBayesLearner

    def tables(self, table: Table) -> Iterator[tuple[int, Table]]:
        """The place of each offered node that rows reach, and these rows; the deepest first."""
        place = np.full(len(self.tree), -1)
        place[self.node] = np.arange(len(self.node))
        for node, rows in reached(self.tree, routing.leaves(self.tree, table)):
            if place[node] >= 0:
                yield int(place[node]), table.take(rows)


class NodeStatistics(msgspec.Struct, frozen=True):
    """What naive Bayes keeps of the rows of each offered node; those of parts add up."""

    seen: tuple[NaiveBayesStatistic, ...]

    @classmethod
    def of(cls, table: Table, offer: NodeCandidates) -> Self:
        """The statistics of the rows of a table, node by node."""
        nothing = offer.learner.observe(table.rows(0, 0))
        found = [nothing] * len(offer.node)
        for place, part in offer.tables(table):
            found[place] = offer.learner.observe(part)
        return cls(tuple(found))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(one + more for one, more in zip(self.seen, other.seen, strict=True)))


def telling(seen: NaiveBayesStatistic) -> NaiveBayesStatistic:
    """Without the columns that have one level at a node: smoothed, it would speak for the class that has more rows."""
    pairs = [pair for pair in zip(seen.groups, seen.statistics, strict=True) if _varies(pair[1])]
    return NaiveBayesStatistic(tuple(group for group, _ in pairs), seen.classes, tuple(statistic for _, statistic in pairs))


def _varies(statistic: Statistic) -> bool:
    weights = statistic.level_weights()
    return weights is None or bool(np.count_nonzero(weights) > 1)


def left_out_losses(table: Table, offer: NodeCandidates, seen: tuple[NaiveBayesStatistic, ...]) -> Moments:
    """−log p(class of a row | the node's other rows), summed up for each node: by naive Bayes, and by the counts alone.

    A row that stands for several leaves one of them out, so that weight 2 is the row twice. Sums are exact. [n_models, 2]
    """
    code, weight, loss = [np.zeros(0, np.int32)], [np.zeros(0)], [np.zeros((0, 2))]
    for place, part in offer.tables(table):
        code.append(np.full(len(part), place, np.int32))
        weight.append(part.weight)
        loss.append(_losses(offer.learner, part, seen[place]))
    return Moments.of(np.concatenate(loss), np.concatenate(code), np.concatenate(weight), len(offer.node))


def reached(tree: Tree, leaf: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each node that rows reach on their way to a leaf [n_rows], and the places of these rows; the deepest nodes first."""
    at, depth, above = leaf.copy(), depths(tree), parents(tree)
    for level in range(int(depth[at].max(initial=-1)), -1, -1):
        here = np.flatnonzero(depth[at] == level)
        order = here[np.argsort(at[here], kind="stable")]
        starts = np.flatnonzero(np.diff(at[order], prepend=-1))
        yield from zip(at[order[starts]].tolist(), np.split(order, starts[1:]), strict=True)
        at[here] = above[at[here]]


def _losses(learner: NaiveBayesLearner, table: Table, seen: NaiveBayesStatistic) -> np.ndarray:
    """−log p of each row's class without the row: by naive Bayes, and by the counts. [n_rows, 2]"""
    own, once = np.arange(len(table)), msgspec.structs.replace(table, weight=np.minimum(table.weight, 1.0))
    shares = leave_one_out_by_weight(learner, table, seen)[own, table.label]
    counted = leave_one_out_log_priors(seen.classes.known()[:, 0], once, learner.estimation)[own, table.label]
    return -np.column_stack([np.log(np.maximum(shares, LEAST_PROBABILITY)), counted])
