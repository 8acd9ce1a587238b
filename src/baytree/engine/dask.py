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
from baytree.engine.remote import PEAK_MEMORY_FACTOR, InspectBlock, check_memory
from baytree.engine.worker_results import (
    MAX_GATHERED_BYTES,
    OptionalStatistic,
    PickledResult,
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

# Results of more workers than this are added up on workers first, this many at a time: each step costs a message and keeps
# results from crowding this process.
MAX_GATHERED_WORKERS = 8

_LOCATIONS_TTL_SECONDS = 5.0  # age at which the locations of blocks are queried again: a query costs a third of a pass

# Pickled functions up to this size travel with each task. Larger ones are sent once and then fetched by workers from each
# other, which costs a message per worker.
MAX_TASK_FUNCTION_BYTES = 100_000


class DaskFrame:
    """Source of rows in a Dask frame."""

    memory = parse_memory_size("2GB")
    advice = "use fewer rows or columns"

    def __init__(self, frame: dd.DataFrame):
        self.frame = frame
        self.columns = tuple(map(str, frame.columns))

    def pack_blocks(self, inspect_block: InspectBlock) -> tuple[LocalBlocks | WorkerBlocks, BlockInspection]:
        """Pack every partition on its worker and add up the inspections."""
        inspect = dask.delayed(partial(capture_errors, _pack_partition, inspect_block), pure=False)
        parts = {f"partition {k}": part for k, part in enumerate(self.frame.to_delayed())}
        results = [inspect(part, position) for position, part in parts.items()]
        blocks = collect_blocks(dask.persist(*results))
        inspection = blocks.sum(_unwrap_inspection)
        sizes = {
            position: inspection.sizes[position] for position in parts if position in inspection.sizes
        }  # workers change the order
        return blocks, msgspec.structs.replace(inspection, sizes=sizes)

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """Apply `work` to every non-empty partition of the raw frame and return the sum of the results."""
        return LocalBlocks(self.frame.to_delayed()).sum(partial(_skip_empty, work)).value

    def first(self, column: str) -> pd.Series:
        """Column of the first rows, as a pandas series."""
        return self.frame[[column]].head(1000, npartitions=-1)[column]

    def read_all(self) -> pd.DataFrame:
        """All rows as a pandas frame, if they fit in memory."""
        check_memory(int(self.frame.memory_usage(deep=True).sum().compute()) * PEAK_MEMORY_FACTOR, self)
        return self.frame.compute()

    def map_rows(self, predict: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """Predictions for each row, as a lazy series or frame."""
        from dask.dataframe.dispatch import make_meta

        meta = _with_index(empty, names, make_meta(self.frame).index[:0])
        return self.frame.map_partitions(partial(_predict_partition, predict, tuple(names)), meta=meta)


class LocalBlocks:
    """Packed blocks in this process."""

    def __init__(self, blocks: Sequence[Any]):
        self.blocks = tuple(blocks)

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """Apply `work` to every block and return the sum of the results, in block order (one pass)."""
        return self.sum(partial(_apply_to_content, work))

    gather = map_reduce

    def apply(self, make: Callable[[bytes], bytes]) -> LocalBlocks:
        """Blocks `make(block)`, persisted in this process."""
        making = dask.delayed(partial(_derive_block, make), pure=False)
        return LocalBlocks(dask.persist(*(making(block) for block in self.blocks)))

    def sum(self, work: Callable[[Any], S]) -> S:
        """Apply `work` to the result of every block and return the sum, in block order."""
        task = dask.delayed(partial(_pickle_result, work), pure=False)
        tasks = [task(k, block) for k, block in enumerate(self.blocks)]
        return combine_results(track_pass(partial(dask.compute, *tasks)))


class WorkerBlocks:
    """Packed blocks on the workers of a cluster that packed them."""

    def __init__(self, blocks: Sequence[Future]):
        self.blocks, self.client = tuple(blocks), blocks[0].client
        self._groups: list[tuple[str | None, list[int]]] = []
        self._query_time = -_LOCATIONS_TTL_SECONDS  # time of the last query of block locations

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """Apply `work` to every block and return the sum of the results, in block order (one pass)."""
        return self.sum(partial(_apply_to_content, work))

    gather = map_reduce

    def apply(self, make: Callable[[bytes], bytes]) -> WorkerBlocks:
        """Blocks `make(block)`, computed on the worker that holds the block and recomputed if that worker is lost."""
        from distributed import wait

        at = {k: worker for worker, indices in self._groups_by_worker() for k in indices}
        pickled = self._pickle_function(make)
        futures = [self._submit_task(_derive_block_pickled, pickled, block, at=at[k]) for k, block in enumerate(self.blocks)]
        wait(futures)
        return WorkerBlocks(futures)

    def sum(self, work: Callable[[Any], S]) -> S:
        """Apply `work` to the result of every block, with one task per worker that holds blocks."""
        groups = self._groups_by_worker()
        max_bytes, pickled = MAX_GATHERED_BYTES // len(groups), self._pickle_function(work)
        level = [
            self._submit_task(
                _apply_to_blocks, pickled, tuple(indices), [self.blocks[k] for k in indices], max_bytes, at=worker
            )
            for worker, indices in groups
        ]
        _report_progress(level)
        while len(level) > MAX_GATHERED_WORKERS:
            level = [
                self._submit_task(_combine_groups, level[k : k + MAX_GATHERED_WORKERS], max_bytes)
                for k in range(0, len(level), MAX_GATHERED_WORKERS)
            ]
        return combine_results([result for results in self.client.gather(level) for result in results])

    def _groups_by_worker(self) -> list[tuple[str | None, list[int]]]:
        """Block indices by worker, cached for `_LOCATIONS_TTL_SECONDS`: tasks for a lost worker run on another one."""
        if time.monotonic() - self._query_time > _LOCATIONS_TTL_SECONDS:
            self._groups, self._query_time = self._query_locations(), time.monotonic()
        return self._groups

    def _query_locations(self) -> list[tuple[str | None, list[int]]]:
        """Indices of the blocks on each worker; key None has the blocks that are being recomputed."""
        holders, groups = self.client.who_has(self.blocks), {}
        for k, block in enumerate(self.blocks):
            groups.setdefault(next(iter(holders.get(block.key, ())), None), []).append(k)
        return list(groups.items())

    def _pickle_function(self, work: Callable[[Any], Any]) -> Any:
        """Pickled function; a large one is returned as a future, which workers fetch from each other."""
        from distributed.protocol import pickle

        content = pickle.dumps(work)
        return content if len(content) <= MAX_TASK_FUNCTION_BYTES else self._submit_task(bytes, content)

    def _submit_task(self, function: Callable[..., Any], *arguments: Any, at: str | None = None) -> Future:
        options = {} if at is None else {"workers": [at], "allow_other_workers": True}
        return self.client.submit(function, *arguments, pure=False, **options)


def collect_blocks(blocks: Sequence[Any]) -> LocalBlocks | WorkerBlocks:
    """Collection of persisted blocks, on a cluster or in this process."""
    try:
        from distributed import futures_of, wait
    except ImportError:
        return LocalBlocks(blocks)
    futures_by_key = {future.key: future for future in futures_of(blocks)}
    if not futures_by_key:
        return LocalBlocks(blocks)
    futures = [futures_by_key[block.key] for block in blocks]
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


def _pack_partition(inspect_block: InspectBlock, frame: pd.DataFrame, location: str) -> tuple[bytes, BlockInspection]:
    content, inspection = inspect_block(frame, location)
    return packed_bytes(content), inspection


def _unwrap_inspection(result_of_block: WorkerResult) -> BlockInspection:
    _, inspection = result_of_block.unwrap()
    return inspection


def _pickle_result(work: Callable[[Any], Any], k: int, block: Any) -> PickledResult:
    return k, as_bytes(capture_errors(work, block))


def _apply_to_blocks(content: bytes, indices: Sequence[int], blocks: Sequence[Any], max_bytes: int) -> list[PickledResult]:
    """Results of the blocks of one worker, added up there if they have more than `max_bytes`."""
    from distributed.protocol import pickle

    work = pickle.loads(content)
    return combine_large_results(
        [_pickle_result(work, k, block) for k, block in zip(indices, blocks, strict=True)], max_bytes
    )


def _combine_groups(groups: Sequence[Sequence[PickledResult]], max_bytes: int) -> list[PickledResult]:
    return combine_large_results([result for results in groups for result in results], max_bytes)


def _apply_to_content(work: Callable[[bytes], S], result_of_block: WorkerResult) -> S:
    if isinstance(result_of_block.value, WorkerError):
        raise result_of_block.value.kind(result_of_block.value.message)
    return work(result_of_block.value[0])


def _derive_block(make: Callable[[bytes], bytes], result_of_block: WorkerResult) -> WorkerResult:
    """Derived block; an error is stored as the result and raised in the first pass."""
    result = (
        capture_errors(make, result_of_block.value[0])
        if not isinstance(result_of_block.value, WorkerError)
        else result_of_block
    )
    return result if isinstance(result.value, WorkerError) else WorkerResult((result.value, None), result.warnings)


def _derive_block_pickled(content: bytes, result_of_block: WorkerResult) -> WorkerResult:
    from distributed.protocol import pickle

    return _derive_block(pickle.loads(content), result_of_block)


def _skip_empty(work: Callable[[FrameLike], Any], frame: pd.DataFrame) -> OptionalStatistic:
    return OptionalStatistic(work(frame) if len(frame) else None)


def _predict_partition(predict: Callable[[FrameLike], np.ndarray], names: tuple[str, ...], frame: pd.DataFrame) -> Any:
    return _with_index(predict(frame), names, frame.index)


def _with_index(predictions: np.ndarray, names: Sequence[str], index: pd.Index) -> pd.Series | pd.DataFrame:
    import pandas as pd

    if predictions.ndim == 1:
        return pd.Series(predictions, index=index, name=names[0])
    return pd.DataFrame(predictions, index=index, columns=list(names))
