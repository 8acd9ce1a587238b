"""Trees with naive Bayes leaves as formulas: what the counts say where a row rests, and each model by its share there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.bayes.formula import posterior
from baytree.formula import Formula
from baytree.formula.expressions import Expression, Pick, Product, Route, Sum
from baytree.formula.steps import Steps, chosen, matrix
from baytree.table.schema import Schema
from baytree.tree.formula import nodes_of
from baytree.tree.model.links import parents

if TYPE_CHECKING:
    from baytree.hybrid.model import BayesTree


def bayes_tree(model: BayesTree, schema: Schema) -> Formula:
    """Σ share · posterior over the naive Bayes models on a row's way, and what the counts add."""
    steps = Steps(schema)
    rest = steps.keep(Route(0))
    terms: list[Expression] = [Pick(rest, matrix(model.counted))]
    for k, bayes in enumerate(model.models):
        share = Pick(rest, matrix(_below(model, k) * model.share[k]))
        terms.append(Product((share, steps.keep(posterior(bayes, steps)))))
    whole = chosen("decision tree with naive Bayes leaves", steps, Sum(tuple(terms)))
    return msgspec.structs.replace(whole, trees=(nodes_of(model.tree, schema),))


def _below(model: BayesTree, k: int) -> np.ndarray:
    """bool [n_nodes]: the node of a model, and those below it."""
    above = parents(model.tree).tolist()
    is_below = np.zeros(len(model.tree), np.bool_)
    is_below[model.node[k]] = True
    for node in range(int(model.node[k]) + 1, len(model.tree)):  # a child comes after its parent
        is_below[node] = is_below[above[node]]
    return is_below
