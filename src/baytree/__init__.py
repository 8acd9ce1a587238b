"""baytree: readable classifiers and regressors: naive Bayes, decision trees and linear models.

Public names are imported on first access (see `_registry`).

>>> import baytree as bt
>>> bt.__version__
'0.2.0'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from baytree._registry import PUBLIC_MODULES
from baytree.version import __version__ as __version__

_PUBLIC_SUBMODULES = ("datasets",)  # public submodules, used as in bt.datasets.load("iris")

__all__ = sorted([*PUBLIC_MODULES, *_PUBLIC_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _PUBLIC_SUBMODULES:
        return import_module(f".{name}", __name__)
    if name in PUBLIC_MODULES:
        return getattr(import_module(f".{PUBLIC_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
