"""Rows that are not in memory as a whole: a file read in batches, a Dask or a Spark frame.

An engine has its rows in pieces. The first round packs each piece (`packing`) where it lies, and looks at it; what was seen
adds up to the schema. Every further round unpacks, encodes and observes. Rows stay where they are: what moves is statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar

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

Content = PackedBlock | bytes  # of a piece: an engine that keeps it in this process may leave it as it lies

Look = Callable[[FrameLike, str], tuple[Content, BlockInspection]]


class BlockCollection(Protocol):
    """Packed pieces, kept where the next round finds them."""

    def map_reduce(self, work: Callable[[Content], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        ...

    def gather(self, work: Callable[[Content], S]) -> S:
        """The same, where `work` gives rows: to add up large answers on their way would save nothing."""
        ...

    def apply(self, make: Callable[[Content], bytes]) -> BlockCollection:
        """What `make` makes of each piece, made when a round first asks for it, and kept beside the piece."""
        ...


class RemoteSource(Protocol):
    """Rows on some engine, in pieces."""

    columns: tuple[str, ...]
    memory: int  # bytes that rows may take on this machine
    advice: str  # what helps where rows would take more

    def pack_blocks(self, look: Look) -> tuple[BlockCollection, BlockInspection]:
        """One round over the rows as they are: every piece packed, and what was seen in it added up."""
        ...

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """One round over the rows as they are: what `work` makes of each piece that has rows, added up."""
        ...

    def first(self, column: str) -> Any:
        """A column of the first rows, as its library has it."""
        ...

    def read_all(self) -> FrameLike:
        """All rows as a frame in memory, where they fit."""
        ...

    def map_rows(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """The answers for each row, in the manner of the engine; `names` are those of their columns."""
        ...


class BlockEncoder(msgspec.Struct, frozen=True):
    """How the rows of a piece become a table."""

    schema: Schema
    first: dict[str, int]  # how many rows come before a piece, by its place
    is_unweighted: bool
    accepts_infinite: bool

    def table(self, piece: Block) -> Table:
        """The rows of a piece, encoded."""
        sample = piece.sample
        values = encode.encode_partition(sample.frame, self.schema, self.accepts_infinite)
        label = sample.label.values
        if self.schema.target.classes is not None:
            label = labels.recode(sample.label, self.schema.target)
        return Table(self.schema, values, sample.weight, label, self.is_unweighted, self.first.get(piece.place, 0))


Change = Callable[[Table], Table] | None  # made of each part on its way


class BlockQuery(msgspec.Struct, frozen=True):
    """What is asked of each part: to observe it, after a change."""

    observe: Callable[[Table], Any]
    rows_per_part: int | None
    change: Change

    def answer(self, table: Table) -> OptionalStatistic:
        """What is seen in these rows, if there are any."""
        if not len(table):
            return OptionalStatistic()
        return OptionalStatistic(LocalPartitions(_changed(self.change, table)).map_reduce(self.observe, self.rows_per_part))


class MapReducePass(msgspec.Struct, frozen=True):
    """What a round makes of each piece: the answers to several questions."""

    encoding: BlockEncoder
    questions: tuple[BlockQuery, ...]

    def __call__(self, content: Content) -> StatisticTuple:
        """The answers of a packed piece."""
        piece = unpack(content)
        with error_location(piece.place):
            table = self.encoding.table(piece)
            return StatisticTuple(tuple(question.answer(table) for question in self.questions))


class PendingQuery:
    """A question that waits for the next round, and then its answer."""

    def __init__(self, question: BlockQuery):
        self.question = question
        self.answer: OptionalStatistic | None = None


class RemotePartitions:
    """The rows of a table on an engine, as `Parts`."""

    def __init__(
        self,
        packs: BlockCollection,
        encoding: BlockEncoder,
        n_rows: int,
        n_jobs: int | None,
        source: RemoteSource,
        change: Change = None,
        waiting: list[PendingQuery] | None = None,
    ):
        self.packs, self.encoding, self.source, self.change = packs, encoding, source, change
        self.schema, self.n_rows, self.n_jobs = encoding.schema, n_rows, n_jobs
        self.is_unweighted = encoding.is_unweighted and change is None
        self._waiting = [] if waiting is None else waiting

    def map_reduce(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts."""
        return self.submit(observe, rows_per_part)()

    def submit(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """What `total` gives: answered by the next round, whatever that is for, or by one of its own when called."""
        asked = PendingQuery(BlockQuery(observe, rows_per_part, self.change))
        self._waiting.append(asked)
        return partial(self._answered, asked)

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """The rows that `choose` takes of each part, or all where they fit into memory."""
        if choose is None:
            check_memory(self._needed, self.source)
        return concatenate_tables(self.packs.gather(partial(_chosen, choose, self.encoding, self.change)).tables)

    def persist(self) -> Self:
        """These parts: they are packed already."""
        return self

    def map_partitions(self, change: Callable[[Table], Table]) -> RemotePartitions:
        """The same rows, each part changed on its way."""
        both = change if self.change is None else partial(compose, self.change, change)
        return RemotePartitions(self.packs, self.encoding, self.n_rows, self.n_jobs, self.source, both, self._waiting)

    def apply(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> RecomputedPartitionValues[T]:
        """What `make` makes of each part, made anew in each round."""
        return RecomputedPartitionValues(self, make, rows_per_part)

    def apply_and_persist(self, make: Callable[[Table], K], kind: type[K]) -> PersistedPartitionValues[K]:
        """What `make` makes of each part, made once and kept with the rows."""
        return PersistedPartitionValues(self.packs.apply(partial(_kept, make, self.encoding, self.change)), kind)

    def _answered(self, asked: PendingQuery) -> Any:
        """The answer of a question; where it is still open, that of every other one that waits comes with it."""
        if asked.answer is None:
            together = (asked, *(each for each in self._waiting if each is not asked))
            self._waiting.clear()
            seen = self.packs.map_reduce(MapReducePass(self.encoding, tuple(each.question for each in together)))
            for each, answer in zip(together, seen.values, strict=True):
                each.answer = answer
        assert asked.answer is not None
        return asked.answer.value

    @property
    def fits_in_memory(self) -> bool:
        """Whether all rows may be gathered."""
        return self._needed <= self.source.memory

    @property
    def _needed(self) -> int:
        of_a_row = 16 + sum(8 if column.kind is Kind.NUMERIC else 4 for column in self.schema.columns)
        return self.n_rows * of_a_row * SPACE


SPACE = 3  # what a learner in memory takes, in sizes of its table


def check_memory(needed: float, source: RemoteSource) -> None:
    """Refuses rows that would take more memory than they may."""
    if needed > source.memory:
        raise ValueError(
            f"this needs all rows in memory at once, more than {needed / 1e9:.2f} GB, and may take "
            f"{source.memory / 1e9:.2f} GB; {source.advice}, or use a model that learns in rounds, such as "
            "NaiveBayesClassifier, LogisticRegression or CARTClassifier(max_surrogates=0)"
        )


def _kept(make: Callable[[Table], ArraySerializable], encoding: BlockEncoder, change: Change, content: Content) -> bytes:
    piece = unpack(content)
    with error_location(piece.place):
        return partition_values.as_bytes(make(_changed(change, encoding.table(piece))).arrays())


def _chosen(choose: Callable[[Table], Table] | None, encoding: BlockEncoder, change: Change, content: Content) -> TableList:
    piece = unpack(content)
    with error_location(piece.place):
        table = encoding.table(piece)
        chosen = _changed(change, table)
        chosen = chosen if choose is None else choose(chosen)
        return TableList((msgspec.structs.replace(chosen, first=table.first),))


def _changed(change: Change, table: Table) -> Table:
    return table if change is None or not len(table) else change(table)
