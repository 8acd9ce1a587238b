"""The learner of trees with naive Bayes leaves: a tree is grown, and at every node the rows say what its leaf should be.

A leaf answers with the counts of its classes or with naive Bayes. How much better naive Bayes tells the classes of a node's
rows, each by all the others, is its pseudo-Bayes factor (Geisser and Eddy 1979), which leave-one-out gives by subtraction.
Then all prunings are averaged, with both kinds of leaf at every node.
"""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree.bayes.learner import NaiveBayesLearner
from baytree.bayes.seen import Seen
from baytree.engine.parts import Parts
from baytree.engine.rounds.number_of_rows import as_rows
from baytree.hybrid.model import BayesTree
from baytree.hybrid.offered_nodes import NodesSeen, Offer, left_out_losses, telling
from baytree.learner import Learnt
from baytree.table.schema import Schema
from baytree.tree.grow.costs import equal_costs
from baytree.tree.learner import TreeLearner
from baytree.tree.model.mixing import stopped_and_split
from baytree.tree.model.structure import Tree
from baytree.tree.prune.all_prunings import VaryingColumns, averaged
from baytree.tree.prune.cost_complexity import kept, places_kept

IS_BAYES = 0.1  # the probability that a leaf is a naive Bayes model, before any row is seen
LEAST_SHARE = 0.01  # of an answer: splits and naive Bayes models that count for less are left out


class NBTreeLearner(msgspec.Struct, frozen=True):
    """A tree, the naive Bayes of its nodes, and the weight that a node needs for one."""

    tree: TreeLearner
    bayes: NaiveBayesLearner
    min_bayes: float

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows, averaged over its prunings and the two kinds of leaf."""
        rows = as_rows(rows)
        tree = self.tree.grown(rows)
        offer = Offer(tree, self._offered(tree), self.bayes)
        n_columns = rows.total(VaryingColumns.of, rows_per_part=None).count
        if not len(offer.node):
            return Learnt(_averaged(offer, (), np.zeros(0), rows.schema, n_columns))
        total = rows.total(partial(NodesSeen.of, offer=offer), rows_per_part=None)
        seen = tuple(map(telling, total.seen))
        loss = rows.total(partial(left_out_losses, offer=offer, seen=seen), rows_per_part=None).total.rounded()
        return Learnt(_averaged(offer, seen, loss[:, 1] - loss[:, 0], rows.schema, n_columns))

    def _offered(self, tree: Tree) -> np.ndarray:
        """The nodes with weight enough, and something to tell apart."""
        is_mixed = np.count_nonzero(tree.counts, axis=1) > 1
        return np.flatnonzero(is_mixed & (tree.weight >= self.min_bayes)).astype(np.int32)


def _averaged(offer: Offer, seen: tuple[Seen, ...], log_factor: np.ndarray, schema: Schema, n_columns: int) -> BayesTree:
    """The model, from how much better naive Bayes does at each offered node, in logarithms [n_models]."""
    log_odds = np.log(IS_BAYES) - np.log1p(-IS_BAYES) + log_factor
    more = np.zeros(len(offer.tree))
    more[offer.node] = np.log1p(-IS_BAYES) + np.logaddexp(0.0, log_odds)
    tree, place = _probable(offer.tree, more, n_columns)
    chosen = np.exp(-np.logaddexp(0.0, -log_odds))
    is_kept = place[offer.node] >= 0
    is_kept[is_kept] = stopped_and_split(tree)[0][place[offer.node[is_kept]]] * chosen[is_kept] >= LEAST_SHARE
    models = tuple(offer.learner.derive(seen[k], schema) for k in np.flatnonzero(is_kept))
    return BayesTree(tree, place[offer.node[is_kept]], chosen[is_kept], models)


def _probable(tree: Tree, more: np.ndarray, n_columns: int) -> tuple[Tree, np.ndarray]:
    """The averaged tree without splits that hardly any pruning has, and int32 [n_nodes]: where its nodes are, −1 if gone."""
    costs = equal_costs(tree.n_classes)
    is_split = stopped_and_split(averaged(tree, n_columns, costs, more))[1] >= LEAST_SHARE
    place = places_kept(tree, is_split)
    smaller = averaged(kept(tree, is_split), n_columns, costs, more[place >= 0])
    # what is shown at a node follows its counts: the average leaves what naive Bayes reads to naive Bayes
    return msgspec.structs.replace(smaller, prediction=np.argmax(smaller.counts, axis=1).astype(np.int32)), place
