"""scikit-learn's base, imported without what its import only names, which is more than half of its time.

While it is imported, each of these is a module that asks the true one for everything; who asks, now or later, gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class Deferred(ModuleType):
    """A module that is imported when somebody asks for what is in it."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """While it lasts, these modules are not imported, where they are there but nobody has imported them yet."""
    absent = [Deferred(name) for name in names if name not in sys.modules and find_spec(name.partition(".")[0])]
    sys.modules.update({module.__name__: module for module in absent})
    inside = [(parent, place, module) for module in absent for parent, place in _parent_of(module)]
    for parent, place, module in inside:
        setattr(parent, place, module)
    try:
        yield
    finally:
        for module in absent:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]
        for parent, place, module in inside:
            if vars(parent).get(place) is module:
                delattr(parent, place)


def _parent_of(module: ModuleType) -> Iterator[tuple[ModuleType, str]]:
    """The package that a module is an attribute of, and its name there; none where the package is not imported yet."""
    package, _, place = module.__name__.rpartition(".")
    if package in sys.modules:
        yield sys.modules[package], place


NARWHALS = ("narwhals", "narwhals.stable", "narwhals.stable.v2")  # a package and what is asked of it
ONLY_NAMED = ("scipy.stats", "pandas", "numpy.f2py", "numpy.testing", "asyncio", *NARWHALS)

with deferred(*ONLY_NAMED):
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        RegressorMixin,
        TransformerMixin,
        clone,
        is_classifier,
    )
    from sklearn.utils.validation import check_is_fitted, has_fit_parameter

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "check_is_fitted",
    "clone",
    "has_fit_parameter",
    "is_classifier",
]
