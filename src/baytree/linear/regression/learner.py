"""Learners of linear regression: `LinearRegressionLearner` for given options, `LinearRegressionCVLearner` with
cross-validated λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import msgspec
import numpy as np

from baytree.base.learner import FitResult, MergeableLearner
from baytree.data.encoding.labels import within_doubles
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import FeatureProducts, as_query
from baytree.engine.outliers import Outliers
from baytree.engine.partitions import Partitions
from baytree.folds.splitters import Splitter
from baytree.linear.design.feature_layout import MISSING, VALUE, FeatureLayout
from baytree.linear.regression.absolute_errors import held_out_absolute_errors
from baytree.linear.regression.derive import derive, leave_one_out, path_along
from baytree.linear.regression.elastic_net import MIN_L1_RATIO, held_out_errors, max_lambda
from baytree.linear.regression.model import RegressionModel
from baytree.linear.regression.normal_equations import NormalEquations, RegressionOptions, normal_equations
from baytree.linear.regression.statistic import CrossProducts, products_of_pairs
from baytree.linear.regularization_path import choose
from baytree.linear.scatter.observe import scatter_form
from baytree.parallel.blas import at_most, one_blas_thread

# smallest λ of a path relative to the largest: with more rows than features, or fewer
_MIN_LAMBDA_RATIO_LONG, _MIN_LAMBDA_RATIO_WIDE = 1e-4, 1e-2


def _form(_: LinearRegressionLearner) -> FeatureProducts:
    """Sums that make up the statistic, for engines without rows."""
    form = scatter_form(True, has_target=True)
    return msgspec.structs.replace(form, finish=lambda *sums: CrossProducts(form.finish(*sums)))


@dataclass(frozen=True)
class LinearRegressionLearner(MergeableLearner):
    """Linear regression as a function of one statistic, with or without a penalty."""

    options: RegressionOptions

    @as_query(_form)
    def observe(self, table: Table) -> CrossProducts:
        """Weight, means and cross products of the features and the target."""
        statistic = CrossProducts.of(within_doubles(table))
        _refuse_gaps(statistic.scatter.layout, table.schema, self.options)
        return statistic

    def observe_all(self, rows: Partitions) -> CrossProducts:
        """Statistic of all rows, from partitions that are not subdivided: each is read by several threads.

        Warns of columns whose variance is due to a single extreme value.
        """
        outliers = Outliers(rows)
        statistic = rows.map_reduce(self.observe, rows_per_part=None)
        _warn(statistic, outliers)
        return statistic

    def derive(self, statistic: CrossProducts, schema: Schema) -> RegressionModel:
        """Model of a statistic."""
        with one_blas_thread():
            return derive(statistic, schema, self.options)

    def leave_one_out(self, rows: Partitions) -> np.ndarray:
        """Prediction of each row by the model of all other rows. [n_rows]"""
        table = within_doubles(rows.gather())
        with at_most(rows.n_jobs):
            return leave_one_out(table, self.observe(table), self.options)


@dataclass(frozen=True)
class LinearRegressionCVLearner:
    """Linear regression at the λ of minimum held-out error, or the strongest λ within one standard error of it."""

    options: RegressionOptions
    lambdas: np.ndarray | int  # λ values, or how many
    Cs: np.ndarray | None  # values of C instead of λ
    cv: int | Splitter | str | float | np.ndarray  # an argument of `read_cv`, or an array of folds
    rule: str = "min"
    scoring: str = "squared_error"  # or "absolute_error", which reads the rows once more

    def learn(self, rows: Partitions) -> FitResult:
        """Model at the chosen λ; the loss curve and the regularization path are fitted attributes."""
        with at_most(rows.n_jobs):
            rows = rows.map_partitions(within_doubles)
            outliers = Outliers(rows)
            total, pairs, folded = products_of_pairs(rows, self.cv)
            _refuse_gaps(total.scatter.layout, rows.schema, self.options)
            _warn(total, outliers)
            normal = normal_equations(total, rows.schema, self.options)
            lambdas = self._strengths(normal)
            held_out = held_out_errors if self.scoring == "squared_error" else partial(held_out_absolute_errors, folded)
            curve = choose(lambdas, *held_out(pairs, lambdas, rows.schema, self.options))
            lambda_ = float(lambdas[curve.best if self.rule == "min" else curve.one_se])
            model = derive(total, rows.schema, msgspec.structs.replace(self.options, lambda_=lambda_))
            path = path_along(normal, self.options, lambdas, rows.schema)
        chosen_lambda = {"lambda_": lambda_, "C_": float(1 / normal.weight / lambda_)}
        return FitResult(model, fitted_attributes={"curve_": curve, "path_": path, **chosen_lambda})

    def _strengths(self, normal: NormalEquations) -> np.ndarray:
        """Decreasing λ values to choose from."""
        if self.Cs is not None:
            return np.maximum(np.sort(1 / normal.weight / self.Cs)[::-1], 1e-300)
        if not isinstance(self.lambdas, int):
            return np.sort(self.lambdas)[::-1]
        largest = max_lambda(normal, self.options) or 1.0
        smallest = largest * (_MIN_LAMBDA_RATIO_LONG if normal.weight > normal.n_features else _MIN_LAMBDA_RATIO_WIDE)
        return np.geomspace(largest, smallest if self.options.l1_share else smallest * MIN_L1_RATIO, self.lambdas)


def _warn(statistic: CrossProducts, outliers: Outliers) -> None:
    """Warn of columns whose variance is due to a single extreme value."""
    layout = statistic.scatter.layout
    is_value = (layout.level == VALUE) & (layout.source < len(outliers.rows.schema))
    outliers.warn(layout.source[is_value], statistic.scatter.deviations()[is_value])


def _refuse_gaps(layout: FeatureLayout, schema: Schema, options: RegressionOptions) -> None:
    """Raise ValueError if values are missing and `missing="error"`."""
    if options.missing == "error" and (layout.level == MISSING).any():
        name = schema.columns[int(layout.source[np.argmax(layout.level == MISSING)])].name
        raise ValueError(f"column {name!r} has missing values; use missing='mean+indicator' or fill them first")
