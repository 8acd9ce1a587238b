"""What the strings of a column look like, as counts of cells: a statistic, so that of parts adds up to that of the whole.

What is decided of a column of strings, and by which habits of its table.
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

_DIGITS = str.maketrans("23456789", "11111111")  # what a number is depends on where zeros stand, not on its digits

_UUID = Pattern(r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")

_EMAIL = Pattern(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}")

_FIGURES = Pattern(r"[\d\s./'’\"″′:×x+±*()–~-]+")  # digits and marks without a word: a fraction, a range, a height

_LONGEST = 48  # characters of a number or a date at most

_FEW = 1000  # levels whose looks are remembered

Tally = dict[str, int]

_TALLIES = ("styles", "units", "scales", "dates", "orders", "missing_tokens", "no_number", "other")


class StringEvidence(msgspec.Struct, frozen=True):
    """Counts of cells by what they look like; `example` has the least string of each look, so that no order matters."""

    n_known: int = 0
    styles: Tally = msgspec.field(default_factory=dict)  # of numbers
    units: Tally = msgspec.field(default_factory=dict)
    scales: Tally = msgspec.field(default_factory=dict)
    dates: Tally = msgspec.field(default_factory=dict)  # styles of dates, with the separator of those that are open
    orders: Tally = msgspec.field(default_factory=dict)  # "dmy" and "mdy" where a number above 12 tells
    missing_tokens: Tally = msgspec.field(default_factory=dict)  # words for no value in any column, as written
    no_number: Tally = msgspec.field(default_factory=dict)  # words for no value among numbers, as written
    other: Tally = msgspec.field(default_factory=dict)  # "yes", "no", "uuid", "email", "accounting", "plus", "time", …
    example: dict[str, str] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, levels: Sequence[str], counts: Sequence[int]) -> Self:
        """The evidence of distinct strings and how often each occurs."""
        texts, numbers = tuple(text for text, n in zip(levels, counts, strict=True) if n), [n for n in counts if n]
        tallies: dict[str, Tally] = {name: Counter() for name in _TALLIES}
        example: dict[str, str] = {}
        each = _remembered(texts) if len(texts) <= _FEW else map(_Reader().looks, texts)
        for looks, n in zip(each, numbers, strict=True):
            for look in looks:
                tallies[look.tally][look.name] += n
                if look.example is not None and not (look.name in example and example[look.name] <= look.example):
                    example[look.name] = look.example
        return cls(sum(counts), **{name: dict(tally) for name, tally in tallies.items()}, example=example)

    def __add__(self, other: Self) -> Self:
        tallies = {name: _summed(getattr(self, name), getattr(other, name)) for name in _TALLIES}
        keys = {*self.example, *other.example}
        example = {key: min(e[key] for e in (self.example, other.example) if key in e) for key in keys}
        return type(self)(self.n_known + other.n_known, **tallies, example=example)

    @property
    def n_numbers(self) -> int:
        """Cells that are numbers, without codes."""
        return sum(n for style, n in self.styles.items() if style != "code")

    @property
    def n_dates(self) -> int:
        """Cells that are dates."""
        return sum(self.dates.values())

    @property
    def n_missing(self) -> int:
        """Cells that hold a word for no value in any column."""
        return sum(self.missing_tokens.values())

    @property
    def n_no_number(self) -> int:
        """Cells that hold a word for no value among numbers."""
        return sum(self.no_number.values())

    def first(self, *keys: str) -> str:
        """The example of the first of these looks that occurs."""
        return next((self.example[key] for key in keys if key in self.example), "")


class _Look(NamedTuple):
    """One thing that a string looks like: where it is counted, under which name, and the string if it may be an example."""

    tally: str
    name: str
    example: str | None = None


@lru_cache(maxsize=64)
def _remembered(texts: tuple[str, ...]) -> tuple[tuple[_Look, ...], ...]:
    """What each of these strings looks like: batch after batch of a file has the same few levels."""
    return tuple(map(_Reader().looks, texts))


def _summed(mine: Tally, theirs: Tally) -> Tally:
    if not mine or not theirs:
        return mine or theirs
    return {**mine, **{name: mine.get(name, 0) + n for name, n in theirs.items()}}


class _Reader:
    """Looks at strings; those of the same shape are the same numeral."""

    def __init__(self) -> None:
        self.shapes: dict[str, Numeral | None] = {}
        self.found: list[_Look] = []

    def looks(self, text: str) -> tuple[_Look, ...]:
        """What a string looks like."""
        self.found = []
        self._take(text)
        return tuple(self.found)

    def _take(self, text: str) -> None:
        bare = text.strip()
        if len(bare) > _LONGEST:
            self._note("text", text)
            return
        word = plain(bare) if len(bare) <= 16 else bare
        if word in MISSING_TOKENS:
            self.found.append(_Look("missing_tokens", bare))
            return
        self._take_truth(word, text)
        shape = bare.translate(_DIGITS)
        if "0" not in shape and "1" not in shape and not any(map(str.isdigit, shape)):
            self._take_word(word, bare)
            return
        found = self.shapes[shape] if shape in self.shapes else self.shapes.setdefault(shape, numeral(bare.strip(BLANK)))
        if found is not None:
            self._take_number(found, bare)
        else:
            self._take_date(bare)

    def _take_truth(self, word: str, text: str) -> None:
        if word in YES:
            self._note("yes", text)
        if word in NO:
            self._note("no", text)

    def _take_word(self, word: str, bare: str) -> None:
        if word in NUMERIC_MISSING_TOKENS:
            self.found.append(_Look("no_number", bare))
        elif _EMAIL.fullmatch(bare):
            self._note("email", bare)
        else:
            self._note("word", bare)

    def _take_number(self, found: Numeral, bare: str) -> None:
        self._note(found.style, bare, "styles")
        if found.style != "code":
            self._note(found.unit, bare, "units")
        if found.scale:
            self._note(found.scale, bare, "scales")
        if found.is_accounting:
            self._note("accounting", bare)
        for is_so, what in ((found.has_sign, "plus"), (found.is_marked, "mark")):
            if is_so:
                self._note(what, bare)

    def _take_date(self, bare: str) -> None:
        found = dates.match_date(bare)
        if found is None:
            kind = "uuid" if _UUID.fullmatch(bare) else "email" if _EMAIL.fullmatch(bare) else "word"
            self._note(kind, bare)
            if _FIGURES.fullmatch(bare):
                self._note("figures", bare)
            return
        if found.style == "clock":
            self._note("clock", bare)
            if found.is_span:
                self._note("span", bare)
            return
        self._note(found.style + found.separator, bare, "dates")
        for is_so, what in ((found.has_time, "time"), (found.has_zone, "zone")):
            if is_so:
                self._note(what, bare)
        if max(found.first, found.other) > 12:
            self._note("dmy" if found.first > 12 else "mdy", bare, "orders")

    def _note(self, look: str, text: str, tally: str = "other") -> None:
        self.found.append(_Look(tally, look, text))


FEW = 0.1  # of the cells: as many may be no number in a column of numbers


class FormatDecision(NamedTuple):
    """How a column of strings is read: as a number, a date, a time, or (None) as words; and what is told."""

    form: StringFormat | None
    notes: tuple[Note, ...] = ()


class TableConventions(NamedTuple):
    """What the columns of a table say together, or its reader declares: the decimal mark, and the order of dates."""

    decimal: str = ""  # "." or ","; empty where nothing tells
    order: str = ""
    is_declared: bool = False
    why: str = "as in other columns of this table"

    @classmethod
    def of(cls, columns: list[StringEvidence], declared: str = "") -> TableConventions:
        """What the columns of a table have in common."""
        commas = sum(column.styles.get(style, 0) for column in columns for style in BY_COMMA)
        dots = sum(column.styles.get(style, 0) for column in columns for style in BY_DOT)
        days, months = (sum(column.orders.get(order, 0) for column in columns) for order in ("dmy", "mdy"))
        decimal = declared or ("," if commas > dots else "." if dots else "")
        order = "dmy" if days > months else "mdy" if months > days else ""
        return cls(decimal, order or ("dmy" if commas > dots or declared == "," else ""), bool(declared))


def missing_token_notes(name: str, seen: StringEvidence, strangers: int) -> list[Note]:
    notes = []
    words = {**seen.missing_tokens, **seen.no_number}
    if any(words):
        listed = ", ".join(repr(word) for word in sorted(words) if word)
        notes.append(Note(name, f"{listed} stands for a missing value", sum(n for w, n in words.items() if w), "nominal"))
    if strangers:
        text = seen.first("word", "text", "clock", "code", *seen.dates, *seen.styles)
        done = f"{text!r} and the like cannot be read here and are missing"
        notes.append(Note(name, done, strangers, "nominal", is_doubtful=True))
    return notes
