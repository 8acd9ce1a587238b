"""`BayesTree`: a tree with naive Bayes models at some leaves; one tree, or the average over its prunings and kinds of leaf.

Predictions are the part of the tree's averaged class frequencies that stems from count leaves, plus the posterior of each
naive Bayes model on the row's path times its weight. `bayes_tree` writes the same as a `Formula`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec
import numpy as np

from baytree.base.model import Evidence, Explanation, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import FormulaBuilder, classification_formula, constant, matrix
from baytree.formula.expressions import Case, Compare, Expression, Named, Pick, Product, Route, Sum, When
from baytree.hybrid.node_statistics import rows_by_node
from baytree.naive_bayes.model import NaiveBayes, posterior
from baytree.summary.tree import BayesLeaf, BayesTreeSummary, NamedCondition, Node, TreeSummary
from baytree.tree.model import routing
from baytree.tree.model.formula import nodes_of
from baytree.tree.model.traversal import parents, preorder, stopped_and_split
from baytree.tree.model.tree import Tree
from baytree.uncertainty.intervals import no_interval


class BayesTree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="bayes_tree", dict=True):
    """Weighted sum of predictions over the prunings of a tree and over the kinds of their leaves.

    `tree` holds the predictions of all prunings with count leaves: without values, naive Bayes predicts its prior, which is
    the class frequencies of its node. A prediction is therefore that of the tree plus the change due to the values in the
    naive Bayes models. A tree that is not averaged has one pruning, itself.
    """

    tree: Tree  # every row reaches a leaf
    node: np.ndarray  # int32 [n_models], ascending: nodes with a naive Bayes model
    chosen: np.ndarray  # float64 [n_models], proportion (by weight) of the prunings ending there that use naive Bayes
    models: tuple[NaiveBayes, ...]

    def __post_init__(self) -> None:
        _require(self.node.dtype == np.int32 and self.chosen.dtype == np.float64, "node must be int32 and chosen float64")
        _require(self.node.shape == self.chosen.shape == (len(self.models),), "node, chosen and models differ in length")
        _require(bool(np.all((self.chosen >= 0) & (self.chosen <= 1))), "chosen is not between 0 and 1")
        rises = np.diff(self.node, prepend=-1) > 0
        _require(
            bool(rises.all() and np.all(self.node < len(self.tree))), "node must hold ascending indices of nodes of the tree"
        )
        is_last = bool(np.all(self.tree.is_leaf[self.node]))
        _require(bool(self.tree.averaging) or is_last, "the tree is not averaged, but a model is not at a leaf")
        _require(bool(np.all(self.tree.missing[~self.tree.is_leaf] >= 0)), "a split has no branch for missing values")

    @cached_property
    def share(self) -> np.ndarray:
        """Weight of each model in the prediction of a row that reaches its node. float64 [n_models]"""
        return stopped_and_split(self.tree)[0][self.node] * self.chosen

    @cached_property
    def counted(self) -> np.ndarray:
        """Part of the prediction at each leaf that stems from count leaves. float64 [n_nodes, n_classes]"""
        parent, bayes_part = parents(self.tree).tolist(), np.zeros_like(self.tree.value)
        for k, model in enumerate(self.models):
            bayes_part[self.node[k]] = self.share[k] * np.exp(model.log_prior)
        for node in range(1, len(self.tree)):  # a child comes after its parent
            bayes_part[node] += bayes_part[parent[node]]
        return np.maximum(self.tree.value - bayes_part, 0.0)

    def predict(self, table: Table) -> np.ndarray:
        """Class probabilities: count leaves plus the naive Bayes models on each row's path. float64 [n_rows, n_classes]"""
        leaf = routing.leaves(self.tree, table)
        probabilities = self.counted[leaf]
        for k, rows in self._asked(leaf):
            probabilities[rows] += self.share[k] * self.models[k].predict(table.take(rows))
        return probabilities

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Raise ValueError: the intervals of the models do not cover the choice between them."""
        raise no_interval(
            "an average of trees and naive Bayes, or a choice between them, has no intervals; either alone has"
        )

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the effect of each test, then of each value in the naive Bayes models."""
        tests, effects, probabilities = routing.explain(self.tree, table), self._effects(table), self.predict(table)
        lines = (_lines(table, row, effects[row]) for row in range(len(table)))
        return [
            msgspec.structs.replace(why, evidence=(*why.evidence, *more), probability=answer)
            for why, more, answer in zip(tests, lines, probabilities, strict=True)
        ]

    def formula(self, schema: Schema) -> Formula:
        """Tree and models as an expression of the raw columns."""
        return bayes_tree(self, schema)

    def summary(self, schema: Schema) -> BayesTreeSummary:
        """Tree as records, and each naive Bayes model with the path to its node."""
        averaged = self.tree.summary(schema)
        tree = msgspec.structs.replace(averaged, nodes=tuple(map(_by_counts, averaged.nodes)))
        paths = _paths(tree, set(self.node.tolist()))
        model_rows = zip(self.node.tolist(), self.chosen.tolist(), self.share.tolist(), self.models, strict=True)
        leaves = (
            BayesLeaf(node, paths[node], chosen, proportion, model.summary(schema))
            for node, chosen, proportion, model in model_rows
        )
        return BayesTreeSummary(tree.target, tree.classes, tree, tuple(leaves))

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the tree and every model fit the schema."""
        self.tree.check(schema)
        for model in self.models:
            model.check(schema)

    def _asked(self, leaf: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Index of each model on the paths of rows that end at `leaf` [n_rows], and the indices of these rows."""
        model_index = {node: k for k, node in enumerate(self.node.tolist())}
        if not model_index:
            return
        for node, rows in rows_by_node(self.tree, leaf):
            if node in model_index:
                yield model_index[node], rows

    def _effects(self, table: Table) -> np.ndarray:
        """Effect of each value in the models, given the columns before it. float64 [n_rows, n_columns, n_classes]"""
        effects = np.zeros((len(table), len(table.schema), table.n_classes))
        for k, rows in self._asked(routing.leaves(self.tree, table)):
            effects[rows] += self.share[k] * _changes(self.models[k], table.take(rows))
        return effects


