"""Prepare a table for logistic regression: design, rows, present classes, and the weight of each feature in the penalty.

`task_of` builds the `LogisticProblem`, `penalty_of` the `Penalty` for a λ, `tasks_of` the one-vs-rest problems.
`LogisticOptions` holds the user's parameters.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import AggregateRows, Detail, Marginals, as_query
from baytree.engine.outliers import Outliers
from baytree.engine.partitions import Partitions
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.design.learn import learn_design
from baytree.linear.design.moments import summarize_rows
from baytree.linear.design.row_summary import RowSummary
from baytree.linear.logistic.build_rows import ClassCodes, Rows, rows_of
from baytree.linear.logistic.objective import Penalty
from baytree.linear.logistic.queried_rows import queried_rows

_NO_CONSTANT = 1e12  # a ridge that makes the constant 0 up to rounding


class LogisticProblem(msgspec.Struct, frozen=True):
    """A table prepared for fitting: design, rows, and the classes that occur."""

    design: Design
    rows: Rows
    present: np.ndarray  # [n_present], codes of the classes that occur
    n_classes: int
    total: float  # sum of the weights
    # [q], size of each feature in units of the penalty: 1 (standardised) or 1 / sd; 0 for a free constant
    penalty_factor: np.ndarray
    above: np.ndarray  # [q], by how much each feature of the rows exceeds that of the design
    signs: np.ndarray  # int32 [q], 1 for coefficients ≥ 0, −1 for ≤ 0, 0 for free ones


def task_of(rows: Partitions, options: LogisticOptions, class_weight: np.ndarray) -> LogisticProblem:
    """Problem of these rows, each weighted by its own weight times that of its class."""
    if isinstance(rows, AggregateRows):
        return _task_of_aggregates(rows, options, class_weight)
    rows = rows.map_partitions(lambda table: msgspec.structs.replace(table, weight=table.weight * class_weight[table.label]))
    outliers, weight = Outliers(rows), rows.submit(weight_of_classes, rows_per_part=None)
    look = summarize_rows(rows)
    design = learn_design(rows, look, ordinal=options.ordinal, missing=options.missing, standardize=options.standardize)
    is_value = design.layout.level == VALUE
    outliers.warn(design.layout.source[is_value], design.scale[: design.n_dense][is_value])
    design = design if options.standardize else _plain_if_sparse(look, design)
    if options.constant:  # a penalised constant must be that of the uncentred columns
        design = msgspec.structs.replace(design, centre=np.zeros_like(design.centre))
    n_classes = len(rows.schema.classes)
    present = np.flatnonzero(weight() > 0)
    class_index = np.zeros(n_classes, np.int32)
    class_index[present] = np.arange(len(present))
    codes = ClassCodes(class_index, 1 if len(present) <= 2 else len(present))
    prepared_rows, above = rows_of(rows, design, look, codes, compress=_may_compress(options))
    factor = np.ones(prepared_rows.q)
    factor[-1] = options.constant if options.constant < np.inf else 0.0
    if not options.standardize:
        factor[:-1] = 1 / np.clip(design.scale, 1e-140, 1e140)  # squares of the factors must not overflow
    signs = signs_of(design, rows.schema, options)
    return LogisticProblem(
        design, prepared_rows, present, n_classes, look.weight, factor, above, np.append(signs, np.int32(0))
    )


def _task_of_aggregates(rows: Any, options: LogisticOptions, class_weight: np.ndarray) -> LogisticProblem:
    """Problem of rows in a database: the design is learnt from single columns, and each step is a query."""
    outliers = Outliers(rows)
    local = rows.representative(Detail.MOMENTS).map_partitions(
        lambda table: msgspec.structs.replace(table, weight=table.weight * class_weight[table.label])
    )
    look = summarize_rows(local)
    design = learn_design(local, look, ordinal=options.ordinal, missing=options.missing, standardize=options.standardize)
    is_value = design.layout.level == VALUE
    outliers.warn(design.layout.source[is_value], design.scale[: design.n_dense][is_value])
    if options.constant:
        design = msgspec.structs.replace(design, centre=np.zeros_like(design.centre))
    weight = weight_of_classes(local.table)
    present = np.flatnonzero(weight > 0)
    prepared_rows = queried_rows(rows, design, present, class_weight, look.weight)
    factor = np.ones(prepared_rows.q)
    factor[-1] = options.constant if options.constant < np.inf else 0.0
    if not options.standardize:
        factor[:-1] = 1 / np.clip(design.scale, 1e-140, 1e140)
    signs = np.append(signs_of(design, rows.schema, options), np.int32(0))
    above = np.zeros(prepared_rows.q)
    return LogisticProblem(design, prepared_rows, present, len(rows.schema.classes), look.weight, factor, above, signs)


def _may_compress(options: LogisticOptions) -> bool:
    """Whether one-hot rows may be sparse, that is, not centred. Gradient descent and L-BFGS depend on the centre; without a
    penalty the whole Hessian is needed.
    """
    return options.is_penalised and options.constant == 0 and options.solver not in ("lbfgs", "gradient_descent")


def signs_of(design: Design, schema: Schema, options: LogisticOptions) -> np.ndarray:
    """Required sign of each coefficient: set for a column's number or rank, not for its missing indicator. int32 [p]"""
    directions = dict(options.monotone)
    direction = np.array([directions.get(name, 0) for name in schema.names], np.int32)
    is_value = np.zeros(len(design), bool)
    is_value[: design.n_dense] = design.layout.level == VALUE
    return np.where(is_value, direction[design.source], 0).astype(np.int32)


