"""Python literals and constant tables of an exported module, and selection of the runtime functions that it needs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import cache
from types import ModuleType

from baytree.exporters.python import row_reading, runtime
from baytree.formula.expressions import Numbers


def literal(value: object) -> str:
    """Literal of a value: control characters, quotes and lone surrogates escaped, numbers exact."""
    if isinstance(value, float) and value - value != 0:
        return "INF" if value > 0 else "-INF"
    return repr(value)


def rows(items: Iterable[str]) -> str:
    """Tuple of items that are source already."""
    listed = list(items)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def vector(values: Numbers) -> str:
    """Literal of a table row: a number if it has one element."""
    return literal(values[0]) if len(values) == 1 else rows(map(literal, values))


class LiteralTables:
    """Constant tables, written once above the functions and read by name."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._n_written = 0

    def by_key(self, note: str, items: Iterable[tuple[object, str]]) -> str:
        """Write a dict; return its name."""
        return self._written("{", note, (f"    {key}: {value}," for key, value in items), "}")

    def in_order(self, note: str, items: Iterable[str]) -> str:
        """Write a tuple; return its name."""
        return self._written("(", note, (f"    {item}," for item in items), ")")

    def _written(self, opening: str, note: str, lines: Iterable[str], closing: str) -> str:
        name, self._n_written = f"TABLE_{self._n_written}", self._n_written + 1
        self.lines += [f"{name} = {opening}  # {note}", *lines, closing]
        return name


def needed(source: str) -> list[str]:
    """Runtime functions that a source calls, directly or through other runtime functions, in the order of the runtime."""
    sources, found = _sources(), set()
    stack = [source]
    while stack:
        names = set(re.findall(r"\b_[a-z_]+\b", stack.pop())) & sources.keys() - found
        found |= names
        stack += [sources[name] for name in names]
    return [text for name, text in sources.items() if name in found]


@cache
def _sources() -> dict[str, str]:
    return _source_of(row_reading) | _source_of(runtime)


def _source_of(module: ModuleType) -> dict[str, str]:
    """Source of the functions of a module by name, in line order."""
    lines = {name: inspect.getsourcelines(each) for name, each in inspect.getmembers(module, inspect.isfunction)}
    return {name: "".join(text) for name, (text, _) in sorted(lines.items(), key=lambda item: item[1][1])}
