"""Rows that are not in memory as a whole: a file read in batches, a Dask or a Spark frame.

An engine has its rows in pieces. The first round packs each piece (`packing`) where it lies, and looks at it; what was seen
adds up to the schema. Every further round unpacks, encodes and observes. Rows stay where they are: what moves is statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import msgspec
import numpy as np

from baytree import notices
from baytree.engine.packing import Piece, pack, unpack
from baytree.engine.parts import ROWS_PER_PART, InMemory
from baytree.engine.threads import S
from baytree.given import FrameLike, TargetLike, WeightsLike
from baytree.table import encode, labels
from baytree.table.infer import Census
from baytree.table.sample import ReadLabels, read_part, with_target
from baytree.table.schema import Kind, Schema, Target
from baytree.table.table import Table, Tokens

T = TypeVar("T")
Look = Callable[[FrameLike, str], "tuple[bytes, Sighting]"]


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

    def whole(self) -> FrameLike:
        """All rows as a frame in memory, where they fit."""
        ...

    def predicted(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """The answers for each row, in the manner of the engine; `names` are those of their columns."""
        ...


class Sighting(msgspec.Struct, frozen=True):
    """What the first round saw in a piece; what it saw in two adds up."""

    place: str
    columns: tuple[str, ...] = ()
    n_given: int = 0
    n_rows: int = 0
    n_unlabelled: int = 0
    is_unweighted: bool = True
    target: Target | None = None  # None where no row counts
    census: Census | None = None

    def __add__(self, other: Self) -> Self:
        _refuse_other_columns(self, other)
        return type(self)(
            self.place if self.n_rows else other.place,
            self.columns or other.columns,
            self.n_given + other.n_given,
            self.n_rows + other.n_rows,
            self.n_unlabelled + other.n_unlabelled,
            self.is_unweighted and other.is_unweighted,
            _either(self.target, other.target, lambda a, b: a.union(b)),
            _either(self.census, other.census, partial(_both, other.place)),
        )


class FarFrame:
    """The columns of rows that are elsewhere, with their target and weights, as an estimator asks for them."""

    is_named, has_text_names, matrix = True, True, None

    def __init__(self, source: Source, target: str, weight: str | None, read_labels: ReadLabels):
        self.source, self.target, self.weight, self._read_labels = source, target, weight, read_labels
        for name, what in ((target, "target"), (weight, "sample_weight")):
            if name is not None and name not in source.columns:
                raise ValueError(f"no {what} column {name!r}; the columns are {', '.join(map(repr, source.columns))}")
        self.columns = {name: None for name in source.columns if name not in (target, weight)}
        self._packs: Packs | None = None
        self._seen: Sighting | None = None

    def census(self, declared: Mapping[str, Any] | None) -> Census:
        """What each column holds: found on the way where the rows have not been read yet."""
        if self._packs is None:
            found = self._read(declared).census
        else:
            found = self._packs.total(partial(_recounted, declared)).census
        if found is None:
            raise ValueError("there is no row")
        return found

    @property
    def seen(self) -> Sighting:
        """What the first round saw."""
        return self._seen or self._read(None)

    def parts(self, schema: Schema, accepts_infinite: bool, n_jobs: int | None) -> Elsewhere:
        """The rows as parts of a schema, with the vocabularies of its text columns."""
        seen = self.seen
        packs = self._packs
        assert packs is not None and seen.target is not None
        schema = with_target(schema, seen.target)
        if any(column.kind is Kind.TEXT and not column.levels for column in schema.columns):
            words = packs.total(partial(_words, schema))
            columns = zip(schema.columns, words.vocabularies, strict=True)
            known = tuple(msgspec.structs.replace(c, levels=v) if c.kind is Kind.TEXT else c for c, v in columns)
            schema = msgspec.structs.replace(schema, columns=known)
        encoding = Encoding(schema, seen.is_unweighted, accepts_infinite)
        return Elsewhere(packs, encoding, seen.n_rows, n_jobs, self.source)

    def _read(self, declared: Mapping[str, Any] | None) -> Sighting:
        look = partial(_looked, declared, self.target, self.weight, self._read_labels)
        self._packs, self._seen = self.source.packed(look)
        _tell(self._seen, self.target)
        return self._seen


class Encoding(msgspec.Struct, frozen=True):
    """How the rows of a piece become a table."""

    schema: Schema
    is_unweighted: bool
    accepts_infinite: bool

    def table(self, content: bytes) -> Table:
        """The rows of a packed piece, encoded."""
        piece = unpack(content)
        sample = piece.sample
        with in_place(piece.place):
            values = encode.part(sample.frame, self.schema, self.accepts_infinite)
        label = sample.label.values
        if self.schema.target.classes is not None:
            label = labels.recode(sample.label, self.schema.target)
        return Table(self.schema, values, sample.weight, label, self.is_unweighted)


class Elsewhere:
    """The rows of a table on an engine, as `Parts`."""

    def __init__(self, packs: Packs, encoding: Encoding, n_rows: int, n_jobs: int | None, source: Source):
        self.packs, self.encoding, self.source = packs, encoding, source
        self.schema, self.n_rows, self.n_jobs = encoding.schema, n_rows, n_jobs

    def total(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts."""
        return _known(self.packs.total(partial(_observed, observe, self.encoding, rows_per_part)))

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """The rows that `choose` takes of each part, or all where they fit into memory."""
        if choose is None:
            self._refuse_more_than_fits()
        return joined(self.packs.total(partial(_chosen, choose, self.encoding)).tables)

    def cached(self) -> Self:
        """These parts: they are packed already."""
        return self

    def _refuse_more_than_fits(self) -> None:
        of_a_row = 16 + sum(8 if column.kind is Kind.NUMERIC else 4 for column in self.schema.columns)
        refuse_more_than_fits(self.n_rows * of_a_row * SPACE, self.source)


