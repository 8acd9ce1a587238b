"""Names and numbers as Python literals, and the functions that a module needs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import cache

from baytree.exports import python_runtime
from baytree.formula.expressions import Numbers


def literal(value: object) -> str:
    """A value as source: text with every control, quote and lone surrogate escaped, numbers to the last bit."""
    if isinstance(value, float) and value - value != 0:
        return "INF" if value > 0 else "-INF"
    return repr(value)


def rows(items: Iterable[str]) -> str:
    """A tuple of what is source already."""
    listed = list(items)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def vector(values: Numbers) -> str:
    """A row of a table: a number where it has one element."""
    return literal(values[0]) if len(values) == 1 else rows(map(literal, values))


def needed(source: str) -> list[str]:
    """The functions of the runtime that a source calls, and those that they call, in the order of the runtime."""
    sources, found = _sources(), set()
    waiting = [source]
    while waiting:
        called = set(re.findall(r"\b_[a-z_]+\b", waiting.pop())) & sources.keys() - found
        found |= called
        waiting += [sources[name] for name in called]
    return [text for name, text in sources.items() if name in found]


@cache
def _sources() -> dict[str, str]:
    functions = inspect.getmembers(python_runtime, inspect.isfunction)
    lines = {name: inspect.getsourcelines(function) for name, function in functions}
    return {name: "".join(text) for name, (text, _) in sorted(lines.items(), key=lambda item: item[1][1])}
