"""Rows to answers: where each row comes to rest in a tree, what the tree says of it, and why."""

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

_MOST_LEVELS = 4  # that an explanation names of a condition

_SMALL = 20_000  # rows; below it a second thread costs more than it brings


def leaves(tree: Tree, table: Table) -> np.ndarray:
    """int32 [n_rows]: the node where each row comes to rest; a row that would be spread follows the largest share."""
    return tree.router.leaves(*_read(tree, table), len(table), _threads(table))


def values(tree: Tree, table: Table) -> np.ndarray:
    """float64 [n_rows, n_outputs]: class probabilities, or the mean, of each row."""
    return mixtures(tree, table, tree.value)


def mixtures(tree: Tree, table: Table, value: np.ndarray, soft: np.ndarray | None = None) -> np.ndarray:
    """float64 [n_rows, n_outputs]: what a table [n_nodes, n_outputs] says of the nodes that parts of each row reach.

    `soft` [n_nodes, 4] are the low bound, the middle and the high bound between which a row follows both branches of a cut,
    and the grid that numbers are rounded to.
    """
    way, given = tree.router, (*_read(tree, table), len(table))
    if not way.may_spread and soft is None:
        return value[way.leaves(*given, _threads(table))]
    bounds = None if soft is None else np.ascontiguousarray(soft).ravel()
    return way.mixtures(*given, np.ascontiguousarray(value), _threads(table), bounds)


def explain(tree: Tree, table: Table) -> list[Explanation]:
    """One ledger per row: the root's distribution, and what each test on the way changed of it."""
    return explained(tree, table, values(tree, table))


def explained(tree: Tree, table: Table, answer: np.ndarray) -> list[Explanation]:
    """The ledgers of answers [n_rows, n_outputs] that the tree leads to; what its paths do not tell is in the last line."""
    from baytree.tree.model.conditions import Branches

    rest, above = leaves(_without_spreading(tree), table), parents(tree)
    branches = Branches(tree, table.schema)
    told = ExplanationSource(branches, tested_columns(tree, table.schema), _read(tree, table)[0], table.schema)
    return [_ledger(told, row, _path(above, int(rest[row])), answer[row]) for row in range(len(table))]


def router(tree: Tree) -> _core.Router:
    """The tree as the core routes by it."""
    used = bounds(tree, tree.surrogates) if tree.uses_surrogates else np.zeros(len(tree) + 1, np.int64)
    more_cuts = np.ascontiguousarray(tree.more_cuts.cut)
    return _core.Router(_arrays(tree), _arrays(tree.surrogates), used, more_cuts, bounds(tree, tree.more_cuts))


def _read(tree: Tree, table: Table) -> tuple[list[np.ndarray], np.ndarray]:
    """What the tests of a tree read: columns and sums, and the number of levels of each."""
    values, n_levels = columns(table), level_counts(table.schema)
    return (values, n_levels) if not tree.sums else (with_sums(tree, values), np.pad(n_levels, (0, len(tree.sums))))


def columns(table: Table) -> list[np.ndarray]:
    """The columns as the core reads them; text, which no test reads, as missing values."""
    return [np.full(len(table), np.nan) if isinstance(values, Tokens) else values for values in table.values]


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


class ExplanationSource(msgspec.Struct, frozen=True):
    """What ledgers are made of: the conditions of the branches, and the columns and sums that they ask for."""

    branches: Branches
    columns: tuple[Column, ...]
    values: list[np.ndarray]
    schema: Schema


def _ledger(told: ExplanationSource, row: int, path: list[int], answer: np.ndarray) -> Explanation:
    tree = told.branches.tree
    lines = [_line(told, row, node, below) for node, below in pairwise(path)]
    if tree.column[path[-1]] >= 0 and not np.array_equal(answer, tree.value[path[-1]]):
        column = told.columns[int(tree.column[path[-1]])]
        lines.append(Evidence(column.name, "missing", answer - tree.value[path[-1]]))
    target = told.schema.target
    classes = target.classes if target and target.classes is not None else (target.name if target else "value",)
    unit = "probability" if tree.n_classes else "number"
    return Explanation(tuple(classes), tree.value[0].copy(), tuple(lines), answer, unit)


def _line(told: ExplanationSource, row: int, node: int, below: int) -> Evidence:
    """What the branch from a node to the one below asked of the row's value, and what that changed."""
    branches, tree, place = told.branches, told.branches.tree, int(told.branches.tree.column[node])
    column, branch = told.columns[place], below - branches.first[node]
    value = column.show(told.values[place][row])
    asked = next(islice(branches.of(node), branch, None))
    if value != "missing":
        asked = msgspec.structs.replace(asked, missing=False)
    return Evidence(column.name, value, tree.value[below] - tree.value[node], asked.show(told.schema, _MOST_LEVELS))
