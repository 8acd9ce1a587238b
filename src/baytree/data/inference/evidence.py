"""Mergeable evidence on the strings of a column: counts of cells by what they look like (number styles, dates, units ...).

Also here: the conventions of a table (decimal mark, date order) that the evidence of its columns implies, and the record
of a format decision. Only distinct strings are examined, and strings of the same shape share one match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Self

import msgspec

from baytree.data.parsing import dates
from baytree.data.parsing.numbers import BLANK, BY_COMMA, BY_DOT, Numeral, numeral
from baytree.data.parsing.string_format import StringFormat
from baytree.data.parsing.vocabulary import MISSING_TOKENS, NO, NUMERIC_MISSING_TOKENS, YES, Pattern, plain
from baytree.data.schema.notes import Note

# the numeral of a string depends on the positions of its zeros, not on its other digits
_DIGITS = str.maketrans("23456789", "11111111")

_UUID = Pattern(r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")

_EMAIL = Pattern(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}")

_FIGURES = Pattern(r"[\d\s./'’\"″′:×x+±*()–~-]+")  # digits and marks without a word: a fraction, a range, a height

_MAX_LENGTH = 48  # max characters of a number or a date

_MAX_CACHED_LEVELS = 1000  # max levels for which the result is cached

Tally = dict[str, int]

_TALLIES = ("styles", "units", "scales", "dates", "orders", "missing_tokens", "no_number", "other")


class StringEvidence(msgspec.Struct, frozen=True):
    """Counts of cells by trait; `example` has the smallest string of each, so that the order of rows is irrelevant."""

    n_known: int = 0
    styles: Tally = msgspec.field(default_factory=dict)  # styles of numbers
    units: Tally = msgspec.field(default_factory=dict)
    scales: Tally = msgspec.field(default_factory=dict)
    dates: Tally = msgspec.field(default_factory=dict)  # styles of dates, with the separator if the order is ambiguous
    orders: Tally = msgspec.field(default_factory=dict)  # "dmy" and "mdy" of dates with a number above 12
    missing_tokens: Tally = msgspec.field(default_factory=dict)  # missing tokens of any column, as written
    no_number: Tally = msgspec.field(default_factory=dict)  # missing tokens of numeric columns, as written
    other: Tally = msgspec.field(default_factory=dict)  # "yes", "no", "uuid", "email", "accounting", "plus", "time", …
    example: dict[str, str] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, levels: Sequence[str], counts: Sequence[int]) -> Self:
        """Return the evidence of distinct strings and their counts."""
        texts, numbers = tuple(text for text, n in zip(levels, counts, strict=True) if n), [n for n in counts if n]
        tallies: dict[str, Tally] = {name: Counter() for name in _TALLIES}
        example: dict[str, str] = {}
        each = _cached_traits(texts) if len(texts) <= _MAX_CACHED_LEVELS else map(_StringClassifier().traits, texts)
        for traits, n in zip(each, numbers, strict=True):
            for trait in traits:
                tallies[trait.tally][trait.name] += n
                if trait.example is not None and not (trait.name in example and example[trait.name] <= trait.example):
                    example[trait.name] = trait.example
        return cls(sum(counts), **{name: dict(tally) for name, tally in tallies.items()}, example=example)

    def __add__(self, other: Self) -> Self:
        tallies = {name: _summed(getattr(self, name), getattr(other, name)) for name in _TALLIES}
        keys = {*self.example, *other.example}
        example = {key: min(e[key] for e in (self.example, other.example) if key in e) for key in keys}
        return type(self)(self.n_known + other.n_known, **tallies, example=example)

    @property
    def n_numbers(self) -> int:
        """Number of cells that are numbers, without codes."""
        return sum(n for style, n in self.styles.items() if style != "code")

    @property
    def n_dates(self) -> int:
        """Number of cells that are dates."""
        return sum(self.dates.values())

    @property
    def n_missing(self) -> int:
        """Number of cells with a missing token of any column."""
        return sum(self.missing_tokens.values())

    @property
    def n_no_number(self) -> int:
        """Number of cells with a missing token of numeric columns."""
        return sum(self.no_number.values())

    def first(self, *keys: str) -> str:
        """Return the example of the first of these traits that occurs, or ""."""
        return next((self.example[key] for key in keys if key in self.example), "")


class _Trait(NamedTuple):
    """One trait of a string: the tally that counts it, its name, and the string if it may be an example."""

    tally: str
    name: str
    example: str | None = None


@lru_cache(maxsize=64)
def _cached_traits(texts: tuple[str, ...]) -> tuple[tuple[_Trait, ...], ...]:
    """Return the traits of these strings, cached because successive batches of a file have the same few levels."""
    return tuple(map(_StringClassifier().traits, texts))


def _summed(left: Tally, right: Tally) -> Tally:
    if not left or not right:
        return left or right
    return {**left, **{name: left.get(name, 0) + n for name, n in right.items()}}


class _StringClassifier:
    """Classifier of strings that caches the numeral of each digit shape."""

    def __init__(self) -> None:
        self.shapes: dict[str, Numeral | None] = {}
        self.found: list[_Trait] = []

    def traits(self, text: str) -> tuple[_Trait, ...]:
        """Return the traits of a string."""
        self.found = []
        self._classify(text)
        return tuple(self.found)

    def _classify(self, text: str) -> None:
        bare = text.strip()
        if len(bare) > _MAX_LENGTH:
            self._add("text", text)
            return
        word = plain(bare) if len(bare) <= 16 else bare
        if word in MISSING_TOKENS:
            self.found.append(_Trait("missing_tokens", bare))
            return
        self._classify_boolean(word, text)
        shape = bare.translate(_DIGITS)
        if "0" not in shape and "1" not in shape and not any(map(str.isdigit, shape)):
            self._classify_word(word, bare)
            return
        found = self.shapes[shape] if shape in self.shapes else self.shapes.setdefault(shape, numeral(bare.strip(BLANK)))
        if found is not None:
            self._classify_number(found, bare)
        else:
            self._classify_date(bare)

    def _classify_boolean(self, word: str, text: str) -> None:
        if word in YES:
            self._add("yes", text)
        if word in NO:
            self._add("no", text)

    def _classify_word(self, word: str, bare: str) -> None:
        if word in NUMERIC_MISSING_TOKENS:
            self.found.append(_Trait("no_number", bare))
        elif _EMAIL.fullmatch(bare):
            self._add("email", bare)
        else:
            self._add("word", bare)

    def _classify_number(self, found: Numeral, bare: str) -> None:
        self._add(found.style, bare, "styles")
        if found.style != "code":
            self._add(found.unit, bare, "units")
        if found.scale:
            self._add(found.scale, bare, "scales")
        if found.is_accounting:
            self._add("accounting", bare)
        for has_trait, what in ((found.has_sign, "plus"), (found.is_marked, "mark")):
            if has_trait:
                self._add(what, bare)

    def _classify_date(self, bare: str) -> None:
        pattern = dates.match_date(bare)
        if pattern is None:
            kind = "uuid" if _UUID.fullmatch(bare) else "email" if _EMAIL.fullmatch(bare) else "word"
            self._add(kind, bare)
            if _FIGURES.fullmatch(bare):
                self._add("figures", bare)
            return
        if pattern.style == "clock":
            self._add("clock", bare)
            if pattern.is_span:
                self._add("span", bare)
            return
        self._add(pattern.style + pattern.separator, bare, "dates")
        for has_trait, what in ((pattern.has_time, "time"), (pattern.has_zone, "zone")):
            if has_trait:
                self._add(what, bare)
        if max(pattern.first, pattern.other) > 12:
            self._add("dmy" if pattern.first > 12 else "mdy", bare, "orders")

    def _add(self, trait: str, text: str, tally: str = "other") -> None:
        self.found.append(_Trait(tally, trait, text))


class FormatDecision(NamedTuple):
    """How a column of strings is parsed (None: as levels), with notes."""

    form: StringFormat | None
    notes: tuple[Note, ...] = ()
    conflict: str = ""  # why no format fits, although many cells are numbers or dates

    @classmethod
    def as_levels(cls, name: str, conflict: str, cells: int, option: str) -> Self:
        """Return the decision for a column of conflicting numbers or dates; `option` would parse these cells."""
        return cls(None, (Note(name, f"{conflict}: nominal", cells, option, is_doubtful=True),), conflict)


class TableConventions(NamedTuple):
    """Conventions shared by the columns of a table, or declared: the decimal mark and the order of dates."""

    decimal: str = ""  # "." or ","; empty if unknown
    order: str = ""
    is_declared: bool = False
    why: str = "as in other columns of this table"

    @classmethod
    def of(cls, columns: list[StringEvidence], declared: str = "", separator: str = "") -> TableConventions:
        """Return the conventions that the evidence of the columns implies; `separator` is that between fields of a file.

        If no column shows its decimal mark, semicolons between fields imply decimal commas.
        """
        commas = sum(column.styles.get(style, 0) for column in columns for style in BY_COMMA)
        dots = sum(column.styles.get(style, 0) for column in columns for style in BY_DOT)
        days, months = (sum(column.orders.get(order, 0) for column in columns) for order in ("dmy", "mdy"))
        decimal = declared or ("," if commas > dots else "." if dots else "")
        order = "dmy" if days > months else "mdy" if months > days else ""
        order = order or ("dmy" if commas > dots or declared == "," else "")
        if not decimal and separator == ";":
            return cls(",", order, why="as usual in files separated by semicolons")
        return cls(decimal, order, bool(declared))


def missing_token_notes(name: str, evidence: StringEvidence, n_unparsed: int) -> list[Note]:
    """Return notes on missing tokens and on the `n_unparsed` cells that do not parse."""
    notes = []
    tokens = {**evidence.missing_tokens, **evidence.no_number}
    if any(tokens):
        listed = ", ".join(repr(word) for word in sorted(tokens) if word)
        notes.append(Note(name, f"{listed} stands for a missing value", sum(n for w, n in tokens.items() if w), "nominal"))
    if n_unparsed:
        text = evidence.first("word", "text", "clock", "code", *evidence.dates, *evidence.styles)
        message = f"{text!r} and similar strings cannot be read and become missing"
        notes.append(Note(name, message, n_unparsed, "nominal", is_doubtful=True))
    return notes
