"""Choosing the strength of the penalty from statistics alone: all − of(fold) is learnt from, of(fold) is what it misses.

The rows are read once. The squared error of a fold's rows is a quadratic form of the fold's own statistic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree import notices
from baytree.linear.regression.descent import along
from baytree.linear.regression.fitted_features import coded_like
from baytree.linear.regression.normal_equations import normal_equations
from baytree.linear.regression.options import Options
from baytree.linear.regression.statistic import Products
from baytree.linear.scatter.target import with_target
from baytree.table.schema import Schema


def held_out_errors(
    total: Products, folds: Sequence[Products], lambdas: np.ndarray, schema: Schema, options: Options
) -> tuple[np.ndarray, np.ndarray]:
    """The mean squared error of each fold's rows under the path of all others, and the folds' weights. [n_folds, n]"""
    with notices.keeping():  # what a fold makes constant is no fault of the table
        loss = np.array([_loss(total - fold, fold, lambdas, schema, options) for fold in folds])
    return loss, np.array([fold.weight for fold in folds])


def _loss(rest: Products, fold: Products, lambdas: np.ndarray, schema: Schema, options: Options) -> np.ndarray:
    rest, fold = rest.beside(fold)
    normal = normal_equations(rest, schema, options)
    held = coded_like(fold.scatter, normal.coded.layout, with_target(schema).columns, options)
    with np.errstate(over="ignore"):
        return normal.mean_square(held, along(normal, options, lambdas)) * normal.deviation**2
