"""What all results share: they show themselves as text, and their rows become a data frame of the user's library."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

_LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


class Shown:
    """A result whose representation is its text."""

    def __repr__(self) -> str:
        return str(self)


def frame_of(columns: Mapping[str, Sequence[object] | np.ndarray]) -> Any:
    """A data frame of the library that is in use, or else of one that is installed; without any, the columns as they are."""
    used = [name for name in _LIBRARIES if name in sys.modules] or [name for name in _LIBRARIES if find_spec(name)]
    if not used:
        return dict(columns)
    import narwhals as nw

    return nw.from_dict({name: _typed(values) for name, values in columns.items()}, backend=used[0]).to_native()


def _typed(values: Sequence[object] | np.ndarray) -> Sequence[object] | np.ndarray:
    """Values of which a library sees the type: an array of objects hides it."""
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype == object else values
