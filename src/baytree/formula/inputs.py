"""How a formula reads a raw row: the columns by name, what their values may be, and how a document becomes words."""

from __future__ import annotations

from typing import Literal

import msgspec

from baytree.table.schema import Column, Kind, Level, Schema, Text
from baytree.table.text.count import english

Domain = Literal["any", "finite", "count"]


class Tokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    r"""What the words of a document are: runs of two or more `\w`, without the stop words, alone or `ngrams` in a row.

    With `buckets` a word is "#" and its MurmurHash3 (32 bits, seed 0, of its UTF-8), its sign dropped, modulo that number.
    """

    lowercase: bool
    ngrams: tuple[int, int]
    stop_words: tuple[str, ...]
    buckets: int | None


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A raw column. Levels are matched as they are, or by their text; any other level counts as missing.

    `unit` is that of a date, counted from 1970-01-01. A number outside `domain` (an infinite one, a negative count) is
    refused. A value of None or NaN, or none at all, is missing.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    unit: str | None = None
    domain: Domain = "finite"
    tokens: Tokens | None = None


class WeightedSum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Σ weight · column, added from the left, of numbers that a test reads together; missing where one of them is."""

    name: str
    columns: tuple[int, ...]
    weights: tuple[float, ...]


def inputs(schema: Schema, domain: Domain = "finite", counts: tuple[int, ...] = ()) -> tuple[Input, ...]:
    """The columns of a schema as a formula reads them; `counts` are those whose numbers may not be negative."""
    return tuple(_input(column, "count" if j in counts else domain) for j, column in enumerate(schema.columns))


def class_names(schema: Schema) -> tuple[str, ...] | None:
    """The classes by name; None where the target is a number."""
    return None if schema.target.classes is None else tuple(map(str, schema.target.classes))


def _input(column: Column, domain: Domain) -> Input:
    if column.kind is Kind.TEXT:
        return Input(column.name, column.kind, tokens=_tokens(column.text or Text()))
    if column.kind is Kind.NUMERIC:
        return Input(column.name, column.kind, unit=column.unit, domain=domain)
    return Input(column.name, column.kind, tuple(_level(level) for level in column.levels))


def _level(level: object) -> Level:
    return level if isinstance(level, Level) else str(level)


def _tokens(options: Text) -> Tokens:
    stop_words = english() if options.stop_words == "english" else tuple(options.stop_words or ())
    return Tokens(options.lowercase, options.ngrams, stop_words, options.hashing)
