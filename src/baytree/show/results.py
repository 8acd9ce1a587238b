"""What all results share: they show themselves as text, and their rows become a data frame of the user's library."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any, Literal

_LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


class Shown:
    """A result whose representation is its text."""

    def __repr__(self) -> str:
        return str(self)


def frame_of(columns: dict[str, list]) -> Any:
    """A data frame with these columns: of the library that is in use, or else of one that is installed."""
    import narwhals as nw

    used = [name for name in _LIBRARIES if name in sys.modules] or [name for name in _LIBRARIES if find_spec(name)]
    if not used:
        raise ModuleNotFoundError("a data frame needs pandas, polars or pyarrow; install one of them")
    return nw.from_dict(columns, backend=used[0]).to_native()
