"""What the columns of a table are: kinds and levels, inferred in one pass that can be done in parts.

The rules, in their order:
1. What `schema=` declares is taken as declared.
2. An ordered categorical is ordinal, any other categorical nominal; both keep their levels and their order.
3. Numbers and dates are numeric; booleans are nominal.
4. Strings are text where they read like sentences: more than 4 words and 24 letters on average, most of them different.
5. Strings that are all different (10 rows and more) only identify rows: the column is left out, with a warning.
6. All other strings are nominal, their levels sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import msgspec
import numpy as np

from baytree import _core, notices
from baytree.engine.threads import by_columns
from baytree.table.frames import Codes, Numbers, Raw, RawFrame, Strings, factorise_together
from baytree.table.schema import Column, Kind, Schema, Text, sorted_levels

_CODED = (Kind.NOMINAL, Kind.ORDINAL)
MOST_LEVELS = 10_000_000  # of a column declared nominal: what is beyond is surely no code


class ColumnCensus(msgspec.Struct, frozen=True):
    """What one column was seen to hold; what two parts of it held adds up."""

    name: str
    kind: Kind
    levels: frozenset | tuple = frozenset()  # a tuple where the order was declared
    unit: str | None = None
    text: Text | None = None
    is_free: bool = False  # strings whose kind is still to be decided
    n_known: int = 0
    n_letters: int = 0
    n_words: int = 0

    def __add__(self, other: Self) -> Self:
        joint = self._as_column().union(other._as_column())
        is_free = self.is_free and other.is_free
        levels = joint.levels if joint.declared else frozenset(joint.levels)
        return msgspec.structs.replace(
            self,
            levels=levels,
            is_free=is_free,
            n_known=self.n_known + other.n_known,
            n_letters=self.n_letters + other.n_letters,
            n_words=self.n_words + other.n_words,
        )

    def column(self) -> Column | None:
        """The column by the rules above; None where it only identifies rows."""
        if self.is_free and self._reads_like_text():
            return Column(self.name, Kind.TEXT, text=self.text or Text())
        if self.is_free and self.n_known >= 10 and len(self.levels) == self.n_known:
            return None
        return self._as_column()

    def _as_column(self) -> Column:
        is_declared = isinstance(self.levels, tuple)
        levels = tuple(self.levels) if is_declared else sorted_levels(self.levels)
        return Column(self.name, self.kind, levels, is_declared, self.unit, self.text)

    def _reads_like_text(self) -> bool:
        known = max(self.n_known, 1)
        return self.n_words > 4 * known and self.n_letters > 24 * known and 2 * len(self.levels) > known


class Census(msgspec.Struct, frozen=True):
    """The census of every column of a table, in order."""

    columns: tuple[ColumnCensus, ...]

    @classmethod
    def of(cls, frame: RawFrame, declared: Mapping[str, Any] | None = None) -> Self:
        """The census of the columns of a raw frame, with what `schema=` declares about them."""
        declared = {name: kind for name, kind in (declared or {}).items() if name != frame.target or name in frame.columns}
        for name in declared:
            if name not in frame.columns:
                raise ValueError(f"schema names {name!r}, but the columns are {', '.join(map(repr, frame.columns))}")
        names = tuple(frame.columns)
        factorise_together([frame.columns[name] for name, kind in declared.items() if kind in _CODED])
        return cls(by_columns(names, frame.n_rows, lambda name: _census(name, frame.columns[name], declared.get(name))))

    def __add__(self, other: Self) -> Self:
        by_name = {column.name: column for column in other.columns}
        return type(self)(tuple(column + by_name[column.name] for column in self.columns))

    def schema(self, is_named: bool = True) -> Schema:
        """The schema that these columns have, and a warning for each one that is left out."""
        columns = [(census.name, census.column()) for census in self.columns]
        left_out = tuple(name for name, column in columns if column is None)
        for name in left_out:
            notices.warn(
                f"column {name!r} is left out: all its strings differ, so it only identifies rows; "
                f"to keep it, declare schema={{{name!r}: 'nominal'}} or 'text'"
            )
        inputs = tuple(name for name, _ in columns)
        return Schema(tuple(column for _, column in columns if column is not None), inputs=inputs, is_named=is_named)


def _census(name: str, raw: Raw, declared: Any) -> ColumnCensus:
    if declared is not None:
        return _declared(name, raw, declared)
    if isinstance(raw, Numbers):
        return ColumnCensus(name, Kind.NUMERIC, unit=raw.unit)
    if isinstance(raw, Codes):
        levels = raw.levels if raw.is_declared else frozenset(raw.levels)
        return ColumnCensus(name, Kind.ORDINAL if raw.is_ordered else Kind.NOMINAL, levels)
    codes = raw.factorise()
    counts = _level_counts(codes)
    return ColumnCensus(
        name,
        Kind.NOMINAL,
        frozenset(codes.levels),
        is_free=True,
        n_known=sum(counts),
        n_letters=sum(len(level) * n for level, n in zip(codes.levels, counts, strict=True)),
        n_words=sum(len(level.split()) * n for level, n in zip(codes.levels, counts, strict=True)),
    )


def _level_counts(codes: Codes) -> list[int]:
    code = np.ascontiguousarray(codes.codes, np.int32)
    return _core.count(code, np.zeros_like(code), len(codes.levels), 1)[1:, 0].tolist()


def _declared(name: str, raw: Raw, declared: Any) -> ColumnCensus:
    if isinstance(declared, Column):
        levels = declared.levels if declared.levels or declared.kind is Kind.NUMERIC else _levels_of(name, raw)
        return ColumnCensus(name, declared.kind, levels, declared.unit, declared.text)
    if isinstance(declared, Text):
        return ColumnCensus(name, Kind.TEXT, text=declared)
    if isinstance(declared, (list, tuple)):
        if len(set(declared)) < len(declared):
            raise ValueError(f"schema[{name!r}] names a level twice: {list(declared)}")
        return ColumnCensus(name, Kind.ORDINAL, tuple(declared))
    if declared not in list(Kind):
        kinds = ", ".join(repr(kind.value) for kind in Kind)
        raise ValueError(f"schema[{name!r}] is {declared!r}; give {kinds}, a list of levels in order, or bt.Text(...)")
    kind = Kind(declared)
    if kind is Kind.NUMERIC:
        return ColumnCensus(name, kind, unit=raw.unit if isinstance(raw, Numbers) else None)
    if kind is Kind.TEXT:
        return ColumnCensus(name, kind, text=Text())
    return ColumnCensus(name, kind, _ordinal_levels(name, raw) if kind is Kind.ORDINAL else _levels_of(name, raw))


def _levels_of(name: str, raw: Raw) -> Any:
    codes = raw if isinstance(raw, Codes) else raw.factorise()
    if len(codes.levels) > MOST_LEVELS:
        raise ValueError(f"column {name!r} has {len(codes.levels)} different values, too many for levels; leave it out")
    return codes.levels if codes.is_declared else frozenset(codes.levels)


def _ordinal_levels(name: str, raw: Raw) -> tuple:
    if isinstance(raw, Strings):
        raise ValueError(
            f"column {name!r} is declared ordinal, but the order of its strings is not known; give the levels in order"
        )
    return sorted_levels(_levels_of(name, raw))
