"""Inputs of a formula: how raw columns, weighted sums and documents are read, and the trees that test them.

Trees are flat tuples of nodes; the children of a node are adjacent and come after it, so nothing recurses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from baytree.data.encoding.bag_of_words import english
from baytree.data.parsing.string_format import normalize_booleans
from baytree.data.parsing.vocabulary import NO, YES, plain
from baytree.data.schema.column import Column, Kind, Level, Text
from baytree.data.schema.schema import Schema
from baytree.summary.tree import STOP

Domain = Literal["any", "finite", "count"]

Part = Literal["year", "month", "weekday"]

PER_DAY = {"D": 1, "h": 24, "m": 1_440, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}

"""Number of units per day."""


class TokenOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    r"""How a document is split into words: runs of two or more `\w` characters without stop words, alone or as `ngrams`.

    With `buckets`, a word is "#" and its MurmurHash3 (32 bits, seed 0, of its UTF-8), its sign dropped, modulo that number.
    """

    lowercase: bool
    ngrams: tuple[int, int]
    stop_words: tuple[str, ...]
    buckets: int | None


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Raw column. Levels are matched as they are or by their text; any other level counts as missing.

    `unit` is the unit of a date, counted from 1970-01-01. A number outside `domain` (an infinite one, a negative count) is
    refused. None, NaN and absent values are missing. If the column is a part of a date, `part` names the part and `source`
    the column with the date; the day of the week is a level, Monday the first, and the unit is that of `source`.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    unit: str | None = None
    domain: Domain = "finite"
    tokens: TokenOptions | None = None
    source: str | msgspec.UnsetType = msgspec.UNSET  # set only for a part of a date, together with `part`
    part: Part | msgspec.UnsetType = msgspec.UNSET
    is_boolean: bool | msgspec.UnsetType = msgspec.UNSET  # set only if true: levels then have many `spellings`

    @property
    def given(self) -> str:
        """Name of the table's column that is read."""
        return self.source or self.name


class WeightedSum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Σ weight · column, added from left to right, which a test reads as one number; missing if one of the columns is."""

    name: str
    columns: tuple[int, ...]
    weights: tuple[float, ...]


def spellings(column: Input) -> dict[str, int]:
    """Code of every spelling of a boolean column's levels, in lower case without surrounding blanks."""
    synonyms = {"yes": YES, "no": NO}
    codes: dict[str, int] = {}
    for code, level in enumerate(column.levels):
        words_of_level = synonyms.get(normalize_booleans([str(level)])[0], frozenset({plain(str(level))}))
        # letters outside ASCII stay upper-case in programs that lowercase only ASCII
        codes |= {each: code for word in sorted(words_of_level) for each in (word, _ascii_lower(word.upper()))}
    return codes


def in_cases(column: Input) -> dict[str, int]:
    """Code of every spelling in lower case, upper case and capitalised, for targets without case folding."""
    spelled = spellings(column).items()
    return {each: code for word, code in spelled for each in (word, word.upper(), word.capitalize())}


def _ascii_lower(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def inputs(schema: Schema, domain: Domain = "finite", counts: tuple[int, ...] = ()) -> tuple[Input, ...]:
    """Columns of a schema as inputs of a formula; `counts` are those whose numbers must not be negative."""
    units = {column.name: column.unit for column in schema.columns}
    return tuple(
        _input(column, "count" if j in counts else domain, units.get(column.source))
        for j, column in enumerate(schema.columns)
    )


def class_names(schema: Schema) -> tuple[str, ...] | None:
    """Names of the classes; None for a numeric target."""
    return None if schema.target.classes is None else tuple(map(str, schema.target.classes))


def _input(column: Column, domain: Domain, unit: str | None) -> Input:
    if column.kind is Kind.TEXT:
        return Input(column.name, column.kind, tokens=_tokens(column.text or Text()))
    levels = tuple(_level(level) for level in column.levels)
    if column.form is not None and column.form.part:
        return Input(column.name, column.kind, levels, unit or "us", domain, source=column.source, part=column.form.part)
    if column.kind is Kind.NUMERIC:
        return Input(column.name, column.kind, unit=column.unit, domain=domain)
    return Input(column.name, column.kind, levels, is_boolean=column.is_boolean or msgspec.UNSET)


def _level(level: object) -> Level:
    return level if isinstance(level, Level) else str(level)


def _tokens(options: Text) -> TokenOptions:
    stop_words = english() if options.stop_words == "english" else tuple(options.stop_words or ())
    return TokenOptions(options.lowercase, options.ngrams, stop_words, options.hashing)


class FormulaTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Test of a column or weighted sum: the index of the input, and the branch per interval or level, −1 for none.

    A level is looked up by its code. A number is looked up by the number of `cuts` below it; a number equal to a cut is
    below the cut, or above if `is_strict` (the branch before is then x < cut).
    """

    __test__ = False  # pytest must not collect it

    column: int
    branches: tuple[int, ...]
    cuts: tuple[float, ...] = ()
    is_strict: bool = False


class FormulaNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tree node: tests in order of preference, of which the first that can place the row decides; none at a leaf.

    Branch b leads to node `first + b`. If no test can place a row, `missing` is a branch, STOP or SPREAD; `shares` are then
    the fractions of the row that take each branch.
    """

    tests: tuple[FormulaTest, ...] = ()
    first: int = 0
    missing: int = STOP
    shares: tuple[float, ...] = ()


def n_branches(node: FormulaNode) -> int:
    """Number of branches of a node."""
    if not node.tests:
        return 0
    return 1 + max(node.missing, len(node.shares) - 1, *(max(test.branches, default=-1) for test in node.tests))


def in_depth(nodes: Sequence[FormulaNode]) -> list[int]:
    """Nodes in depth-first order, first branch first."""
    order, stack = [], [0]
    while stack:
        n = stack.pop()
        order.append(n)
        stack += [nodes[n].first + b for b in reversed(range(n_branches(nodes[n])))]
    return order
