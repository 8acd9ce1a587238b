"""Any frame to raw columns: numbers, codes with levels, or strings still to be factorised by their own library.

One adapter per frame library, each in the terms of that library: a categorical's codes are kept, strings are factorised
by the frame that holds them, and numbers are views wherever they can be. Nothing given is ever modified.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import Any

import msgspec
import numpy as np

from . import _core


class Numbers(msgspec.Struct, frozen=True):
    """A raw column of numbers: float64 with NaN; `unit` where they are dates."""

    values: np.ndarray
    unit: str | None = None
    is_whole: bool = False  # they came as integers

    def __len__(self) -> int:
        return len(self.values)


class Codes(msgspec.Struct, frozen=True):
    """A raw column of categories: codes with −1 for missing, and the levels in code order."""

    codes: np.ndarray  # any integer type
    levels: tuple[Any, ...]
    is_ordered: bool = False
    is_declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)


class Strings(msgspec.Struct, frozen=True):
    """A raw column of strings: factorised, or read as documents, when its kind is known."""

    length: int
    factorise: Callable[[], Codes]
    documents: Callable[[], Sequence[str | None]]

    def __len__(self) -> int:
        return self.length


Raw = Numbers | Codes | Strings


class RawFrame(msgspec.Struct, frozen=True):
    """The raw columns of a frame by name, in order; `matrix` where they all lie in one array or sparse matrix."""

    columns: dict[str, Raw]
    n_rows: int
    is_named: bool = True  # False where columns have no names and go by position
    has_text_names: bool = False  # every name is a string, as scikit-learn's feature_names_in_ asks
    matrix: Any = None


def read(frame: Any) -> RawFrame:
    """The raw columns of any supported table.

    >>> read({"size": [1, 2], "colour": ["red", None]}).columns["colour"].factorise().levels
    ('red',)
    """
    module = type(frame).__module__.split(".")[0]
    if module == "pandas":
        return _from_pandas(frame)
    if module == "polars":
        return _from_polars(frame)
    if module == "pyarrow":
        return _from_arrow(frame)
    if isinstance(frame, dict):
        return _from_dict(frame)
    if isinstance(frame, RawFrame):
        return frame
    if _is_sparse(frame):
        return _from_sparse(frame)
    native = _through_narwhals(frame)
    return read(native) if native is not None else _from_array(frame)


def read_column(values: Any, name: str) -> Raw:
    """One raw column from a series, array or list."""
    module = type(values).__module__.split(".")[0]
    if module == "pandas":
        return _pandas_column(values, name)
    if module == "polars":
        return _polars_column(values, name)
    if module == "pyarrow":
        return _arrow_column(values, name)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return _array_column(values, name)
    if hasattr(values, "to_pandas"):
        return _pandas_column(values.to_pandas(), name)
    return _object_column(values, name)


# --- frames ---


def _from_pandas(frame: Any) -> RawFrame:
    if frame.ndim == 1:
        frame = frame.to_frame()
    names = _unique_names(frame.columns)
    columns = {name: _pandas_column(frame.iloc[:, k], name) for k, name in enumerate(names)}
    return RawFrame(columns, len(frame), True, _are_text(frame.columns))


def _from_polars(frame: Any) -> RawFrame:
    if not hasattr(frame, "get_columns"):
        raise TypeError(f"a polars {type(frame).__name__} is not a table in memory; call .collect() first")
    columns = {series.name: _polars_column(series, series.name) for series in frame.get_columns()}
    return RawFrame(columns, frame.height, True, True)


def _from_arrow(frame: Any) -> RawFrame:
    names = _unique_names(frame.schema.names)
    columns = {name: _arrow_column(frame.column(k), name) for k, name in enumerate(names)}
    return RawFrame(columns, frame.num_rows, True, True)


def _from_dict(frame: dict) -> RawFrame:
    names = _unique_names(frame)
    columns = {name: read_column(values, name) for name, values in zip(names, frame.values(), strict=True)}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {', '.join(f'{n!r} has {k}' for n, k in lengths.items())}")
    return RawFrame(columns, next(iter(lengths.values()), 0), True, _are_text(frame))


def _from_sparse(frame: Any) -> RawFrame:
    if frame.dtype.kind == "c":
        raise ValueError("Complex data not supported: the sparse matrix holds complex numbers; give real ones")
    matrix = frame.tocsr().astype(np.float64, copy=False)
    _refuse_infinite_or_keep(matrix.data)
    return RawFrame({}, matrix.shape[0], False, False, matrix)


def _refuse_infinite_or_keep(values: np.ndarray) -> None:
    if np.isinf(values).any():
        raise ValueError("the sparse matrix contains infinity; replace it by a number or by NaN (missing)")


def _from_array(frame: Any) -> RawFrame:
    if np.ma.isMaskedArray(frame):
        frame = np.where(np.ma.getmaskarray(frame), None, np.ma.getdata(frame).astype(object))
    array = _as_two_dimensional(frame)
    if array.dtype.kind in "fiub" and array.dtype != bool and array.dtype.itemsize <= 8:
        matrix = _as_doubles(array)
        if array.dtype.kind in "iu":
            _refuse_inexact_matrix(array, matrix)
        columns: dict[str, Raw] = {
            f"x{j}": Numbers(matrix[:, j], is_whole=array.dtype.kind in "iu") for j in range(array.shape[1])
        }
        return RawFrame(columns, len(array), False, False, matrix)
    columns = {f"x{j}": read_column(array[:, j], f"x{j}") for j in range(array.shape[1])}
    return RawFrame(columns, len(array), False)


def _as_two_dimensional(frame: Any) -> np.ndarray:
    if isinstance(frame, np.ndarray):
        array = frame
    elif hasattr(frame, "__array__") or hasattr(frame, "__array_namespace__"):
        array = np.asarray(frame)
    else:
        array = _from_lists(frame)
    if array.ndim == 2:
        return array
    hint = (
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
        "or array.reshape(1, -1) if it contains a single sample."
    )
    raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: a table has rows and columns. {hint}")


def _from_lists(rows: Any) -> np.ndarray:
    """A list of rows; numbers stay numbers beside strings, which numpy's own conversion would not allow."""
    try:
        array = np.array(rows, dtype=object)
    except ValueError:
        raise ValueError("the rows differ in length; a table has the same columns in every row") from None
    if array.ndim == 2 and array.size and all(isinstance(v, Real) and not isinstance(v, bool) for v in array.flat):
        return array.astype(np.float64)
    return array


