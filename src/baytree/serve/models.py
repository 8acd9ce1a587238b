"""The models that are served: read from the files that were named at the start, and read again when these change.

A model is a frozen value behind one name. A file that cannot be read leaves the value as it was; a request that has begun
keeps the value that it began with, so no answer mixes two versions.
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

SHORT = 12  # letters of the digest that are the version


class Served:
    """One version of a model: what answers, and under which name and digest."""

    def __init__(self, name: str, content: bytes, least: float | None = None):
        self.name, self.digest, self.least = name, digest(content), least
        self.version = self.digest[:SHORT]
        self.predictor = predictor_of(content, name)
        self.wanted = RequiredColumns(self.predictor)
        self.watch = DriftMonitor(self.predictor, self.wanted)
        self.class_names = tuple(map(str, self.predictor.schema.classes))
        self._first: Interview | None = None
        self._page: bytes | None = None
        self._lock = Lock()

    @property
    def is_classifier(self) -> bool:
        """Whether it answers classes; else numbers."""
        return self.predictor.schema.target.classes is not None

    def interview(self) -> Interview:
        """An interview without an answer, which is made once."""
        with self._lock:
            if self._first is None:
                self._first = interview(self.predictor)
        return self._first

    def page(self) -> bytes:
        """The page of the model, which is made once."""
        with self._lock:
            if self._page is None:
                self._page = _page(self.predictor)
        return self._page


class _Stamp(NamedTuple):
    """What tells that a file has changed."""

    inode: int
    size: int
    modified: int


class Models:
    """The served models by name; classes of less than the `least` probability are not told."""

    def __init__(self, paths: Iterable[Path], least: float | None = None):
        self._paths: dict[str, Path] = {}
        self._least = least
        for path in paths:
            name = path.name.removesuffix(".baytree")
            if not NAME.fullmatch(name):
                raise ValueError(f"{path}: a model is served under its file's name, of at most 64 letters, digits, . _ or -")
            if name in self._paths:
                raise ValueError(f"{path}: a model {name!r} is named before; give the file another name")
            self._paths[name] = path
        self._stamps = {name: _stamp(path) for name, path in self._paths.items()}
        self._served = {name: Served(name, model_files.read(path), least) for name, path in self._paths.items()}

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def __getitem__(self, name: str) -> Served:
        served = self._served.get(name)
        if served is None:
            raise RequestError(404, "there is no such model; see GET /models")
        return served

    def map_partitions(self) -> list[str]:
        """The names of those whose files are not as they were when they were last looked at."""
        return [name for name, path in self._paths.items() if _stamp(path) != self._stamps[name]]

    def reload(self, name: str) -> bool:
        """Reads a file again and puts it in place; whether the model is now another. What cannot be read raises an error."""
        path = self._paths[name]
        self._stamps[name] = _stamp(path)
        content = model_files.read(path)
        if digest(content) == self._served[name].digest:
            return False
        self._served = {**self._served, name: Served(name, content, self._least)}
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which they were given."""
        return tuple(self._paths)


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


def _page(predictor: Predictor) -> bytes:
    from baytree.reporting import page_of

    try:
        return page_of(predictor).encode("utf-8", "backslashreplace")
    except ModuleNotFoundError:
        raise RequestError(404, "this server shows no pages; install jinja2 beside it") from None
