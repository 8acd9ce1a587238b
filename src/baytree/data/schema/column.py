"""Column of a schema: its kind, its levels in code order, its unit, and how its strings are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np

from baytree.data.parsing.string_format import StringFormat, normalize_booleans
from baytree.data.parsing.vocabulary import plain


class Kind(StrEnum):
    """What the values of a column mean.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.NaiveBayesClassifier(schema={"zip": bt.Kind.NOMINAL}).fit({"zip": [1, 2], "y": [0, 1]}, "y").schema_["zip"].kind
    <Kind.NOMINAL: 'nominal'>
    """

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    TEXT = "text"


# category, rank, word or class as given; other hashables work too, but cannot be saved to a file
Level = str | int | float | bool


class Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of the bag of words of a text column.

    Linear models always weight words by tf-idf. Naive Bayes does so on request, and then stores the bags of its documents,
    since their lengths change with every document that is added.

    Parameters
    ----------
    ngrams : tuple of two int, default=(1, 1)
        Smallest and largest number of consecutive words that form a token.
    min_df : int or float, default=1
        Minimum document frequency of a token: a number of documents (int) or a proportion (float).
    max_df : int or float, default=1.0
        Maximum document frequency of a token: a number of documents (int) or a proportion (float).
    stop_words : tuple of str, 'english' or None, default=None
        Words to ignore.
    tfidf : bool, default=False
        Whether counts are weighted by log((1 + n) / (1 + documents with the word)) + 1.
    norm : {'l2', None}, default='l2'
        Whether each document is scaled to Euclidean length 1 under tf-idf.
    lowercase : bool, default=True
        Whether documents are lower-cased first.
    hashing : int, optional
        Number of buckets of the hashing trick, used instead of a vocabulary.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.Text(ngrams=(1, 2), min_df=2).ngrams
    (1, 2)
    """

    ngrams: tuple[int, int] = (1, 1)
    min_df: int | float = 1  # int: number of documents, float: proportion
    max_df: int | float = 1.0
    stop_words: tuple[str, ...] | Literal["english"] | None = None
    tfidf: bool = False
    norm: Literal["l2"] | None = "l2"
    lowercase: bool = True
    hashing: int | None = None


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Named column of a schema: its kind, and its levels in code order.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : Kind
        What its values mean.
    levels : tuple, default=()
        Categories, ranks or vocabulary, in code order.
    declared : bool, default=False
        Whether the levels were given (a categorical dtype, `schema=`) rather than collected from rows: declared levels keep
        their order when schemas are merged, collected ones are sorted.
    unit : str, optional
        NumPy unit of a date; `clock` for seconds since midnight.
    text : Text, optional
        Options of a text column.
    form : StringFormat, optional
        How strings are parsed: numbers with marks and units, dates, yes and no.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.Column("size", bt.Kind.ORDINAL, ("S", "M", "L")).show(1)
    'M'
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    declared: bool = False
    unit: str | None = None
    text: Text | None = None
    form: StringFormat | None = None

    @property
    def source(self) -> str:
        """Name of the given column from which this one is computed."""
        return self.name if self.form is None or not self.form.source else self.form.source

    @cached_property
    def places(self) -> dict[Any, int]:
        """Code of each level."""
        return {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def is_boolean(self) -> bool:
        """Whether the levels are true and false, or yes and no in several spellings; any spelling is then accepted."""
        if self.kind is not Kind.NOMINAL or not self.levels:
            return False
        spellings = [normalize_booleans([str(level)])[0] for level in self.levels]
        is_truth = self.form is not None and self.form.kind == "truth"
        return len(set(spellings)) == len(spellings) and (is_truth or all(map(_is_true_or_false, self.levels)))

    def show(self, value: float | int) -> str:
        """Return the value as text: level name, date or short number; `missing` for a missing value.

        Examples
        --------
        >>> Column("size", Kind.ORDINAL, ("S", "M")).show(1)
        'M'
        """
        if value != value or (self.levels and value < 0):
            return "missing"
        if self.levels:
            level = self.levels[int(value)]
            return _moment(level, self.unit) if self.unit and isinstance(level, (int, float)) else str(level)
        return _moment(value, self.unit) if self.unit and np.isfinite(value) else f"{value:.6g}"

    def show_mean(self, value: float, spread: float) -> str:
        """Return a mean as text; a time is rounded down to a precision that suits the standard deviation `spread`.

        Examples
        --------
        >>> Column("day", Kind.NUMERIC, unit="s").show_mean(1700000000.0, 1e6)
        '2023-11-14'
        """
        if not self.unit or not np.isfinite(value):
            return self.show(value)
        second = 1.0 if self.unit == "clock" else float(np.timedelta64(1, "s") / np.array(1, f"timedelta64[{self.unit}]"))
        step = next((s for s in (86400.0, 60.0, 1.0) if spread > 2 * s * second), 0) * second
        if self.unit == "clock":
            step = min(step, 60.0)
        return self.show(step * np.floor(value / step) if step > 1 else value)

    def show_distance(self, value: float) -> str:
        """Return a difference between two values as text: in days for dates, else a short number.

        Examples
        --------
        >>> Column("day", Kind.NUMERIC, unit="s").show_distance(172800.0)
        '2 days'
        """
        if not self.unit:
            return f"{value:.3g}"
        if self.unit == "clock":
            return f"{value / 60:.3g} minutes"
        days = np.array(1, f"timedelta64[{self.unit}]") / np.timedelta64(1, "D")
        return f"{value * days:.3g} days"

    def union(self, other: Column) -> Column:
        """Return the column with the levels of both, sorted unless declared; raise a ValueError if kinds differ."""
        if self == other:
            return self
        if self.kind is not other.kind or (self.unit is None) != (other.unit is None):
            raise ValueError(
                f"column {self.name!r} is {self.kind} in one table and {other.kind} in the other; "
                f"declare it, for example schema={{{self.name!r}: 'nominal'}}"
            )
        known = set(self.levels)
        new = tuple(level for level in other.levels if level not in known)
        if not new:
            return self
        if self.kind is Kind.ORDINAL:
            return msgspec.structs.replace(self, levels=_joined_ranks(self.name, self.levels, other.levels, new))
        levels = self.levels + new if self.declared else sorted_levels(self.levels + new)
        return msgspec.structs.replace(self, levels=levels)


def _is_true_or_false(level: Any) -> bool:
    return isinstance(level, bool) or (isinstance(level, str) and plain(level) in ("true", "false"))


def sorted_levels(levels: Iterable) -> tuple:
    """Return levels in an order that only depends on them: numbers first, then strings, then others."""
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=_sort_key))


