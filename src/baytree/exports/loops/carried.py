"""The functions that an export carries along: read from files of their own language, and copied where needed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FUNCTION = re.compile(r"^(?:function |static [\w ]+?[ *])(\w+)\(.*?^}\n", re.DOTALL | re.MULTILINE)


@cache
def functions_of(*files: Path) -> dict[str, str]:
    """The functions of the files of a runtime by name, in their order."""
    text = "".join(file.read_text("utf-8") for file in files)
    return {found[1]: found[0] for found in _FUNCTION.finditer(text)}


def needed(source: str, functions: dict[str, str]) -> list[str]:
    """The functions that a source calls, and those that they call, in the order of the runtime."""
    found: set[str] = set()
    waiting = [source]
    while waiting:
        called = set(re.findall(r"\b(\w+)\(", waiting.pop())) & functions.keys() - found
        found |= called
        waiting += [functions[name] for name in called]
    return [text for name, text in functions.items() if name in found]


def camel(name: str) -> str:
    """log_density as logDensity."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
