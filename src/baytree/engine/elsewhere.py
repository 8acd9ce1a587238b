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
from baytree.engine.gathering import Gathered, Perhaps, Several, joined
from baytree.engine.keeping import array_bytes
from baytree.engine.keeping.array_bytes import K, Keepable
from baytree.engine.keeping.kept_elsewhere import KeptElsewhere
from baytree.engine.keeping.packing import Packed, Piece, unpack
from baytree.engine.parts import ROWS_PER_PART, InMemory
from baytree.engine.sighting import Sighting, in_place
from baytree.engine.threads import S
from baytree.given import FrameLike
from baytree.table import encode, labels
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table

T = TypeVar("T")
Content = Packed | bytes  # of a piece: an engine that keeps it in this process may leave it as it lies
Look = Callable[[FrameLike, str], tuple[Content, Sighting]]


class Packs(Protocol):
    """Packed pieces, kept where the next round finds them."""

    def total(self, work: Callable[[Content], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        ...

    def gather(self, work: Callable[[Content], S]) -> S:
        """The same, where `work` gives rows: to add up large answers on their way would save nothing."""
        ...

    def made(self, make: Callable[[Content], bytes]) -> Packs:
        """What `make` makes of each piece, made when a round first asks for it, and kept beside the piece."""
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

    def table(self, piece: Piece) -> Table:
        """The rows of a piece, encoded."""
        sample = piece.sample
        values = encode.part(sample.frame, self.schema, self.accepts_infinite)
        label = sample.label.values
        if self.schema.target.classes is not None:
            label = labels.recode(sample.label, self.schema.target)
        return Table(self.schema, values, sample.weight, label, self.is_unweighted, self.first.get(piece.place, 0))


Change = Callable[[Table], Table] | None  # made of each part on its way


class Question(msgspec.Struct, frozen=True):
    """What is asked of each part: to observe it, after a change."""

    observe: Callable[[Table], Any]
    rows_per_part: int | None
    change: Change

    def answer(self, table: Table) -> Perhaps:
        """What is seen in these rows, if there are any."""
        if not len(table):
            return Perhaps()
        return Perhaps(InMemory(_changed(self.change, table)).total(self.observe, self.rows_per_part))


class Round(msgspec.Struct, frozen=True):
    """What a round makes of each piece: the answers to several questions."""

    encoding: Encoding
    questions: tuple[Question, ...]

    def __call__(self, content: Content) -> Several:
        """The answers of a packed piece."""
        piece = unpack(content)
        with in_place(piece.place):
            table = self.encoding.table(piece)
            return Several(tuple(question.answer(table) for question in self.questions))


class Asked:
    """A question that waits for the next round, and then its answer."""

    def __init__(self, question: Question):
        self.question = question
        self.answer: Perhaps | None = None


class Elsewhere:
    """The rows of a table on an engine, as `Parts`."""

    def __init__(
        self,
        packs: Packs,
        encoding: Encoding,
        n_rows: int,
        n_jobs: int | None,
        source: Source,
        change: Change = None,
        waiting: list[Asked] | None = None,
    ):
        self.packs, self.encoding, self.source, self.change = packs, encoding, source, change
        self.schema, self.n_rows, self.n_jobs = encoding.schema, n_rows, n_jobs
        self.is_unweighted = encoding.is_unweighted and change is None
        self._waiting = [] if waiting is None else waiting

    def total(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts."""
        return self.later(observe, rows_per_part)()

    def later(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """What `total` gives: answered by the next round, whatever that is for, or by one of its own when called."""
        asked = Asked(Question(observe, rows_per_part, self.change))
        self._waiting.append(asked)
        return partial(self._answered, asked)

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """The rows that `choose` takes of each part, or all where they fit into memory."""
        if choose is None:
            refuse_more_than_fits(self._needed, self.source)
        return joined(self.packs.gather(partial(_chosen, choose, self.encoding, self.change)).tables)

    def cached(self) -> Self:
        """These parts: they are packed already."""
        return self

    def changed(self, change: Callable[[Table], Table]) -> Elsewhere:
        """The same rows, each part changed on its way."""
        both = change if self.change is None else partial(one_after_other, self.change, change)
        return Elsewhere(self.packs, self.encoding, self.n_rows, self.n_jobs, self.source, both, self._waiting)

    def made(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> MadeAnew[T]:
        """What `make` makes of each part, made anew in each round."""
        return MadeAnew(self, make, rows_per_part)

    def kept(self, make: Callable[[Table], K], kind: type[K]) -> KeptElsewhere[K]:
        """What `make` makes of each part, made once and kept with the rows."""
        return KeptElsewhere(self.packs.made(partial(_kept, make, self.encoding, self.change)), kind)

    def _answered(self, asked: Asked) -> Any:
        """The answer of a question; where it is still open, that of every other one that waits comes with it."""
        if asked.answer is None:
            together = (asked, *(each for each in self._waiting if each is not asked))
            self._waiting.clear()
            seen = self.packs.total(Round(self.encoding, tuple(each.question for each in together)))
            for each, answer in zip(together, seen.values, strict=True):
                each.answer = answer
        assert asked.answer is not None
        return asked.answer.value

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


def _kept(make: Callable[[Table], Keepable], encoding: Encoding, change: Change, content: Content) -> bytes:
    piece = unpack(content)
    with in_place(piece.place):
        return array_bytes.as_bytes(make(_changed(change, encoding.table(piece))).arrays())


def _chosen(choose: Callable[[Table], Table] | None, encoding: Encoding, change: Change, content: Content) -> Gathered:
    piece = unpack(content)
    with in_place(piece.place):
        table = encoding.table(piece)
        chosen = _changed(change, table)
        chosen = chosen if choose is None else choose(chosen)
        return Gathered((msgspec.structs.replace(chosen, first=table.first),))


def _changed(change: Change, table: Table) -> Table:
    return table if change is None or not len(table) else change(table)