def _sort_key(level: Any) -> tuple[int, Any, str]:
    if isinstance(level, (bool, int, float)):
        return (0, level, "")
    if isinstance(level, str):
        return (1, 0, level)
    return (2, 0, f"{type(level).__name__} {level!r}")


def level_map(old: Sequence, new: Sequence) -> np.ndarray:
    """Return for each new level its old code, −1 if it is new: int64 [n_new]."""
    code_of = {level: code for code, level in enumerate(old)}
    return np.array([code_of.get(level, -1) for level in new], np.int64)


def _joined_ranks(name: str, ranks: tuple, others: tuple, new: tuple) -> tuple:
    """Return the longer order if it contains the shorter one; else raise a ValueError."""
    if set(others) >= set(ranks) and tuple(level for level in others if level in set(ranks)) == ranks:
        return others
    raise ValueError(
        f"column {name!r}: the rank of {new[0]!r} among {list(ranks)} is not known; declare all levels in order"
    )


def _moment(value: float, unit: str) -> str:
    """Format a date, with its time if it has one, or a time of day."""
    if unit == "clock":
        return _clock(value)
    return re.sub(r"(T00:00:00)?(\.0+)?$", "", str(np.array(int(value), f"datetime64[{unit}]")))


def _clock(seconds: float) -> str:
    """Format a time of day or a duration, without zero seconds."""
    if seconds < 0:
        return f"-{_clock(-seconds)}"
    minutes, second = divmod(round(float(seconds), 6), 60)
    tail = f":{second:09.6f}".rstrip("0").rstrip(".") if second else ""
    return f"{int(minutes // 60):02d}:{int(minutes % 60):02d}{tail}"
