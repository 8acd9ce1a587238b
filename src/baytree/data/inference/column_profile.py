"""Mergeable profile of one column, and the inference of its schema columns from it.

`infer` lists the rules. Profiles of partitions add up; `inferred` is called once on the sum.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import msgspec

from baytree.data.inference import identifiers
from baytree.data.inference.decide import decide_format
from baytree.data.inference.evidence import StringEvidence, TableConventions
from baytree.data.inference.level_matching import level_notes
from baytree.data.inference.number_checks import MAX_CHECKED_STRINGS, NumberProfile, sentinel_note, written
from baytree.data.parsing.string_format import StringFormat, is_missing_token, numbers
from baytree.data.schema.column import Column, Kind, Text, sorted_levels
from baytree.data.schema.notes import DECLARED_LEFT_OUT, Note, left_out

DATES = ("date", "dmy", "mdy")  # date declarations in `schema=`: order inferred or given

CONVERT_ONLY = "infer"  # declaration of columns that are converted but not learnt from: all stay, without notes on training


class InferredColumns(NamedTuple):
    """Schema columns inferred from one column (none if it is left out), with notes."""

    columns: tuple[Column, ...]
    notes: tuple[Note, ...] = ()


class ColumnProfile(msgspec.Struct, frozen=True):
    """Mergeable summary of what one column holds."""

    name: str
    kind: Kind
    levels: frozenset | tuple = frozenset()  # a tuple if the order is declared
    unit: str | None = None
    text: Text | None = None
    form: StringFormat | None = None
    declared: str = ""  # "keep", "drop", "numeric", one of DATES, CONVERT_ONLY, or ""
    evidence: StringEvidence | None = None  # evidence of strings whose format (and possibly kind) is undecided
    number_profile: NumberProfile | None = None
    n_letters: int = 0
    n_words: int = 0
    duplicate_of: str = ""  # name of an earlier column with the same values
    parts: tuple[str, ...] = ()  # date parts to add as columns
    identifies: str = ""  # why the column only identifies rows, if an engine found that without listing its levels

    def __add__(self, other: Self) -> Self:
        if self.kind is not other.kind and (self._is_empty or other._is_empty):
            return other if self._is_empty else self
        return msgspec.structs.replace(
            self,
            levels=self._joint_levels(other),
            evidence=None if self.evidence is None or other.evidence is None else self.evidence + other.evidence,
            number_profile=None
            if self.number_profile is None or other.number_profile is None
            else self.number_profile + other.number_profile,
            n_letters=self.n_letters + other.n_letters,
            n_words=self.n_words + other.n_words,
            duplicate_of=self.duplicate_of if self.duplicate_of == other.duplicate_of else "",
        )

    def infer(self, conventions: TableConventions) -> InferredColumns:
        """Return the columns by the rules of `infer`, given the conventions of the table."""
        if self.declared == "drop":
            return InferredColumns((), (Note(self.name, DECLARED_LEFT_OUT),))
        if self.identifies:
            return _identifier(self.name, self.identifies, 0)
        if self.evidence is not None:
            return self._infer_from_strings(self.evidence, conventions)
        if self.number_profile is not None:
            return self._infer_from_numbers(self.number_profile)
        return self._used()

    def with_identifiers(self) -> Self:
        """Return the profile with identifiers kept: a numeric column is used even if it only numbers the rows."""
        return self if self.number_profile is None else msgspec.structs.replace(self, declared=self.declared or "keep")

    def _joint_levels(self, other: Self) -> frozenset | tuple:
        """Return the union of the levels; raise a ValueError for columns of different kinds."""
        if self._has_same_levels(other):
            return self.levels
        union = self._as_column().union(other._as_column())
        return union.levels if union.declared else frozenset(union.levels)

    def _has_same_levels(self, other: Self) -> bool:
        """Return whether both have the same kind and levels in no declared order, so that no union is needed."""
        is_one_kind = self.kind is other.kind and (self.unit is None) == (other.unit is None)
        return is_one_kind and isinstance(self.levels, frozenset) and self.levels == other.levels

    @property
    def _is_empty(self) -> bool:
        """Whether all values are missing, so that the type of the column is uninformative."""
        return self.number_profile is not None and not self.number_profile.n_known

    def _used(self, *notes: Note) -> InferredColumns:
        duplicate = [] if not self.duplicate_of else [Note(self.name, f"holds the same as {self.duplicate_of!r}", 0, "drop")]
        column = self._as_column()
        return InferredColumns(_with_parts(column, self.parts), (*notes, *duplicate))

    def _infer_from_numbers(self, profile: NumberProfile) -> InferredColumns:
        if not profile.n_known:
            return self._used(Note(self.name, "the column is empty: nothing can be learnt from it", 0, "drop"))
        if not self.declared and profile.is_identifier(self.name):
            return _identifier(self.name, "whole numbers that only number the rows", profile.n_known)
        return self._used(*profile.notes(self.name, self._as_column().show, self.declared != CONVERT_ONLY))

    def _infer_from_strings(self, evidence: StringEvidence, conventions: TableConventions) -> InferredColumns:
        if self.declared in ("numeric", *DATES):
            return self._infer_declared(evidence, conventions)
        if evidence.n_known == evidence.n_missing:
            note = Note(self.name, "the column is empty: nothing can be learnt from it", 0, "drop")
            return self._with_form(StringFormat("number"), evidence)._used(note)
        form, notes, conflict = decide_format(self.name, evidence, len(self.levels), conventions)
        if form is not None:
            return self._with_form(form, evidence)._used(*notes, *self._sentinel_notes(form))
        if identifiers.are_truths(evidence, self.levels):
            spellings = ", ".join(repr(level) for level in sorted(self.levels) if not is_missing_token(level))
            note = Note(self.name, f"{spellings} are read as yes and no", evidence.n_known - evidence.n_missing, "nominal")
            return msgspec.structs.replace(self, levels=("no", "yes"), form=StringFormat("truth"))._used(note)
        if self._reads_like_text():
            return InferredColumns((Column(self.name, Kind.TEXT, text=self.text or Text()),))
        reason = "" if self.declared else identifiers.identifier_reason(evidence, self.levels)
        if reason:
            if conflict and 2 * notes[0].cells >= evidence.n_known:
                return InferredColumns((), (msgspec.structs.replace(notes[0], done=left_out(conflict)),))
            return _identifier(self.name, reason, evidence.n_known)
        levels = (
            self.levels
            if self.declared == "keep"
            else frozenset(level for level in self.levels if not is_missing_token(level))
        )
        profile = msgspec.structs.replace(self, levels=levels)
        return profile._used(
            *notes, *level_notes(self.name, evidence, levels, self.declared == "keep", self.declared != CONVERT_ONLY)
        )

    def _infer_declared(self, evidence: StringEvidence, conventions: TableConventions) -> InferredColumns:
        """Return strings declared numeric or date as such; values that do not parse are reported when they are encoded."""
        if not evidence.n_numbers + evidence.styles.get("code", 0) + evidence.n_dates + evidence.other.get("clock", 0):
            text = min((level for level in self.levels if not is_missing_token(level)), default="")
            raise ValueError(
                f"column {self.name!r} is declared {self.declared}, but no cell can be read as such, "
                f"for example {text[:60]!r}"
            )
        if self.declared == "numeric":
            form, notes, _ = decide_format(self.name, evidence, 1 << 30, conventions)
            used = (
                form
                if form is not None and form.kind in ("number", "clock")
                else StringFormat("number", conventions.decimal or ".")
            )
            return self._with_form(used, evidence)._used(*(notes if used is form else ()))
        order = self.declared if self.declared != "date" else next(iter(evidence.orders), conventions.order or "dmy")
        is_clock = evidence.other.get("clock", 0) > evidence.n_dates
        form = StringFormat("clock") if is_clock else StringFormat("date", order=order)  # type: ignore[arg-type]
        return self._with_form(form, evidence)._used()

    def _sentinel_notes(self, form: StringFormat) -> list[Note]:
        """Return notes on values, as written, that may be sentinels."""
        levels = sorted(self.levels) if len(self.levels) <= MAX_CHECKED_STRINGS else []
        sentinels = written(levels, numbers(levels, form), form.kind == "date")
        return [sentinel_note(self.name, text, 0, low, high) for text, low, high in sentinels]

    def _with_form(self, form: StringFormat, evidence: StringEvidence) -> Self:
        has_time = evidence.other.get("time") or (form.kind == "date" and any(map(_is_instant, self.levels)))
        units = {"clock": "clock", "date": "us" if has_time else "D"}
        return msgspec.structs.replace(self, kind=Kind.NUMERIC, levels=(), form=form, unit=units.get(form.kind))

    def _as_column(self) -> Column:
        is_declared = isinstance(self.levels, tuple) and (self.form is None or self.form.kind != "truth")
        levels = tuple(self.levels) if isinstance(self.levels, tuple) else sorted_levels(self.levels)
        return Column(self.name, self.kind, levels, is_declared and bool(levels), self.unit, self.text, self.form)

    def _reads_like_text(self) -> bool:
        known = max(self.evidence.n_known if self.evidence else 0, 1)
        return self.n_words > 4 * known and self.n_letters > 24 * known and 2 * len(self.levels) > known


def _identifier(name: str, reason: str, cells: int) -> InferredColumns:
    return InferredColumns((), (Note(name, left_out(reason, is_identifier=True), cells, "keep", is_doubtful=True),))


def _is_instant(text: str) -> bool:
    """Return whether a string of digits counts seconds or milliseconds since 1970."""
    return len(text) >= 10 and text.isdecimal()


def _with_parts(column: Column, parts: tuple[str, ...]) -> tuple[Column, ...]:
    """Return a date column and the columns of its parts."""
    return (column, *(_part(column, part) for part in parts))


def _part(column: Column, part: str) -> Column:
    form = msgspec.structs.replace(column.form or StringFormat("date"), part=part, source=column.name)  # type: ignore[arg-type]
    if part != "weekday":
        return Column(f"{column.name} {part}", Kind.NUMERIC, form=form)
    return Column(f"{column.name} {part}", Kind.NOMINAL, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), True, form=form)