def _through_narwhals(frame: Any) -> Any:
    """The pandas, polars or Arrow twin of another library's eager frame; None where it is no frame."""
    if isinstance(frame, (list, tuple, np.ndarray)):
        return None
    import narwhals as nw

    wrapped = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(wrapped, nw.DataFrame):
        return None
    return wrapped.to_pandas() if "pandas" in sys.modules else wrapped.to_arrow()


def _is_sparse(frame: Any) -> bool:
    return "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(frame)


def _unique_names(names: Any) -> list[str]:
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = sorted({name for name in texts if texts.count(name) > 1})
        raise ValueError(f"column {twice[0]!r} appears {texts.count(twice[0])} times; give every column its own name")
    return texts


def _are_text(names: Any) -> bool:
    return len(names) > 0 and all(isinstance(name, str) for name in names)


# --- pandas ---


def _pandas_column(series: Any, name: str) -> Raw:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = tuple(_plain(level) for level in dtype.categories.tolist())
        return Codes(series.array.codes, levels, bool(dtype.ordered), True)
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_column(series.array.__arrow_array__(), name)
    if isinstance(dtype, pd.SparseDtype):
        return _pandas_column(series.sparse.to_dense(), name)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _array_column(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), name)
    if isinstance(dtype, pd.PeriodDtype):
        return _array_column(series.dt.to_timestamp().to_numpy(), name)
    if isinstance(dtype, pd.StringDtype):
        return _pandas_strings(series, pd)
    if isinstance(dtype, np.dtype):
        return _pandas_objects(series, name, pd) if dtype.kind == "O" else _array_column(series.to_numpy(), name)
    if pd.api.types.is_bool_dtype(dtype):
        return _booleans(series.astype("Int8").to_numpy(dtype=np.int8, na_value=-1))
    if pd.api.types.is_numeric_dtype(dtype):
        return _nullable_numbers(series, name)
    return _object_column(series.astype(object).to_numpy(), name)