@as_query(lambda: Marginals(()))
def weight_of_classes(table: Table) -> np.ndarray:
    """Total weight of each class. [n_classes]"""
    return np.bincount(table.label, table.weight, minlength=table.n_classes)


def _plain_if_sparse(look: RowSummary, design: Design) -> Design:
    """Unscaled design for a sparse matrix: scaling rare columns by their deviation would worsen the conditioning."""
    is_usual = (design.scale > 1e-6) & (design.scale < 1e6)
    if not look.lie.is_sparse or not is_usual.all():
        return design
    return msgspec.structs.replace(design, scale=np.ones(len(design)))


def penalty_of(task: LogisticProblem, options: LogisticOptions, lambda_: float | None = None) -> Penalty:
    """Penalty of each feature at strength λ (by default the user's)."""
    lambda_ = lambda_value(task, options) if lambda_ is None else lambda_
    lambda_ = lambda_ if options.is_penalised else 0.0
    ridge, lasso = (
        lambda_ * (1 - options.l1_share) * task.penalty_factor**2,
        lambda_ * options.l1_share * task.penalty_factor,
    )
    if options.constant == np.inf:
        ridge[-1] = _NO_CONSTANT
    return Penalty(ridge, lasso)


def lambda_value(task: LogisticProblem, options: LogisticOptions) -> float:
    """The user's λ, or 1 / (n · C)."""
    return options.lambda_ if options.lambda_ is not None else 1 / task.total / options.C


def one_against_rest(task: LogisticProblem, c: int) -> LogisticProblem:
    """Two-class problem of one class against all others."""
    return msgspec.structs.replace(task, rows=task.rows.against_rest(c))


def tasks_of(task: LogisticProblem, options: LogisticOptions) -> list[LogisticProblem]:
    """The problem itself, or one per class for one-vs-rest."""
    if options.multi_class == "multinomial" or task.rows.k == 1:
        return [task]
    return [one_against_rest(task, c) for c in range(task.rows.k)]


SOLVERS = ("auto", "newton", "lbfgs", "cd", "gradient_descent")


class LogisticOptions(msgspec.Struct, frozen=True, kw_only=True):
    """User options. The penalty strength λ is `lambda_`, or 1 / (n · C) if that is None."""

    l1_share: float = 0.0
    is_penalised: bool = True
    C: float = 1.0
    lambda_: float | None = None
    multi_class: str = "multinomial"
    standardize: bool = True
    ordinal: str = "rank"
    missing: str = "mean+indicator"
    solver: str = "auto"
    tol: float = 1e-8
    max_iter: int = 1000
    learning_rate: float | None = None
    # (column, 1 or −1): the second class's probability must not decrease or not increase with it
    monotone: tuple[tuple[str, int], ...] = ()
    constant: float = 0.0  # penalty factor of the constant; 0: not penalised; infinity: no constant
