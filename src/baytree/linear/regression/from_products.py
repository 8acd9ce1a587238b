"""Linear regression as a function of one statistic."""

from __future__ import annotations

import numpy as np

from baytree.linear.penalty_path import Path, path_of
from baytree.linear.regression.descent import along, minimum, strongest
from baytree.linear.regression.least_squares import Solution, collinear, least_squares, warn_of_collinear
from baytree.linear.regression.model import Regression
from baytree.linear.regression.normal_equations import Normal, normal_equations, warn_of_constants
from baytree.linear.regression.options import Options
from baytree.linear.regression.quality import Quality
from baytree.linear.regression.statistic import Products
from baytree.table.schema import Schema

_MOST_ERRORS = 2500  # features; the covariance of more is not kept


def derive(seen: Products, schema: Schema, options: Options) -> Regression:
    """The model that follows from a statistic, with warnings for columns that cannot be used."""
    normal = normal_equations(seen, schema, options)
    warn_of_constants(normal, schema)
    if options.is_penalised:
        lambda_ = options.strength(normal.weight)
        return penalised(normal, options, lambda_, minimum(normal, options, lambda_, np.zeros(normal.n_features)))
    solution = least_squares(normal)
    warn_of_collinear(normal, solution, schema)
    return unpenalised(normal, solution)


def unpenalised(normal: Normal, solution: Solution) -> Regression:
    """The model of least squares."""
    quality = _quality(normal, len(solution.used), solution.unexplained, is_penalised=False)
    covariance = _covariance(normal, solution, quality)
    return Regression(normal.linear(solution.standard), covariance, collinear(normal, solution.used), quality)


def penalised(normal: Normal, options: Options, lambda_: float, standard: np.ndarray) -> Regression:
    """The model of penalised coefficients in standard units."""
    unexplained = 1 - float(standard @ (2 * normal.right - normal.gram @ standard))
    unexplained = 0.0 if normal.is_constant else unexplained
    quality = _quality(normal, int(np.count_nonzero(standard)), unexplained, is_penalised=True)
    none = np.zeros(0, np.int32)
    return Regression(normal.linear(standard), np.zeros((0, 0)), none, quality, lambda_, options.l1_share)


def path_to(seen: Products, schema: Schema, options: Options, count: int) -> Path:
    """The coefficients along falling strengths, from the one that keeps no column to the user's own."""
    normal = normal_equations(seen, schema, options)
    top, end = strongest(normal, options), options.strength(normal.weight)
    lambdas = np.geomspace(top, end, count) if 0 < end < top else np.array([end])
    return path_along(normal, options, lambdas, schema)


def path_along(normal: Normal, options: Options, lambdas: np.ndarray, schema: Schema) -> Path:
    """The coefficients at each of these strengths."""
    models = [normal.linear(standard) for standard in along(normal, options, lambdas)]
    return path_of(lambdas, normal.weight, models, normal.design.names(schema.columns))


def _quality(normal: Normal, rank: int, unexplained: float, is_penalised: bool) -> Quality:
    deviation = 0.0 if normal.is_constant else normal.deviation
    return Quality(normal.weight, rank, min(max(unexplained, 0.0), 1.0), deviation, is_penalised)


def _covariance(normal: Normal, solution: Solution, quality: Quality) -> np.ndarray:
    """Of the coefficients, the constant last, in standard units of features and target."""
    p = normal.n_features
    if not quality.degrees or p > _MOST_ERRORS:
        return np.zeros((0, 0))
    covariance = np.zeros((p + 1, p + 1))
    covariance[np.ix_(solution.used, solution.used)] = solution.inverse
    covariance[-1, -1] = 1.0
    return covariance * (quality.unexplained / quality.degrees)
