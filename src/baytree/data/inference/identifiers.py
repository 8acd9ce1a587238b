"""Detect columns that only identify rows, columns of booleans in several spellings, and duplicate columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from baytree.data.frames.numbers import Codes, Numbers
from baytree.data.frames.raw import Raw
from baytree.data.inference.evidence import StringEvidence
from baytree.data.parsing.string_format import is_missing_token

# strings only identify rows if all differ in so many cells, or nearly all in more; in fewer cells, ordinary levels may all
# differ by chance
_MIN_DISTINCT, _MIN_NEARLY_DISTINCT = 10, 20

_MIN_DISTINCT_PROPORTION = 0.95  # "nearly all": a few rows may be repeated

_MIN_ID_FORMAT_PROPORTION = 0.9  # UUIDs and e-mail addresses: the other cells may be placeholders

_ROWS_COMPARED_FIRST = 16  # rows that duplicate columns must share before all rows are compared


def identifier_reason(evidence: StringEvidence, levels: Collection[str]) -> str:
    """Return why the column only identifies rows; "" if it does not."""
    n = evidence.n_known - evidence.n_missing
    distinct = len(levels) - len(evidence.missing_tokens)
    for trait, what in (("uuid", "UUIDs"), ("email", "e-mail addresses")):
        if evidence.other.get(trait, 0) > _MIN_ID_FORMAT_PROPORTION * n and 2 * distinct > n > 2:
            return what
    if distinct == n >= _MIN_DISTINCT:
        return f"all its strings differ, such as {_example(levels)}"
    if n >= _MIN_NEARLY_DISTINCT and distinct >= _MIN_DISTINCT_PROPORTION * n:
        return f"{distinct:,} of its {n:,} strings differ, such as {_example(levels)}"
    return ""


def _example(levels: Collection[str]) -> str:
    return repr(min(level for level in levels if not is_missing_token(level))[:30])


def are_truths(evidence: StringEvidence, levels: Collection[str]) -> bool:
    """Return whether a column holds yes and no in more than two spellings."""
    known = [level for level in levels if not is_missing_token(level)]
    n = evidence.n_known - evidence.n_missing
    yes, no = evidence.other.get("yes", 0), evidence.other.get("no", 0)
    return len(known) > 2 and bool(yes) and bool(no) and yes + no == n


def duplicate_columns(columns: Mapping[str, Raw], n_rows: int) -> dict[str, str]:
    """Return the columns that equal an earlier column, with its name."""
    first: dict[Any, list[str]] = {}
    duplicates: dict[str, str] = {}
    if n_rows < 2:
        return duplicates
    for name, raw in columns.items():
        if isinstance(raw, Codes):
            continue
        candidates = first.setdefault(_head(raw), [])
        same = next((other for other in candidates if _same(columns[other], raw)), None)
        if same is None:
            candidates.append(name)
        else:
            duplicates[name] = same
    return duplicates


def may_be_duplicates(numbers: np.ndarray) -> np.ndarray:
    """Return which columns of a matrix start with NaN or the same number as another column: bool [n_columns]."""
    order = np.argsort(numbers[0])
    begins = numbers[0, order]
    as_next = np.append(begins[1:] == begins[:-1], False)
    may_be = np.isnan(numbers[0])
    may_be[order] |= as_next | np.roll(as_next, 1)
    return may_be


def _head(raw: Raw) -> Any:
    if isinstance(raw, Numbers):
        return raw.unit, _array(raw)[:_ROWS_COMPARED_FIRST].tobytes()
    codes = raw if isinstance(raw, Codes) else raw.factorise()
    return tuple(codes.levels[code] if code >= 0 else None for code in codes.codes[:_ROWS_COMPARED_FIRST].tolist())


def _same(left: Raw, right: Raw) -> bool:
    if isinstance(left, Numbers) and isinstance(right, Numbers):
        one, other = _array(left), _array(right)
        return one.dtype == other.dtype and bool(np.array_equal(one, other, equal_nan=True)) and bool((one == one).any())
    if isinstance(left, Numbers) or isinstance(right, Numbers):
        return False
    codes = [raw if isinstance(raw, Codes) else raw.factorise() for raw in (left, right)]
    return _as_texts(codes[0]) == _as_texts(codes[1])


def _array(raw: Numbers) -> np.ndarray:
    return raw.matrix.array[:, raw.column]


def _as_texts(codes: Codes) -> list[Any]:
    names = [*codes.levels, None]
    return [names[code] for code in codes.codes.tolist()]
