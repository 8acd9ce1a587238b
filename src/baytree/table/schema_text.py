"""A schema as a table that a person can check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from baytree.show.terminal import in_columns, ruled
from baytree.table.column import Column, Kind

if TYPE_CHECKING:
    from baytree.table.schema import Schema


_WIDTH = 80  # characters of a line
_SHOWN_NAME, _SHOWN_LEVELS = 40, 24  # characters of a name at most, of levels at least


def table(schema: Schema) -> str:
    """The columns, their kinds and levels, without the notes."""
    return ruled(in_columns(rows(schema), "<"))


def rows(schema: Schema) -> list[tuple[str, str, str]]:
    """The header, and a row for each column."""
    named = {name: _shortened(name) for name in (*schema.inputs, *schema.names, schema.target.name)}
    room = max(_SHOWN_LEVELS, _WIDTH - max(map(len, ["column", *named.values()])) - len("left out") - 4)
    listed = [("column", "kind", "levels")]
    listed += [(named[c.name], c.kind.value, _levels_in_words(c, room)) for c in schema.columns]
    listed += [(named[name], "left out", _why(schema, name)) for name in schema.left_out]
    if schema.target.name:
        classes = schema.target.classes
        listed.append((named[schema.target.name], "target", "a number" if classes is None else _listed(classes, room)))
    return listed


def _why(schema: Schema, name: str) -> str:
    """Why a column is left out: the first of its notes that says so."""
    said = (note.done for note in schema.notes if note.column == name and "left out" in note.done)
    words = re.sub("^is left out[:,] ", "", next(said, "only identifies rows"))
    return re.sub(", such as .*", "", words.removesuffix(", so it only identifies rows"))


def _shortened(name: str) -> str:
    return name if len(name) <= _SHOWN_NAME else f"{name[: _SHOWN_NAME - 1]}…"


def _levels_in_words(column: Column, room: int) -> str:
    if column.kind is Kind.TEXT:
        return f"{len(column.levels)} words" if column.levels else "words"
    if column.kind is Kind.NUMERIC:
        return "time of day" if column.unit == "clock" else f"date ({column.unit})" if column.unit else ""
    return _listed(column.levels, room, " < " if column.kind is Kind.ORDINAL else ", ")


def _listed(levels: Sequence[Any], room: int, separator: str = ", ") -> str:
    """The levels, or as many of them as there is room for and the number of all."""
    names = [str(level) for level in levels]
    shown = separator.join(names)
    if len(shown) <= room:
        return shown
    rest = f"… ({len(names):,} levels)"
    kept = next(k for k in range(len(names), -1, -1) if len(separator.join([*names[:k], rest])) <= room or k == 0)
    return separator.join([*names[:kept], rest])