SPACE = 3  # what a learner in memory takes, in sizes of its table


def refuse_more_than_fits(needed: int, source: Source) -> None:
    """Refuses rows that would take more memory than they may."""
    if needed > source.memory:
        raise ValueError(
            f"this needs all rows in memory at once, more than {needed / 1e9:.2f} GB, and may take {source.memory / 1e9:.2f} GB; "
            f"{source.advice}, or use a model that learns in rounds, such as NaiveBayesClassifier or LinearDiscriminantAnalysis"
        )


class Observed(msgspec.Struct, frozen=True):
    """What was observed in a part; nothing where it has no rows."""

    value: Any = None
    is_known: bool = False

    def __add__(self, other: Self) -> Self:
        if not self.is_known or not other.is_known:
            return other if not self.is_known else self
        return type(self)(self.value + other.value, True)


class Gathered(msgspec.Struct, frozen=True):
    """Rows of some parts, one after the other."""

    tables: tuple[Table, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(self.tables + other.tables)


class Words(msgspec.Struct, frozen=True):
    """The words of text columns."""

    vocabularies: tuple[tuple[str, ...], ...]

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.vocabularies, other.vocabularies, strict=True)
        return type(self)(tuple(a if a == b else tuple(sorted({*a, *b})) for a, b in pairs))


