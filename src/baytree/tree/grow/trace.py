"""Every candidate test of every node, as growing saw it."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.table.schema import Schema
from baytree.tree.grow.fractional import Growth, Tried


def trace_of(growth: Growth, schema: Schema) -> list[dict[str, Any]]:
    """One dict per candidate: its gain, what it was charged, its split information and its gain ratio.

    `node` is the node's id in the final tree, None where pruning removed the node.
    """
    origin = growth.nodes.compact().arrays()["origin"]
    final = {int(grown): place for place, grown in enumerate(origin)}
    return told([(final.get(test[0], -1), *test[1:]) for test in growth.tried], schema)


def told(tried: Tried, schema: Schema) -> list[dict[str, Any]]:
    """The same of tests whose nodes have their final number, −1 where they have none."""
    return [
        {
            "node": node if node >= 0 else None,
            "column": schema.columns[column].name,
            "gain": gain,
            "penalty": raw_gain - gain,
            "info": info,
            "ratio": gain / info if info > 0 else 0.0,
            "cuts": cuts,
        }
        for node, column, gain, raw_gain, info, cuts in tried
        if np.isfinite(gain)
    ]
