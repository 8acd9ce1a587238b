"""Spark frames as an engine, by the DataFrame API alone, so that it also runs over Spark Connect.

Rows are packed in blocks where they lie, a cached frame with one row for each block; a round maps these blocks. To hand a
block to a Python worker would cost more than most rounds, so workers keep blocks in files of their machine, and get their
names; where a file is gone, the block itself. What a round needs to know travels in its closure; what it gives is added up
on this machine, or, where it is large, on the workers first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from baytree._typing import FrameLike
from baytree.engine import kept_files
from baytree.engine.blocks import BlockInspection, packed_bytes
from baytree.engine.progress import track_pass
from baytree.engine.remote import SPACE, Look, check_memory
from baytree.engine.worker_results import (
    AT_ONCE,
    Sent,
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

ROWS_PER_BLOCK = 1 << 17

BYTES_PER_CELL = 16

THREADS = 2  # of a worker: the second takes what a task that is done has left idle

MANY_TASKS = 1 << 30  # as many as there are partitions

TOGETHER = 4  # answers of so many partitions are brought here as they are, however large

GONE = b""  # the answer of a partition whose blocks are kept in files that are not there

_PACKED = "part int, block int, kept string, content binary, seen binary"

_ANSWERS = "part int, answer binary"

Batches = Iterator[Any]  # of Arrow's record batches

Read = Callable[..., bytes | memoryview | None]  # of the name of a block, and the block where it is there


class SparkFrame:
    """A Spark frame."""

    memory = parse_memory_size("2GB")
    advice = "take fewer rows or columns"

    def __init__(self, frame: DataFrame):
        self.frame, self.columns = frame, tuple(frame.columns)

    def pack_blocks(self, look: Look) -> tuple[CachedBlocks, BlockInspection]:
        """Every partition packed in blocks, and what was seen in them added up."""
        blocks = self.frame.mapInArrow(partial(_packed, look), _PACKED).cache()
        found = track_pass(partial(_collected, blocks.select("part", "block", "kept", "seen")))
        if not found:
            return CachedBlocks(blocks, 1), BlockInspection("")
        seen = combine_results([((part, block), content) for part, block, _, content in found])
        return CachedBlocks(
            blocks, len({part for part, *_ in found}), self._n_tasks([kept for _, _, kept, _ in found])
        ), seen

    def _n_tasks(self, kept: Sequence[str | None]) -> int | None:
        """How many tasks a round over kept blocks takes: none where one is not kept, and as many as run at a time where one
        executor keeps all. Elsewhere each partition is its own, for Spark runs it where it lies.
        """
        if not all(kept):
            return None
        homes = {kept_files.home(name) for name in kept if name is not None}
        return _at_a_time(self.frame) if len(homes) == 1 else MANY_TASKS

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """One round over the rows as they are: what `work` makes of each block, added up."""
        return combine_results(_collected(self.frame.mapInArrow(partial(_of_rows, work), _ANSWERS)))

    def first(self, column: str) -> Any:
        """A column of the first rows."""
        return self.frame.select(column).limit(1000).toPandas()[column]

    def read_all(self) -> Any:
        """All rows in memory, where they fit."""
        check_memory(self.frame.count() * len(self.columns) * BYTES_PER_CELL * SPACE, self)
        return self.frame.toPandas()

    def map_rows(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> DataFrame:
        """The frame with columns of answers."""
        from pyspark.sql.types import StructField, StructType

        kind = _spark_type(empty)
        fields = [*self.frame.schema.fields, *(StructField(name, kind) for name in names)]
        return self.frame.mapInArrow(partial(_answered, answer, tuple(names)), StructType(fields))


class CachedBlocks:
    """Packed blocks in a cached frame, or what is made of each of them."""

    def __init__(self, blocks: DataFrame, n_parts: int, n_tasks: int | None = None, read: Read = kept_files.content):
        self.blocks, self.n_parts, self.n_tasks, self.read = blocks, n_parts, n_tasks, read
        self.is_large = False  # the answers of the last round

    def apply(self, make: Callable[[bytes], bytes]) -> CachedBlocks:
        """What `make` makes of each block, which workers keep in files of their own."""
        return CachedBlocks(self.blocks, self.n_parts, self.n_tasks, partial(kept_files.made, uuid4().hex, make))

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """One round: what `work` makes of each block, added up in the order of the blocks.

        Answers that are large are added up in two steps. What was large in one round is expected to be so in the next.
        """
        return combine_results(track_pass(partial(self._whole, partial(self._added, work))))

    def gather(self, work: Callable[[bytes], S]) -> S:
        """The same, where `work` gives rows: to add up large answers on their way would save nothing."""
        return combine_results(track_pass(partial(self._whole, lambda column: _collected(self._mapped(work, None, column)))))

    def _whole(self, answers: Callable[[str], list[Sent]]) -> list[Sent]:
        """The answers by the files that workers keep or, where one is gone, by the blocks."""
        found = answers("kept") if self.n_tasks else [(0, GONE)]
        return answers("content") if any(content == GONE for _, content in found) else found

    def _added(self, work: Callable[[bytes], Any], column: str) -> list[Sent]:
        if self.n_parts <= TOGETHER:
            return _collected(self._mapped(work, None, column))
        if not self.is_large:
            answers = _collected(self._mapped(work, AT_ONCE // self.n_parts, column))
            self.is_large = any(content is None for _, content in answers)
            if not self.is_large:
                return answers
        answers = _collected(self._in_two_steps(work, column))
        self.is_large = sum(len(content) for _, content in answers) > AT_ONCE // self.n_parts
        return answers

    def _in_two_steps(self, work: Callable[[bytes], Any], column: str) -> DataFrame:
        """The sums of neighbouring partitions, made on the workers."""
        together = max(2, int(self.n_parts**0.5))
        # by a column, not by range: a range is found by a job of its own, which would do all the work twice
        whole = self._mapped(work, None, column).selectExpr("part", "answer", f"int(part / {together}) AS run")
        shuffled = whole.repartition(-(-self.n_parts // together), "run")
        return shuffled.select("part", "answer").mapInArrow(_together, _ANSWERS)

    def _mapped(self, work: Callable[[bytes], Any], most: int | None, column: str) -> DataFrame:
        names = ("part", "block", "kept") if column == "kept" else ("part", "block", "kept", "content")
        blocks = self.blocks.select(*names)
        if column == "kept" and self.n_tasks and self.n_tasks < self.n_parts:
            blocks = blocks.coalesce(self.n_tasks)  # a task costs more than most of what is asked of a partition
        return blocks.mapInArrow(partial(_of_blocks, self.read, work, most), _ANSWERS)


def source_of(rows: DataFrame) -> SparkFrame:
    """The frame as a source of pieces."""
    return SparkFrame(rows)


def _packed(look: Look, batches: Batches) -> Batches:
    part = _part()

    def looked(piece: tuple[int, pa.Table]) -> tuple[int, WorkerResult]:
        block, table = piece
        return block, capture_errors(look, table, f"partition {part}, block {block}")

    for block, answer in threads.map_streamed(looked, enumerate(_blocks(batches)), THREADS):
        packed, seen = (b"", answer.value) if isinstance(answer.value, WorkerError) else answer.value
        content = packed_bytes(packed)
        yield _row(_PACKED, part, block, kept_files.keep(content), content, as_bytes(WorkerResult(seen, answer.notices)))


def _of_rows(work: Callable[[FrameLike], Any], batches: Batches) -> Batches:
    answers = [capture_errors(work, table) for table in _blocks(batches)]
    if answers:
        yield _row(_ANSWERS, _part(), as_bytes(sum_in_order(answers)))


def _of_blocks(read: Read, work: Callable[[bytes], Any], most: int | None, batches: Batches) -> Batches:
    """The sum of the answers of each partition; None in its place where it has more bytes than `most`."""
    blocks = sorted((row for batch in batches for row in _rows(batch)), key=lambda row: row[:2])
    answers = threads.map_streamed(partial(_of_block, read, work), blocks, THREADS)
    for part, own in groupby(zip(blocks, answers, strict=True), key=lambda pair: pair[0][0]):
        found = [answer for _, answer in own]
        known = [answer for answer in found if answer is not None]
        if len(known) < len(found):
            yield _row(_ANSWERS, part, GONE)
            return
        content = as_bytes(sum_in_order(known))
        yield _row(_ANSWERS, part, None if most is not None and len(content) > most else content)


def _of_block(read: Read, work: Callable[[bytes], Any], block: tuple) -> WorkerResult | None:
    """What work makes of a block; None where it is not here."""
    content = read(*block[2:])
    return None if content is None else capture_errors(work, content)


def _together(batches: Batches) -> Batches:
    """The sum of the answers of neighbouring partitions."""
    answers = [row for batch in batches for row in _rows(batch)]
    if any(content == GONE for _, content in answers):
        yield _row(_ANSWERS, answers[0][0], GONE)
    elif answers:
        yield _row(_ANSWERS, *combine_large_results(answers, 0)[0])


def _answered(answer: Callable[[FrameLike], np.ndarray], names: tuple[str, ...], batches: Batches) -> Batches:
    import pyarrow as pa

    for batch in batches:
        table = pa.Table.from_batches([batch])
        found = answer(table)
        for name, values in zip(names, found.T if found.ndim == 2 else [found], strict=True):
            table = table.append_column(name, pa.array(values.tolist()))
        yield from table.to_batches()


def _blocks(batches: Batches) -> Iterator[pa.Table]:
    """The rows of a partition in tables of a bounded size."""
    import pyarrow as pa

    held, n_rows = [], 0
    for batch in batches:
        held.append(batch)
        n_rows += batch.num_rows
        if n_rows >= ROWS_PER_BLOCK:
            yield pa.Table.from_batches(held)
            held, n_rows = [], 0
    if n_rows:
        yield pa.Table.from_batches(held)


def _collected(frame: DataFrame) -> list[tuple]:
    """The rows of a small frame, here; as Arrow has them where Spark can, for large answers come twice as fast."""
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


def _part() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _at_a_time(frame: DataFrame) -> int:
    """How many tasks run at the same time, as far as is known: Spark Connect does not tell."""
    try:
        return frame.sparkSession.sparkContext.defaultParallelism
    except Exception:
        return MANY_TASKS


def _spark_type(empty: np.ndarray) -> Any:
    from pyspark.sql import types

    kinds = {"b": types.BooleanType(), "i": types.LongType(), "u": types.LongType(), "f": types.DoubleType()}
    return kinds.get(empty.dtype.kind, types.StringType())