def _pandas_strings(series: Any, pd: Any) -> Strings:
    def factorise() -> Codes:
        codes, levels = pd.factorize(series)
        return Codes(codes, tuple(levels.tolist()))

    def documents() -> list[str | None]:
        return [value if isinstance(value, str) else None for value in series.tolist()]

    return Strings(len(series), cache(factorise), documents)


def _pandas_objects(series: Any, name: str, pd: Any) -> Raw:
    if pd.api.types.infer_dtype(series, skipna=True) == "string":
        return _pandas_strings(series, pd)
    return _object_column(series.to_numpy(), name)


def _nullable_numbers(series: Any, name: str) -> Numbers:
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    if series.dtype.kind in "iu":
        known = series.dropna().to_numpy()
        _refuse_inexact(known, known.astype(np.float64), name)
    return Numbers(values, is_whole=series.dtype.kind in "iu")


# --- polars and Arrow ---


def _polars_column(series: Any, name: str) -> Raw:
    kind = str(series.dtype).split("(")[0]
    if kind == "Enum":
        return Codes(
            series.to_physical().cast(int).fill_null(-1).to_numpy(), tuple(series.cat.get_categories()), False, True
        )
    if kind in ("Categorical", "String", "Utf8"):
        return _polars_strings(series)
    if kind == "Boolean":
        return _booleans(series.cast(int).fill_null(-1).to_numpy())
    if kind in ("Date", "Datetime", "Duration", "Time"):
        return _polars_dates(series, kind)
    if kind == "Null":
        return Numbers(np.full(len(series), np.nan))
    if kind in ("List", "Array", "Struct", "Object", "Binary"):
        raise TypeError(f"column {name!r} holds {kind} values; give numbers, strings, dates or booleans")
    is_whole = kind.startswith(("Int", "UInt"))
    values = series.cast(float).to_numpy() if series.null_count() or not is_whole else series.to_numpy()
    if is_whole and series.null_count():
        known = series.drop_nulls().to_numpy()
        _refuse_inexact(known, known.astype(np.float64), name)
    column = _array_column(values, name)
    return Numbers(column.values, is_whole=is_whole) if isinstance(column, Numbers) else column


def _polars_strings(series: Any) -> Strings:
    def factorise() -> Codes:
        import polars as pl

        text = series.cast(pl.String)
        levels = text.drop_nulls().unique().sort()
        codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Int32).fill_null(-1)
        return Codes(codes.to_numpy(), tuple(levels.to_list()))

    return Strings(len(series), cache(factorise), series.to_list)


def _polars_dates(series: Any, kind: str) -> Numbers:
    unit = {"Date": "D", "Time": "ns"}.get(kind) or str(series.dtype.time_unit)
    return _dates(series.to_physical().cast(int).to_numpy() if not series.null_count() else None, unit, series)


def _arrow_column(column: Any, name: str) -> Raw:
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    kind = array.type
    if pa.types.is_dictionary(kind):
        codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Codes(codes, tuple(array.dictionary.to_pylist()), bool(kind.ordered), True)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        return _arrow_strings(array, pa)
    if pa.types.is_boolean(kind):
        return _booleans(array.cast(pa.int8()).fill_null(-1).to_numpy(zero_copy_only=False))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return _arrow_dates(array, pa)
    if pa.types.is_null(kind):
        return Numbers(np.full(len(array), np.nan))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _arrow_numbers(array, name, pa)
    if pa.types.is_decimal(kind):
        return Numbers(array.cast(pa.float64()).to_numpy(zero_copy_only=False))
    raise TypeError(f"column {name!r} holds {kind} values; give numbers, strings, dates or booleans")


def _arrow_strings(array: Any, pa: Any) -> Strings:
    def factorise() -> Codes:
        encoded = array.cast(pa.large_string()).dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Codes(codes, tuple(encoded.dictionary.to_pylist()))

    return Strings(len(array), cache(factorise), array.to_pylist)


def _arrow_numbers(array: Any, name: str, pa: Any) -> Numbers:
    is_whole = pa.types.is_integer(array.type)
    if is_whole:
        known = array.drop_null().to_numpy(zero_copy_only=False)
        _refuse_inexact(known, known.astype(np.float64), name)
    values = array.to_numpy(zero_copy_only=False)  # nulls become NaN
    return Numbers(_as_doubles(values), is_whole=is_whole)


