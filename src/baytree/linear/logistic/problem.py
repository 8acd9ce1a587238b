"""A table made ready for logistic regression: its design, its rows, and what the penalty counts a feature for.

What users of logistic regression can choose, checked.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.outliers import Outliers
from baytree.engine.partitions import Partitions
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.design.learn import learn_design
from baytree.linear.design.moments import summarize_rows
from baytree.linear.design.row_summary import RowSummary
from baytree.linear.logistic.build_rows import ClassCodes, Rows, rows_of
from baytree.linear.logistic.objective import Penalty

_NO_CONSTANT = 1e12  # a penalty under which the constant is 0, up to what doubles can tell


class LogisticProblem(msgspec.Struct, frozen=True):
    """A table made ready: the design, its rows, and the classes that occur."""

    design: Design
    rows: Rows
    present: np.ndarray  # [n_present], class codes
    n_classes: int
    total: float  # sum of the weights
    penalty_factor: np.ndarray  # [q], each feature's size in units of the penalty: 1, or 1 / sd; 0 for the constant
    above: np.ndarray  # [q], how far each feature of the rows lies above the design's
    signs: np.ndarray  # int32 [q], 1 where a coefficient may not be below 0, −1 where not above; else 0


def task_of(rows: Partitions, options: LogisticOptions, class_weight: np.ndarray) -> LogisticProblem:
    """The rows in the design's units, each with its weight times that of its class."""
    rows = rows.map_partitions(lambda table: msgspec.structs.replace(table, weight=table.weight * class_weight[table.label]))
    outliers, weight = Outliers(rows), rows.submit(weight_of_classes, rows_per_part=None)
    look = summarize_rows(rows)
    design = learn_design(rows, look, ordinal=options.ordinal, missing=options.missing, standardize=options.standardize)
    is_value = design.layout.level == VALUE
    outliers.warn(design.layout.source[is_value], design.scale[: design.n_dense][is_value])
    design = design if options.standardize else _plain_if_sparse(look, design)
    if options.constant:  # a constant that is not free must be that of the columns as they are
        design = msgspec.structs.replace(design, centre=np.zeros_like(design.centre))
    n_classes = len(rows.schema.classes)
    present = np.flatnonzero(weight() > 0)
    code = np.zeros(n_classes, np.int32)
    code[present] = np.arange(len(present))
    ready, above = rows_of(rows, design, look, ClassCodes(code, 1 if len(present) <= 2 else len(present)))
    factor = np.ones(ready.q)
    factor[-1] = options.constant if options.constant < np.inf else 0.0
    if not options.standardize:
        factor[:-1] = 1 / np.clip(design.scale, 1e-140, 1e140)  # squares of factors must be doubles
    signs = signs_of(design, rows.schema, options)
    return LogisticProblem(design, ready, present, n_classes, look.weight, factor, above, np.append(signs, np.int32(0)))


def signs_of(design: Design, schema: Schema, options: LogisticOptions) -> np.ndarray:
    """Which way the coefficient of each feature must point: that of a column's number or rank, not that of its gaps. [p]"""
    ways = dict(options.monotone)
    way = np.array([ways.get(name, 0) for name in schema.names], np.int32)
    is_value = np.zeros(len(design), bool)
    is_value[: design.n_dense] = design.layout.level == VALUE
    return np.where(is_value, way[design.source], 0).astype(np.int32)


def weight_of_classes(table: Table) -> np.ndarray:
    """The weight of each class. [n_classes]"""
    return np.bincount(table.label, table.weight, minlength=table.n_classes)


def _plain_if_sparse(look: RowSummary, design: Design) -> Design:
    """A sparse matrix in its own units: rare columns in units of their spread would make the problem worse, not better."""
    usual = (design.scale > 1e-6) & (design.scale < 1e6)
    if not look.lie.is_sparse or not usual.all():
        return design
    return msgspec.structs.replace(design, scale=np.ones(len(design)))


def penalty_of(task: LogisticProblem, options: LogisticOptions, lambda_: float | None = None) -> Penalty:
    """The penalty of each feature at a strength λ (the user's, if none is given)."""
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
    """The two-class task of one class against all others."""
    return msgspec.structs.replace(task, rows=task.rows.against_rest(c))


def tasks_of(task: LogisticProblem, options: LogisticOptions) -> list[LogisticProblem]:
    """The task itself, or one per class against the rest."""
    if options.multi_class == "multinomial" or task.rows.k == 1:
        return [task]
    return [one_against_rest(task, c) for c in range(task.rows.k)]


SOLVERS = ("auto", "newton", "lbfgs", "cd", "gradient_descent")


class LogisticOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The choices: λ is `lambda_`, or 1 / (n · C) where that is None."""

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
    monotone: tuple[tuple[str, int], ...] = ()  # columns with which the second class may not fall (1), or not rise (−1)
    constant: float = 0.0  # what the penalty counts the constant for, 0 where it is free; infinity: there is none
