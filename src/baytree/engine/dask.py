"""Dask engine: partitions are packed on their workers, and a pass is one task per worker that holds blocks.

With a `distributed` client the packed blocks stay on the workers that packed them; blocks of a lost worker are recomputed
from their partition. Without a client they are in this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.engine.blocks import BlockInspection, packed_bytes
from baytree.engine.progress import is_watched, track_blocks, track_pass
from baytree.engine.remote import SPACE, Look, check_memory
from baytree.engine.worker_results import (
    AT_ONCE,
    OptionalStatistic,
    Sent,
    WorkerError,
    WorkerResult,
    as_bytes,
    capture_errors,
    combine_large_results,
    combine_results,
)
from baytree.parallel.system import parse_memory_size
from baytree.parallel.threads import S

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Future

TOGETHER = 8  # results of more workers than this are added up on workers before they are gathered

_LOCATIONS_TTL = 5.0  # seconds for which the locations of blocks are cached: a query costs a third of a pass

SMALL = 100_000  # bytes; smaller pickled functions travel with each task, larger ones once, and then between workers


class DaskFrame:
    """Source of rows in a Dask frame."""

    memory = parse_memory_size("2GB")
    advice = "use fewer rows or columns"

    def __init__(self, frame: dd.DataFrame):
        self.frame = frame
        self.columns = tuple(map(str, frame.columns))

    def pack_blocks(self, look: Look) -> tuple[LocalBlocks | WorkerBlocks, BlockInspection]:
        """Pack every partition on its worker and add up the inspections."""
        inspect = dask.delayed(partial(capture_errors, _pack_partition, look), pure=False)
        parts = {f"partition {k}": part for k, part in enumerate(self.frame.to_delayed())}
        results = [inspect(part, place) for place, part in parts.items()]
        blocks = kept(dask.persist(*results))
        inspection = blocks.sum(_inspection_of)
        sizes = {place: inspection.sizes[place] for place in parts if place in inspection.sizes}  # workers change the order
        return blocks, msgspec.structs.replace(inspection, sizes=sizes)

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """Apply `work` to every non-empty partition of the raw frame and return the sum of the results."""
        return LocalBlocks(self.frame.to_delayed()).sum(partial(_unless_empty, work)).value

    def first(self, column: str) -> pd.Series:
        """Column of the first rows, as a pandas series."""
        return self.frame[[column]].head(1000, npartitions=-1)[column]

    def read_all(self) -> pd.DataFrame:
        """All rows as a pandas frame, if they fit in memory."""
        check_memory(int(self.frame.memory_usage(deep=True).sum().compute()) * SPACE, self)
        return self.frame.compute()

    def map_rows(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """Predictions for each row, as a lazy series or frame."""
        from dask.dataframe.dispatch import make_meta

        meta = _with_index(empty, names, make_meta(self.frame).index[:0])
        return self.frame.map_partitions(partial(_predict_partition, answer, tuple(names)), meta=meta)


class LocalBlocks:
    """Packed blocks in this process."""

    def __init__(self, pieces: Sequence[Any]):
        self.pieces = tuple(pieces)

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """Apply `work` to every block and return the sum of the results, in block order (one pass)."""
        return self.sum(partial(_apply_to_content, work))

    gather = map_reduce

    def apply(self, make: Callable[[bytes], bytes]) -> LocalBlocks:
        """Blocks `make(block)`, persisted in this process."""
        making = dask.delayed(partial(_derive_block, make), pure=False)
        return LocalBlocks(dask.persist(*(making(piece) for piece in self.pieces)))

    def sum(self, work: Callable[[Any], S]) -> S:
        """Apply `work` to the result of every block and return the sum, in block order."""
        task = dask.delayed(partial(_pickled_result, work), pure=False)
        tasks = [task(k, piece) for k, piece in enumerate(self.pieces)]
        return combine_results(track_pass(partial(dask.compute, *tasks)))


class WorkerBlocks:
    """Packed blocks on the workers of a cluster that packed them."""

    def __init__(self, pieces: Sequence[Future]):
        self.pieces, self.client = tuple(pieces), pieces[0].client
        self._groups: list[tuple[str | None, list[int]]] = []
        self._asked = -_LOCATIONS_TTL  # time of the last query of block locations

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """Apply `work` to every block and return the sum of the results, in block order (one pass)."""
        return self.sum(partial(_apply_to_content, work))

    gather = map_reduce

    def apply(self, make: Callable[[bytes], bytes]) -> WorkerBlocks:
        """Blocks `make(block)`, computed on the worker that holds the block and recomputed if that worker is lost."""
        from distributed import wait

        at = {k: worker for worker, indices in self._held() for k in indices}
        pickled = self._carried(make)
        futures = [self._task(_derive_block_pickled, pickled, piece, at=at[k]) for k, piece in enumerate(self.pieces)]
        wait(futures)
        return WorkerBlocks(futures)

    def sum(self, work: Callable[[Any], S]) -> S:
        """Apply `work` to the result of every block, with one task per worker that holds blocks."""
        groups = self._held()
        max_bytes, pickled = AT_ONCE // len(groups), self._carried(work)
        level = [
            self._task(_apply_to_blocks, pickled, tuple(indices), [self.pieces[k] for k in indices], max_bytes, at=worker)
            for worker, indices in groups
        ]
        _report_progress(level)
        while len(level) > TOGETHER:
            level = [self._task(_combine_groups, level[k : k + TOGETHER], max_bytes) for k in range(0, len(level), TOGETHER)]
        return combine_results([result for results in self.client.gather(level) for result in results])

    def _held(self) -> list[tuple[str | None, list[int]]]:
        """Block indices by worker, cached for `_STALE` seconds: tasks for a lost worker run on another one."""
        if time.monotonic() - self._asked > _LOCATIONS_TTL:
            self._groups, self._asked = self._by_worker(), time.monotonic()
        return self._groups

    def _by_worker(self) -> list[tuple[str | None, list[int]]]:
        """Indices of the blocks on each worker; key None has the blocks that are being recomputed."""
        holders, groups = self.client.who_has(self.pieces), {}
        for k, piece in enumerate(self.pieces):
            groups.setdefault(next(iter(holders.get(piece.key, ())), None), []).append(k)
        return list(groups.items())

    def _carried(self, work: Callable[[Any], Any]) -> Any:
        """Work as bytes, pickled once; a large one is a future of its own, which workers fetch from each other."""
        from distributed.protocol import pickle

        content = pickle.dumps(work)
        return content if len(content) <= SMALL else self._task(bytes, content)

    def _task(self, function: Callable[..., Any], *arguments: Any, at: str | None = None) -> Future:
        options = {} if at is None else {"workers": [at], "allow_other_workers": True}
        return self.client.submit(function, *arguments, pure=False, **options)


def kept(pieces: Sequence[Any]) -> LocalBlocks | WorkerBlocks:
    """Collection of persisted blocks, on a cluster or in this process."""
    try:
        from distributed import futures_of, wait
    except ImportError:
        return LocalBlocks(pieces)
    futures_by_key = {future.key: future for future in futures_of(pieces)}
    if not futures_by_key:
        return LocalBlocks(pieces)
    futures = [futures_by_key[piece.key] for piece in pieces]
    _report_progress(futures)
    wait(futures)
    return WorkerBlocks(futures)


def _report_progress(futures: Sequence[Future]) -> None:
    """Report each finished task to the progress watcher, if there is one."""
    if is_watched():
        from distributed import as_completed

        for _ in track_blocks(as_completed(futures), len(futures)):
            pass


def source_of(rows: dd.DataFrame) -> DaskFrame:
    """Validate a Dask frame and return it as a remote source."""
    if not hasattr(rows, "columns") or getattr(rows, "ndim", 2) != 2:
        raise TypeError(f"a Dask {type(rows).__name__} is not a table; give a Dask frame that includes the target column")
    return DaskFrame(rows)


def _pack_partition(look: Look, frame: pd.DataFrame, place: str) -> tuple[bytes, BlockInspection]:
    content, inspection = look(frame, place)
    return packed_bytes(content), inspection


def _inspection_of(looked: WorkerResult) -> BlockInspection:
    _, inspection = looked.unwrap()
    return inspection


def _pickled_result(work: Callable[[Any], Any], k: int, piece: Any) -> Sent:
    return k, as_bytes(capture_errors(work, piece))


def _apply_to_blocks(content: bytes, places: Sequence[int], pieces: Sequence[Any], most: int) -> list[Sent]:
    """Results of the blocks of one worker, added up there if they have more than `most` bytes."""
    from distributed.protocol import pickle

    work = pickle.loads(content)
    return combine_large_results([_pickled_result(work, k, piece) for k, piece in zip(places, pieces, strict=True)], most)


def _combine_groups(several: Sequence[Sequence[Sent]], most: int) -> list[Sent]:
    return combine_large_results([result for results in several for result in results], most)


def _apply_to_content(work: Callable[[bytes], S], looked: WorkerResult) -> S:
    if isinstance(looked.value, WorkerError):
        raise looked.value.kind(looked.value.words)
    return work(looked.value[0])


def _derive_block(make: Callable[[bytes], bytes], looked: WorkerResult) -> WorkerResult:
    """Derived block; an error is stored as the result and raised in the first pass."""
    result = capture_errors(make, looked.value[0]) if not isinstance(looked.value, WorkerError) else looked
    return result if isinstance(result.value, WorkerError) else WorkerResult((result.value, None), result.notices)


def _derive_block_pickled(content: bytes, looked: WorkerResult) -> WorkerResult:
    from distributed.protocol import pickle

    return _derive_block(pickle.loads(content), looked)


def _unless_empty(work: Callable[[FrameLike], Any], frame: pd.DataFrame) -> OptionalStatistic:
    return OptionalStatistic(work(frame) if len(frame) else None)


def _predict_partition(answer: Callable[[FrameLike], np.ndarray], names: tuple[str, ...], frame: pd.DataFrame) -> Any:
    return _with_index(answer(frame), names, frame.index)


def _with_index(answers: np.ndarray, names: Sequence[str], index: pd.Index) -> pd.Series | pd.DataFrame:
    import pandas as pd

    if answers.ndim == 1:
        return pd.Series(answers, index=index, name=names[0])
    return pd.DataFrame(answers, index=index, columns=list(names))
