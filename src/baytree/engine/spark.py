"""Spark engine. It uses only the DataFrame API, so it also runs over Spark Connect.

Partitions are packed in blocks where they are stored: a cached frame with one row per block. A pass maps these blocks.
Sending a block to a Python worker would cost more than most passes, so workers keep blocks in local files
(`engine.block_files`) and receive only their names, or the block itself if a file is missing. The function of a pass
travels in the closure of `mapInArrow`; its results are added up in this process or, if they are large, on the workers first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from baytree._typing import FrameLike
from baytree.engine import block_files
from baytree.engine.blocks import BlockInspection, packed_bytes
from baytree.engine.partitions import ROWS_PER_PART
from baytree.engine.progress import track_pass
from baytree.engine.remote import PEAK_MEMORY_FACTOR, InspectBlock, check_memory
from baytree.engine.worker_results import (
    MAX_GATHERED_BYTES,
    PickledResult,
    WorkerError,
    WorkerResult,
    as_bytes,
    capture_errors,
    combine_large_results,
    combine_results,
)
from baytree.parallel import threads
from baytree.parallel.system import parse_memory_size
from baytree.parallel.threads import S, sum_in_order

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

ROWS_PER_BLOCK = ROWS_PER_PART  # rows that a worker packs and reads at a time

BYTES_PER_PANDAS_CELL = 16  # estimate for a frame of numbers and short strings

THREADS_PER_WORKER = 2  # the second thread uses a core that has no task; more would take cores of other tasks

ONE_TASK_PER_PARTITION = 1 << 30  # number of tasks that no frame reaches, so that partitions are not coalesced

# Results of up to this many partitions are collected as they are, whatever their size: a second step to add them up would
# save nothing.
MAX_COLLECTED_PARTITIONS = 4

MISSING_FILES = b""  # result of a partition whose block files are missing

_BLOCK_SCHEMA = "part int, block int, file_name string, content binary, inspection binary"

_RESULT_SCHEMA = "part int, answer binary"

Batches = Iterator[Any]  # Arrow record batches

ReadBlock = Callable[..., bytes | memoryview | None]  # arguments: name of a block and, if it was sent, the block


class SparkFrame:
    """Source of rows in a Spark frame."""

    memory = parse_memory_size("2GB")
    advice = "use fewer rows or columns"

    def __init__(self, frame: DataFrame):
        self.frame, self.columns = frame, tuple(frame.columns)

    def pack_blocks(self, inspect_block: InspectBlock) -> tuple[CachedBlocks, BlockInspection]:
        """Pack every partition in blocks and add up the inspections."""
        blocks = self.frame.mapInArrow(partial(_pack_partition, inspect_block), _BLOCK_SCHEMA).cache()
        rows = track_pass(partial(_collect, blocks.select("part", "block", "file_name", "inspection")))
        if not rows:
            return CachedBlocks(blocks, 1), BlockInspection("")
        inspection = combine_results([((part, block), content) for part, block, _, content in rows])
        return CachedBlocks(
            blocks, len({part for part, *_ in rows}), self._n_tasks([file for _, _, file, _ in rows])
        ), inspection

    def _n_tasks(self, file_names: Sequence[str | None]) -> int | None:
        """Number of tasks of a pass over block files.

        None if a block has no file; the number of tasks that run at a time if one executor has all files; otherwise one task
        per partition, because Spark runs each partition where it is stored.
        """
        if not all(file_names):
            return None
        executors = {block_files.origin(name) for name in file_names if name is not None}
        return _n_parallel_tasks(self.frame) if len(executors) == 1 else ONE_TASK_PER_PARTITION

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """Apply `work` to every block of raw rows and return the sum of the results (one pass)."""
        return combine_results(_collect(self.frame.mapInArrow(partial(_apply_to_rows, work), _RESULT_SCHEMA)))

    def first(self, column: str) -> Any:
        """Column of the first rows, as a pandas series."""
        return self.frame.select(column).limit(1000).toPandas()[column]

    def read_all(self) -> Any:
        """All rows as a pandas frame; raises ValueError if they do not fit in memory."""
        check_memory(self.frame.count() * len(self.columns) * BYTES_PER_PANDAS_CELL * PEAK_MEMORY_FACTOR, self)
        return self.frame.toPandas()

    def map_rows(self, predict: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> DataFrame:
        """Frame with the predictions as additional columns."""
        from pyspark.sql.types import StructField, StructType

        kind = _spark_type(empty)
        fields = [*self.frame.schema.fields, *(StructField(name, kind) for name in names)]
        return self.frame.mapInArrow(partial(_predict_batches, predict, tuple(names)), StructType(fields))


class CachedBlocks:
    """Packed blocks in a cached frame, or values computed from each of them."""

    def __init__(self, blocks: DataFrame, n_parts: int, n_tasks: int | None = None, read: ReadBlock = block_files.read):
        self.blocks, self.n_parts, self.n_tasks, self.read = blocks, n_parts, n_tasks, read
        self.is_large = False  # whether the results of the last pass were large

    def apply(self, make: Callable[[bytes], bytes]) -> CachedBlocks:
        """Blocks `make(block)`, cached by workers in local files."""
        return CachedBlocks(self.blocks, self.n_parts, self.n_tasks, partial(block_files.read_or_compute, uuid4().hex, make))

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """Apply `work` to every block and return the sum of the results, in block order (one pass).

        Large results are added up in two steps. The next pass is expected to have results as large as the last one.
        """
        return combine_results(track_pass(partial(self._from_files_or_blocks, partial(self._combined_results, work))))

    def gather(self, work: Callable[[bytes], S]) -> S:
        """As `map_reduce`, for `work` that returns rows: adding up large results on the workers would save nothing."""
        return combine_results(
            track_pass(partial(self._from_files_or_blocks, lambda column: _collect(self._map_blocks(work, None, column))))
        )

    def _from_files_or_blocks(self, compute: Callable[[str], list[PickledResult]]) -> list[PickledResult]:
        """Results computed from the block files or, if one is missing, from the blocks themselves."""
        results = compute("file_name") if self.n_tasks else [(0, MISSING_FILES)]
        return compute("content") if any(content == MISSING_FILES for _, content in results) else results

    def _combined_results(self, work: Callable[[bytes], Any], column: str) -> list[PickledResult]:
        if self.n_parts <= MAX_COLLECTED_PARTITIONS:
            return _collect(self._map_blocks(work, None, column))
        if not self.is_large:
            results = _collect(self._map_blocks(work, MAX_GATHERED_BYTES // self.n_parts, column))
            self.is_large = any(result is None for _, result in results)
            if not self.is_large:
                return results
        results = _collect(self._in_two_steps(work, column))
        self.is_large = sum(len(result) for _, result in results) > MAX_GATHERED_BYTES // self.n_parts
        return results

    def _in_two_steps(self, work: Callable[[bytes], Any], column: str) -> DataFrame:
        """Sums of runs of neighbouring partitions, computed on the workers."""
        run_length = max(2, int(self.n_parts**0.5))
        # repartition by a column, not by range: finding the ranges takes a job of its own, which would repeat all the work
        results = self._map_blocks(work, None, column).selectExpr("part", "answer", f"int(part / {run_length}) AS run")
        shuffled = results.repartition(-(-self.n_parts // run_length), "run")
        return shuffled.select("part", "answer").mapInArrow(_combine_partitions, _RESULT_SCHEMA)

    def _map_blocks(self, work: Callable[[bytes], Any], max_bytes: int | None, column: str) -> DataFrame:
        names = ("part", "block", "file_name") if column == "file_name" else ("part", "block", "file_name", "content")
        blocks = self.blocks.select(*names)
        if column == "file_name" and self.n_tasks and self.n_tasks < self.n_parts:
            blocks = blocks.coalesce(self.n_tasks)  # a task costs more than most queries of one partition
        return blocks.mapInArrow(partial(_apply_to_blocks, self.read, work, max_bytes), _RESULT_SCHEMA)


def source_of(rows: DataFrame) -> SparkFrame:
    """Spark frame as a remote source."""
    return SparkFrame(rows)


def _pack_partition(inspect_block: InspectBlock, batches: Batches) -> Batches:
    part = _partition_id()

    def inspect(numbered_rows: tuple[int, pa.Table]) -> tuple[int, WorkerResult]:
        block, table = numbered_rows
        return block, capture_errors(inspect_block, table, f"partition {part}, block {block}")

    for block, result in threads.map_streamed(inspect, enumerate(_blocks(batches)), THREADS_PER_WORKER):
        packed, inspection = (b"", result.value) if isinstance(result.value, WorkerError) else result.value
        content = packed_bytes(packed)
        yield _row(
            _BLOCK_SCHEMA,
            part,
            block,
            block_files.write(content),
            content,
            as_bytes(WorkerResult(inspection, result.warnings)),
        )


def _apply_to_rows(work: Callable[[FrameLike], Any], batches: Batches) -> Batches:
    results = [capture_errors(work, table) for table in _blocks(batches)]
    if results:
        yield _row(_RESULT_SCHEMA, _partition_id(), as_bytes(sum_in_order(results)))


def _apply_to_blocks(read: ReadBlock, work: Callable[[bytes], Any], max_bytes: int | None, batches: Batches) -> Batches:
    """Sum of the results of each partition; None in its place if it has more than `max_bytes`."""
    blocks = sorted((row for batch in batches for row in _rows(batch)), key=lambda row: row[:2])
    results = threads.map_streamed(partial(_apply_to_block, read, work), blocks, THREADS_PER_WORKER)
    for part, pairs in groupby(zip(blocks, results, strict=True), key=lambda pair: pair[0][0]):
        block_results = [result for _, result in pairs]
        available = [result for result in block_results if result is not None]
        if len(available) < len(block_results):
            yield _row(_RESULT_SCHEMA, part, MISSING_FILES)
            return
        content = as_bytes(sum_in_order(available))
        yield _row(_RESULT_SCHEMA, part, None if max_bytes is not None and len(content) > max_bytes else content)


def _apply_to_block(read: ReadBlock, work: Callable[[bytes], Any], block: tuple) -> WorkerResult | None:
    """Result for one block; None if the block is not available here."""
    content = read(*block[2:])
    return None if content is None else capture_errors(work, content)


def _combine_partitions(batches: Batches) -> Batches:
    """Sum of the results of neighbouring partitions."""
    results = [row for batch in batches for row in _rows(batch)]
    if any(content == MISSING_FILES for _, content in results):
        yield _row(_RESULT_SCHEMA, results[0][0], MISSING_FILES)
    elif results:
        yield _row(_RESULT_SCHEMA, *combine_large_results(results, 0)[0])


def _predict_batches(predict: Callable[[FrameLike], np.ndarray], names: tuple[str, ...], batches: Batches) -> Batches:
    import pyarrow as pa

    for batch in batches:
        table = pa.Table.from_batches([batch])
        predictions = predict(table)
        for name, values in zip(names, predictions.T if predictions.ndim == 2 else [predictions], strict=True):
            table = table.append_column(name, pa.array(values.tolist()))
        yield from table.to_batches()


def _blocks(batches: Batches) -> Iterator[pa.Table]:
    """Rows of a partition as tables of at least `ROWS_PER_BLOCK` rows, except the last."""
    import pyarrow as pa

    pending, n_rows = [], 0
    for batch in batches:
        pending.append(batch)
        n_rows += batch.num_rows
        if n_rows >= ROWS_PER_BLOCK:
            yield pa.Table.from_batches(pending)
            pending, n_rows = [], 0
    if n_rows:
        yield pa.Table.from_batches(pending)


def _collect(frame: DataFrame) -> list[tuple]:
    """Rows of a small frame. Uses `toArrow` where Spark has it: large results arrive twice as fast."""
    if not hasattr(frame, "toArrow"):
        return [tuple(row) for row in frame.collect()]
    return list(_rows(frame.toArrow()))


def _rows(batch: pa.RecordBatch | pa.Table) -> Iterator[tuple]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _row(kinds: str, *values: Any) -> pa.RecordBatch:
    import pyarrow as pa

    arrow = {"int": pa.int32(), "string": pa.string(), "binary": pa.binary()}
    named = [kind.split() for kind in kinds.split(", ")]
    arrays = [pa.array([value], arrow[kind]) for value, (_, kind) in zip(values, named, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, [name for name, _ in named])


def _partition_id() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _n_parallel_tasks(frame: DataFrame) -> int:
    """Number of tasks that run at a time, or `ONE_TASK_PER_PARTITION` if unknown, as over Spark Connect."""
    try:
        return frame.sparkSession.sparkContext.defaultParallelism
    except Exception:
        return ONE_TASK_PER_PARTITION


def _spark_type(empty: np.ndarray) -> Any:
    from pyspark.sql import types

    kinds = {"b": types.BooleanType(), "i": types.LongType(), "u": types.LongType(), "f": types.DoubleType()}
    return kinds.get(empty.dtype.kind, types.StringType())