def far_frame(source: Source, y: TargetLike, sample_weight: WeightsLike, read_labels: ReadLabels) -> FarFrame:
    """The columns of rows elsewhere; target and weights are columns among them."""
    if not isinstance(y, str):
        raise ValueError("rows that are not in memory have their target as a column: give its name, as in fit(rows, 'y')")
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise ValueError("rows that are not in memory have their weights as a column: give its name as sample_weight")
    return FarFrame(source, y, sample_weight, read_labels)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of tables of one schema, one after the other."""
    kept = [table for table in tables if len(table)] or list(tables[:1])
    if len(kept) == 1:
        return kept[0]
    columns = zip(*(table.values for table in kept), strict=True)
    values = tuple(_stacked(column) for column in columns)
    label, weight = (np.concatenate([getattr(table, name) for table in kept]) for name in ("label", "weight"))
    return Table(kept[0].schema, values, weight, label, all(table.is_unweighted for table in kept))


class in_place:  # noqa: N801
    """While it lasts, an error in the rows also names where these rows are."""

    def __init__(self, place: str):
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, (ValueError, TypeError)) and not str(error).startswith(self.place):
            raise type(error)(f"{self.place}: {error}") from None


def _looked(
    declared: Mapping[str, Any] | None, target: str, weight: str | None, read_labels: ReadLabels, frame: FrameLike, place: str
) -> tuple[bytes, Sighting]:
    """A piece as bytes, and what was seen in it."""
    with in_place(place):
        sample, n_unlabelled = read_part(frame, target, weight, read_labels)
        piece = Piece(place, sample)
        return pack(piece), msgspec.structs.replace(_sighted(piece, declared), n_unlabelled=n_unlabelled)


def _sighted(piece: Piece, declared: Mapping[str, Any] | None) -> Sighting:
    sample = piece.sample
    columns, n_rows = tuple(sample.frame.columns), sample.frame.n_rows
    n_given = n_rows if sample.kept is None else len(sample.kept)
    if not n_rows:
        return Sighting(piece.place, columns, n_given, is_unweighted=sample.is_unweighted)
    census = Census.of_part(sample.frame, declared)
    return Sighting(piece.place, columns, n_given, n_rows, 0, sample.is_unweighted, sample.label.target, census)


def _recounted(declared: Mapping[str, Any] | None, content: bytes) -> Sighting:
    piece = unpack(content)
    with in_place(piece.place):
        return _sighted(piece, declared)


def _words(schema: Schema, content: bytes) -> Words:
    return Words(encode.vocabularies(unpack(content).sample.frame, schema))


def _observed(observe: Callable[[Table], Any], encoding: Encoding, rows_per_part: int | None, content: bytes) -> Observed:
    table = encoding.table(content)
    return Observed(InMemory(table).total(observe, rows_per_part), True) if len(table) else Observed()


def _chosen(choose: Callable[[Table], Table] | None, encoding: Encoding, content: bytes) -> Gathered:
    table = encoding.table(content)
    return Gathered((table if choose is None else choose(table),))


def _known(seen: Observed) -> Any:
    return seen.value


def _stacked(column: Sequence[Any]) -> Any:
    if not isinstance(column[0], Tokens):
        return np.concatenate(column)
    ends = np.cumsum([len(tokens.code) for tokens in column])
    start = [column[0].start, *(tokens.start[1:] + end for tokens, end in zip(column[1:], ends[:-1], strict=True))]
    arrays = (np.concatenate([getattr(tokens, name) for tokens in column]) for name in ("code", "count", "missing"))
    return Tokens(np.concatenate(start), *arrays)


def _either(left: T | None, right: T | None, both: Callable[[T, T], T]) -> T | None:
    return right if left is None else left if right is None else both(left, right)


def _both(place: str, left: Census, right: Census) -> Census:
    with in_place(place):
        return left + right


def _refuse_other_columns(one: Sighting, other: Sighting) -> None:
    if not one.columns or not other.columns:
        return
    lacking = next((name for name in one.columns if name not in other.columns), None)
    if lacking is not None:
        raise ValueError(f"{other.place}: there is no column {lacking!r}, which {one.place} has")
    new = next((name for name in other.columns if name not in one.columns), None)
    if new is not None:
        raise ValueError(f"{other.place}: there is a column {new!r}, which {one.place} has not")


def _tell(seen: Sighting, target: str) -> None:
    if not seen.n_given:
        raise ValueError("Found array with 0 sample(s): there is no row to learn from")
    if not seen.n_rows:
        raise ValueError(f"no row has a label in the target column {target!r}")
    if seen.n_unlabelled:
        told = "1 row has" if seen.n_unlabelled == 1 else f"{seen.n_unlabelled} rows have"
        notices.warn(f"{told} no value in the target column {target!r} and {'is' if seen.n_unlabelled == 1 else 'are'} left out")
