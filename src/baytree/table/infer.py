"""What the columns of a table are: kinds, levels and forms, inferred in one pass that can be done in parts.

The rules, in their order:
1. What `schema=` declares is taken as declared.
2. An ordered categorical is ordinal, any other categorical nominal; both keep their levels and their order.
3. Numbers and dates are numeric; booleans are nominal.
4. Strings that are numbers, dates or times as a person writes them are read as such (`reading.decide`): numeric.
5. Strings are text where they read like sentences: more than 4 words and 24 letters on average, most of them different.
6. Strings that (nearly) all differ, UUIDs, e-mail addresses, and whole numbers that count rows only identify rows: they are
   left out, with a note.
7. All other strings are nominal, their levels sorted; words for no value, such as `NA`, are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from baytree import _core, notices
from baytree.engine.threads import by_columns
from baytree.table.frames import Codes, Numbers, Raw, RawFrame, Strings, factorise_together
from baytree.table.notes import Note
from baytree.table.reading import identity
from baytree.table.reading.amounts import Amounts
from baytree.table.reading.decide import Habits, decide
from baytree.table.reading.evidence import Evidence
from baytree.table.reading.forms import Form, is_nothing, truths
from baytree.table.reading.words_seen import level_notes
from baytree.table.schema import Column, Kind, Schema, Text, sorted_levels

_CODED = (Kind.NOMINAL, Kind.ORDINAL)
DATES = ("date", "dmy", "mdy")  # what `schema=` may declare of dates: their order inferred, or said
PARTS = ("year", "month", "weekday")
MOST_FOUND = 1_000_000  # different strings of a column in parts: more would not fit beside the rows
MOST_LEVELS = 10_000_000  # of a column declared nominal: what is beyond is surely no code


class Found(NamedTuple):
    """What a column is taken for: its columns in the schema (none where it is left out), and what is told of it."""

    columns: tuple[Column, ...]
    notes: tuple[Note, ...] = ()


class ColumnCensus(msgspec.Struct, frozen=True):
    """What one column was seen to hold; what two parts of it held adds up."""

    name: str
    kind: Kind
    levels: frozenset | tuple = frozenset()  # a tuple where the order was declared
    unit: str | None = None
    text: Text | None = None
    form: Form | None = None
    declared: str = ""  # "keep", "infer" (but leave nothing out), "drop", "numeric", a word of DATES, or nothing
    seen: Evidence | None = None  # of strings whose form, and perhaps kind, is still to be decided
    amounts: Amounts | None = None
    n_letters: int = 0
    n_words: int = 0
    twin: str = ""  # an earlier column that holds the same
    parts: tuple[str, ...] = ()  # of a date, to be learnt from instead of it

    def __add__(self, other: Self) -> Self:
        if self.kind is not other.kind and (self._is_empty or other._is_empty):
            return other if self._is_empty else self
        joint = self._as_column().union(other._as_column())
        return msgspec.structs.replace(
            self,
            levels=joint.levels if joint.declared else frozenset(joint.levels),
            seen=None if self.seen is None or other.seen is None else self.seen + other.seen,
            amounts=None if self.amounts is None or other.amounts is None else self.amounts + other.amounts,
            n_letters=self.n_letters + other.n_letters,
            n_words=self.n_words + other.n_words,
            twin=self.twin if self.twin == other.twin else "",
        )

    def found(self, habits: Habits) -> Found:
        """The column by the rules above."""
        if self.declared == "drop":
            return Found((), (Note(self.name, "is left out, as declared", 0),))
        if self.seen is not None:
            return self._of_strings(self.seen, habits)
        if self.amounts is not None:
            return self._of_numbers(self.amounts)
        return self._taken()

    def kept(self) -> Self:
        """The same, but numbers are learnt from even if they only number rows."""
        return self if self.amounts is None else msgspec.structs.replace(self, declared=self.declared or "keep")

    @property
    def _is_empty(self) -> bool:
        """Whether there was no value at all, so that the type of the column says nothing."""
        return self.amounts is not None and not self.amounts.n_known

    def _taken(self, *notes: Note) -> Found:
        twin = [] if not self.twin else [Note(self.name, f"holds the same as {self.twin!r}", 0, "drop")]
        column = self._as_column()
        return Found(_in_parts(column, self.parts), (*notes, *twin))

    def _of_numbers(self, amounts: Amounts) -> Found:
        if not amounts.n_known:
            return self._taken(Note(self.name, "the column is empty: nothing can be learnt from it", 0, "drop"))
        if not self.declared and amounts.identifies(self.name):
            return _left_out(self.name, "whole numbers that only number the rows", amounts.n_known)
        return self._taken(*amounts.notes(self.name))

    def _of_strings(self, seen: Evidence, habits: Habits) -> Found:
        if self.declared in ("numeric", *DATES):
            return self._as_declared(seen, habits)
        if seen.n_known == seen.n_missing:
            note = Note(self.name, "the column is empty: nothing can be learnt from it", 0, "drop")
            return self._with_form(Form("number"), seen)._taken(note)
        form, notes = decide(self.name, seen, len(self.levels), habits)
        if form is not None:
            return self._with_form(form, seen)._taken(*notes)
        if identity.are_truths(seen, self.levels):
            spelt = ", ".join(repr(level) for level in sorted(self.levels) if not is_nothing(level))
            note = Note(self.name, f"{spelt} are read as yes and no", seen.n_known - seen.n_missing, "nominal")
            return msgspec.structs.replace(self, levels=("no", "yes"), form=Form("truth"))._taken(note)
        if self._reads_like_text():
            return Found((Column(self.name, Kind.TEXT, text=self.text or Text()),))
        reason = "" if self.declared else identity.identifies(seen, self.levels)
        if reason:
            return _left_out(self.name, reason, seen.n_known)
        levels = (
            self.levels if self.declared == "keep" else frozenset(level for level in self.levels if not is_nothing(level))
        )
        kept = msgspec.structs.replace(self, levels=levels)
        return kept._taken(*notes, *level_notes(self.name, seen, levels, self.declared))

    def _as_declared(self, seen: Evidence, habits: Habits) -> Found:
        """Strings that are numbers or dates because a person says so; what cannot be read is told when it is read."""
        if not seen.n_numbers + seen.styles.get("code", 0) + seen.n_dates + seen.other.get("clock", 0):
            text = min((level for level in self.levels if not is_nothing(level)), default="")
            raise ValueError(f"column {self.name!r} is declared {self.declared}, but {text[:60]!r} is none; no cell is")
        if self.declared == "numeric":
            form, notes = decide(self.name, seen, 1 << 30, habits)
            wanted = form if form is not None and form.kind in ("number", "clock") else Form("number", habits.decimal or ".")
            return self._with_form(wanted, seen)._taken(*(notes if wanted is form else ()))
        order = self.declared if self.declared != "date" else next(iter(seen.orders), habits.order or "dmy")
        is_clock = seen.other.get("clock", 0) > seen.n_dates
        form = Form("clock") if is_clock else Form("date", order=order)  # type: ignore[arg-type]
        return self._with_form(form, seen)._taken()

    def _with_form(self, form: Form, seen: Evidence) -> Self:
        units = {"clock": "clock", "date": "us" if seen.other.get("time") else "D"}
        return msgspec.structs.replace(self, kind=Kind.NUMERIC, levels=(), form=form, unit=units.get(form.kind))

    def _as_column(self) -> Column:
        is_declared = isinstance(self.levels, tuple) and (self.form is None or self.form.kind != "truth")
        levels = tuple(self.levels) if isinstance(self.levels, tuple) else sorted_levels(self.levels)
        return Column(self.name, self.kind, levels, is_declared and bool(levels), self.unit, self.text, self.form)

    def _reads_like_text(self) -> bool:
        known = max(self.seen.n_known if self.seen else 0, 1)
        return self.n_words > 4 * known and self.n_letters > 24 * known and 2 * len(self.levels) > known


class Census(msgspec.Struct, frozen=True):
    """The census of every column of a table, in order."""

    columns: tuple[ColumnCensus, ...]
    decimal: str = ""  # the decimal mark, where the reader of the table declares it

    @classmethod
    def of(cls, frame: RawFrame, declared: Mapping[str, Any] | None = None) -> Self:
        """The census of the columns of a raw frame, with what `schema=` declares about them."""
        declared = {name: kind for name, kind in (declared or {}).items() if name != frame.target or name in frame.columns}
        for name in declared:
            if name not in frame.columns:
                raise ValueError(f"schema names {name!r}, but the columns are {', '.join(map(repr, frame.columns))}")
        names = tuple(frame.columns)
        factorise_together([frame.columns[name] for name, kind in declared.items() if kind in _CODED])
        columns = by_columns(names, frame.n_rows, lambda name: _census(name, frame, declared.get(name)))
        return cls(_with_twins(columns, frame) if frame.is_named else columns)

    @classmethod
    def of_part(cls, frame: RawFrame, declared: Mapping[str, Any] | None = None) -> Self:
        """The census of some of the rows: what it says of numbers is exact, so that it adds up."""
        seen = cls.of(frame, declared)
        return msgspec.structs.replace(seen, columns=tuple(_exact(column, frame) for column in seen.columns))

    def __add__(self, other: Self) -> Self:
        by_name = {column.name: column for column in other.columns}
        return type(self)(tuple(column + by_name[column.name] for column in self.columns), self.decimal)

    def schema(self, is_named: bool = True) -> Schema:
        """The schema that these columns have; what is doubtful in it is warned of."""
        habits = Habits.of([column.seen for column in self.columns if column.seen is not None], self.decimal)
        found = [column.found(habits) for column in self.columns]
        if not any(each.columns for each in found):  # row numbers are better than nothing at all
            found = [column.kept().found(habits) for column in self.columns]
        notes = tuple(note for each in found for note in each.notes)
        warn_of(notes)
        columns = tuple(column for each in found for column in each.columns)
        return Schema(columns, inputs=tuple(column.name for column in self.columns), is_named=is_named, notes=notes)


def _exact(column: ColumnCensus, frame: RawFrame) -> ColumnCensus:
    raw = frame.columns[column.name]
    if len(column.levels) > MOST_FOUND and not column.declared:
        raise ValueError(
            f"column {column.name!r} holds more than {MOST_FOUND:,} different strings; if it only identifies rows, leave it "
            f"out with schema={{{column.name!r}: 'drop'}}"
        )
    if column.amounts is None or not isinstance(raw, Numbers):
        return column
    return msgspec.structs.replace(column, amounts=Amounts.of_part(column.name, raw.values))


def warn_of(notes: Iterable[Note]) -> None:
    """Warns of what is doubtful; all else is kept in the schema."""
    for note in notes:
        if note.is_doubtful:
            notices.warn(str(note))


def levels_of(codes: Codes, form: Form | None) -> Codes:
    """Codes whose strings are in one spelling where the form asks for it."""
    if form is None or form.kind != "truth":
        return codes
    spelt = [level if not isinstance(level, str) else truths([level])[0] for level in codes.levels]
    place = {level: k for k, level in enumerate(dict.fromkeys(spelt))}
    return Codes(np.array([*(place[level] for level in spelt), -1], np.int32)[codes.codes], tuple(place))


def _left_out(name: str, reason: str, cells: int) -> Found:
    done = f"is left out: {reason}, so it only identifies rows"
    return Found((), (Note(name, done, cells, "keep", is_doubtful=True),))


def _in_parts(column: Column, parts: tuple[str, ...]) -> tuple[Column, ...]:
    """A date and the parts of it that are learnt from beside it."""
    return (column, *(_part(column, part) for part in parts))


def _part(column: Column, part: str) -> Column:
    form = msgspec.structs.replace(column.form or Form("date"), part=part, source=column.name)  # type: ignore[arg-type]
    if part != "weekday":
        return Column(f"{column.name} {part}", Kind.NUMERIC, form=form)
    return Column(f"{column.name} {part}", Kind.NOMINAL, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), True, form=form)


def _census(name: str, frame: RawFrame, declared: Any) -> ColumnCensus:
    raw = frame.columns[name]
    if isinstance(declared, str) and declared in ("keep", "infer", "drop", *DATES):
        return msgspec.structs.replace(_inferred(name, raw, frame.is_named), declared=declared)
    if isinstance(declared, (list, tuple)) and declared and set(declared) <= set(PARTS):
        return msgspec.structs.replace(_inferred(name, raw, frame.is_named), declared="date", parts=tuple(declared))
    return _inferred(name, raw, frame.is_named) if declared is None else _declared(name, raw, declared)


def _inferred(name: str, raw: Raw, is_named: bool) -> ColumnCensus:
    if isinstance(raw, Numbers):
        amounts = Amounts.of(name, raw.values) if is_named and raw.unit is None else None
        return ColumnCensus(name, Kind.NUMERIC, unit=raw.unit, amounts=amounts)
    if isinstance(raw, Codes):
        levels = raw.levels if raw.is_declared else frozenset(raw.levels)
        return ColumnCensus(name, Kind.ORDINAL if raw.is_ordered else Kind.NOMINAL, levels)
    codes = raw.factorise()
    return _strings(name, codes) if not raw.is_category else ColumnCensus(name, Kind.NOMINAL, frozenset(codes.levels))


def _strings(name: str, codes: Codes) -> ColumnCensus:
    counts = _level_counts(codes)
    return ColumnCensus(
        name,
        Kind.NOMINAL,
        frozenset(codes.levels),
        seen=Evidence.of(codes.levels, counts),
        n_letters=sum(len(level) * n for level, n in zip(codes.levels, counts, strict=True)),
        n_words=sum(len(level.split()) * n for level, n in zip(codes.levels, counts, strict=True)),
    )


def _level_counts(codes: Codes) -> list[int]:
    code = np.ascontiguousarray(codes.codes, np.int32)
    return _core.count(code, np.zeros_like(code), len(codes.levels), 1)[1:, 0].tolist()


def _with_twins(columns: tuple[ColumnCensus, ...], frame: RawFrame) -> tuple[ColumnCensus, ...]:
    twins = identity.twins({column.name: frame.columns[column.name] for column in columns}, frame.n_rows)
    return tuple(msgspec.structs.replace(c, twin=twins[c.name]) if c.name in twins else c for c in columns)


def _declared(name: str, raw: Raw, declared: Any) -> ColumnCensus:
    if isinstance(declared, Column):
        levels = declared.levels
        if declared.kind in _CODED and all(
            map(is_nothing, map(str, levels))
        ):  # what is known is kept though it looks like no value
            found = _levels_of(name, raw, declared.form)
            levels = found if isinstance(found, tuple) else _with_values(found, raw) | frozenset(levels)
        return ColumnCensus(name, declared.kind, levels, declared.unit, declared.text, declared.form)
    if isinstance(declared, Text):
        return ColumnCensus(name, Kind.TEXT, text=declared)
    if isinstance(declared, (list, tuple)):
        if len(set(declared)) < len(declared):
            raise ValueError(f"schema[{name!r}] names a level twice: {list(declared)}")
        return ColumnCensus(name, Kind.ORDINAL, tuple(declared))
    if declared not in list(Kind):
        kinds = ", ".join(repr(kind.value) for kind in Kind)
        raise ValueError(
            f"schema[{name!r}] is {declared!r}; give {kinds}, 'date', 'keep', 'drop', "
            "a list of levels in order, or bt.Text(...)"
        )
    kind = Kind(declared)
    if kind is Kind.NUMERIC:
        if isinstance(raw, Strings):
            return msgspec.structs.replace(_strings(name, raw.factorise()), declared="numeric")
        return ColumnCensus(name, kind, unit=raw.unit if isinstance(raw, Numbers) else None)
    if kind is Kind.TEXT:
        return ColumnCensus(name, kind, text=Text())
    return ColumnCensus(name, kind, _ordinal_levels(name, raw) if kind is Kind.ORDINAL else _levels_of(name, raw))


def _levels_of(name: str, raw: Raw, form: Form | None = None) -> Any:
    codes = levels_of(raw if isinstance(raw, Codes) else raw.factorise(), form)
    if len(codes.levels) > MOST_LEVELS:
        raise ValueError(f"column {name!r} has {len(codes.levels)} different values, too many for levels; leave it out")
    return codes.levels if codes.is_declared else frozenset(codes.levels)


def _with_values(levels: frozenset, raw: Raw) -> frozenset:
    """Without words for no value, where strings are no categories by their library's word."""
    is_free = isinstance(raw, Strings) and not raw.is_category
    return frozenset(level for level in levels if not (is_free and is_nothing(level)))


def _ordinal_levels(name: str, raw: Raw) -> tuple:
    if isinstance(raw, Strings):
        raise ValueError(
            f"column {name!r} is declared ordinal, but the order of its strings is not known; give the levels in order"
        )
    return sorted_levels(_levels_of(name, raw))