def _changes(model: NaiveBayes, table: Table) -> np.ndarray:
    """Change of the posterior as columns are added one by one. float64 [n_rows, n_columns, n_classes]"""
    added = np.zeros((len(table), len(table.schema) + 1, table.n_classes))
    added[:, 0] = model.log_prior
    for likelihood in model.likelihoods:
        for j, effect in zip(likelihood.columns, likelihood.effects(table), strict=True):
            added[:, j + 1] = effect
    scores = np.cumsum(added, axis=1)
    posterior = softmax(scores.reshape(-1, table.n_classes)).reshape(scores.shape)
    return np.diff(posterior, axis=1)


def _lines(table: Table, row: int, effects: np.ndarray) -> list[Evidence]:
    """One line of evidence per column with an effect, from effects [n_columns, n_classes]."""
    columns, values = table.schema.columns, table.values
    changed = np.flatnonzero(effects.any(axis=1)).tolist()
    return [Evidence(columns[j].name, columns[j].show(values[j][row]), effects[j]) for j in changed]


def _by_counts(node: Node) -> Node:
    """Node whose value is the proportion of its displayed class among its rows; the averaged value would include other
    prunings.
    """
    return msgspec.structs.replace(node, value=dict(node.counts).get(node.prediction, 0.0) / node.weight)


def _paths(summary: TreeSummary, requested: set[int]) -> dict[int, tuple[NamedCondition, ...]]:
    """Conditions on the path to each wanted node."""
    path: list[NamedCondition] = []
    found = {}
    for node in summary.nodes:
        if node.condition is not None:
            path[node.depth - 1 :] = [node.condition]
        if node.id in requested:
            found[node.id] = tuple(path[: node.depth])
    return found


def _require(is_true: bool, fault: str) -> None:
    if not is_true:
        raise ValueError(f"not a tree with naive Bayes leaves: {fault}")


def bayes_tree(model: BayesTree, schema: Schema) -> Formula:
    """Formula of Σ weight · posterior over the naive Bayes models on a row's path, plus the count leaves."""
    steps = FormulaBuilder(schema)
    leaf = steps.add_step(Route(0))
    terms: list[Expression] = [Pick(leaf, matrix(model.counted))]
    first, last = _spans(model.tree)
    position = steps.add_step(Pick(leaf, matrix(first)))
    for node, proportion, bayes in zip(model.node.tolist(), model.share.tolist(), model.models, strict=True):
        counts_for = steps.add_step(_within(position, first[node], last[node], proportion))
        terms.append(Product((counts_for, steps.add_step(posterior(bayes, steps)))))
    whole = classification_formula("decision tree with naive Bayes leaves", steps, Sum(tuple(terms)))
    return msgspec.structs.replace(whole, trees=(nodes_of(model.tree, schema),))


def _within(position: Named, first: int, last: int, proportion: float) -> Expression:
    """`proportion` if first ≤ position ≤ last, else 0."""
    none = constant(0.0)
    before, behind = Compare(position, "<", constant(float(first))), Compare(position, ">", constant(float(last)))
    return Case((When(before, none), When(behind, none)), constant(proportion))


def _spans(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Depth-first index of every node, and that of its last descendant. int64 [n_nodes] each"""
    first, size, parent = np.empty(len(tree), np.int64), np.ones(len(tree), np.int64), parents(tree).tolist()
    first[list(preorder(tree))] = np.arange(len(tree))
    for node in range(len(tree) - 1, 0, -1):  # a child comes after its parent
        size[parent[node]] += size[node]
    return first, first + size - 1
