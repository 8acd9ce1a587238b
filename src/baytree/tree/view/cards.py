"""A tree as cards to be drawn."""

from __future__ import annotations

from itertools import islice

import numpy as np

from baytree.show.tree.card_layout import Drawing
from baytree.show.tree.node_cards import drawing_of
from baytree.table.schema import Schema
from baytree.tree.model.outline import class_names, outlined
from baytree.tree.model.structure import Tree

MOST_CARDS = 2000


def draw(tree: Tree, schema: Schema, max_depth: int | None = None) -> Drawing:
    """The cards of a tree down to a depth, laid out."""
    nodes = list(islice(outlined(tree, schema, max_depth), MOST_CARDS + 1))
    if len(nodes) > MOST_CARDS:
        raise ValueError(f"the tree has more than {MOST_CARDS} nodes to draw; give max_depth, for example max_depth=6")
    shares = tree.value if tree.n_classes else _between_least_and_greatest(tree.value)
    own = [tuple(shares[node.id].tolist()) for node in nodes]
    return drawing_of(nodes, schema.target.name, class_names(tree, schema), own)


def _between_least_and_greatest(mean: np.ndarray) -> np.ndarray:
    """The place of each node's mean, from 0 to 1; 1 where all are equal. [n_nodes, 1]"""
    least, extent = mean.min(), mean.max() - mean.min()
    return (mean - least) / extent if extent > 0 else np.ones_like(mean)
