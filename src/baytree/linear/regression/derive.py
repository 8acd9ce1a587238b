"""Derive linear regression models from `CrossProducts`, and exact leave-one-out.

Without a row of weight w, least squares misses it by residual / (1 − h), where h = w (1 + |root · x|²) / n is its leverage
(the PRESS residual, Allen 1974). If the row alone carries a direction, if there is a penalty, or if imputed values depend on
the row, the row is subtracted from the statistic and the model is derived again.
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

_MAX_COVARIANCE_FEATURES = 2500  # features; with more, the covariance is not stored


def derive(statistic: CrossProducts, schema: Schema, options: RegressionOptions) -> RegressionModel:
    """Model of a statistic. Warns of columns that cannot be used."""
    normal = normal_equations(statistic, schema, options)
    warn_of_constants(normal, schema)
    if options.is_penalised:
        lambda_ = options.strength(normal.weight)
        return penalised(normal, options, lambda_, minimum(normal, options, lambda_, np.zeros(normal.n_features)))
    solution = least_squares(normal)
    warn_of_collinear(normal, solution, schema)
    return unpenalised(normal, solution)


def unpenalised(normal: NormalEquations, solution: LeastSquaresSolution) -> RegressionModel:
    """Model of the least-squares solution."""
    quality = _quality(normal, len(solution.used), solution.unexplained, is_penalised=False)
    covariance = _covariance(normal, solution, quality)
    return RegressionModel(normal.linear(solution.standard), covariance, collinear(normal, solution.used), quality)


def penalised(normal: NormalEquations, options: RegressionOptions, lambda_: float, standard: np.ndarray) -> RegressionModel:
    """Model of penalised coefficients given in standard units."""
    unexplained = 1 - float(standard @ (2 * normal.right - normal.gram @ standard))
    unexplained = 0.0 if normal.is_constant else unexplained
    quality = _quality(normal, int(np.count_nonzero(standard)), unexplained, is_penalised=True)
    none = np.zeros(0, np.int32)
    return RegressionModel(normal.linear(standard), np.zeros((0, 0)), none, quality, lambda_, options.l1_share)


def path_to(statistic: CrossProducts, schema: Schema, options: RegressionOptions, count: int) -> RegularizationPath:
    """Regularization path of `count` decreasing λ values, from the smallest that selects no column to the user's own."""
    normal = normal_equations(statistic, schema, options)
    largest, smallest = max_lambda(normal, options), options.strength(normal.weight)
    lambdas = np.geomspace(largest, smallest, count) if 0 < smallest < largest else np.array([smallest])
    return path_along(normal, options, lambdas, schema)


def path_along(
    normal: NormalEquations, options: RegressionOptions, lambdas: np.ndarray, schema: Schema
) -> RegularizationPath:
    """Regularization path at the given λ values."""
    models = [normal.linear(standard) for standard in solve_path(normal, options, lambdas)]
    return path_of(lambdas, normal.weight, models, normal.design.names(schema.columns))


def _quality(normal: NormalEquations, rank: int, unexplained: float, is_penalised: bool) -> FitQuality:
    deviation = 0.0 if normal.is_constant else normal.deviation
    return FitQuality(normal.weight, rank, min(max(unexplained, 0.0), 1.0), deviation, is_penalised)


def _covariance(normal: NormalEquations, solution: LeastSquaresSolution, quality: FitQuality) -> np.ndarray:
    """Covariance of the coefficients, the constant last, in standard units of features and target."""
    p = normal.n_features
    if not quality.degrees or p > _MAX_COVARIANCE_FEATURES:
        return np.zeros((0, 0))
    covariance = np.zeros((p + 1, p + 1))
    covariance[np.ix_(solution.used, solution.used)] = solution.inverse
    covariance[-1, -1] = 1.0
    return covariance * (quality.unexplained / quality.degrees)


_MIN_RESIDUAL_LEVERAGE = 1e-6  # 1 − leverage below which the row alone carries a direction


def leave_one_out(table: Table, statistic: CrossProducts, options: RegressionOptions) -> np.ndarray:
    """Prediction of each row by the model of all other rows. [n_rows]"""
    if len(table) < 2:
        raise ValueError("leave-one-out needs at least 2 rows")
    prediction, needs_refit = np.empty(len(table)), np.ones(len(table), bool)
    imputes = options.missing == "mean" and bool((statistic.scatter.layout.level == MISSING).any())
    if not (options.is_penalised or imputes):
        prediction, needs_refit = _by_leverage(table, normal_equations(statistic, table.schema, options))
    prediction[needs_refit] = _one_by_one(table, statistic, options, needs_refit)
    return prediction


def _by_leverage(table: Table, normal: NormalEquations) -> tuple[np.ndarray, np.ndarray]:
    """Leave-one-out prediction of each row, and whether the row alone carries a direction."""
    solution = least_squares(normal)
    weight = normal.linear(solution.standard).weight[0]
    prediction, needs_refit = np.empty(len(table)), np.empty(len(table), bool)
    for rows, x in normal.design.blocks(table):
        length = np.square(x[:, solution.used] @ solution.root.T).sum(axis=1)
        remainder = 1 - table.weight[rows] * (1 + length) / normal.weight
        needs_refit[rows] = remainder < _MIN_RESIDUAL_LEVERAGE
        residual = table.label[rows] - (normal.mean + x @ weight)
        prediction[rows] = table.label[rows] - residual / np.maximum(remainder, _MIN_RESIDUAL_LEVERAGE)
    return prediction, needs_refit


def _one_by_one(table: Table, statistic: CrossProducts, options: RegressionOptions, which: np.ndarray) -> np.ndarray:
    prediction = np.empty(np.count_nonzero(which))
    with _warnings.capture():  # columns that become collinear by removing one row deserve no warning
        for i, row in enumerate(np.flatnonzero(which)):
            one = table.take(np.array([row]))
            prediction[i] = derive(statistic - CrossProducts.of(one), table.schema, options).predict(one)[0, 0]
    return prediction
