"""Trees with naive Bayes leaves as formulas: what the counts say where a row rests, and each model by its share there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.bayes.formula import posterior
from baytree.formula import Formula
from baytree.formula.expressions import Case, Compare, Expression, Named, Pick, Product, Route, Sum, When
from baytree.formula.steps import Steps, chosen, constant, matrix
from baytree.table.schema import Schema
from baytree.tree.formula import nodes_of
from baytree.tree.model.links import parents, preorder
from baytree.tree.model.structure import Tree

if TYPE_CHECKING:
    from baytree.hybrid.model import BayesTree


def bayes_tree(model: BayesTree, schema: Schema) -> Formula:
    """Σ share · posterior over the naive Bayes models on a row's way, and what the counts add."""
    steps = Steps(schema)
    rest = steps.keep(Route(0))
    terms: list[Expression] = [Pick(rest, matrix(model.counted))]
    first, last = _spans(model.tree)
    place = steps.keep(Pick(rest, matrix(first)))
    for node, share, bayes in zip(model.node.tolist(), model.share.tolist(), model.models, strict=True):
        counts_for = steps.keep(_within(place, first[node], last[node], share))
        terms.append(Product((counts_for, steps.keep(posterior(bayes, steps)))))
    whole = chosen("decision tree with naive Bayes leaves", steps, Sum(tuple(terms)))
    return msgspec.structs.replace(whole, trees=(nodes_of(model.tree, schema),))


def _within(place: Named, first: int, last: int, share: float) -> Expression:
    """The share where the place lies between two others, else 0."""
    none = constant(0.0)
    before, behind = Compare(place, "<", constant(float(first))), Compare(place, ">", constant(float(last)))
    return Case((When(before, none), When(behind, none)), constant(share))


def _spans(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """int64 [n_nodes] each: the place of every node, depth first, and that of the last node below it."""
    first, size, above = np.empty(len(tree), np.int64), np.ones(len(tree), np.int64), parents(tree).tolist()
    first[list(preorder(tree))] = np.arange(len(tree))
    for node in range(len(tree) - 1, 0, -1):  # a child comes after its parent
        size[above[node]] += size[node]
    return first, first + size - 1
