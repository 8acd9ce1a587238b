"""Learning a stream of files batch by batch, so that a killed run goes on where it was: `baytree.partial_fit`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from baytree.engine.scan import Scan
from baytree.streams.checkpoint import Checkpoint, SeenFile, state_of
from baytree.table import files

if TYPE_CHECKING:
    import polars as pl

    from baytree.estimators.additive import AdditiveEstimator


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


def _further(rows: Scan, done: Checkpoint | None, target: str) -> Iterator[tuple[tuple[SeenFile, ...], int, pl.DataFrame]]:
    """The batches that were not learnt yet, each with the files and the rows of the last of them that are learnt with it."""
    seen = () if done is None else done.seen
    first = max(0, len(seen) - 1)
    for k in range(first, len(rows.sources)):
        skip = done.n_rows if done is not None and k == first and seen else 0
        so_far = (*seen[:k], *(SeenFile.of(path) for path in rows.paths[len(seen[:k]) : k + 1]))
        at = 0
        for frame in files.checked(rows.sources[k]).batches():
            left = frame[max(0, skip - at) :]
            at += len(frame)
            labelled = left.filter(left[target].is_not_null())
            if len(labelled):
                yield so_far, at, labelled
