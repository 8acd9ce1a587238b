"""Small public tables that come with the library, each with its source and its terms."""

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
from typing import Any, Literal

__all__ = ["Description", "describe", "load", "names"]


@dataclass(frozen=True)
class Description:
    """What a bundled table holds, where it comes from, and on what terms it may be used."""

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
    """The names of the bundled tables.

    Examples
    --------
    >>> "iris" in names()
    True
    """
    return tuple(_register())


def describe(name: str) -> Description:
    """What a table holds, its source and its terms.

    Examples
    --------
    >>> describe("play-tennis").target
    'PlayTennis'
    """
    known = _register()
    plain = name.lower().replace("_", "-")
    if plain not in known:
        near = get_close_matches(plain, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the names are {', '.join(known)}"
        raise ValueError(f"there is no data set {name!r}; {hint}")
    return known[plain]


def load(name: str, as_: Literal["pandas", "polars", "dict"] | None = None) -> Any:
    """A bundled table: a pandas frame, or a polars frame where pandas is not installed, or a dict of lists.

    `as_` asks for one of the three. A missing cell is None in a list, and in a frame what a frame has for it.

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
def _register() -> dict[str, Description]:
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
