"""Served models: loaded from the files that were named at the start, and reloaded when these change.

A `Served` model is immutable. If a file cannot be read, the old model stays. A request keeps the model that it started with,
so no response mixes two versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from baytree.base.predictor import Predictor
from baytree.interview.interview import Interview, interview
from baytree.serve.cell_values import RequiredColumns
from baytree.serve.limits import RequestError
from baytree.serve.monitoring import DriftMonitor
from baytree.storage import files as model_files
from baytree.storage import predictor_of
from baytree.storage.document import digest

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")

VERSION_CHARACTERS = 12  # leading characters of the digest that form the version: short to read, 48 bits to tell apart


class Served:
    """One version of a model: its predictor, name and digest."""

    def __init__(self, name: str, content: bytes, min_probability: float | None = None):
        self.name, self.digest, self.min_probability = name, digest(content), min_probability
        self.version = self.digest[:VERSION_CHARACTERS]
        self.predictor = predictor_of(content, name)
        self.predictor.check_target()
        self.required = RequiredColumns(self.predictor)
        self.drift_monitor = DriftMonitor(self.predictor, self.required)
        self.class_names = tuple(map(str, self.predictor.schema.classes))
        self._interview: Interview | None = None
        self._page: bytes | None = None
        self._lock = Lock()

    @property
    def is_classifier(self) -> bool:
        """Whether the model predicts classes, not numbers."""
        return self.predictor.schema.target.classes is not None

    def interview(self) -> Interview:
        """Return an interview without answers; created once."""
        with self._lock:
            if self._interview is None:
                self._interview = interview(self.predictor)
        return self._interview

    def page(self) -> bytes:
        """Return the HTML page of the model; created once."""
        with self._lock:
            if self._page is None:
                self._page = _page(self.predictor)
        return self._page


class _Stamp(NamedTuple):
    """File metadata that changes when a file is replaced."""

    inode: int
    size: int
    modified: int


class Models:
    """The served models by name; classes below `min_probability` are not predicted."""

    def __init__(self, paths: Iterable[Path], min_probability: float | None = None):
        self._paths: dict[str, Path] = {}
        self._min_probability = min_probability
        for path in paths:
            name = path.name.removesuffix(".baytree")
            if not NAME.fullmatch(name):
                raise ValueError(
                    f"{path}: the file name is the name of the model, at most 64 letters, digits, . _ or -; rename the file"
                )
            if name in self._paths:
                raise ValueError(f"{path}: another model has the name {name!r}; rename the file")
            self._paths[name] = path
        self._stamps = {name: _stamp(path) for name, path in self._paths.items()}
        self._served = {name: Served(name, model_files.read(path), min_probability) for name, path in self._paths.items()}

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def __getitem__(self, name: str) -> Served:
        served = self._served.get(name)
        if served is None:
            raise RequestError(404, "there is no such model; see GET /models")
        return served

    def changed_models(self) -> list[str]:
        """Return the names of the models whose files have changed since they were last read."""
        return [name for name, path in self._paths.items() if _stamp(path) != self._stamps[name]]

    def reload(self, name: str) -> bool:
        """Reload a file; return whether the model has changed. If the file cannot be read, raise and keep the model."""
        path = self._paths[name]
        self._stamps[name] = _stamp(path)
        content = model_files.read(path)
        if digest(content) == self._served[name].digest:
            return False
        self._served = {**self._served, name: Served(name, content, self._min_probability)}
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models, in the order given."""
        return tuple(self._paths)


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return _Stamp(status.st_ino, status.st_size, status.st_mtime_ns)


def _page(predictor: Predictor) -> bytes:
    from baytree.reporting import page_of

    try:
        return page_of(predictor).encode("utf-8", "backslashreplace")
    except ModuleNotFoundError:
        raise RequestError(404, "pages need jinja2, which is not installed on this server") from None
