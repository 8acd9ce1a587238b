"""Adapter for pandas: NumPy, nullable, Arrow, categorical, string, date and object dtypes."""

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

_MAX_ROWS_TO_COPY = 4096  # max rows for which copying the frame is cheaper than one Series per column


def pandas_column(values: pd.Series | pd.Index | ExtensionArray, name: str) -> Raw:
    """Return the raw column of a Series, an Index or a bare extension array."""
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
    """Return the columns of a float64 frame that pandas holds in one array, without creating a Series per column.

    This can only be determined from the array, which is a copy if the frame has several blocks; long frames are not tried.
    """
    if len(frame) > _MAX_ROWS_TO_COPY or set(frame.dtypes.tolist()) != {np.dtype(np.float64)}:
        return None
    array = frame.to_numpy()
    is_view = np.may_share_memory(array, frame.iloc[:, 0].to_numpy())
    return MatrixColumns(array, tuple(names)) if is_view else None


def few_rows(frame: pd.DataFrame, names: list[str]) -> Mapping[str, Raw]:
    """Return the columns of a frame of few rows, for which one Series per column would dominate the cost."""
    dtypes = frame.dtypes.tolist()
    if all(dtype == np.float64 for dtype in dtypes):
        return MatrixColumns(frame.to_numpy(), tuple(names))
    cells = frame.to_numpy(dtype=object)
    return {name: _few(frame, k, cells[:, k], dtypes[k], name) for k, name in enumerate(names)}


def _few(frame: pd.DataFrame, k: int, cells: np.ndarray, dtype: Any, name: str) -> Raw:
    """Return one column of few rows; from its Series if the dtype carries more than the cells."""
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
