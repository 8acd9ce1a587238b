"""What a table is: columns of a kind, their levels, and the target, as a value that can be joined, shown and stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

import msgspec
import numpy as np

from baytree.show.terminal import in_columns, ruled
from baytree.table.notes import Note
from baytree.table.reading.forms import Form


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


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    form: Form | None = None

    @property
    def source(self) -> str:
        """The name of the column of the table that this one is read from."""
        return self.name if self.form is None or not self.form.source else self.form.source

    def show(self, value: float | int) -> str:
        """The value in the user's own words: a level's name, a date, or a short number; `missing` where there is none.

        >>> Column("size", Kind.ORDINAL, ("S", "M")).show(1)
        'M'
        """
        if value != value or (self.levels and value < 0):
            return "missing"
        if self.levels:
            return str(self.levels[int(value)])
        if self.unit == "clock" and np.isfinite(value):
            return _clock(value)
        if self.unit and np.isfinite(value):
            return re.sub(r"(T00:00:00)?(\.0+)?$", "", str(np.array(int(value), f"datetime64[{self.unit}]")))
        return f"{value:.6g}"

    def show_distance(self, value: float) -> str:
        """A distance between two values in words: days for dates, else a short number.

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


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The column to be predicted: its classes in code order, or None where it is a number.

    `dtype` is the numpy dtype in which the classes came and go back. `order` has all levels where they were declared, also
    those that do not occur: the classes keep that order, whichever of them come first.
    """

    name: str
    classes: tuple[Any, ...] | None = None
    dtype: str = "object"
    declared: bool = False
    order: tuple[Any, ...] = ()

    def union(self, other: Target) -> Target:
        """The target that knows the classes of both: in their declared order, else sorted."""
        if self.classes == other.classes or other.classes is None or self.classes is None:
            return self
        known = set(self.classes)
        new = [label for label in other.classes if label not in known]
        if not new:
            return self
        dtype = _common_dtype(self.dtype, other.dtype)
        if not self.declared:
            return Target(self.name, sorted_levels([*self.classes, *new]), dtype)
        order = tuple(dict.fromkeys([*(self.order or self.classes), *other.order, *new]))
        known.update(new)
        return Target(self.name, tuple(label for label in order if label in known), dtype, True, order)


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The columns in order and the target. Prints as a table that a person can check.

    Parameters
    ----------
    columns : tuple of Column
        The columns that are learnt from.
    target : Target
        The column to be predicted; without a name where none is known yet.
    inputs : tuple of str
        The names of all columns that were given, in order, also of those that are left out.
    is_named : bool, default=True
        False where the rows came as an array: columns then go by their position.
    notes : tuple of Note, default=()
        What a person should be told about how the table was read.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.NaiveBayesClassifier().fit({"size": [1.0, 2.0], "y": ["a", "b"]}, "y").schema_)
    column  kind     levels
    -----------------------
    size    numeric
    y       target   a, b
    """

    columns: tuple[Column, ...]
    target: Target = Target("")  # without a name where no target is known yet
    inputs: tuple[str, ...] = ()  # every column that was given, in order, also those that only identify rows
    is_named: bool = True  # False where the rows came as an array: columns go by position
    notes: tuple[Note, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the target in code order; none where it is a number."""
        return self.target.classes or ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that were given but are not learnt from: they only identify rows, or were dropped."""
        kept = {column.source for column in self.columns}
        return tuple(name for name in self.inputs if name not in kept)

    def union(self, other: Schema) -> Schema:
        """The schema that knows the levels and classes of both; a column must be of one kind in both."""
        columns = tuple(column.union(other[column.name]) for column in self.columns)
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return msgspec.structs.replace(self, columns=columns, target=self.target.union(other.target), notes=notes)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise ValueError(f"no column {name!r}; the columns are {', '.join(map(repr, self.names))}")

    def table(self) -> str:
        """The columns, their kinds and levels, without the notes."""
        return _schema_table(self)

    def _repr_html_(self) -> str:
        from baytree.show.notebook import table  # only a notebook asks for it

        (header, *rows), of = _schema_rows(self), f" for {self.target.name}" if self.target.name else ""
        return table(f"{len(self.columns)} columns{of}", header, rows)

    def __str__(self) -> str:
        return "\n".join([_schema_table(self), *(f"- {note}" for note in self.notes)])


SchemaLike = Mapping[str, Any] | Schema | None  # what a user declares of columns, by name


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


def _common_dtype(left: str, right: str) -> str:
    if "object" in (left, right) or left == right:
        return left if left == right else "object"
    return np.result_type(np.dtype(left), np.dtype(right)).str


def _clock(seconds: float) -> str:
    """A time of day, without seconds where there are none."""
    minutes, second = divmod(round(float(seconds), 6), 60)
    tail = f":{second:09.6f}".rstrip("0").rstrip(".") if second else ""
    return f"{int(minutes // 60):02d}:{int(minutes % 60):02d}{tail}"


_WIDTH = 80  # characters of a line
_SHOWN_NAME, _SHOWN_LEVELS = 40, 24  # characters of a name at most, of levels at least


def _schema_table(schema: Schema) -> str:
    return ruled(in_columns(_schema_rows(schema), "<"))


def _schema_rows(schema: Schema) -> list[tuple[str, str, str]]:
    """The header, and a row for each column."""
    named = {name: _shortened(name) for name in (*schema.inputs, *schema.names, schema.target.name)}
    room = max(_SHOWN_LEVELS, _WIDTH - max(map(len, ["column", *named.values()])) - len("left out") - 4)
    rows = [("column", "kind", "levels")]
    rows += [(named[c.name], c.kind.value, _levels_in_words(c, room)) for c in schema.columns]
    rows += [(named[name], "left out", _why(schema, name)) for name in schema.left_out]
    if schema.target.name:
        classes = schema.target.classes
        rows.append((named[schema.target.name], "target", "a number" if classes is None else _listed(classes, room)))
    return rows


def _why(schema: Schema, name: str) -> str:
    """Why a column is left out: the first of its notes that says so."""
    said = (note.done for note in schema.notes if note.column == name and "left out" in note.done)
    words = re.sub("^is left out[:,] ", "", next(said, "only identifies rows"))
    return words.removesuffix(", so it only identifies rows")


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
