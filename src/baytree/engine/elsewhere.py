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

from baytree.engine.anew import MadeAnew, one_after_other
from baytree.engine.gathering import Gathered, Perhaps, joined
from baytree.engine.packing import Piece, unpack
from baytree.engine.parts import ROWS_PER_PART, InMemory
from baytree.engine.sighting import Sighting, in_place
from baytree.engine.threads import S
from baytree.given import FrameLike
from baytree.table import encode, labels
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table

T = TypeVar("T")
Look = Callable[[FrameLike, str], tuple[bytes, Sighting]]


class Packs(Protocol):
    """Packed pieces, kept where the next round finds them."""

    def total(self, work: Callable[[bytes], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        ...


class Source(Protocol):
    """Rows on some engine, in pieces."""

    columns: tuple[str, ...]
    memory: int  # bytes that rows may take on this machine
    advice: str  # what helps where rows would take more

    def packed(self, look: Look) -> tuple[Packs, Sighting]:
        """One round over the rows as they are: every piece packed, and what was seen in it added up."""
        ...

    def total(self, work: Callable[[FrameLike], S]) -> S:
        """One round over the rows as they are: what `work` makes of each piece that has rows, added up."""
        ...

    def first(self, column: str) -> Any:
        """A column of the first rows, as its library has it."""
        ...

    def whole(self) -> FrameLike:
        """All rows as a frame in memory, where they fit."""
        ...

    def predicted(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """The answers for each row, in the manner of the engine; `names` are those of their columns."""
        ...


class Encoding(msgspec.Struct, frozen=True):
    """How the rows of a piece become a table."""

    schema: Schema
    first: dict[str, int]  # how many rows come before a piece, by its place
    is_unweighted: bool
    accepts_infinite: bool
    change: Callable[[Table], Table] | None = None  # made of each part on its way

    def table(self, piece: Piece) -> Table:
        """The rows of a piece, encoded."""
        sample = piece.sample
        values = encode.part(sample.frame, self.schema, self.accepts_infinite)
        label = sample.label.values
        if self.schema.target.classes is not None:
            label = labels.recode(sample.label, self.schema.target)
        table = Table(self.schema, values, sample.weight, label, self.is_unweighted, self.first.get(piece.place, 0))
        return table if self.change is None or not len(table) else self.change(table)


class Elsewhere:
    """The rows of a table on an engine, as `Parts`."""

    def __init__(self, packs: Packs, encoding: Encoding, n_rows: int, n_jobs: int | None, source: Source):
        self.packs, self.encoding, self.source = packs, encoding, source
        self.schema, self.n_rows, self.n_jobs = encoding.schema, n_rows, n_jobs

    def total(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts."""
        return self.packs.total(partial(_observed, observe, self.encoding, rows_per_part)).value

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """The rows that `choose` takes of each part, or all where they fit into memory."""
        if choose is None:
            refuse_more_than_fits(self._needed, self.source)
        return joined(self.packs.total(partial(_chosen, choose, self.encoding)).tables)

    def cached(self) -> Self:
        """These parts: they are packed already."""
        return self

    def changed(self, change: Callable[[Table], Table]) -> Elsewhere:
        """The same rows, each part changed on its way."""
        before = self.encoding.change
        both = change if before is None else partial(one_after_other, before, change)
        return Elsewhere(
            self.packs, msgspec.structs.replace(self.encoding, change=both), self.n_rows, self.n_jobs, self.source
        )

    def made(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> MadeAnew[T]:
        """What `make` makes of each part, made anew in each round."""
        return MadeAnew(self, make, rows_per_part)

    @property
    def fits(self) -> bool:
        """Whether all rows may be gathered."""
        return self._needed <= self.source.memory

    @property
    def _needed(self) -> int:
        of_a_row = 16 + sum(8 if column.kind is Kind.NUMERIC else 4 for column in self.schema.columns)
        return self.n_rows * of_a_row * SPACE


SPACE = 3  # what a learner in memory takes, in sizes of its table


def refuse_more_than_fits(needed: float, source: Source) -> None:
    """Refuses rows that would take more memory than they may."""
    if needed > source.memory:
        raise ValueError(
            f"this needs all rows in memory at once, more than {needed / 1e9:.2f} GB, and may take "
            f"{source.memory / 1e9:.2f} GB; {source.advice}, or use a model that learns in rounds, such as "
            "NaiveBayesClassifier, LogisticRegression or CARTClassifier(max_surrogates=0)"
        )


def _observed(observe: Callable[[Table], Any], encoding: Encoding, rows_per_part: int | None, content: bytes) -> Perhaps:
    piece = unpack(content)
    with in_place(piece.place):
        table = encoding.table(piece)
        return Perhaps(InMemory(table).total(observe, rows_per_part) if len(table) else None)


def _chosen(choose: Callable[[Table], Table] | None, encoding: Encoding, content: bytes) -> Gathered:
    piece = unpack(content)
    with in_place(piece.place):
        table = encoding.table(piece)
        return Gathered((table if choose is None else choose(table),))
