"""What a column is: its kind, its levels in the order of their codes, and how its strings are read."""

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


Level = str | int | float | bool

"""A category, rank, word or class as the user wrote it. Other hashables work too, but cannot be saved to a file."""


class Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a text column becomes counts: the options of its bag of words.

    Linear models always weigh words by tf-idf. Naive Bayes does so on demand, and then keeps the bags of its documents,
    since their lengths change with every document that is learnt.

    Parameters
    ----------
    ngrams : tuple of two int, default=(1, 1)
        The least and the largest number of words in a row that count as one token.
    min_df : int or float, default=1
        Tokens of fewer documents are left out; an int counts documents, a float is their share.
    max_df : int or float, default=1.0
        Tokens of more documents are left out.
    stop_words : tuple of str, 'english' or None, default=None
        Words that do not count.
    tfidf : bool, default=False
        Whether counts are weighed by log((1 + n) / (1 + documents with the word)) + 1.
    norm : {'l2', None}, default='l2'
        Whether each document is brought to length 1 under tf-idf.
    lowercase : bool, default=True
        Whether letters are made small first.
    hashing : int, optional
        The number of places that tokens share by their hash, instead of a vocabulary.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.Text(ngrams=(1, 2), min_df=2).ngrams
    (1, 2)
    """

    ngrams: tuple[int, int] = (1, 1)
    min_df: int | float = 1  # an int counts documents, a float is their share
    max_df: int | float = 1.0
    stop_words: tuple[str, ...] | Literal["english"] | None = None
    tfidf: bool = False
    norm: Literal["l2"] | None = "l2"
    lowercase: bool = True
    hashing: int | None = None


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A named column: its kind, and its levels in code order.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : Kind
        What its values mean.
    levels : tuple, default=()
        Categories, ranks or vocabulary, in the order of their codes.
    declared : bool, default=False
        Whether the levels were given (a categorical dtype, `schema=`), not collected from the rows: declared levels keep
        their order when tables are joined, collected ones are kept sorted.
    unit : str, optional
        The unit of a date, as numpy calls it; `clock` for seconds since midnight.
    text : Text, optional
        How a text column is read.
    form : Form, optional
        How strings are read where the column is no column of words: numbers with marks and units, dates, yes and no.

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
        """The name of the column of the table that this one is read from."""
        return self.name if self.form is None or not self.form.source else self.form.source

    @cached_property
    def places(self) -> dict[Any, int]:
        """The code of each level."""
        return {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def is_boolean(self) -> bool:
        """Whether the levels are true and false, or yes and no in several spellings: any spelling of them is then read."""
        if self.kind is not Kind.NOMINAL or not self.levels:
            return False
        looks = [normalize_booleans([str(level)])[0] for level in self.levels]
        is_truth = self.form is not None and self.form.kind == "truth"
        return len(set(looks)) == len(looks) and (is_truth or all(map(_is_true_or_false, self.levels)))

    def show(self, value: float | int) -> str:
        """The value in the user's own words: a level's name, a date, or a short number; `missing` where there is none.

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
        """A mean with no more of its time than the spread about it makes worth saying.

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
        """A distance between two values in words: days for dates, else a short number.

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
        """The column that knows the levels of both: sorted, unless their order was declared."""
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
    """Levels in an order that depends on nothing but themselves: numbers first, then strings, then all others."""
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
    """For each new level its old code, −1 where it is new."""
    place = {level: code for code, level in enumerate(old)}
    return np.array([place.get(level, -1) for level in new], np.int64)


def _joined_ranks(name: str, ranks: tuple, others: tuple, new: tuple) -> tuple:
    """The longer order, where it contains the shorter one."""
    if set(others) >= set(ranks) and tuple(level for level in others if level in set(ranks)) == ranks:
        return others
    raise ValueError(
        f"column {name!r}: the place of {new[0]!r} among {list(ranks)} is not known; declare all levels in order"
    )


def _moment(value: float, unit: str) -> str:
    """A date, with its time where it has one, or a time of day."""
    if unit == "clock":
        return _clock(value)
    return re.sub(r"(T00:00:00)?(\.0+)?$", "", str(np.array(int(value), f"datetime64[{unit}]")))


def _clock(seconds: float) -> str:
    """A time of day or a duration, without seconds where there are none."""
    if seconds < 0:
        return f"-{_clock(-seconds)}"
    minutes, second = divmod(round(float(seconds), 6), 60)
    tail = f":{second:09.6f}".rstrip("0").rstrip(".") if second else ""
    return f"{int(minutes // 60):02d}:{int(minutes % 60):02d}{tail}"
