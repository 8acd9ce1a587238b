"""A table made ready for logistic regression: its design, its rows, and what the penalty counts a feature for."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.design.design import Design
from baytree.linear.design.features import VALUE
from baytree.linear.design.learn import learn_design
from baytree.linear.design.spread import look_at
from baytree.linear.logistic.objective import Penalty
from baytree.linear.logistic.options import Options
from baytree.linear.logistic.rows import Rows, rows_of
from baytree.table.outliers import warn_of_outliers
from baytree.table.table import SparseColumns, Table


class Task(msgspec.Struct, frozen=True):
    """A table made ready: the design, its rows, and the classes that occur."""

    design: Design
    rows: Rows
    present: np.ndarray  # [n_present], class codes
    n_classes: int
    total: float  # sum of the weights
    factor: np.ndarray  # [q], each feature's size in units of the penalty: 1, or 1 / sd; 0 for the constant
    above: np.ndarray  # [q], how far each feature of the rows lies above the design's


def task_of(table: Table, options: Options, class_weight: np.ndarray) -> Task:
    """The table in the design's units, each row with its weight times that of its class."""
    weight = table.weight * class_weight[table.label]
    table = msgspec.structs.replace(table, weight=weight)
    look = look_at(table)
    design = learn_design(table, look, ordinal=options.ordinal, missing=options.missing, standardize=options.standardize)
    is_value = design.layout.level == VALUE
    warn_of_outliers(table, design.layout.source[is_value], design.scale[: design.n_dense][is_value])
    design = design if options.standardize else _plain_if_sparse(table, design)
    present = np.flatnonzero(np.bincount(table.label, weight, minlength=table.n_classes) > 0)
    code = np.full(table.n_classes, 0, np.int32)
    code[present] = np.arange(len(present))
    table = msgspec.structs.replace(table, label=code[table.label])
    rows, above = rows_of(table, design, weight, 1 if len(present) <= 2 else len(present), bool(look.gaps.any()))
    factor = np.ones(rows.q)
    factor[-1] = 0.0
    if not options.standardize:
        factor[:-1] = 1 / np.clip(design.scale, 1e-140, 1e140)  # squares of factors must be doubles
    return Task(design, rows, present, table.n_classes, float(weight.sum()), factor, above)


def _plain_if_sparse(table: Table, design: Design) -> Design:
    """A sparse matrix in its own units: rare columns in units of their spread would make the problem worse, not better."""
    usual = (design.scale > 1e-6) & (design.scale < 1e6)
    if not isinstance(table.values, SparseColumns) or not usual.all():
        return design
    return msgspec.structs.replace(design, scale=np.ones(len(design)))


def penalty_of(task: Task, options: Options, lambda_: float | None = None) -> Penalty:
    """The penalty of each feature at a strength λ (the user's, if none is given)."""
    if not options.is_penalised:
        return Penalty(np.zeros_like(task.factor), np.zeros_like(task.factor))
    lambda_ = strength(task, options) if lambda_ is None else lambda_
    return Penalty(lambda_ * (1 - options.l1_share) * task.factor**2, lambda_ * options.l1_share * task.factor)


def strength(task: Task, options: Options) -> float:
    """The user's λ, or 1 / (n · C)."""
    return options.lambda_ if options.lambda_ is not None else 1 / task.total / options.C


def one_against_rest(task: Task, c: int) -> Task:
    """The two-class task of one class against all others."""
    rows = msgspec.structs.replace(task.rows, label=(task.rows.label == c).astype(np.int32), k=1)
    return msgspec.structs.replace(task, rows=rows)


def tasks_of(task: Task, options: Options) -> list[Task]:
    """The task itself, or one per class against the rest."""
    if options.multi_class == "multinomial" or task.rows.k == 1:
        return [task]
    return [one_against_rest(task, c) for c in range(task.rows.k)]