def _arrow_dates(array: Any, pa: Any) -> Numbers:
    unit = "D" if pa.types.is_date32(array.type) else "ms" if pa.types.is_date64(array.type) else array.type.unit
    whole = array.cast(pa.int32() if unit == "D" else pa.int64())
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return _whole_dates(whole.fill_null(0).to_numpy(zero_copy_only=False), missing, unit)


# --- arrays and lists ---


def _array_column(values: np.ndarray, name: str) -> Raw:
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions; a column is one value per row")
    if np.ma.isMaskedArray(values):
        return _object_column(np.where(np.ma.getmaskarray(values), None, np.ma.getdata(values).astype(object)), name)
    kind = values.dtype.kind
    if kind == "b":
        return _booleans(values.view(np.int8))
    if kind in "iu":
        doubles = values.astype(np.float64)
        _refuse_inexact(values, doubles, name)
        return Numbers(doubles, is_whole=True)
    if kind == "f":
        return Numbers(_as_doubles(values))
    if kind in "mM":
        unit = np.datetime_data(values.dtype)[0]
        return _whole_dates(values.view(np.int64), np.isnat(values), unit)
    if kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r} holds complex numbers; give their parts apart")
    if kind in "US":
        return _fixed_strings(values)
    return _object_column(values, name)


def factorise_fixed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes in order of first appearance, and the distinct items, of an array of fixed-width items."""
    items = np.ascontiguousarray(values)
    raw = items.view(np.uint8).reshape(len(items), items.dtype.itemsize)
    codes, first = _core.factorise(raw)
    return codes, items[first]


def _fixed_strings(values: np.ndarray) -> Strings:
    def factorise() -> Codes:
        if not values.dtype.itemsize:
            return Codes(np.zeros(len(values), np.int32), ("",) if len(values) else ())
        codes, levels = factorise_fixed(values)
        return Codes(codes, tuple(levels.tolist()))

    return Strings(len(values), cache(factorise), values.tolist)


def _object_column(values: Any, name: str) -> Raw:
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    kinds = {type(item) for item in items}
    missing_kinds = {kind for kind in kinds if _is_missing_kind(kind)}
    present = kinds - missing_kinds
    if present <= {str, np.str_}:
        return _object_strings(items)
    if all(issubclass(kind, (bool, np.bool_)) for kind in present):
        return _booleans(np.array([-1 if _is_missing(item) else int(item) for item in items], np.int8))
    if all(issubclass(kind, (Real, np.number, Decimal)) and not issubclass(kind, bool) for kind in present):
        return _object_numbers(items, name, present)
    if all(issubclass(kind, (datetime, date, np.datetime64, timedelta, np.timedelta64)) for kind in present):
        return _object_dates(items, present)
    return _mixed_levels(items, name)


def _object_strings(items: list) -> Strings | Numbers:
    def documents() -> list[str | None]:
        return [item if isinstance(item, str) else None for item in items]

    if not any(isinstance(item, str) for item in items):  # nothing known: a column of numbers that are all missing
        return Numbers(np.full(len(items), np.nan))
    return Strings(len(items), cache(lambda: _hashed(items)), documents)


def _object_numbers(items: list, name: str, kinds: set[type]) -> Numbers:
    try:
        values = np.array([np.nan if _is_missing(item) else item for item in items], dtype=np.float64)
    except OverflowError:
        raise ValueError(f"column {name!r} holds a whole number beyond the range of doubles; declare it nominal") from None
    if any(issubclass(kind, (int, np.integer)) for kind in kinds):
        for row, (item, value) in enumerate(zip(items, values, strict=True)):
            if isinstance(item, (int, np.integer)) and int(item) != int(value):
                raise _inexact(name, row, item)
    return Numbers(values, is_whole=all(issubclass(kind, (int, np.integer)) for kind in kinds))


def _object_dates(items: list, kinds: set[type]) -> Numbers:
    unit = "D" if all(issubclass(kind, date) and not issubclass(kind, datetime) for kind in kinds) else "us"
    is_span = all(issubclass(kind, (timedelta, np.timedelta64)) for kind in kinds)
    dtype = f"timedelta64[{unit}]" if is_span else f"datetime64[{unit}]"
    values = np.array([None if _is_missing(item) else _without_zone(item) for item in items], dtype=dtype)
    return _whole_dates(values.view(np.int64), np.isnat(values), unit)


def _without_zone(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        from datetime import UTC

        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _mixed_levels(items: list, name: str) -> Codes:
    known = [item for item in items if not _is_missing(item)]
    for item in known:
        if isinstance(item, (dict, list, set, np.ndarray)):
            raise TypeError(
                f"column {name!r} holds a {type(item).__name__} ({str(item)[:40]!r}); "
                "argument must be a string or a number, a date or a boolean"
            )
    codes = _hashed(items)
    texts: dict[str, Any] = {}
    for level in codes.levels:
        other = texts.setdefault(str(level), level)
        if type(other) is not type(level) and not (isinstance(other, Real) and isinstance(level, Real)):
            raise ValueError(
                f"column {name!r} mixes {other!r} and {level!r}, which look alike but differ in type; "
                "convert the column to one type"
            )
    return codes


def _hashed(items: list) -> Codes:
    """Codes by Python's own hashing, in order of first appearance; the types of equal values are kept apart."""
    present = [item for item in items if not _is_missing(item)]
    table = {level: code for code, level in enumerate(dict.fromkeys(present))}
    if len(present) == len(items):
        codes = np.fromiter(map(table.__getitem__, items), np.int32, len(items))
    else:
        codes = np.fromiter((-1 if _is_missing(item) else table[item] for item in items), np.int32, len(items))
    return Codes(codes, tuple(_plain(level) for level in table))


