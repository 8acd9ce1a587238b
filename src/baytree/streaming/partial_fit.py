"""Incremental fits over a stream of files, with checkpoints: `baytree.partial_fit`.

After each batch a `Checkpoint` with the model and the position in the stream (a fingerprint of each file, and the number of
rows of the last one) is written atomically. A run that was killed continues from there.
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

    from baytree.estimators.incremental import MergeableEstimator


def partial_fit(
    estimator: MergeableEstimator,
    rows: Scan,
    target: str,
    checkpoint: str | os.PathLike,
    sample_weight: str | None = None,
) -> MergeableEstimator:
    """Fit an estimator to files batch by batch; after a kill, the next call continues, and no row counts twice.

    After each batch the model is written to the checkpoint, atomically, with the files and rows that it has learnt. A later
    call with further files after those reads only the new files.

    Parameters
    ----------
    estimator : estimator
        A mergeable model, such as `NaiveBayesClassifier()`, fitted or not; it is not modified.
    rows : Scan
        The files, from `baytree.scan`, in the order of their names.
    target : str
        The column to predict.
    checkpoint : str or path-like
        File that holds the state between calls.
    sample_weight : str, optional
        Name of the column of weights.

    Returns
    -------
    estimator
        A new estimator that has learnt all rows: bit for bit equal to that of an uninterrupted run if its sums are exact
        (naive Bayes, the joint table).

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
    for files_seen, n_rows, frame in _remaining_batches(rows, done, target):
        state = _update(estimator, state, frame, target, sample_weight)
        Checkpoint(target, sample_weight, files_seen, n_rows, state).write(path)
    if state is None:
        raise ValueError(f"no row of {rows!r} has a value in the target column {target!r}")
    return Checkpoint(target, sample_weight, (), 0, state).estimator(path)


def _update(estimator: MergeableEstimator, state: str | None, frame: pl.DataFrame, target: str, weight: str | None) -> str:
    """Return the state after these rows. It always passes through a file, so that an interrupted run gives the same."""
    from sklearn.base import clone

    from baytree.storage import loads

    so_far = clone(estimator) if state is None else loads(state.encode())
    return state_of(so_far.partial_fit(frame, target, sample_weight=weight))


def _remaining_batches(
    rows: Scan, done: Checkpoint | None, target: str
) -> Iterator[tuple[tuple[FileFingerprint, ...], int, pl.DataFrame]]:
    """Yield the batches that were not learnt yet, each with the files so far and the number of rows of the last one."""
    seen = () if done is None else done.seen
    first = max(0, len(seen) - 1)
    for k in range(first, len(rows.sources)):
        skip = done.n_rows if done is not None and k == first and seen else 0
        so_far = (*seen[:k], *(FileFingerprint.of(path) for path in rows.paths[len(seen[:k]) : k + 1]))
        n_read = 0
        for frame in files.settle_types(rows.sources[k]).batches():
            remaining = frame[max(0, skip - n_read) :]
            n_read += len(frame)
            labelled = remaining.filter(remaining[target].is_not_null())
            if len(labelled):
                yield so_far, n_read, labelled


_HEADER = b"baytree checkpoint 1 "

_FINGERPRINT_BYTES = 1 << 16  # at the start and at the end of a file, which its fingerprint covers without reading all of it


class FileFingerprint(msgspec.Struct, frozen=True):
    """Name, size and a digest of both ends of a file, by which it is recognized."""

    name: str
    size: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Compute the fingerprint of the file at this path."""
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(_FINGERPRINT_BYTES)
            file.seek(max(0, size - _FINGERPRINT_BYTES))
            return cls(path.name, size, hashlib.sha256(start + file.read(_FINGERPRINT_BYTES)).hexdigest())


class Checkpoint(msgspec.Struct, frozen=True):
    """State of a stream: all rows of the seen files but the last, and `n_rows` rows of the last one."""

    target: str
    weight: str | None
    seen: tuple[FileFingerprint, ...]
    n_rows: int
    model: str  # content of a model file

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """Read a checkpoint; raise ModelFileError if its digest does not match."""
        content = model_files.read(path)
        start, _, body = content.partition(b"\n")
        if not start.startswith(_HEADER):
            raise ModelFileError(f"{path}: is not a checkpoint of this version of baytree")
        if start.removeprefix(_HEADER).decode("ascii", "replace") != hashlib.sha256(body).hexdigest():
            raise ModelFileError(f"{path}: the checkpoint is damaged; remove it to start again")
        with naming_file(str(path)):
            return msgspec.json.decode(body, type=cls)

    def write(self, path: Path) -> None:
        """Write the checkpoint, atomically."""
        body = msgspec.json.encode(self)
        write_file(path, _HEADER + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    def estimator(self, path: Path) -> MergeableEstimator:
        """Load the estimator of the checkpoint."""
        return loads(self.model.encode(), str(path))

    def refuse_another_stream(self, path: Path, given: MergeableEstimator, request: tuple, paths: Sequence[Path]) -> None:
        """Raise ValueError if the model, the target or the files differ from those of the checkpoint."""
        stored = self.estimator(path)
        if type(stored) is not type(given) or repr(stored.get_params()) != repr(given.get_params()):
            raise ValueError(f"{path}: is a checkpoint of {stored!r}, not of {given!r}; remove it to start again")
        if (self.target, self.weight) != request:
            raise ValueError(
                f"{path}: is a checkpoint of the target {self.target!r} with the weights {self.weight!r}, not of {request}"
            )
        for k, seen in enumerate(self.seen):
            if k >= len(paths) or FileFingerprint.of(paths[k]) != seen:
                raise ValueError(
                    f"{path}: file {k + 1} of the stream was {seen.name!r} of {seen.size:,} bytes, and has changed; "
                    "files that were read must not change, and new files must sort after them. "
                    "Remove the checkpoint to start again"
                )


def state_of(estimator: MergeableEstimator) -> str:
    """Return the estimator as the content of a model file."""
    return dumps(estimator).decode()
