"""Rows to answers: where each row comes to rest in a tree, what the tree says of it, and why."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree import _core
from baytree.engine import threads
from baytree.model import Evidence, Explanation
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table
from baytree.tree.model.links import bounds, parents
from baytree.tree.model.places import SPREAD, STOP

if TYPE_CHECKING:
    from baytree.tree.model.structure import Tree

_SMALL = 20_000  # rows; below it a second thread costs more than it brings


def leaves(tree: Tree, table: Table) -> np.ndarray:
    """int32 [n_rows]: the node where each row comes to rest; a row that would be spread follows the largest share."""
    return router(tree).leaves(columns(table), level_counts(table.schema), len(table), _threads(table))


def values(tree: Tree, table: Table) -> np.ndarray:
    """float64 [n_rows, n_outputs]: class probabilities, or the mean, of each row."""
    way = router(tree)
    if not way.may_spread:
        return tree.value[way.leaves(columns(table), level_counts(table.schema), len(table), _threads(table))]
    value = np.ascontiguousarray(tree.value)
    return way.mixtures(columns(table), level_counts(table.schema), len(table), value, _threads(table))


def explain(tree: Tree, table: Table) -> list[Explanation]:
    """One ledger per row: the root's distribution, and what each test on the way changed of it."""
    stopped = _without_spreading(tree)
    rest, answer, above = leaves(stopped, table), values(tree, table), parents(tree)
    return [_ledger(tree, table, row, _path(above, int(rest[row])), answer[row]) for row in range(len(table))]


def router(tree: Tree) -> _core.Router:
    """The tree as the core routes by it."""
    used = bounds(tree, tree.surrogates) if tree.uses_surrogates else np.zeros(len(tree) + 1, np.int64)
    more_cuts = np.ascontiguousarray(tree.more_cuts.cut)
    return _core.Router(_arrays(tree), _arrays(tree.surrogates), used, more_cuts, bounds(tree, tree.more_cuts))


def columns(table: Table) -> list[np.ndarray]:
    """The columns as the core reads them."""
    return list(table.values)


def level_counts(schema: Schema) -> np.ndarray:
    """int32 [n_columns]: the number of levels of each nominal column, 0 for columns that are cut."""
    return np.array([len(c.levels) if c.kind is Kind.NOMINAL else 0 for c in schema], np.int32)


def _threads(table: Table) -> int:
    return 1 if len(table) < _SMALL else threads.count(None)


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


def _ledger(tree: Tree, table: Table, row: int, path: list[int], answer: np.ndarray) -> Explanation:
    lines = [_line(tree, table, row, node, tree.value[below] - tree.value[node]) for node, below in pairwise(path)]
    if tree.column[path[-1]] >= 0 and not np.array_equal(answer, tree.value[path[-1]]):
        lines.append(_line(tree, table, row, path[-1], answer - tree.value[path[-1]]))
    target = table.schema.target
    classes = target.classes if target and target.classes is not None else (target.name if target else "value",)
    unit = "probability" if tree.n_classes else "number"
    return Explanation(tuple(classes), tree.value[0].copy(), tuple(lines), answer, unit)


def _line(tree: Tree, table: Table, row: int, node: int, effect: np.ndarray) -> Evidence:
    column = int(tree.column[node])
    return Evidence(table.schema.columns[column].name, table.schema.columns[column].show(table.values[column][row]), effect)
