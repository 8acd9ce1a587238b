"""scikit-learn's base, imported without what its import only names, which is more than half of its time.

While it is imported, each of these is a module that asks the true one for everything; who asks, now or later, gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class Deferred(ModuleType):
    """A module that is imported when somebody asks for what is in it; these names of it are given without."""

    def __init__(self, name: str, named: Iterable[str] = ()) -> None:
        super().__init__(name)
        self.__dict__["_named"] = frozenset(named)

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            if name in self._named:
                return Named(self.__name__, name)
            if name == "__path__" and self._named:  # `from` asks every module whether it is a package
                return []
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class Named:
    """What a module was asked for by name alone: the module is imported when it is called, or a class is made of it."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._meant()(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._meant(), name)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._meant())

    def __subclasscheck__(self, kind: type) -> bool:
        return issubclass(kind, self._meant())

    def __mro_entries__(self, bases: tuple) -> tuple[type]:
        return (self._meant(),)

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return Named, (self._module, self._name)

    def _meant(self) -> Any:
        return getattr(import_module(self._module), self._name)


@contextmanager
def deferred(*names: str, kept: Mapping[str, Iterable[str]] = {}) -> Iterator[None]:
    """While it lasts, these modules are not imported, where they are there but nobody has imported them yet."""
    absent = [
        Deferred(name, kept.get(name, ()))
        for name in (*names, *kept)
        if name not in sys.modules and find_spec(name.partition(".")[0])
    ]
    sys.modules.update({module.__name__: module for module in absent})
    for module in absent:
        for parent, place in _parent_of(module):
            setattr(parent, place, module)
    try:
        yield
    finally:
        for module in absent:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]
                _leave(module)


def _leave(module: Deferred) -> None:
    """Leaves a stand-in as an attribute of its package, as an import does, unless the package finds its parts itself."""
    for parent, place in _parent_of(module):
        if not hasattr(parent, "__getattr__"):
            setattr(parent, place, module)
        elif vars(parent).get(place) is module:
            delattr(parent, place)


def _parent_of(module: ModuleType) -> Iterator[tuple[ModuleType, str]]:
    """The package that a module is an attribute of, and its name there; none where the package is not imported yet."""
    package, _, place = module.__name__.rpartition(".")
    if package in sys.modules:
        yield sys.modules[package], place


NARWHALS = ("narwhals", "narwhals.stable", "narwhals.stable.v2")  # a package and what is asked of it
ONLY_NAMED = ("scipy.stats", "scipy.special", "scipy.linalg", "pandas", "numpy.f2py", "numpy.testing", "asyncio", *NARWHALS)
# and what scikit-learn takes from these while it is imported, for calls that may come
ONLY_KEPT = {
    "joblib": ("cpu_count",),
    "scipy.sparse.linalg": ("cg", "LinearOperator"),
    "scipy.sparse.csgraph": ("laplacian",),
    "sklearn.utils.parallel": ("_get_threadpool_controller",),
}

with deferred(*ONLY_NAMED):
    import scipy.sparse  # noqa: F401, a package whose parts are deferred must be there first

with deferred(*ONLY_NAMED, kept=ONLY_KEPT):
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