def _is_missing_kind(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in ("NAType", "NaTType", "MaskedConstant")


def _is_missing(item: Any) -> bool:
    """None, NA, NaT, a masked cell, or NaN: the one value that differs from itself."""
    if item is None or _is_missing_kind(type(item)):
        return True
    return isinstance(item, (float, np.floating, Decimal, np.datetime64, np.timedelta64)) and bool(item != item)


def _booleans(codes: np.ndarray) -> Codes:
    return Codes(codes, (False, True), False, True)


def _dates(whole: np.ndarray | None, unit: str, series: Any) -> Numbers:
    if whole is not None:
        return _whole_dates(whole, np.zeros(len(whole), bool), unit)
    physical = series.to_physical().cast(int)
    return _whole_dates(physical.fill_null(0).to_numpy(), series.is_null().to_numpy(), unit)


_FINER = {"ns": 1000, "ps": 10**6, "fs": 10**9, "as": 10**12}


def _whole_dates(whole: np.ndarray, missing: np.ndarray, unit: str) -> Numbers:
    """Dates as numbers of a unit in which they are exact doubles: microseconds at the finest."""
    if unit in _FINER:
        whole, unit = whole // _FINER[unit], "us"
    values = whole.astype(np.float64)
    values[missing] = np.nan
    return Numbers(values, unit)


def _as_doubles(values: np.ndarray) -> np.ndarray:
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _refuse_inexact(whole: np.ndarray, doubles: np.ndarray, name: str) -> None:
    if whole.dtype.itemsize < 8 or not len(whole):
        return
    limit = 1 << 53
    if whole.max() <= limit and (whole.dtype.kind == "u" or whole.min() >= -limit):
        return
    same = doubles.astype(whole.dtype) == whole
    same &= np.abs(doubles) < 2.0**63 if whole.dtype.kind == "i" else doubles < 2.0**64
    if not same.all():
        row = int(np.argmin(same))
        raise _inexact(name, row, whole[row])


def _refuse_inexact_matrix(array: np.ndarray, matrix: np.ndarray) -> None:
    if array.dtype.itemsize == 8 and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 1 << 53:
        for j in range(array.shape[1]):
            _refuse_inexact(array[:, j], matrix[:, j], f"x{j}")


def _inexact(name: str, row: int, value: Any) -> ValueError:
    return ValueError(
        f"column {name!r}, row {row}: {value} is beyond 2^53 and has no exact double; "
        "declare the column nominal if it is a code, or subtract an offset"
    )


def _plain(level: Any) -> Any:
    """A numpy scalar as the Python value it stands for, so that levels compare and save as users expect."""
    return level.item() if isinstance(level, np.generic) and not isinstance(level, np.datetime64) else level
