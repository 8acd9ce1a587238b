"""baytree: classifiers that a person can read.

>>> import baytree as bt
>>> bt.__version__
'0.2.0'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from baytree._registry import PUBLIC_MODULES
from baytree.version import __version__ as __version__

_ROOMS = ("datasets",)  # modules that users name themselves, as in bt.datasets.load("iris")

__all__ = sorted([*PUBLIC_MODULES, *_ROOMS])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in PUBLIC_MODULES:
        return getattr(import_module(f".{PUBLIC_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
