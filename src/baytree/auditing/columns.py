"""Findings about the target and about single columns, from counts and from the notes of the type inference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from baytree.auditing.counts import AuditCounts
from baytree.auditing.result import Finding, listed
from baytree.data.inference.number_checks import Extremes
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.notes import Note, left_out_reason
from baytree.data.schema.schema import Schema

MAX_MAJORITY = 0.85  # proportion of the largest class above which accuracy hides the others

MIN_CLASS_ROWS = 10  # fewer rows of a class are missing from some of ten folds

MAX_VALUES_OF_NUMBERS = 20  # a numeric target with at most so many values may be classes

MIN_KNOWN = 0.05  # proportion of known values below which a column is nearly empty

FAR_RANGES = 20.0  # distance of a value from all others, in units of their range, above which it is far

MIN_LEVELS, MIN_ROWS_PER_LEVEL = 20, 5.0  # a column with more levels, and fewer rows for each, has too many


def target_findings(schema: Schema, per_class: np.ndarray | None, n_values: int | None, n_unlabelled: int) -> list[Finding]:
    """Findings about the target: imbalance, rare classes, numbers that are taken for classes or may be, missing labels.

    `per_class` has the rows of each class, `n_values` the number of distinct values of a numeric target.
    """
    name = schema.target.name
    found = []
    if n_unlabelled:
        message = f"{n_unlabelled:,} rows have no {name!r}; they are left out"
        remedy = "check that labels are missing at random, because a model knows nothing about these rows"
        found.append(Finding("nearly_empty", (name,), message, remedy, {"rows": n_unlabelled}))
    if per_class is not None:
        found += [*_imbalance(schema, per_class), *_rare_classes(schema, per_class)]
        if len(schema.classes) > 2 and all(isinstance(label, (int, float)) for label in schema.classes):
            message = f"{name!r} has {len(schema.classes)} distinct whole numbers, which are treated as classes"
            remedy = "if they are amounts or ranks, predict the number: give task='regression'"
            found.append(Finding("numeric_target", (name,), message, remedy, {"values": len(schema.classes)}))
    elif n_values is not None and n_values <= MAX_VALUES_OF_NUMBERS:
        message = f"{name!r} is treated as a number, but has only {n_values} distinct values"
        remedy = "if they are classes, give task='classification'"
        found.append(Finding("numeric_target", (name,), message, remedy, {"values": n_values}))
    return found


def _imbalance(schema: Schema, per_class: np.ndarray) -> list[Finding]:
    proportion, name = float(per_class.max() / per_class.sum()), schema.target.name
    if proportion < MAX_MAJORITY or np.count_nonzero(per_class) < 2:
        return []
    largest = schema.classes[int(per_class.argmax())]
    rest = listed([label for label, n in zip(schema.classes, per_class, strict=True) if n and label != largest])
    message = (
        f"{proportion:.0%} of the rows are {largest!r}: always predicting it has accuracy {proportion:.2f} and never finds "
        f"{rest}"
    )
    remedy = "rank models by='auc' or give costs=, and look at the recall of each class; priors= or costs= move the decision"
    return [Finding("imbalance", (name,), message, remedy, {"largest": proportion})]


def _rare_classes(schema: Schema, per_class: np.ndarray) -> list[Finding]:
    rare = [(label, int(n)) for label, n in zip(schema.classes, per_class, strict=True) if 0 < n < MIN_CLASS_ROWS]
    if not rare or per_class.sum() < MIN_CLASS_ROWS * 3:
        return []
    names = ", ".join(f"{label!r} ({n})" for label, n in rare[:3]) + (", …" if len(rare) > 3 else "")
    message = f"classes with fewer than {MIN_CLASS_ROWS} rows: {names}"
    remedy = "merge them with similar classes, or leave them out: scores for them are chance"
    return [Finding("rare_class", (schema.target.name,), message, remedy, {"fewest": min(n for _, n in rare)})]


def column_findings(schema: Schema, counts: AuditCounts) -> list[Finding]:
    """Findings about single columns: constant, nearly empty, identifiers, many levels, codes for missing, far values."""
    columns = schema.columns[: len(counts.n_missing)]
    missing = dict(zip([column.name for column in columns], counts.n_missing / max(counts.n_rows, 1), strict=True))
    empty = [name for name, proportion in missing.items() if proportion > 1 - MIN_KNOWN and counts.n_rows > 1]
    each = list(zip(columns, counts.columns, counts.extremes, strict=True))
    constant = [c.name for c, sums, _ in each if c.name not in empty and _is_constant(c, sums, not schema.classes)]
    noted = [finding for note in schema.notes for finding in _of_note(note)]
    codes = {name for finding in noted if finding.kind == "missing_code" for name in finding.columns}
    far = [f for c, _, extremes in each if extremes is not None and c.name not in codes for f in _far_values(c, extremes)]
    levels = [f for c, *_ in each if c.name not in empty for f in _many_levels(c, (1 - missing[c.name]) * counts.n_rows)]
    return [*levels, *noted, *far, *_nearly_empty(empty, missing), *_constant(constant)]


def _nearly_empty(names: list[str], missing: Mapping[str, float]) -> list[Finding]:
    if not names:
        return []
    minimum = min(missing[name] for name in names)
    message = f"{listed(names)} {'has' if len(names) == 1 else 'have'} no value in at least {minimum:.1%} of the rows"
    return [Finding("nearly_empty", tuple(names), message, _leave_out(names), {"missing": float(minimum)})]


def _constant(names: list[str]) -> list[Finding]:
    if not names:
        return []
    message = f"{listed(names)} {'has' if len(names) == 1 else 'have'} the same value in all rows"
    return [Finding("constant", tuple(names), message, _leave_out(names), {"columns": len(names)})]


def _leave_out(names: list[str]) -> str:
    what = "it" if len(names) == 1 else "them"
    return f"leave {what} out: declare schema={{{names[0]!r}: 'drop'}}" + (", and so on" if len(names) > 1 else "")


def _many_levels(column: Column, n_known: float) -> list[Finding]:
    n_levels = len(column.levels)
    if column.kind is not Kind.NOMINAL or n_levels < MIN_LEVELS or n_known >= MIN_ROWS_PER_LEVEL * n_levels:
        return []
    message = f"{column.name!r} has {n_levels:,} levels in {n_known:,.0f} rows: most are too rare to learn from"
    remedy = f"group similar levels, or {_leave_out([column.name])}"
    return [Finding("many_levels", (column.name,), message, remedy, {"levels": n_levels, "rows": n_known})]


def _is_constant(column: Column, sums: np.ndarray, is_number: bool) -> bool:
    """Whether all known values are equal; `is_number` says what the sums are (see `AuditCounts`)."""
    if not sums.size or (column.kind is Kind.NUMERIC and sums.shape[1] > 2):
        return False
    rows = sums[:, 1:, : 1 if is_number else None].sum(axis=(0, 2))
    return int(np.count_nonzero(rows)) == 1 and rows.sum() > 1


def _far_values(column: Column, extremes: Extremes) -> list[Finding]:
    """Finding on a single value that lies farther from the others than `FAR_RANGES` times their range."""
    ends = ((extremes.lowest, extremes.highest), (extremes.highest, extremes.lowest))
    for own, opposite in ends:
        if len(own) < 2:
            continue
        value, nearest, other = own[0][0], own[1][0], opposite[0][0]
        width = abs(nearest - other)
        if width > 0 and np.isfinite(value) and abs(value - nearest) > FAR_RANGES * width:
            low, high = sorted((nearest, other))
            message = (
                f"{column.name!r} has the value {column.show(value)}, far from all others ({column.show(low)} to "
                f"{column.show(high)})"
            )
            remedy = "correct or remove it if it is an error; trees are not affected, models of sums and variances are"
            return [Finding("outlier", (column.name,), message, remedy, {"value": value, "low": low, "high": high})]
    return []


def _of_note(note: Note) -> list[Finding]:
    """Findings that the type inference has noted: identifiers, codes for missing values, far values."""
    if note.done.endswith(", so it only identifies rows"):
        remedy = f"it is left out; to keep it, declare schema={{{note.column!r}: 'keep'}}"
        message = f"{note.column!r} only identifies rows: {left_out_reason(note)}"
        return [Finding("identifier", (note.column,), message, remedy, {"rows": note.cells})]
    if note.option == "missing" and "lies far from" in note.done:
        message = f"{note.column!r}: {note.done.removesuffix('; it is kept')}"
        remedy = f"if it does, read with missing={note.value!r}"
        return [Finding("missing_code", (note.column,), message, remedy, {"cells": note.cells})]
    return []
