"""Linear regression as a function of one statistic.

Exact leave-one-out for linear regression: each row answered for by the model of all others.

Without a row of weight w, least squares miss it by residual / (1 − h), where h = w (1 + |root · x|²) / n is its leverage.
Where the row alone carries a direction, a penalty counts, or gaps are filled by what the row changes, the row is taken from
the statistic and the model derived anew.
"""

from __future__ import annotations

import numpy as np

from baytree import _warnings
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import MISSING
from baytree.linear.regression.elastic_net import max_lambda, minimum, solve_path
from baytree.linear.regression.fit_quality import FitQuality
from baytree.linear.regression.least_squares import LeastSquaresSolution, collinear, least_squares, warn_of_collinear
from baytree.linear.regression.model import RegressionModel
from baytree.linear.regression.normal_equations import (
    NormalEquations,
    RegressionOptions,
    normal_equations,
    warn_of_constants,
)
from baytree.linear.regression.statistic import CrossProducts
from baytree.linear.regularization_path import RegularizationPath, path_of

_MOST_ERRORS = 2500  # features; the covariance of more is not kept


def derive(seen: CrossProducts, schema: Schema, options: RegressionOptions) -> RegressionModel:
    """The model that follows from a statistic, with warnings for columns that cannot be used."""
    normal = normal_equations(seen, schema, options)
    warn_of_constants(normal, schema)
    if options.is_penalised:
        lambda_ = options.strength(normal.weight)
        return penalised(normal, options, lambda_, minimum(normal, options, lambda_, np.zeros(normal.n_features)))
    solution = least_squares(normal)
    warn_of_collinear(normal, solution, schema)
    return unpenalised(normal, solution)


def unpenalised(normal: NormalEquations, solution: LeastSquaresSolution) -> RegressionModel:
    """The model of least squares."""
    quality = _quality(normal, len(solution.used), solution.unexplained, is_penalised=False)
    covariance = _covariance(normal, solution, quality)
    return RegressionModel(normal.linear(solution.standard), covariance, collinear(normal, solution.used), quality)


def penalised(normal: NormalEquations, options: RegressionOptions, lambda_: float, standard: np.ndarray) -> RegressionModel:
    """The model of penalised coefficients in standard units."""
    unexplained = 1 - float(standard @ (2 * normal.right - normal.gram @ standard))
    unexplained = 0.0 if normal.is_constant else unexplained
    quality = _quality(normal, int(np.count_nonzero(standard)), unexplained, is_penalised=True)
    none = np.zeros(0, np.int32)
    return RegressionModel(normal.linear(standard), np.zeros((0, 0)), none, quality, lambda_, options.l1_share)


def path_to(seen: CrossProducts, schema: Schema, options: RegressionOptions, count: int) -> RegularizationPath:
    """The coefficients along falling strengths, from the one that keeps no column to the user's own."""
    normal = normal_equations(seen, schema, options)
    top, end = max_lambda(normal, options), options.strength(normal.weight)
    lambdas = np.geomspace(top, end, count) if 0 < end < top else np.array([end])
    return path_along(normal, options, lambdas, schema)


def path_along(
    normal: NormalEquations, options: RegressionOptions, lambdas: np.ndarray, schema: Schema
) -> RegularizationPath:
    """The coefficients at each of these strengths."""
    models = [normal.linear(standard) for standard in solve_path(normal, options, lambdas)]
    return path_of(lambdas, normal.weight, models, normal.design.names(schema.columns))


def _quality(normal: NormalEquations, rank: int, unexplained: float, is_penalised: bool) -> FitQuality:
    deviation = 0.0 if normal.is_constant else normal.deviation
    return FitQuality(normal.weight, rank, min(max(unexplained, 0.0), 1.0), deviation, is_penalised)


def _covariance(normal: NormalEquations, solution: LeastSquaresSolution, quality: FitQuality) -> np.ndarray:
    """Of the coefficients, the constant last, in standard units of features and target."""
    p = normal.n_features
    if not quality.degrees or p > _MOST_ERRORS:
        return np.zeros((0, 0))
    covariance = np.zeros((p + 1, p + 1))
    covariance[np.ix_(solution.used, solution.used)] = solution.inverse
    covariance[-1, -1] = 1.0
    return covariance * (quality.unexplained / quality.degrees)


_ALONE = 1e-6  # 1 − leverage, below which the row alone carries a direction


def leave_one_out(table: Table, seen: CrossProducts, options: RegressionOptions) -> np.ndarray:
    """The number of each row under the model of all other rows. [n_rows]"""
    if len(table) < 2:
        raise ValueError("leaving out the only row leaves nothing to learn from; give at least 2 rows")
    answer, is_hard = np.empty(len(table)), np.ones(len(table), bool)
    fills_gaps = options.missing == "mean" and bool((seen.scatter.layout.level == MISSING).any())
    if not (options.is_penalised or fills_gaps):
        answer, is_hard = _by_leverage(table, normal_equations(seen, table.schema, options))
    answer[is_hard] = _one_by_one(table, seen, options, is_hard)
    return answer


def _by_leverage(table: Table, normal: NormalEquations) -> tuple[np.ndarray, np.ndarray]:
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


def _one_by_one(table: Table, seen: CrossProducts, options: RegressionOptions, which: np.ndarray) -> np.ndarray:
    answer = np.empty(np.count_nonzero(which))
    with _warnings.capture():  # what one row less makes collinear is no fault of the table
        for i, row in enumerate(np.flatnonzero(which)):
            one = table.take(np.array([row]))
            answer[i] = derive(seen - CrossProducts.of(one), table.schema, options).predict(one)[0, 0]
    return answer
