"""Rows that are not in memory as a whole: files read in batches, Dask or Spark frames.

An engine (`RemoteSource`) has its rows in blocks. The first pass packs each block where it is stored and inspects it
(`engine.blocks`); the inspections add up to the schema. Every further pass is a `MapReducePass` over the packed blocks
(`BlockCollection`): unpack, encode, observe. Rows stay where they are; only statistics move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.data.encoding import encode, labels
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.engine import partition_values
from baytree.engine.blocks import Block, BlockInspection, PackedBlock, error_location, unpack
from baytree.engine.partition_values import (
    ArraySerializable,
    K,
    PersistedPartitionValues,
    RecomputedPartitionValues,
    compose,
)
from baytree.engine.partitions import ROWS_PER_PART, LocalPartitions
from baytree.engine.worker_results import OptionalStatistic, StatisticTuple, TableList, concatenate_tables
from baytree.parallel.threads import S

T = TypeVar("T")

Content = PackedBlock | bytes  # of a block; engines that keep it in this process need not convert it to bytes

InspectBlock = Callable[[FrameLike, str], tuple[Content, BlockInspection]]


class BlockCollection(Protocol):
    """Packed blocks, stored where the next pass finds them."""

    def map_reduce(self, work: Callable[[Content], S]) -> S:
        """Apply `work` to every block and return the sum of the results, in block order (one pass)."""
        ...

    def gather(self, work: Callable[[Content], S]) -> S:
        """As `map_reduce`, for `work` that returns rows: adding up large results on the workers would save nothing."""
        ...

    def apply(self, make: Callable[[Content], bytes]) -> BlockCollection:
        """Blocks `make(block)`, computed when a pass first needs them and stored beside the block."""
        ...


@runtime_checkable
class StreamedBlocks(Protocol):
    """Packed blocks that this process can read one after another."""

    def stream(self, work: Callable[[Content], S]) -> Iterator[S]:
        """Result of `work` for every block, in block order; only a few blocks are in progress at a time."""
        ...


class RemoteSource(Protocol):
    """Rows on some engine, in blocks."""

    columns: tuple[str, ...]
    memory: int  # bytes that rows may take in this process
    advice: str  # remedy, for the error message if rows would take more

    def pack_blocks(self, inspect_block: InspectBlock) -> tuple[BlockCollection, BlockInspection]:
        """Read the raw rows once: pack every block and return the blocks and the sum of their inspections."""
        ...

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """Apply `work` to every non-empty batch of raw rows and return the sum of the results (one pass)."""
        ...

    def first(self, column: str) -> Any:
        """Column of the first rows, as a series of the engine's library."""
        ...

    def read_all(self) -> FrameLike:
        """All rows as a frame in memory; raises ValueError if they do not fit."""
        ...

    def map_rows(self, predict: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """Predictions for each row, in the engine's own type; `names` are the column names."""
        ...


class BlockEncoder(msgspec.Struct, frozen=True):
    """Encoding of the rows of a block as a table."""

    schema: Schema
    first: dict[str, int]  # number of rows before a block, by its location
    is_unweighted: bool
    accepts_infinite: bool

    def table(self, block: Block) -> Table:
        """Encoded rows of a block."""
        sample = block.sample
        values = encode.encode_partition(sample.frame, self.schema, self.accepts_infinite)
        label = sample.label.values
        if self.schema.target.classes is not None:
            label = labels.recode(sample.label, self.schema.target)
        return Table(self.schema, values, sample.weight, label, self.is_unweighted, self.first.get(block.location, 0))


Transform = Callable[[Table], Table] | None  # applied to each table before it is observed


class BlockQuery(msgspec.Struct, frozen=True):
    """One `map_reduce` request: the function to apply, the size of parts, and a transformation to apply first."""

    observe: Callable[[Table], Any]
    rows_per_part: int | None
    transform: Transform

    def result(self, table: Table) -> OptionalStatistic:
        """Statistic of these rows; empty if there are none."""
        if not len(table):
            return OptionalStatistic()
        return OptionalStatistic(
            LocalPartitions(_apply_transform(self.transform, table)).map_reduce(self.observe, self.rows_per_part)
        )


class MapReducePass(msgspec.Struct, frozen=True):
    """Function that a pass applies to each block: the statistics of several queries."""

    encoding: BlockEncoder
    queries: tuple[BlockQuery, ...]

    def __call__(self, content: Content) -> StatisticTuple:
        """Statistics of a packed block, one per query."""
        block = unpack(content)
        with error_location(block.location):
            table = self.encoding.table(block)
            return StatisticTuple(tuple(query.result(table) for query in self.queries))


class PendingQuery:
    """Query that waits for the next pass, and then its result."""

    def __init__(self, query: BlockQuery):
        self.query = query
        self.result: OptionalStatistic | None = None


class RemotePartitions:
    """Rows of a table on a remote engine; implements `Partitions`."""

    def __init__(
        self,
        blocks: BlockCollection,
        encoding: BlockEncoder,
        n_rows: int,
        n_jobs: int | None,
        source: RemoteSource,
        transform: Transform = None,
        pending_queries: list[PendingQuery] | None = None,
    ):
        self.blocks, self.encoding, self.source, self.transform = blocks, encoding, source, transform
        self.schema, self.n_rows, self.n_jobs = encoding.schema, n_rows, n_jobs
        self.is_unweighted = encoding.is_unweighted and transform is None
        self._pending = [] if pending_queries is None else pending_queries

    def map_reduce(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """Apply `observe` to every part and return the sum of the results, in the order of the parts (one pass)."""
        return self.submit(observe, rows_per_part)()

    def submit(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """Request `map_reduce(observe)`: answered by the next pass, or by a pass of its own when the function is called."""
        query = PendingQuery(BlockQuery(observe, rows_per_part, self.transform))
        self._pending.append(query)
        return partial(self._result_of, query)

    def gather(self, select: Callable[[Table], Table] | None = None) -> Table:
        """Rows that `select` selects from each part; without `select`, all rows if they fit in memory."""
        if select is None:
            check_memory(self._required_bytes, self.source)
        return concatenate_tables(self.blocks.gather(partial(_select_rows, select, self.encoding, self.transform)).tables)

    def stream(self) -> Iterator[Table]:
        """All rows in their order, as tables of which only a few are in memory at a time.

        Blocks of another machine are brought by ranges of rows, with a pass for each.
        """
        if isinstance(self.blocks, StreamedBlocks):
            for selected in self.blocks.stream(partial(_select_rows, None, self.encoding, self.transform)):
                yield from selected.tables
            return
        step = max(1, int(self.source.memory / (self._required_bytes / max(self.n_rows, 1))))
        for first in range(0, self.n_rows, step):
            yield self.gather(partial(_row_range, first, first + step))

    def persist(self) -> Self:
        """Return self: the blocks are stored already."""
        return self

    def map_partitions(self, transform: Callable[[Table], Table]) -> RemotePartitions:
        """Same rows with `transform` applied to each part on the fly."""
        composed = transform if self.transform is None else partial(compose, self.transform, transform)
        return RemotePartitions(self.blocks, self.encoding, self.n_rows, self.n_jobs, self.source, composed, self._pending)

    def apply(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> RecomputedPartitionValues[T]:
        """Values `make(part)`, recomputed in every pass."""
        return RecomputedPartitionValues(self, make, rows_per_part)

    def apply_and_persist(self, make: Callable[[Table], K], kind: type[K]) -> PersistedPartitionValues[K]:
        """Values `make(part)`, computed once and stored with the blocks."""
        return PersistedPartitionValues(self.blocks.apply(partial(_derive_block, make, self.encoding, self.transform)), kind)

    def _result_of(self, requested: PendingQuery) -> Any:
        """Result of a query. If it is pending, one pass answers it and all other pending queries."""
        if requested.result is None:
            pending = (requested, *(query for query in self._pending if query is not requested))
            self._pending.clear()
            statistics = self.blocks.map_reduce(MapReducePass(self.encoding, tuple(request.query for request in pending)))
            for query, answer in zip(pending, statistics.values, strict=True):
                query.result = answer
        assert requested.result is not None
        return requested.result.value

    @property
    def fits_in_memory(self) -> bool:
        """Whether all rows may be gathered."""
        return self._required_bytes <= self.source.memory

    @property
    def _required_bytes(self) -> int:
        bytes_per_row = 16 + sum(8 if column.kind is Kind.NUMERIC else 4 for column in self.schema.columns)
        return self.n_rows * bytes_per_row * PEAK_MEMORY_FACTOR


# Peak memory of a learner on rows in memory, in multiples of its table: raw frame, encoded table and the learner's own copy.
PEAK_MEMORY_FACTOR = 3


def check_memory(required_bytes: float, source: RemoteSource) -> None:
    """Raise ValueError if rows need more memory than allowed."""
    if required_bytes > source.memory:
        raise ValueError(
            f"this needs all rows in memory (at least {required_bytes / 1e9:.2f} GB, limit "
            f"{source.memory / 1e9:.2f} GB); {source.advice}, or use a model that trains out of core, such as "
            "NaiveBayesClassifier, LogisticRegression or CARTClassifier(max_surrogates=0)"
        )


def _derive_block(
    make: Callable[[Table], ArraySerializable], encoding: BlockEncoder, transform: Transform, content: Content
) -> bytes:
    block = unpack(content)
    with error_location(block.location):
        return partition_values.as_bytes(make(_apply_transform(transform, encoding.table(block))).arrays())


def _select_rows(
    select: Callable[[Table], Table] | None, encoding: BlockEncoder, transform: Transform, content: Content
) -> TableList:
    block = unpack(content)
    with error_location(block.location):
        table = encoding.table(block)
        selected = _apply_transform(transform, table)
        selected = selected if select is None else select(selected)
        return TableList((msgspec.structs.replace(selected, first=table.first),))


def _row_range(first: int, last: int, table: Table) -> Table:
    """Rows of a part whose numbers in the whole table are in a range."""
    bounds = np.clip([first - table.first, last - table.first], 0, len(table))
    return table.rows(int(bounds[0]), int(bounds[1]))


def _apply_transform(transform: Transform, table: Table) -> Table:
    return table if transform is None or not len(table) else transform(table)
