"""Cross-validated absolute errors of linear regression at each penalty strength.

The coefficients of each fold follow from the statistic of its training rows, as for squared errors; absolute errors are no
function of a statistic, so the rows are read once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import PartitionValues
from baytree.folds.structured_folds import is_test
from baytree.linear.design.design import Design
from baytree.linear.regression.elastic_net import solve_path
from baytree.linear.regression.normal_equations import RegressionOptions, normal_equations
from baytree.linear.regression.statistic import CrossProducts, FoldedTable


class FoldPath(msgspec.Struct, frozen=True):
    """Linear models of one fold at each penalty strength."""

    design: Design
    weight: np.ndarray  # float64 [n, n_features], in standard units
    mean: float


def held_out_absolute_errors(
    rows: PartitionValues[FoldedTable],
    pairs: Sequence[tuple[CrossProducts, CrossProducts]],
    lambdas: np.ndarray,
    schema: Schema,
    options: RegressionOptions,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean absolute error of the test rows of each fold under the path of its training rows [n_folds, n], and the weights of
    the test rows [n_folds].
    """
    with _warnings.capture():  # columns that are constant without a fold deserve no warning
        paths = [_path(train, lambdas, schema, options) for train, _ in pairs]
    weight = np.array([test.weight for _, test in pairs])
    sums: np.ndarray = rows.map_reduce(partial(_absolute_sums, paths))
    return sums / weight[:, None], weight


def _path(rest: CrossProducts, lambdas: np.ndarray, schema: Schema, options: RegressionOptions) -> FoldPath:
    normal = normal_equations(rest, schema, options)
    models = [normal.linear(standard) for standard in solve_path(normal, options, lambdas)]
    return FoldPath(normal.design, np.vstack([model.weight for model in models]), normal.mean)


def _absolute_sums(paths: list[FoldPath], rows: FoldedTable) -> np.ndarray:
    """Weighted sums of absolute errors. [n_folds, n]"""
    sums = np.zeros((len(paths), len(paths[0].weight)))
    for fold, path in enumerate(paths):
        table = rows.table.take(np.flatnonzero(is_test(rows.fold, fold)))
        for block, x in path.design.blocks(table):
            error = np.abs(x @ path.weight.T + path.mean - table.label[block, None])
            sums[fold] += table.weight[block] @ error
    return sums
