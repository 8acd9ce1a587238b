"""How much each column did for a tree, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from baytree.show.names import counted, number, plain
from baytree.show.results import frame_of
from baytree.show.terminal import in_columns
from baytree.table.schema import Schema
from baytree.tree.model.links import importances
from baytree.tree.model.structure import Tree
from baytree.tree.model.sums import asked_columns, shared


class Importance(msgspec.Struct, frozen=True):
    """One column: its share of all gains, and where they come from."""

    column: str
    importance: float  # share of the whole
    gain: float  # of its own tests, in units of weight
    substitute: float  # what it would have gained in place of others
    tests: int
    weight: float  # that passes its tests


class ImportanceTable(msgspec.Struct, frozen=True):
    """The columns of a tree, the most important first; prints as a table, and is a frame on demand."""

    rows: tuple[Importance, ...]
    unused: int = 0  # columns that no test asks and that stand in for none: left out

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Importance]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per column."""
        return [msgspec.structs.asdict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """A data frame of the library that is in use."""
        return frame_of({name: [getattr(row, name) for row in self] for name in Importance.__struct_fields__})

    def __str__(self) -> str:
        return "\n".join([*in_columns([list(Importance.__struct_fields__), *map(_cells, self)], "<>"), *self.notes()])

    def notes(self) -> list[str]:
        """What the importance counts, and how many columns are left out."""
        stands_in = any(row.substitute for row in self)
        surrogates = " and, as a surrogate, its share of others'" if stands_in else ", without surrogates"
        left_out = [f"left out: {counted(self.unused, 'column')} not used"] if self.unused else []
        return [f"importance: what its tests gain{surrogates}, of the whole", *left_out]

    def _repr_html_(self) -> str:
        from baytree.show.notebook import table  # only a notebook asks for it

        return table("importances", Importance.__struct_fields__, map(_cells, self), self.notes())


def _cells(row: Importance) -> list[str]:
    amounts = (row.gain, row.substitute, row.tests, row.weight)
    return [plain(row.column), f"{row.importance:.4f}", *map(number, amounts)]


def importance_table(tree: Tree, schema: Schema, unused: bool = False) -> ImportanceTable:
    """One line per column that is used, or per column, by falling importance and, of equals, in the order of the table."""
    n, other = len(schema), tree.surrogates
    share = importances(tree, n)
    gain = shared(tree, tree.gain, n)
    substitute = np.bincount(other.column, tree.gain[other.node] * other.adjusted, n)
    column, node = asked_columns(tree)
    tests, weight = np.bincount(column, minlength=n), np.bincount(column, tree.weight[node], n)
    amounts = (each.tolist() for each in (share, gain, substitute, tests, weight))
    rows = [Importance(*row) for row in zip(schema.names, *amounts, strict=True)]
    told = [row for row in rows if unused or row.tests or row.importance > 0]
    return ImportanceTable(tuple(sorted(told, key=lambda row: -row.importance)), len(rows) - len(told))
