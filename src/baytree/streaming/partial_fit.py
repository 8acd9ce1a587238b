"""Learning a stream of files batch by batch, so that a killed run goes on where it was: `baytree.partial_fit`.

How far a stream was learnt, in one file: which rows of which files were seen, their model, and a digest of it all.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from baytree.data import files
from baytree.engine.scan import Scan
from baytree.file_io.atomic import write_file
from baytree.storage import dumps, loads
from baytree.storage import files as model_files
from baytree.storage.files import ModelFileError, naming_file

if TYPE_CHECKING:
    import polars as pl

    from baytree.estimators.incremental import AdditiveEstimator


def partial_fit(
    estimator: AdditiveEstimator,
    rows: Scan,
    target: str,
    checkpoint: str | os.PathLike,
    sample_weight: str | None = None,
) -> AdditiveEstimator:
    """Learns files batch by batch; called again after a kill, it goes on where it was, and no row counts twice.

    After each batch, what was learnt is written to the checkpoint, atomically, with the files and rows that it was learnt
    from. A later call with further files behind those that were seen learns these alone.

    Parameters
    ----------
    estimator : estimator
        An additive model, such as `NaiveBayesClassifier()`, fitted or not; it is left as it is.
    rows : Scan
        The files, as `baytree.scan` gives them, in the order of their names.
    target : str
        The column to predict.
    checkpoint : str or path-like
        The file that keeps what was learnt.
    sample_weight : str, optional
        The column of weights.

    Returns
    -------
    estimator
        A new estimator that has learnt all rows: bit for bit the one of a run without a break where sums are exact (naive
        Bayes, the joint table).

    Examples
    --------
    >>> import baytree as bt, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "monday.csv").write_text("size,y\\n1,no\\n2,no\\n8,yes\\n")
    >>> kept = folder / "sizes.checkpoint"
    >>> model = bt.partial_fit(bt.GaussianNB(), bt.scan(folder / "*.csv"), "y", kept)
    >>> _ = (folder / "tuesday.csv").write_text("size,y\\n7,yes\\n3,no\\n")
    >>> bt.partial_fit(bt.GaussianNB(), bt.scan(folder / "*.csv"), "y", kept).class_count_.tolist()
    [3.0, 2.0]
    """
    path = Path(checkpoint)
    done = None
    if path.exists():
        done = Checkpoint.read(path)
        done.refuse_another_stream(path, estimator, (target, sample_weight), rows.paths)
    state = state_of(estimator) if done is None and hasattr(estimator, "seen_") else None if done is None else done.model
    for seen, n_rows, frame in _further(rows, done, target):
        state = _learnt(estimator, state, frame, target, sample_weight)
        Checkpoint(target, sample_weight, seen, n_rows, state).write(path)
    if state is None:
        raise ValueError(f"no row of {rows!r} has a value in the target column {target!r}")
    return Checkpoint(target, sample_weight, (), 0, state).estimator(path)


def _learnt(estimator: AdditiveEstimator, state: str | None, frame: pl.DataFrame, target: str, weight: str | None) -> str:
    """The state after these rows. It always comes from a file, so that a run without a break has nothing more in mind."""
    from sklearn.base import clone

    from baytree.storage import loads

    so_far = clone(estimator) if state is None else loads(state.encode())
    return state_of(so_far.partial_fit(frame, target, sample_weight=weight))


def _further(
    rows: Scan, done: Checkpoint | None, target: str
) -> Iterator[tuple[tuple[FileFingerprint, ...], int, pl.DataFrame]]:
    """The batches that were not learnt yet, each with the files and the rows of the last of them that are learnt with it."""
    seen = () if done is None else done.seen
    first = max(0, len(seen) - 1)
    for k in range(first, len(rows.sources)):
        skip = done.n_rows if done is not None and k == first and seen else 0
        so_far = (*seen[:k], *(FileFingerprint.of(path) for path in rows.paths[len(seen[:k]) : k + 1]))
        at = 0
        for frame in files.settle_types(rows.sources[k]).batches():
            left = frame[max(0, skip - at) :]
            at += len(frame)
            labelled = left.filter(left[target].is_not_null())
            if len(labelled):
                yield so_far, at, labelled


_FIRST = b"baytree checkpoint 1 "

_ENDS = 1 << 16  # bytes at both ends of a file by which it is known again


class FileFingerprint(msgspec.Struct, frozen=True):
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
    seen: tuple[FileFingerprint, ...]
    n_rows: int
    model: str  # a model file

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """The checkpoint in a file; one that was changed is refused."""
        content = model_files.read(path)
        start, _, body = content.partition(b"\n")
        if not start.startswith(_FIRST):
            raise ModelFileError(f"{path}: is no checkpoint of this version of baytree")
        if start.removeprefix(_FIRST).decode("ascii", "replace") != hashlib.sha256(body).hexdigest():
            raise ModelFileError(f"{path}: the checkpoint is damaged; remove it to begin anew")
        with naming_file(str(path)):
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
            if k >= len(paths) or FileFingerprint.of(paths[k]) != seen:
                raise ValueError(
                    f"{path}: file {k + 1} of the stream was {seen.name!r} of {seen.size:,} bytes, and has changed; "
                    "what was learnt must stay, new files come after it. Remove the checkpoint to begin anew"
                )


def state_of(estimator: AdditiveEstimator) -> str:
    """The model so far, as it is kept."""
    return dumps(estimator).decode()
