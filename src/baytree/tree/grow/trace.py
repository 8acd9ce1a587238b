"""Every candidate test of every node, as growing saw it."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.table.schema import Schema
from baytree.tree.grow.fractional import Growth


def trace_of(growth: Growth, schema: Schema) -> list[dict[str, Any]]:
    """One dict per candidate: its gain, what it was charged, its split information and its gain ratio.

    `node` is the node's id in the final tree, None where pruning removed the node.
    """
    origin = growth.nodes.compact().arrays()["origin"]
    final = {int(grown): place for place, grown in enumerate(origin)}
    return [
        {
            "node": final.get(node),
            "column": schema.columns[column].name,
            "gain": gain,
            "penalty": raw_gain - gain,
            "info": info,
            "ratio": gain / info if info > 0 else 0.0,
            "cuts": cuts,
        }
        for node, column, gain, raw_gain, info, cuts in growth.tried
        if np.isfinite(gain)
    ]
