"""Drop-in replacements for scikit-learn's classes: change one import line.

Names, parameters, defaults, fitted attributes and numbers are scikit-learn's; the learners are baytree's, so raw tables are
accepted: data frames of any library, with the target by name, missing values and levels. Unsupported options raise an error
that names them.

>>> from baytree.sklearn import GaussianNB
>>> GaussianNB().fit([[-2.0], [-1.0], [1.0], [2.0]], ["low", "low", "high", "high"]).predict([[-3.0]]).tolist()
['low']
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from baytree._registry import SKLEARN_MODULES

__all__ = sorted(SKLEARN_MODULES)


def __getattr__(name: str) -> Any:
    if name in SKLEARN_MODULES:
        return getattr(import_module(f"baytree.{SKLEARN_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
