"""Levels and words of new rows that training did not see, named in explanations.

Encoding turns an unknown level into a missing value and drops unknown words, so a model cannot explain them. Here they are
looked up in the raw rows again, if there are any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.model import Evidence, Explanation
from baytree.data.encoding.encode_column import documents
from baytree.data.encoding.table import Table, Tokens
from baytree.data.frames import read
from baytree.data.frames.numbers import Codes
from baytree.data.frames.raw import Raw, RawFrame
from baytree.data.inference.level_matching import levels_of
from baytree.data.parsing.string_format import is_missing_token
from baytree.data.schema.column import Column, Kind, Text
from baytree.data.schema.schema import Schema

NO_WORDS = ("no known word", "0 words")  # value of a text column without any word of the vocabulary


class Unknown(NamedTuple):
    """Unknown value of a row: a level, or the number of distinct words."""

    column: str
    level: str = ""
    n_words: int = 0


def name_unknown_values(explanations: list[Explanation], X: FrameLike, table: Table) -> list[Explanation]:
    """Explanations in which unknown levels are named instead of missing, and unknown words are counted."""
    not_numbers = [j for j, column in enumerate(table.schema) if column.kind is not Kind.NUMERIC]
    candidates = [j for j in not_numbers if _may_be_unknown(table.values[j])]
    if not candidates:
        return explanations
    raw = _raw_columns(read(X), table.schema)
    unknown: dict[int, list[Unknown]] = {}
    for j in candidates:
        column = table.schema.columns[j]
        if column.name in raw:
            for row, found in _unknown_in(raw[column.name], column, table.values[j]):
                unknown.setdefault(row, []).append(found)
    return [_named(each, unknown.get(row, [])) for row, each in enumerate(explanations)]


def _may_be_unknown(values: np.ndarray | Tokens) -> bool:
    return isinstance(values, Tokens) or bool((values < 0).any())


def _raw_columns(frame: RawFrame, schema: Schema) -> Mapping[str, Raw]:
    """Raw columns by the names of the schema's columns; those that the frame does not have are left out."""
    if schema.is_named and frame.is_named:
        pairs = zip(schema.columns, schema.sources, strict=True)
        return {column.name: frame.columns[name] for column, name in pairs if name in frame.columns}
    columns = dict(zip(schema.inputs, frame.columns.values(), strict=True))
    return {column.name: columns[column.source] for column in schema.columns}


def _unknown_in(raw: Raw, column: Column, values: np.ndarray | Tokens) -> Iterator[tuple[int, Unknown]]:
    if isinstance(values, Tokens):
        options = column.text or Text()
        if options.hashing is None:
            from baytree.data.encoding import bag_of_words  # imported here: few tables have text

            every = bag_of_words.count(documents(raw, column), options)[1]
            for row, n_words in enumerate((np.diff(every.start) - np.diff(values.start)).tolist()):
                if n_words:
                    yield row, Unknown(column.name, n_words=n_words)
    elif column.form is None or not column.form.part:
        codes = levels_of(raw if isinstance(raw, Codes) else raw.factorise(), column.form)
        for row in np.flatnonzero((values < 0) & (codes.codes >= 0)).tolist():
            level = codes.levels[codes.codes[row]]
            if not (isinstance(level, str) and is_missing_token(level)):
                yield row, Unknown(column.name, f"{level:g}" if isinstance(level, float) else str(level))


def _named(explanation: Explanation, unknown: list[Unknown]) -> Explanation:
    lines = list(explanation.evidence)
    for each in unknown:
        own = [k for k, line in enumerate(lines) if line.column == each.column]
        if each.level:
            for k in own:
                if lines[k].value == "missing":
                    value = f"{each.level} (not seen in training)"
                    lines[k] = msgspec.structs.replace(lines[k], value=value, condition="")
        elif own:
            words = f"{each.n_words} unknown word{'s' if each.n_words > 1 else ''}"
            if lines[own[-1]].value in NO_WORDS:
                lines[own[-1]] = msgspec.structs.replace(lines[own[-1]], value=words)
            else:
                lines.insert(own[-1] + 1, Evidence(each.column, words, np.zeros_like(explanation.start)))
    return msgspec.structs.replace(explanation, evidence=tuple(lines)) if unknown else explanation
