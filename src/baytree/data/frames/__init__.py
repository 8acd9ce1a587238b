"""Adapters from data frames of any library to raw columns: numbers, codes with levels, or lazily factorized strings.

One module per frame library. Codes of a categorical are used as they are, strings are factorized by the library that
holds them, and numbers are views where possible. The input is never modified.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from baytree._typing import FrameLike
from baytree.data.frames.arrays import array_column, from_array, from_sparse
from baytree.data.frames.numbers import (
    Codes,
    MatrixColumns,
    NumberedColumns,
    Numbers,
    factorise_fixed,
    factorise_together,
    position_names,
)
from baytree.data.frames.objects import floats_together, object_column
from baytree.data.frames.raw import MAX_FEW_ROWS, Raw, RawFrame, Strings, without_masked

__all__ = [
    "Codes",
    "MatrixColumns",
    "NumberedColumns",
    "Numbers",
    "Raw",
    "RawFrame",
    "Strings",
    "factorise_fixed",
    "factorise_together",
    "position_names",
    "read",
    "read_column",
    "without",
    "without_masked",
]


def read(frame: FrameLike) -> RawFrame:
    """Return the raw columns of any supported table.

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
    if isinstance(frame, RawFrame):
        return frame
    if _is_sparse(frame):
        return from_sparse(frame)
    if isinstance(frame, dict):
        return _from_dict(frame) if not _is_row(frame) else _from_rows([frame])
    if isinstance(frame, (list, tuple)) and frame and all(isinstance(row, dict) for row in frame):
        return _from_rows(frame)
    if hasattr(frame, "open_frame"):
        raise ValueError(
            "this needs the rows themselves, which stay in the database; export them and use bt.scan('export.parquet')"
        )
    native = _through_narwhals(frame)
    return read(native) if native is not None else from_array(frame)


def without(X: FrameLike, name: str) -> Any:
    """Frame without the column of that name."""
    if isinstance(X, Mapping):
        return {other: values for other, values in X.items() if other != name}
    if hasattr(X, "iloc"):
        return X.loc[:, [str(other) != name for other in X.columns]]
    import narwhals as nw  # only for frames of libraries other than pandas

    return nw.from_native(X, eager_only=True).drop(name).to_native()


def read_column(values: Any, name: str) -> Raw:
    """Return one raw column from a series, array or list."""
    if isinstance(values, (Numbers, Codes, Strings)):
        return values
    module = type(values).__module__.split(".")[0]
    if module == "pandas":
        from baytree.data.frames.pandas import pandas_column

        return pandas_column(values, name)
    if module == "polars":
        from baytree.data.frames.polars import polars_column

        return polars_column(values, name)
    if module == "pyarrow":
        from baytree.data.frames.arrow import arrow_column

        return arrow_column(values, name)
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return array_column(values, name)
    if hasattr(values, "to_pandas"):
        return read_column(values.to_pandas(), name)
    return object_column(values, name)


def _from_pandas(frame: FrameLike) -> RawFrame:
    from baytree.data.frames.pandas import few_rows, in_one_array, pandas_column

    if frame.ndim == 1:
        frame = frame.to_frame()
    labels = frame.columns.tolist()
    names = _unique_names(labels)
    columns: Mapping[str, Raw] | None = few_rows(frame, names) if len(frame) <= MAX_FEW_ROWS else in_one_array(frame, names)
    if columns is None:
        columns = {name: pandas_column(series, name) for name, (_, series) in zip(names, frame.items(), strict=True)}
    return RawFrame(columns, len(frame), True, _are_text(labels))


def _from_polars(frame: FrameLike) -> RawFrame:
    from baytree.data.frames.polars import polars_column

    if not hasattr(frame, "get_columns"):
        raise TypeError(f"a polars {type(frame).__name__} is not a table in memory; call .collect() first")
    columns = {series.name: polars_column(series, series.name) for series in frame.get_columns()}
    return RawFrame(columns, frame.height, True, True)


def _from_arrow(frame: FrameLike) -> RawFrame:
    from baytree.data.frames.arrow import arrow_column

    names = _unique_names(frame.schema.names)
    columns = {name: arrow_column(frame.column(k), name) for k, name in enumerate(names)}
    return RawFrame(columns, frame.num_rows, True, True)


def _is_row(frame: dict) -> bool:
    """Return whether a dict holds the values of one row instead of columns."""
    return bool(frame) and all(isinstance(v, (str, bytes)) or not hasattr(v, "__len__") for v in frame.values())


def _from_rows(rows: Any) -> RawFrame:
    """Return the columns of a list of dicts, one per row; an absent key is a missing value."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = dict(zip(_unique_names(names), ([row.get(name) for row in rows] for name in names), strict=True))
    columns = {**cells, **floats_together(cells)}
    columns = {name: raw if type(raw) is Numbers else read_column(raw, name) for name, raw in columns.items()}
    return RawFrame(columns, len(rows), True, _are_text(names))


def _from_dict(frame: dict) -> RawFrame:
    names = _unique_names(frame)
    columns = {name: read_column(values, name) for name, values in zip(names, frame.values(), strict=True)}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {', '.join(f'{n!r} has {k}' for n, k in lengths.items())}")
    return RawFrame(columns, next(iter(lengths.values()), 0), True, _are_text(frame))


def _through_narwhals(frame: FrameLike) -> Any:
    """Convert another library's eager frame to pandas or Arrow; None if it is not a frame."""
    if isinstance(frame, (list, tuple, np.ndarray)):
        return None
    import narwhals as nw

    wrapped = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(wrapped, nw.DataFrame):
        return None
    return wrapped.to_pandas() if "pandas" in sys.modules else wrapped.to_arrow()


def _is_sparse(frame: FrameLike) -> bool:
    return "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(frame)


def _unique_names(names: Any) -> list[str]:
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = sorted({name for name in texts if texts.count(name) > 1})
        raise ValueError(f"column {twice[0]!r} appears {texts.count(twice[0])} times; give each column a unique name")
    return texts


def _are_text(names: Any) -> bool:
    return len(names) > 0 and all(issubclass(kind, str) for kind in set(map(type, names)))
