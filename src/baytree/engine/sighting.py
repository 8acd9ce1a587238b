"""The first look at rows that are elsewhere: each piece packed, and what was seen in it, which adds up to the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Self, TypeVar

import msgspec

from baytree.engine.keeping.packing import Packed, Piece, pack, unpack
from baytree.given import FrameLike
from baytree.table import encode
from baytree.table.infer import Census
from baytree.table.sample import ReadLabels, read_part
from baytree.table.schema import Schema, Target

T = TypeVar("T")
Declared = Mapping[str, Any] | None  # what a user says of columns, by name


class Sighting(msgspec.Struct, frozen=True):
    """What the first round saw in a piece; what it saw in two adds up."""

    place: str
    sizes: dict[str, int] = {}  # the rows that count of each piece, by its place, in the order of the pieces
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
            {**self.sizes, **other.sizes},
            self.columns or other.columns,
            self.n_given + other.n_given,
            self.n_rows + other.n_rows,
            self.n_unlabelled + other.n_unlabelled,
            self.is_unweighted and other.is_unweighted,
            _either(self.target, other.target, lambda a, b: a.union(b)),
            _either(self.census, other.census, partial(_both, other.place)),
        )


class Words(msgspec.Struct, frozen=True):
    """The words of text columns."""

    vocabularies: tuple[tuple[str, ...], ...]

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.vocabularies, other.vocabularies, strict=True)
        return type(self)(tuple(a if a == b else tuple(sorted({*a, *b})) for a, b in pairs))


@contextmanager
def in_place(place: str) -> Iterator[None]:
    """While it lasts, an error in the rows also names where these rows are."""
    try:
        yield
    except (ValueError, TypeError) as error:
        told = str(error)
        raise type(error)(told if told.startswith(place) else f"{place}: {told}") from None


def look(
    declared: Declared,
    target: str,
    weight: str | None,
    read_labels: ReadLabels,
    frame: FrameLike,
    place: str,
) -> tuple[Packed, Sighting]:
    """A piece, packed, and what was seen in it."""
    with in_place(place):
        sample, n_unlabelled = read_part(frame, target, weight, read_labels)
        piece = Piece(place, sample)
        return pack(piece), msgspec.structs.replace(_sighted(piece, declared), n_unlabelled=n_unlabelled)


def _sighted(piece: Piece, declared: Declared) -> Sighting:
    sample = piece.sample
    columns, n_rows = tuple(sample.frame.columns), sample.frame.n_rows
    n_given = n_rows if sample.kept is None else len(sample.kept)
    if not n_rows:
        return Sighting(piece.place, {}, columns, n_given, is_unweighted=sample.is_unweighted)
    census = Census.of_part(sample.frame, declared)
    sizes = {piece.place: n_rows}
    return Sighting(piece.place, sizes, columns, n_given, n_rows, 0, sample.is_unweighted, sample.label.target, census)


def look_again(declared: Declared, content: Packed | bytes) -> Sighting:
    """What is seen in a packed piece where columns are declared otherwise."""
    piece = unpack(content)
    with in_place(piece.place):
        return _sighted(piece, declared)


def words_of(schema: Schema, content: Packed | bytes) -> Words:
    """The words in the text columns of a packed piece."""
    return Words(encode.vocabularies(unpack(content).sample.frame, schema))


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
