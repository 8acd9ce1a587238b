"""Small public data sets bundled with the library, each with its source and terms of use."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Cells = list[str | int | float | None]  # the values of a column; None where one is missing

__all__ = ["Description", "describe", "load", "names"]


@dataclass(frozen=True)
class Description:
    """Description of a bundled data set: columns, source and terms of use."""

    name: str
    title: str
    rows: int
    target: str
    columns: dict[str, str]  # name: kind
    source: str
    terms: str
    changes: str

    def __str__(self) -> str:
        kinds = [f"  {column}: {kind}" for column, kind in self.columns.items()]
        size = f"{self.rows:,} rows; the target is {self.target!r}; columns:"
        origin = {"source": self.source, "terms": self.terms, "changes": self.changes}
        known = [f"{what}: {words}" for what, words in origin.items() if words]
        return "\n".join([f"{self.name}: {self.title}", size, *kinds, *known])


def names() -> tuple[str, ...]:
    """Return the names of the bundled data sets.

    Examples
    --------
    >>> "iris" in names()
    True
    """
    return tuple(_descriptions())


def describe(name: str) -> Description:
    """Return the description of a data set: columns, source and terms of use.

    Examples
    --------
    >>> describe("play-tennis").target
    'PlayTennis'
    """
    known = _descriptions()
    plain = name.lower().replace("_", "-")
    if plain not in known:
        close_matches = get_close_matches(plain, known, 1)
        hint = f"did you mean {close_matches[0]!r}?" if close_matches else f"the names are {', '.join(known)}"
        raise ValueError(f"there is no data set {name!r}; {hint}")
    return known[plain]


@overload
def load(name: str, as_: Literal["pandas"]) -> pd.DataFrame: ...
@overload
def load(name: str, as_: Literal["polars"]) -> pl.DataFrame: ...
@overload
def load(name: str, as_: Literal["dict"]) -> dict[str, Cells]: ...
@overload
def load(name: str, as_: None = None) -> pd.DataFrame | pl.DataFrame | dict[str, Cells]: ...
def load(name: str, as_: Literal["pandas", "polars", "dict"] | None = None) -> Any:
    """Return a data set as a pandas frame, a polars frame if pandas is not installed, or else a dict of lists.

    `as_` selects one of the three. A missing cell is None in a list, and the frame's own missing value in a frame.

    Examples
    --------
    >>> load("play-tennis", as_="dict")["Outlook"][:3]
    ['Sunny', 'Sunny', 'Overcast']
    """
    if as_ is None:
        as_ = next((library for library in ("pandas", "polars") if find_spec(library)), "dict")
    if as_ not in _FRAMES:
        raise ValueError(f"as_ must be 'pandas', 'polars' or 'dict', not {as_!r}")
    return _FRAMES[as_](_columns(describe(name)))


def _pandas(columns: dict[str, list[Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


def _polars(columns: dict[str, list[Any]]) -> Any:
    from baytree.data import files

    return files.from_columns(columns)


_FRAMES: dict[str, Callable[..., Any]] = {"pandas": _pandas, "polars": _polars, "dict": dict}

_FOLDER = Path(__file__).parent / "tables"


@cache
def _descriptions() -> dict[str, Description]:
    found = json.loads((_FOLDER / "tables.json").read_text(encoding="utf-8"))
    return {name: Description(name, **fields) for name, fields in found.items()}


def _columns(table: Description) -> dict[str, list[Any]]:
    text = gzip.decompress((_FOLDER / f"{table.name}.csv.gz").read_bytes()).decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    fields = dict(zip(header, zip(*rows, strict=True), strict=True))
    return {column: _converted(fields[column], kind) for column, kind in table.columns.items()}


def _converted(fields: tuple[str, ...], kind: str) -> list[Any]:
    number = int if all(field.isdigit() for field in fields if field) else float
    return [(number(field) if kind == "numeric" else field) if field else None for field in fields]
