"""Rows of several parts brought together, and what may be there or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import msgspec
import numpy as np

from baytree.table.table import Table, Tokens


class Perhaps(msgspec.Struct, frozen=True):
    """What was made of a part; None where it has no rows."""

    value: Any = None

    def __add__(self, other: Self) -> Self:
        if self.value is None or other.value is None:
            return other if self.value is None else self
        return type(self)(self.value + other.value)


class Several(msgspec.Struct, frozen=True):
    """The answers to several questions."""

    values: tuple

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)))


class Gathered(msgspec.Struct, frozen=True):
    """Rows of some parts, in the order in which their answers are added up; `joined` puts them in the order of the rows."""

    tables: tuple[Table, ...]

    @classmethod
    def of(cls, choose: Callable[[Table], Table], table: Table) -> Self:
        """The rows that are chosen of these."""
        return cls((msgspec.structs.replace(choose(table), first=table.first),))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.tables + other.tables)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of tables of one schema, in the order of the rows that come before each table."""
    ordered = sorted(tables, key=lambda table: table.first)
    kept = [table for table in ordered if len(table)] or ordered[:1]
    if len(kept) == 1:
        return msgspec.structs.replace(kept[0], first=0)
    columns = zip(*(table.values for table in kept), strict=True)
    values = tuple(_stacked(column) for column in columns)
    label, weight = (np.concatenate([getattr(table, name) for table in kept]) for name in ("label", "weight"))
    return Table(kept[0].schema, values, weight, label, all(table.is_unweighted for table in kept))


def _stacked(column: Sequence[Any]) -> Any:
    if not isinstance(column[0], Tokens):
        return np.concatenate(column)
    ends = np.cumsum([len(tokens.code) for tokens in column])
    start = [column[0].start, *(tokens.start[1:] + end for tokens, end in zip(column[1:], ends[:-1], strict=True))]
    arrays = (np.concatenate([getattr(tokens, name) for tokens in column]) for name in ("code", "count", "missing"))
    return Tokens(np.concatenate(start), *arrays)
