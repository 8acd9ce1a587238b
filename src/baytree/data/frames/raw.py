"""What every frame becomes first: numbers, codes with levels, or strings still to be factorised by their own library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree.data.frames.numbers import Codes, Numbers

FEW = 16  # rows; of so few, what is done for each column costs more than what is done for its cells


class LazyCodes:
    """A function without arguments that is called when it is first asked; `functools.cache` takes longer than a row may."""

    __slots__ = ("_function", "_made")

    def __init__(self, function: Callable[[], Codes]):
        self._function: Callable[[], Codes] = function
        self._made: Codes | None = None

    def __call__(self) -> Codes:
        """What the function gave."""
        made = self._made
        if made is None:
            made = self._made = self._function()
        return made


class Strings(msgspec.Struct, frozen=True):
    """A raw column of strings: factorised, or read as documents, when its kind is known."""

    length: int
    factorise: Callable[[], Codes]
    documents: Callable[[], Sequence[str | None]]
    is_category: bool = False  # its library calls them categories: words, whatever they look like

    def __len__(self) -> int:
        return self.length


Raw = Numbers | Codes | Strings


class RawFrame(msgspec.Struct, frozen=True):
    """The raw columns of a frame by name, in order; `matrix` where they all lie in one array or sparse matrix."""

    columns: Mapping[str, Raw]
    n_rows: int
    is_named: bool = True  # False where columns have no names and go by position
    has_text_names: bool = False  # every name is a string, as scikit-learn's feature_names_in_ asks
    matrix: Any = None
    target: str = ""  # the name of the target, which is none of the columns


def without_masked(values: Any) -> np.ndarray:
    """A masked array as objects, None where it is masked."""
    objects = np.ma.getdata(values).astype(object)
    objects[np.ma.getmaskarray(values)] = None
    return objects
