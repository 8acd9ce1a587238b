"""C5.0's usage of columns, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from baytree.show.names import plain
from baytree.show.results import frame_of
from baytree.show.terminal import in_columns
from baytree.table.schema import Schema


class Usage(msgspec.Struct, frozen=True):
    """One column, and the share of the training rows for which its value is read."""

    column: str
    usage: float


class UsageTable(msgspec.Struct, frozen=True):
    """The columns, the most used first; prints as a table, and is a frame on demand."""

    rows: tuple[Usage, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Usage]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per column."""
        return [msgspec.structs.asdict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """A data frame of the library that is in use."""
        return frame_of({name: [getattr(row, name) for row in self] for name in Usage.__struct_fields__})

    def __str__(self) -> str:
        cells = [[plain(row.column), f"{100 * row.usage:.2f} %"] for row in self]
        return "\n".join(in_columns([["column", "usage"], *cells], "<>"))


def usage_table(usage: np.ndarray, schema: Schema) -> UsageTable:
    """One line per column, by falling usage and, of equals, in the order of the table."""
    rows = [Usage(name, share) for name, share in zip(schema.names, usage.tolist(), strict=True)]
    return UsageTable(tuple(sorted(rows, key=lambda row: -row.usage)))
