"""Exact leave-one-out for linear regression: each row answered for by the model of all others.

Without a row of weight w, least squares miss it by residual / (1 − h), where h = w (1 + |root · x|²) / n is its leverage.
Where the row alone carries a direction, a penalty counts, or gaps are filled by what the row changes, the row is taken from
the statistic and the model derived anew.
"""

from __future__ import annotations

import numpy as np

from baytree import notices
from baytree.linear.design.feature_layout import MISSING
from baytree.linear.regression.from_products import derive
from baytree.linear.regression.least_squares import least_squares
from baytree.linear.regression.normal_equations import Normal, normal_equations
from baytree.linear.regression.options import Options
from baytree.linear.regression.statistic import Products
from baytree.table.table import Table

_ALONE = 1e-6  # 1 − leverage, below which the row alone carries a direction


def without_each(table: Table, seen: Products, options: Options) -> np.ndarray:
    """The number of each row under the model of all other rows. [n_rows]"""
    if len(table) < 2:
        raise ValueError("leaving out the only row leaves nothing to learn from; give at least 2 rows")
    answer, is_hard = np.empty(len(table)), np.ones(len(table), bool)
    fills_gaps = options.missing == "mean" and bool((seen.scatter.layout.level == MISSING).any())
    if not (options.is_penalised or fills_gaps):
        answer, is_hard = _by_leverage(table, normal_equations(seen, table.schema, options))
    answer[is_hard] = _one_by_one(table, seen, options, is_hard)
    return answer


def _by_leverage(table: Table, normal: Normal) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row without it, and whether it alone carries a direction."""
    solution = least_squares(normal)
    weight = normal.linear(solution.standard).weight[0]
    answer, is_hard = np.empty(len(table)), np.empty(len(table), bool)
    for rows, x in normal.design.blocks(table):
        length = np.square(x[:, solution.used] @ solution.root.T).sum(axis=1)
        rest = 1 - table.weight[rows] * (1 + length) / normal.weight
        is_hard[rows] = rest < _ALONE
        residual = table.label[rows] - (normal.mean + x @ weight)
        answer[rows] = table.label[rows] - residual / np.maximum(rest, _ALONE)
    return answer, is_hard


def _one_by_one(table: Table, seen: Products, options: Options, which: np.ndarray) -> np.ndarray:
    answer = np.empty(np.count_nonzero(which))
    with notices.keeping():  # what one row less makes collinear is no fault of the table
        for i, row in enumerate(np.flatnonzero(which)):
            one = table.take(np.array([row]))
            answer[i] = derive(seen - Products.of(one), table.schema, options).answers(one)[0, 0]
    return answer
