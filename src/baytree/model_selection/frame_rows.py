"""Row and column selection of raw inputs in their own type: frames, arrays, sparse matrices, mappings of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from baytree._typing import FrameLike


def take_rows(rows: Any, index: np.ndarray) -> Any:
    """Rows of a frame, an array, a list or a mapping of columns, in the same type."""
    if isinstance(rows, Mapping):
        return {name: take_rows(values, index) for name, values in rows.items()}
    if isinstance(rows, (list, tuple)):
        return [rows[position] for position in index.tolist()]
    if isinstance(rows, np.ndarray) or hasattr(rows, "tocsr"):
        return rows[index]
    if hasattr(rows, "iloc"):
        return rows.iloc[index]
    import narwhals as nw  # only for frames of libraries other than pandas

    native = nw.from_native(rows, eager_only=True, allow_series=True, pass_through=True)
    return native[index].to_native() if isinstance(native, (nw.DataFrame, nw.Series)) else np.asarray(rows)[index]


def column_of(X: FrameLike, name: str) -> Any:
    """Column of that name, in the type of its library."""
    names = X if isinstance(X, Mapping) else getattr(X, "column_names", X.columns)
    return X[next(other for other in names if str(other) == name)]


def selected(X: FrameLike, columns: Iterable[int]) -> Any:
    """Columns of a frame, an array or a mapping of columns, by position, in the same type."""
    positions = list(columns)
    if isinstance(X, Mapping):
        names = list(X)
        return {names[j]: X[names[j]] for j in positions}
    if hasattr(X, "iloc"):
        return X.iloc[:, positions]
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return X[:, positions]
    import narwhals as nw  # only for frames of libraries other than pandas

    native = nw.from_native(X, eager_only=True, pass_through=True)
    return native[:, positions].to_native() if isinstance(native, nw.DataFrame) else np.asarray(X)[:, positions]


def indexable(X: FrameLike) -> Any:
    """The input itself, or an array of it, so that rows can be selected; ValueError for rows of different lengths."""
    if hasattr(X, "tocsr"):  # before mappings: the DOK format is also a mapping
        return X.tocsr()
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        return X
    try:
        return np.asarray(X)
    except ValueError:  # rows of different lengths
        raise ValueError("the rows of X have different lengths; give a frame, a matrix or a dict of columns") from None


def refuse_empty(X: FrameLike) -> None:
    """Raise ValueError if there are no rows or no columns."""
    n_rows, n_columns = length(X), len(X) if isinstance(X, Mapping) else np.shape(X)[1] if len(np.shape(X)) == 2 else 1
    for n, what in ((n_rows, "sample(s)"), (n_columns, "feature(s)")):
        if n == 0:
            raise ValueError(f"Found array with 0 {what} (shape=({n_rows}, {n_columns})) while a minimum of 1 is required.")


def length(X: FrameLike) -> int:
    """Number of rows."""
    if isinstance(X, Mapping):
        return len(next(iter(X.values()), ()))
    if not hasattr(X, "__len__") or getattr(X, "shape", None) == ():
        raise ValueError(f"a table has rows and columns, but X is {X!r}: give a frame, a matrix or a dict of columns")
    return X.shape[0] if hasattr(X, "shape") else len(X)
