"""How far a stream was learnt, in one file: which rows of which files were seen, their model, and a digest of it all."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from baytree.atomic_files import write_file
from baytree.storage import dumps, files, loads
from baytree.storage.model_file_error import ModelFileError, naming

if TYPE_CHECKING:
    from baytree.estimators.additive import AdditiveEstimator

_FIRST = b"baytree checkpoint 1 "
_ENDS = 1 << 16  # bytes at both ends of a file by which it is known again


class SeenFile(msgspec.Struct, frozen=True):
    """A file by which it is known again: its name, its size, and a digest of its ends."""

    name: str
    size: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """The file at this path."""
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(_ENDS)
            file.seek(max(0, size - _ENDS))
            return cls(path.name, size, hashlib.sha256(start + file.read(_ENDS)).hexdigest())


class Checkpoint(msgspec.Struct, frozen=True):
    """What was learnt of a stream: of the last of its seen files so many rows, and of those before it all."""

    target: str
    weight: str | None
    seen: tuple[SeenFile, ...]
    n_rows: int
    model: str  # a model file

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """The checkpoint in a file; one that was changed is refused."""
        content = files.read(path)
        start, _, body = content.partition(b"\n")
        if not start.startswith(_FIRST):
            raise ModelFileError(f"{path}: is no checkpoint of this version of baytree")
        if start.removeprefix(_FIRST).decode("ascii", "replace") != hashlib.sha256(body).hexdigest():
            raise ModelFileError(f"{path}: the checkpoint is damaged; remove it to begin anew")
        with naming(str(path)):
            return msgspec.json.decode(body, type=cls)

    def write(self, path: Path) -> None:
        """Puts the checkpoint in place of the one before, atomically."""
        body = msgspec.json.encode(self)
        write_file(path, _FIRST + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    def estimator(self, path: Path) -> AdditiveEstimator:
        """The model so far."""
        return loads(self.model.encode(), str(path))

    def refuse_another_stream(self, path: Path, given: AdditiveEstimator, lesson: tuple, paths: Sequence[Path]) -> None:
        """Refuses to go on with another model, another target, or files that are not those that were seen."""
        held = self.estimator(path)
        if type(held) is not type(given) or repr(held.get_params()) != repr(given.get_params()):
            raise ValueError(f"{path}: is of {held!r}, not of {given!r}; remove it to begin anew")
        if (self.target, self.weight) != lesson:
            raise ValueError(f"{path}: is of the target {self.target!r} and the weights {self.weight!r}, not of {lesson}")
        for k, seen in enumerate(self.seen):
            if k >= len(paths) or SeenFile.of(paths[k]) != seen:
                raise ValueError(
                    f"{path}: file {k + 1} of the stream was {seen.name!r} of {seen.size:,} bytes, and has changed; "
                    "what was learnt must stay, new files come after it. Remove the checkpoint to begin anew"
                )


def state_of(estimator: AdditiveEstimator) -> str:
    """The model so far, as it is kept."""
    return dumps(estimator).decode()
