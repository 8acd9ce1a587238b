"""How a formula reads a raw row: the columns by name, what their values may be, and how a document becomes words.

Trees in formulas: a flat table of nodes, the children of a node side by side and after it. Nothing recurses.
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

Domain = Literal["any", "finite", "count"]

Part = Literal["year", "month", "weekday"]

PER_DAY = {"D": 1, "h": 24, "m": 1_440, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}

"""How many of a unit are a day."""


class TokenOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    refused. A value of None or NaN, or none at all, is missing. `part` is the part of the date in column `source` that the
    column holds; the day of the week is a level, Monday the first. The unit is then that of `source`.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    unit: str | None = None
    domain: Domain = "finite"
    tokens: TokenOptions | None = None
    source: str | msgspec.UnsetType = msgspec.UNSET  # only of a part of a date, as `part`
    part: Part | msgspec.UnsetType = msgspec.UNSET
    is_boolean: bool | msgspec.UnsetType = msgspec.UNSET  # only where it is: levels then have many `spellings`

    @property
    def given(self) -> str:
        """Name of the column of the table that is read."""
        return self.source or self.name


class WeightedSum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Σ weight · column, added from the left, of numbers that a test reads together; missing where one of them is."""

    name: str
    columns: tuple[int, ...]
    weights: tuple[float, ...]


def spellings(column: Input) -> dict[str, int]:
    """The code of every spelling of the levels of a boolean column, in small letters without blanks around it."""
    words = {"yes": YES, "no": NO}
    found: dict[str, int] = {}
    for code, level in enumerate(column.levels):
        spelt = words.get(normalize_booleans([str(level)])[0], frozenset({plain(str(level))}))
        # letters that only Unicode makes small: programs that make small those of ASCII alone meet them as capitals
        found |= {each: code for word in sorted(spelt) for each in (word, _small(word.upper()))}
    return found


def in_cases(column: Input) -> dict[str, int]:
    """The code of every spelling in small letters, in capitals and with a capital first, for targets that fold no case."""
    spelt = spellings(column).items()
    return {each: code for word, code in spelt for each in (word, word.upper(), word.capitalize())}


def _small(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def inputs(schema: Schema, domain: Domain = "finite", counts: tuple[int, ...] = ()) -> tuple[Input, ...]:
    """The columns of a schema as a formula reads them; `counts` are those whose numbers may not be negative."""
    units = {column.name: column.unit for column in schema.columns}
    return tuple(
        _input(column, "count" if j in counts else domain, units.get(column.source))
        for j, column in enumerate(schema.columns)
    )


def class_names(schema: Schema) -> tuple[str, ...] | None:
    """The classes by name; None where the target is a number."""
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


STOP, SPREAD = -1, -2  # what a node does with a row that no test can place, unless that takes a branch


class FormulaTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about a column, or a sum of several: its place, and the branch of each place, −1 where it cannot tell.

    The place of a level is its code. That of a number is the number of `cuts` below it; a number that equals a cut lies
    below it, or above where `is_strict` (the branch before is then x < cut).
    """

    __test__ = False  # no test of pytest's

    column: int
    branches: tuple[int, ...]
    cuts: tuple[float, ...] = ()
    is_strict: bool = False


class FormulaNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tests in order of preference, the first that can tell decides; none at a leaf.

    Branch b leads to node `first + b`. Where no test can tell, `missing` is a branch, STOP or SPREAD; `shares` are then the
    parts of the row that take each branch.
    """

    tests: tuple[FormulaTest, ...] = ()
    first: int = 0
    missing: int = STOP
    shares: tuple[float, ...] = ()


def n_branches(node: FormulaNode) -> int:
    """How many branches a node has."""
    if not node.tests:
        return 0
    return 1 + max(node.missing, len(node.shares) - 1, *(max(test.branches, default=-1) for test in node.tests))


def in_depth(nodes: Sequence[FormulaNode]) -> list[int]:
    """The nodes as a walk meets them that takes the first branch first."""
    found, waiting = [], [0]
    while waiting:
        n = waiting.pop()
        found.append(n)
        waiting += [nodes[n].first + b for b in reversed(range(n_branches(nodes[n])))]
    return found
