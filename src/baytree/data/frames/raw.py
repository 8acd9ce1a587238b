"""Raw columns and frames: what every data frame is converted to before inference and encoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree.data.frames.numbers import Codes, Numbers

# up to this, the cost per column exceeds the cost per cell, so that the cells are converted one by one
MAX_FEW_ROWS = 16


class LazyCodes:
    """Function without arguments, evaluated once on the first call; much cheaper to create than `functools.cache`."""

    __slots__ = ("_function", "_made")

    def __init__(self, function: Callable[[], Codes]):
        self._function: Callable[[], Codes] = function
        self._made: Codes | None = None

    def __call__(self) -> Codes:
        """Return the cached result of the function."""
        codes = self._made
        if codes is None:
            codes = self._made = self._function()
        return codes


class Strings(msgspec.Struct, frozen=True):
    """Raw column of strings, factorized or read as documents once its kind is known."""

    length: int
    factorise: Callable[[], Codes]
    documents: Callable[[], Sequence[str | None]]
    is_category: bool = False  # categorical in its library: levels, whatever they look like

    def __len__(self) -> int:
        return self.length


Raw = Numbers | Codes | Strings


class RawFrame(msgspec.Struct, frozen=True):
    """Raw columns of a frame by name, in order; `matrix` if they all lie in one array or sparse matrix."""

    columns: Mapping[str, Raw]
    n_rows: int
    is_named: bool = True  # False if columns have no names and are matched by position
    has_text_names: bool = False  # every name is a string, as scikit-learn's feature_names_in_ requires
    matrix: Any = None
    target: str = ""  # name of the target, which is not among the columns


def without_masked(values: Any) -> np.ndarray:
    """Return a masked array as an object array with None for masked items."""
    objects = np.ma.getdata(values).astype(object)
    objects[np.ma.getmaskarray(values)] = None
    return objects
