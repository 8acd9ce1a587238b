"""Adapter for Arrow columns."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from baytree.data.frames.numbers import Codes, Numbers, booleans, whole_dates, whole_spans, with_missing
from baytree.data.frames.raw import Raw, Strings

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_column(column: pa.Array | pa.ChunkedArray, name: str) -> Raw:
    """Return the raw column of an Arrow array; raise a TypeError for nested and binary types."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        return _arrow_strings(column)
    array = _in_one_piece(column)
    if pa.types.is_dictionary(kind):
        return Codes(_codes(array), tuple(array.dictionary.to_pylist()), bool(kind.ordered), True)
    if pa.types.is_boolean(kind):
        return booleans(array.cast(pa.int8()).fill_null(-1).to_numpy(zero_copy_only=False))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return _arrow_dates(array)
    if pa.types.is_time(kind):
        ticks = array.cast(pa.time64("us")).cast(pa.int64()).cast(pa.float64())
        return Numbers.of(ticks.to_numpy(zero_copy_only=False) / 1e6, unit="clock")
    if pa.types.is_null(kind):
        return Numbers.of(np.full(len(array), np.nan))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _arrow_numbers(array, name)
    if pa.types.is_decimal(kind):
        return Numbers.of(array.cast(pa.float64()).to_numpy(zero_copy_only=False))
    raise TypeError(f"column {name!r} holds {kind} values; give numbers, strings, dates or booleans")


def _codes(encoded: pa.DictionaryArray) -> np.ndarray:
    indices = encoded.indices if encoded.indices.null_count == 0 else encoded.indices.fill_null(-1)
    return indices.to_numpy(zero_copy_only=False)


def _in_one_piece(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array


def _arrow_strings(column: pa.Array | pa.ChunkedArray) -> Strings:
    import pyarrow as pa

    def factorise() -> Codes:
        encoded = _in_one_piece(column.cast(pa.large_string())).dictionary_encode()
        return Codes(_codes(encoded), tuple(encoded.dictionary.to_pylist()))

    return Strings(len(column), cache(factorise), column.to_pylist)


def _arrow_numbers(array: pa.Array, name: str) -> Numbers:
    import pyarrow as pa

    if pa.types.is_integer(array.type) and array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False)
        return with_missing(array.fill_null(0).to_numpy(zero_copy_only=False), missing, name)
    return Numbers.of(array.to_numpy(zero_copy_only=False), name)  # nulls become NaN


def _arrow_dates(array: pa.Array) -> Numbers:
    import pyarrow as pa

    unit = "D" if pa.types.is_date32(array.type) else "ms" if pa.types.is_date64(array.type) else array.type.unit
    whole = array.cast(pa.int32() if unit == "D" else pa.int64())
    missing = array.is_null().to_numpy(zero_copy_only=False)
    read = whole_spans if pa.types.is_duration(array.type) else whole_dates
    return read(whole.fill_null(0).to_numpy(zero_copy_only=False), missing, unit)
