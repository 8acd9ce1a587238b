"""Infer the schema of a table: kind, levels and string format of each column, from a mergeable profile of one pass.

Rules, in this order:
1. What `schema=` declares is taken as declared.
2. An ordered categorical is ordinal, any other categorical nominal; both keep their levels and their order.
3. Numbers and dates are numeric; booleans are nominal.
4. Strings that are numbers, dates or times in any common notation are parsed as such (`decide`): numeric.
5. Strings are text if they read like sentences: more than 4 words and 24 letters on average, most of them different.
6. Strings that (nearly) all differ, UUIDs, e-mail addresses, and whole numbers that count rows only identify rows: they are
   left out, with a note.
7. All other strings are nominal with sorted levels; missing tokens, such as `NA`, are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import msgspec
import numpy as np

from baytree import _core, _warnings
from baytree.data.frames.numbers import Codes, MatrixColumns, Numbers, factorise_together
from baytree.data.frames.raw import Raw, RawFrame, Strings
from baytree.data.inference import identifiers
from baytree.data.inference.column_profile import CONVERT_ONLY, DATES, ColumnProfile, InferredColumns
from baytree.data.inference.evidence import StringEvidence, TableConventions
from baytree.data.inference.level_matching import levels_of
from baytree.data.inference.number_checks import NumberProfile, may_have_notes
from baytree.data.parsing.string_format import StringFormat, is_missing_token
from baytree.data.schema.column import Column, Kind, Text, sorted_levels
from baytree.data.schema.notes import Note
from baytree.data.schema.schema import Schema
from baytree.parallel.threads import map_columns

ProfileNumbers = Callable[[str, Numbers], NumberProfile | None]  # (name, column) -> profile of its numbers

_CODED = (Kind.NOMINAL, Kind.ORDINAL)

PARTS = ("year", "month", "weekday")

# distinct strings of an undeclared column in partitions, and levels of a column declared nominal: both bound memory
_MAX_INFERRED_LEVELS, _MAX_DECLARED_LEVELS = 1_000_000, 10_000_000


class TableProfile(msgspec.Struct, frozen=True):
    """Mergeable profiles of the columns of a table, in order."""

    columns: tuple[ColumnProfile, ...]
    decimal: str = ""  # decimal mark, if declared by the user

    @classmethod
    def of(cls, frame: RawFrame, declared: Mapping[str, Any] | None = None) -> Self:
        """Return the profile of a raw frame, with what `schema=` declares about its columns."""
        return cls._by_columns(frame, declared, _profile_numbers)

    @classmethod
    def _by_columns(cls, frame: RawFrame, declared: Mapping[str, Any] | None, profile_numbers: ProfileNumbers) -> Self:
        declared = {name: kind for name, kind in (declared or {}).items() if name != frame.target or name in frame.columns}
        for name in declared:
            if name not in frame.columns:
                raise ValueError(f"schema names {name!r}, but the columns are {', '.join(map(repr, frame.columns))}")
        names = tuple(frame.columns)
        factorise_together([frame.columns[name] for name, kind in declared.items() if kind in _CODED])
        columns = map_columns(
            names, frame.n_rows, lambda name: _profile_column(name, frame, declared.get(name), profile_numbers)
        )
        return cls(_with_duplicates(columns, frame) if frame.is_named else columns)

    @classmethod
    def of_part(cls, frame: RawFrame, declared: Mapping[str, Any] | None = None) -> Self:
        """Return the profile of a partition, with exact extremes and counts so that profiles add up."""
        profile = cls._by_columns(frame, declared, _profile_numbers_of_part)
        for column in profile.columns:
            _refuse_too_many(column)
        return profile

    def __add__(self, other: Self) -> Self:
        by_name = {column.name: column for column in other.columns}
        return type(self)(tuple(column + by_name[column.name] for column in self.columns), self.decimal)

    def notes(self) -> tuple[Note, ...]:
        """Return the notes on these columns without issuing warnings."""
        with _warnings.capture():
            return self.schema().notes

    def infer_columns(self) -> list[InferredColumns]:
        """Return what is inferred for each column."""
        conventions = TableConventions.of(
            [column.evidence for column in self.columns if column.evidence is not None], self.decimal
        )
        return [column.infer(conventions) for column in self.columns]

    def with_identifiers(self) -> Self:
        """Return the profile with all numeric columns kept, even if they only number the rows."""
        return type(self)(tuple(column.with_identifiers() for column in self.columns), self.decimal)

    def schema(self, is_named: bool = True) -> Schema:
        """Return the inferred schema; issue a warning for each doubtful note."""
        found = self.infer_columns()
        if not any(each.columns for each in found):  # keep row numbers rather than return no columns
            found = self.with_identifiers().infer_columns()
        notes = tuple(note for each in found for note in each.notes)
        warn_of(notes)
        columns = tuple(column for each in found for column in each.columns)
        inputs = tuple(column.name for column in self.columns)
        each = zip(self.columns, found, strict=True)
        left_out = tuple(column.name for column, inferred in each if column.kind is Kind.NUMERIC and not inferred.columns)
        return Schema(columns, inputs=inputs, is_named=is_named, notes=notes, numbers_left_out=left_out)


def schema_of_array(frame: RawFrame, columns: MatrixColumns, kind: Kind | None = None) -> Schema:
    """Return the schema of float64 columns of one array, all declared to be of `kind` if given.

    Only columns that may need a note are profiled one by one, so that wide arrays stay cheap.
    """
    indices = _columns_to_profile(columns.matrix.array, kind is None)
    names = [columns.names[index] for index in indices]
    declared = dict.fromkeys(names, kind) if kind is not None else None
    census = TableProfile.of(
        msgspec.structs.replace(frame, columns={columns.names[index]: columns.at(index) for index in indices}), declared
    )
    if len(names) == len(columns):
        return census.schema(frame.is_named)
    found = census.infer_columns()
    notes = tuple(note for each in found for note in each.notes)
    warn_of(notes)
    schema_columns: list[Column | None] = [Column(name, Kind.NUMERIC) for name in columns.names]
    for index, each in zip(indices, found, strict=True):
        schema_columns[index] = next(iter(each.columns), None)  # None if it is left out
    used = tuple([column for column in schema_columns if column is not None])
    left_out = tuple(name for name, column in zip(columns.names, schema_columns, strict=True) if column is None)
    return Schema(used, inputs=columns.names, is_named=frame.is_named, notes=notes, numbers_left_out=left_out)


def _columns_to_profile(numbers: np.ndarray, is_inferred: bool) -> list[int]:
    """Return the indices of the columns that may need a note, ascending."""
    if not len(numbers):
        return list(range(numbers.shape[1]))
    may_be_duplicates = identifiers.may_be_duplicates(numbers)
    return np.flatnonzero(may_be_duplicates | may_have_notes(numbers) if is_inferred else may_be_duplicates).tolist()


def merge_profiles(before: TableProfile | None, batch: TableProfile | None) -> TableProfile | None:
    """Return the profile of two batches; None if one is unknown or their columns are of different kinds."""
    try:
        return None if before is None or batch is None else before + batch
    except ValueError:  # numbers in one batch, words in the other: each is inferred on its own
        return None


def _refuse_too_many(column: ColumnProfile) -> None:
    if len(column.levels) > _MAX_INFERRED_LEVELS and not column.declared:
        raise ValueError(
            f"column {column.name!r} holds more than {_MAX_INFERRED_LEVELS:,} different strings; if it only identifies "
            f"rows, leave it out with schema={{{column.name!r}: 'drop'}}"
        )


def warn_of(notes: Iterable[Note]) -> None:
    """Issue a warning for each doubtful note; the others are only kept in the schema."""
    for note in notes:
        if note.is_doubtful:
            _warnings.warn(str(note))


def _profile_column(name: str, frame: RawFrame, declared: Any, profile_numbers: ProfileNumbers) -> ColumnProfile:
    raw = frame.columns[name]
    if isinstance(declared, (list, tuple)) and declared and set(declared) <= set(PARTS):
        return msgspec.structs.replace(_profile_column(name, frame, "date", profile_numbers), parts=tuple(declared))
    if isinstance(declared, str) and declared in DATES and isinstance(raw, Numbers) and raw.unit is None:
        return _profile_numeric_dates(name, raw, declared)
    if isinstance(declared, str) and declared in ("keep", "drop", CONVERT_ONLY, *DATES):
        return msgspec.structs.replace(_profile_undeclared(name, raw, frame.is_named, profile_numbers), declared=declared)
    return (
        _profile_undeclared(name, raw, frame.is_named, profile_numbers)
        if declared is None
        else _profile_declared(name, raw, declared)
    )


def _profile_numeric_dates(name: str, raw: Numbers, declared: str) -> ColumnProfile:
    """Return the profile of whole numbers that the user declares as dates."""
    order = declared if declared != "date" else "dmy"
    unit = "us" if np.nanmax(raw.values, initial=0) >= 1e8 else "D"  # seconds, or milliseconds, since 1970
    return ColumnProfile(name, Kind.NUMERIC, unit=unit, form=StringFormat("date", order=order))


def _profile_undeclared(name: str, raw: Raw, is_named: bool, profile_numbers: ProfileNumbers) -> ColumnProfile:
    if isinstance(raw, Numbers):
        return ColumnProfile(
            name, Kind.NUMERIC, unit=raw.unit, number_profile=profile_numbers(name, raw) if is_named else None
        )
    if isinstance(raw, Codes):
        levels = raw.levels if raw.is_declared else frozenset(raw.levels)
        return ColumnProfile(name, Kind.ORDINAL if raw.is_ordered else Kind.NOMINAL, levels)
    codes = raw.factorise()
    return (
        _profile_strings(name, codes) if not raw.is_category else ColumnProfile(name, Kind.NOMINAL, frozenset(codes.levels))
    )


def _profile_numbers(name: str, raw: Numbers) -> NumberProfile | None:
    if raw.unit is None:
        return NumberProfile.of(name, raw.values)
    return None if raw.unit == "clock" else NumberProfile.of_dates(raw.values)


def _profile_numbers_of_part(name: str, raw: Numbers) -> NumberProfile | None:
    return None if raw.unit == "clock" else NumberProfile.of_part(name, raw.values, raw.unit is not None)


def _profile_strings(name: str, codes: Codes) -> ColumnProfile:
    counts = level_counts(codes)
    return ColumnProfile(
        name,
        Kind.NOMINAL,
        frozenset(codes.levels),
        evidence=StringEvidence.of(codes.levels, counts),
        n_letters=sum(len(level) * n for level, n in zip(codes.levels, counts, strict=True)),
        n_words=sum(len(level.split()) * n for level, n in zip(codes.levels, counts, strict=True)),
    )


def level_counts(codes: Codes) -> list[int]:
    """Return the number of rows with each level."""
    code = np.ascontiguousarray(codes.codes, np.int32)
    return _core.count(code, np.zeros_like(code), len(codes.levels), 1)[1:, 0].tolist()


def _with_duplicates(columns: tuple[ColumnProfile, ...], frame: RawFrame) -> tuple[ColumnProfile, ...]:
    duplicates = identifiers.duplicate_columns({column.name: frame.columns[column.name] for column in columns}, frame.n_rows)
    return tuple(msgspec.structs.replace(c, duplicate_of=duplicates[c.name]) if c.name in duplicates else c for c in columns)


def _profile_declared(name: str, raw: Raw, declared: Any) -> ColumnProfile:
    if isinstance(declared, Column):
        levels = declared.levels
        # without other levels, collect them; declared levels are kept although they look like missing tokens
        if declared.kind in _CODED and all(map(is_missing_token, map(str, levels))):
            found = _levels_of(name, raw, declared.form)
            levels = found if isinstance(found, tuple) else _with_values(found, raw) | frozenset(levels)
        return ColumnProfile(name, declared.kind, levels, declared.unit, declared.text, declared.form)
    if isinstance(declared, Text):
        return ColumnProfile(name, Kind.TEXT, text=declared)
    if isinstance(declared, (list, tuple)):
        if len(set(declared)) < len(declared):
            raise ValueError(f"schema[{name!r}] names a level twice: {list(declared)}")
        return ColumnProfile(name, Kind.ORDINAL, tuple(declared))
    if declared not in list(Kind):
        kinds = ", ".join(repr(kind.value) for kind in Kind)
        raise ValueError(
            f"schema[{name!r}] is {declared!r}; give {kinds}, 'date', 'keep', 'drop', "
            "a list of levels in order, or bt.Text(...)"
        )
    kind = Kind(declared)
    if kind is Kind.NUMERIC:
        if isinstance(raw, Strings):
            return msgspec.structs.replace(_profile_strings(name, raw.factorise()), declared="numeric")
        return ColumnProfile(name, kind, unit=raw.unit if isinstance(raw, Numbers) else None)
    if kind is Kind.TEXT:
        return ColumnProfile(name, kind, text=Text())
    return ColumnProfile(name, kind, _ordinal_levels(name, raw) if kind is Kind.ORDINAL else _levels_of(name, raw))


def _levels_of(name: str, raw: Raw, form: StringFormat | None = None) -> Any:
    codes = levels_of(raw if isinstance(raw, Codes) else raw.factorise(), form)
    if len(codes.levels) > _MAX_DECLARED_LEVELS:
        raise ValueError(f"column {name!r} has {len(codes.levels)} different values, too many for levels; leave it out")
    return codes.levels if codes.is_declared else frozenset(codes.levels)


def _with_values(levels: frozenset, raw: Raw) -> frozenset:
    """Remove missing tokens from levels of strings that their library does not declare as categories."""
    is_free = isinstance(raw, Strings) and not raw.is_category
    return frozenset(level for level in levels if not (is_free and is_missing_token(level)))


def _ordinal_levels(name: str, raw: Raw) -> tuple:
    if isinstance(raw, Strings):
        raise ValueError(
            f"column {name!r} is declared ordinal, but the order of its strings is not known; give the levels in order"
        )
    return sorted_levels(_levels_of(name, raw))
