"""Convert string columns of a polars frame by their string formats: numbers, dates, times, booleans and missing tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from baytree import _warnings
from baytree.data.files.options import ReadOptions
from baytree.data.frames import read as read_frame
from baytree.data.inference.column_profile import CONVERT_ONLY
from baytree.data.inference.decide import decide_format
from baytree.data.inference.evidence import StringEvidence, TableConventions
from baytree.data.inference.infer import TableProfile
from baytree.data.parsing import dates
from baytree.data.parsing.numbers import BY_COMMA, BY_DOT
from baytree.data.parsing.string_format import StringFormat, is_missing_token, normalize_booleans, numbers, unparsed
from baytree.data.parsing.vocabulary import plain
from baytree.data.schema.column import Column
from baytree.data.schema.notes import Note

if TYPE_CHECKING:
    import polars as pl

_SAMPLE_ROWS = 2000  # rows from which the decimal mark is inferred


def infer_decimal_marks(
    frame: pl.DataFrame, separator: str, options: ReadOptions
) -> tuple[dict[str, StringFormat], list[Note]]:
    """Return the formats of columns whose marks are ambiguous within the column, such as `1,234`, and notes on them.

    The conventions of the table decide, as implied by its first rows.
    """
    evidence_of = {series.name: _evidence(series.head(_SAMPLE_ROWS)) for series in frame if series.name}
    conventions = TableConventions.of(list(evidence_of.values()), options.decimal, separator)
    formats, notes = {}, []
    for name, evidence in evidence_of.items():
        if not evidence.styles.get("comma3") and not evidence.styles.get("dot3"):
            continue
        if any(evidence.styles.get(style) for style in BY_COMMA | BY_DOT) or name in options.text:
            continue
        column_conventions = _by_number_length(frame[name], evidence, conventions)
        form, format_notes, _ = decide_format(name, evidence, len(frame), column_conventions)
        if form is not None and form.kind == "number" and (form.decimal == "," or evidence.styles.get("comma3")):
            formats[name] = form
            notes += format_notes
        elif form is not None and form.kind == "number":
            message = f"every number has three digits after its point, as in {evidence.first('dot3')!r}: read as decimals"
            notes.append(Note(name, message, evidence.styles["dot3"], "decimal", ","))
    return formats, notes


def _by_number_length(series: pl.Series, evidence: StringEvidence, conventions: TableConventions) -> TableConventions:
    """Imply a decimal comma if every point precedes three digits and numbers without one have at most three digits."""
    whole = evidence.styles.get("whole", 0)
    if conventions.decimal or not whole or not evidence.styles.get("dot3") or set(evidence.styles) - {"whole", "dot3"}:
        return conventions
    bare = series.drop_nulls().str.strip_chars()
    if (bare.filter(~bare.str.contains(".", literal=True)).str.len_chars().max() or 9) > 3:  # type: ignore[operator]
        return conventions
    return conventions._replace(decimal=",", why="because numbers below a thousand have no point")


def convert_columns(frame: pl.DataFrame, formats: Mapping[str, StringFormat]) -> pl.DataFrame:
    """Return the frame with these string columns converted by their formats."""
    import polars as pl

    columns = [_convert_column(frame[name], form) for name, form in formats.items() if frame[name].dtype == pl.String]
    return frame.with_columns(columns) if columns else frame


def drop_missing_tokens(frame: pl.DataFrame, words: Sequence[str]) -> pl.DataFrame:
    """Replace these words or numbers, which stand for missing values, by null."""
    import polars as pl

    if not words:
        return frame
    numeric_tokens = [value for word in words if (value := _as_number(word)) is not None]
    texts = {word.strip() for word in words} | {plain(word) for word in words}
    columns = []
    for series in frame:
        if series.dtype == pl.String:
            tokens = [
                text for text in series.drop_nulls().unique().to_list() if text.strip() in texts or plain(text) in texts
            ]
        else:
            tokens = numeric_tokens if series.dtype.is_numeric() else _date_tokens(series, words)
        columns.append(series.set(series.is_in(tokens).fill_null(False), None) if tokens else series)
    return frame.with_columns(columns)


def _date_tokens(series: pl.Series, words: Sequence[str]) -> list[Any]:
    """Return the dates among the missing tokens, as values of a date column."""
    import polars as pl

    if series.dtype not in (pl.Date, pl.Datetime):
        return []
    found = [moment for word in words if (moment := dates.parse_date(word.strip(), "dmy")) is not None]
    return pl.Series(found, dtype=pl.Int64).cast(pl.Datetime("us")).cast(series.dtype).to_list()


def infer_and_convert(
    frame: pl.DataFrame, decimal: str = "", text: Collection[str] = ()
) -> tuple[pl.DataFrame, tuple[Note, ...]]:
    """Return the frame with string columns converted by inference (`text` columns stay strings), and the notes."""
    raw = read_frame(frame)
    kinds = {name: "nominal" if name in text else CONVERT_ONLY for name in frame.columns}
    profile = msgspec.structs.replace(TableProfile.of(raw, kinds), decimal=decimal)
    with _warnings.capture():
        schema = profile.schema()
    columns = [_as_column(frame[column.name], column) for column in schema.columns]
    return frame.with_columns(columns), schema.notes


def _as_column(series: pl.Series, column: Column) -> pl.Series:
    import polars as pl

    if series.dtype != pl.String:
        return series
    if column.form is not None:
        return _convert_column(series, column.form, column.unit)
    tokens = [
        text for text in series.drop_nulls().unique().to_list() if is_missing_token(text) and text not in column.levels
    ]
    return series.set(series.is_in(tokens).fill_null(False), None) if tokens else series


def _convert_column(series: pl.Series, form: StringFormat, unit: str | None = None) -> pl.Series:
    import polars as pl

    levels = series.drop_nulls().unique().sort().to_list()
    if form.kind == "truth":
        return series.replace(dict(zip(levels, normalize_booleans(levels), strict=True)))
    values = numbers(levels, form)
    failed = unparsed(levels, values)
    if failed:
        cells = int(series.is_in(failed).sum())
        _warnings.warn(str(Note(series.name, f"{failed[0]!r} cannot be read and becomes missing", cells, "nominal")))
    found = pl.Series(series.name, values).fill_nan(None)
    dtype: Any = pl.Float64
    if form.kind == "clock":
        dtype = pl.Duration("ns") if (found >= 86400).any() else pl.Time
        found = (found * 1e9).round().cast(pl.Int64).cast(dtype)
    if form.kind == "date":
        found = found.cast(pl.Int64).cast(pl.Datetime("us"))
        found, dtype = (found.cast(pl.Date), pl.Date) if unit == "D" else (found, pl.Datetime("us"))
    if not levels:
        return pl.Series(series.name, [None] * len(series), dtype=dtype)
    return series.replace_strict(pl.Series(levels), found, default=None, return_dtype=dtype).alias(series.name)


def _evidence(series: pl.Series) -> StringEvidence:
    # renamed, because the column's own name may be "count"
    values, counts = series.drop_nulls().alias("value").value_counts(sort=False, name="count")
    return StringEvidence.of(values.to_list(), counts.to_list())


def _as_number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
