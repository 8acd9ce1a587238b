"""Routing of rows through a tree: leaves, predictions and explanations of rows.

The core (`_core.Router`) does the routing; this module passes it the columns of a table and turns paths into
explanations.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree import _core
from baytree.base.model import Evidence, Explanation
from baytree.data.encoding.table import Table, Tokens
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.parallel import threads
from baytree.tree.model.arrays import SPREAD, STOP
from baytree.tree.model.linear_combinations import tested_columns, with_sums
from baytree.tree.model.traversal import bounds, parents

if TYPE_CHECKING:
    from baytree.tree.model.conditions import Branches
    from baytree.tree.model.tree import Tree

_MAX_LEVELS = 4  # named in a condition of an explanation

_MIN_PARALLEL_ROWS = 20_000  # rows; below this a second thread costs more than it saves


def leaves(tree: Tree, table: Table) -> np.ndarray:
    """Leaf of each row, int32 [n_rows]; a fractional row follows the branch of largest proportion."""
    return tree.router.leaves(*tested_values(tree, table), len(table), _threads(table))


def values(tree: Tree, table: Table) -> np.ndarray:
    """Class probabilities, or the mean, of each row, float64 [n_rows, n_outputs]."""
    return mixtures(tree, table, tree.value)


def mixtures(tree: Tree, table: Table, value: np.ndarray, soft: np.ndarray | None = None) -> np.ndarray:
    """Average the node values [n_nodes, n_outputs] over the nodes that each row reaches, float64 [n_rows, n_outputs].

    `soft` [n_nodes, 4] holds the lower bound, middle and upper bound between which a row follows both branches of a
    threshold, and the grid to which numbers are rounded.
    """
    route, inputs = tree.router, (*tested_values(tree, table), len(table))
    if not route.may_spread and soft is None:
        return value[route.leaves(*inputs, _threads(table))]
    bounds = None if soft is None else np.ascontiguousarray(soft).ravel()
    return route.mixtures(*inputs, np.ascontiguousarray(value), _threads(table), bounds)


def explain(tree: Tree, table: Table) -> list[Explanation]:
    """Explanation of each row: the root's distribution, and its change at each test on the path."""
    return explained(tree, table, values(tree, table))


def explained(tree: Tree, table: Table, answer: np.ndarray) -> list[Explanation]:
    """Explanations of predictions [n_rows, n_outputs]; what the path does not explain goes to the last line."""
    from baytree.tree.model.conditions import Branches

    leaf, above = leaves(_without_spreading(tree), table), parents(tree)
    branches = Branches(tree, table.schema)
    source = ExplanationSource(branches, tested_columns(tree, table.schema), tested_values(tree, table)[0], table.schema)
    return [_explain_row(source, row, _path(above, int(leaf[row])), answer[row]) for row in range(len(table))]


def router(tree: Tree) -> _core.Router:
    """Core router of the tree, which holds its arrays."""
    used = bounds(tree, tree.surrogates) if tree.uses_surrogates else np.zeros(len(tree) + 1, np.int64)
    more_cuts = np.ascontiguousarray(tree.more_cuts.cut)
    return _core.Router(_arrays(tree), _arrays(tree.surrogates), used, more_cuts, bounds(tree, tree.more_cuts))


def tested_values(tree: Tree, table: Table) -> tuple[list[np.ndarray], np.ndarray]:
    """Values that the tests read (columns and linear combinations), and the number of levels of each."""
    values, n_levels = columns(table), level_counts(table.schema)
    return (values, n_levels) if not tree.sums else (with_sums(tree, values), np.pad(n_levels, (0, len(tree.sums))))


def columns(table: Table) -> list[np.ndarray]:
    """Columns as the core reads them; text columns, which no test reads, are all missing."""
    return [np.full(len(table), np.nan) if isinstance(values, Tokens) else values for values in table.values]


def level_counts(schema: Schema) -> np.ndarray:
    """Number of levels of each nominal column, 0 for columns that are split by thresholds, int32 [n_columns]."""
    return np.array([len(c.levels) if c.kind is Kind.NOMINAL else 0 for c in schema], np.int32)


def _threads(table: Table) -> int:
    return 1 if len(table) < _MIN_PARALLEL_ROWS else threads.count(None)


def _arrays(record: msgspec.Struct) -> dict[str, np.ndarray]:
    fields = ((name, getattr(record, name)) for name in record.__struct_fields__)
    return {name: np.ascontiguousarray(array) for name, array in fields if isinstance(array, np.ndarray)}


def _without_spreading(tree: Tree) -> Tree:
    return msgspec.structs.replace(tree, missing=np.where(tree.missing == SPREAD, STOP, tree.missing).astype(np.int32))


def _path(above: np.ndarray, node: int) -> list[int]:
    path = [node]
    while path[-1]:
        path.append(int(above[path[-1]]))
    return path[::-1]


class ExplanationSource(msgspec.Struct, frozen=True):
    """Data of explanations: the conditions of branches, and the columns and linear combinations that they test."""

    branches: Branches
    columns: tuple[Column, ...]
    values: list[np.ndarray]
    schema: Schema


def _explain_row(source: ExplanationSource, row: int, path: list[int], answer: np.ndarray) -> Explanation:
    tree = source.branches.tree
    lines = [_line(source, row, node, below) for node, below in pairwise(path)]
    if tree.column[path[-1]] >= 0 and not np.array_equal(answer, tree.value[path[-1]]):
        column = source.columns[int(tree.column[path[-1]])]
        lines.append(Evidence(column.name, "missing", answer - tree.value[path[-1]]))
    target = source.schema.target
    classes = target.classes if target and target.classes is not None else (target.name if target else "value",)
    unit = "probability" if tree.n_classes else "number"
    return Explanation(tuple(classes), tree.value[0].copy(), tuple(lines), answer, unit)


def _line(source: ExplanationSource, row: int, node: int, below: int) -> Evidence:
    """Evidence of one step of a path: the row's value, the branch condition, and the change of the prediction."""
    branches, tree, index = source.branches, source.branches.tree, int(source.branches.tree.column[node])
    column, branch = source.columns[index], below - branches.first[node]
    value = column.show(source.values[index][row])
    condition = next(islice(branches.of(node), branch, None))
    if value != "missing":
        condition = msgspec.structs.replace(condition, missing=False)
    return Evidence(column.name, value, tree.value[below] - tree.value[node], condition.show(source.schema, _MAX_LEVELS))
