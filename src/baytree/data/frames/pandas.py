"""Columns of pandas: numpy, nullable, Arrow, categorical, string, date and object dtypes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.data.frames.arrays import array_column
from baytree.data.frames.arrow import arrow_column
from baytree.data.frames.numbers import Codes, MatrixColumns, Numbers, booleans, with_missing
from baytree.data.frames.objects import object_column, plain
from baytree.data.frames.raw import Raw, Strings

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionArray

_TRIED = 4096  # rows of which a copy costs less than a Series for each column


def pandas_column(values: pd.Series | pd.Index | ExtensionArray, name: str) -> Raw:
    """A column from a Series, an Index or a bare extension array."""
    import pandas as pd

    series: Any = values if isinstance(values, pd.Series) else pd.Series(values)
    dtype: Any = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = tuple(plain(level) for level in dtype.categories.tolist())
        return Codes(series.array.codes, levels, bool(dtype.ordered), True)
    if isinstance(dtype, pd.ArrowDtype):
        return arrow_column(series.array.__arrow_array__(), name)
    if isinstance(dtype, pd.SparseDtype):
        return pandas_column(series.sparse.to_dense(), name)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return array_column(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), name)
    if isinstance(dtype, pd.PeriodDtype):
        return array_column(series.dt.to_timestamp().to_numpy(), name)
    if isinstance(dtype, pd.StringDtype):
        in_arrow = getattr(dtype, "storage", None) == "pyarrow"
        return arrow_column(series.array.__arrow_array__(), name) if in_arrow else _pandas_strings(series)
    if isinstance(dtype, np.dtype):
        return _pandas_objects(series, name) if dtype.kind == "O" else array_column(series.to_numpy(), name)
    if pd.api.types.is_bool_dtype(dtype):
        return booleans(series.astype("Int8").to_numpy(dtype=np.int8, na_value=-1))
    if pd.api.types.is_numeric_dtype(dtype):
        return _nullable_numbers(series, name)
    return object_column(series.astype(object).to_numpy(), name)


def in_one_array(frame: pd.DataFrame, names: list[str]) -> MatrixColumns | None:
    """The columns, where all are doubles that pandas holds in one array: no Series is made of any.

    Whether they are is known only from the array itself, which is a copy where they are not: many rows are not tried.
    """
    if len(frame) > _TRIED or set(frame.dtypes.tolist()) != {np.dtype(np.float64)}:
        return None
    array = frame.to_numpy()
    lies_there = np.may_share_memory(array, frame.iloc[:, 0].to_numpy())
    return MatrixColumns(array, tuple(names)) if lies_there else None


def few_rows(frame: pd.DataFrame, names: list[str]) -> Mapping[str, Raw]:
    """The columns of a frame of few rows: a Series for each would cost more than all of its cells."""
    dtypes = frame.dtypes.tolist()
    if all(dtype == np.float64 for dtype in dtypes):
        return MatrixColumns(frame.to_numpy(), tuple(names))
    cells = frame.to_numpy(dtype=object)
    return {name: _few(frame, k, cells[:, k], dtypes[k], name) for k, name in enumerate(names)}


def _few(frame: pd.DataFrame, k: int, cells: np.ndarray, dtype: Any, name: str) -> Raw:
    """One column of few rows; where its dtype says more than its cells, by its Series."""
    import pandas as pd

    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return Numbers.of(cells.astype(dtype), name)
    if (isinstance(dtype, np.dtype) and dtype.kind == "O") or (
        isinstance(dtype, pd.StringDtype) and all(type(cell) is str for cell in cells)
    ):
        return object_column(cells, name)
    return pandas_column(frame.iloc[:, k], name)


def _pandas_strings(series: pd.Series) -> Strings:
    import pandas as pd

    def factorise() -> Codes:
        codes, levels = pd.factorize(series)
        return Codes(codes, tuple(levels.tolist()))

    def documents() -> list[str | None]:
        return [value if isinstance(value, str) else None for value in series.tolist()]

    return Strings(len(series), cache(factorise), documents)


def _pandas_objects(series: pd.Series, name: str) -> Raw:
    import pandas as pd

    if pd.api.types.infer_dtype(series, skipna=True) == "string":
        return _pandas_strings(series)
    return object_column(series.to_numpy(), name)


def _nullable_numbers(series: Any, name: str) -> Numbers:
    if series.dtype.kind not in "iu":
        return Numbers.of(series.to_numpy(dtype=np.float64, na_value=np.nan), name)
    missing = series.isna().to_numpy()
    if not missing.any():
        return Numbers.of(series.to_numpy(dtype=series.dtype.numpy_dtype), name)
    return with_missing(series.fillna(0).to_numpy(dtype=series.dtype.numpy_dtype), missing, name)
