"""Rows of one piece as they are kept: numbers, and codes with levels, in arrays of this process or, on disk and between
machines, as bytes.

The first look at rows that are elsewhere: each piece packed, and what was seen in it, which adds up to the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Self, TypeVar

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.data.encoding import encode
from baytree.data.encoding.labels import Labels
from baytree.data.encoding.sample import ReadLabels, TrainingSample, read_part
from baytree.data.frames.numbers import Codes, Numbers
from baytree.data.frames.raw import Raw, RawFrame, Strings
from baytree.data.inference.infer import TableProfile
from baytree.data.schema.schema import Schema, Target


class _Column(msgspec.Struct, frozen=True, array_like=True):
    """The cells of a column, and what is known of it besides."""

    dtype: str
    cells: memoryview
    levels: list | None = None
    unit: str | None = None
    is_whole: bool = False
    is_ordered: bool = False
    is_declared: bool = False
    is_strings: bool = False
    is_category: bool = False


class PackedBlock(msgspec.Struct, frozen=True, array_like=True):
    """The rows of a piece laid out as cells, which are not copied before somebody asks for bytes."""

    place: str
    n_rows: int
    columns: dict[str, _Column]
    target: Target
    label: _Column
    weight: memoryview | None  # None where every weight is 1
    is_unweighted: bool

    def __len__(self) -> int:
        """How many bytes the cells take."""
        columns = sum(column.cells.nbytes for column in self.columns.values())
        return columns + self.label.cells.nbytes + (0 if self.weight is None else self.weight.nbytes)


class Block(msgspec.Struct, frozen=True):
    """The rows of a piece, and where they were found."""

    place: str
    sample: TrainingSample


def pack(piece: Block) -> PackedBlock:
    """The piece, laid out."""
    sample = piece.sample
    columns = {name: _packed(name, raw) for name, raw in sample.frame.columns.items()}
    weight = None if sample.is_unweighted else _cells(sample.weight)
    label = _Column(sample.label.values.dtype.str, _cells(sample.label.values))
    known = (piece.place, sample.frame.n_rows, columns, sample.label.target, label, weight, sample.is_unweighted)
    return PackedBlock(*known)


def packed_bytes(content: PackedBlock | bytes) -> bytes:
    """What is packed, as it is written and sent."""
    return msgspec.msgpack.encode(content) if isinstance(content, PackedBlock) else content


def unpack(content: PackedBlock | bytes) -> Block:
    """The piece that was packed; its columns are views of what they were packed in."""
    piece = content if isinstance(content, PackedBlock) else msgspec.msgpack.decode(content, type=PackedBlock)
    columns = {name: _unpacked(column) for name, column in piece.columns.items()}
    frame = RawFrame(columns, piece.n_rows, True, True, target=piece.target.name)
    weight = np.ones(piece.n_rows) if piece.weight is None else np.frombuffer(piece.weight)
    label = Labels(np.frombuffer(piece.label.cells, piece.label.dtype), _with_tuples(piece.target))
    return Block(piece.place, TrainingSample(frame, label, weight, piece.is_unweighted))


def _packed(name: str, raw: Raw) -> _Column:
    if isinstance(raw, Numbers):
        values = raw.matrix.array[:, raw.column]
        return _Column(values.dtype.str, _cells(values), None, raw.unit, raw.is_whole)
    codes = raw.factorise() if isinstance(raw, Strings) else raw
    narrow = np.asarray(codes.codes).astype(np.min_scalar_type(-max(len(codes.levels), 1)))
    of_strings = isinstance(raw, Strings), isinstance(raw, Strings) and raw.is_category
    levels = _plain(name, codes.levels)
    return _Column(narrow.dtype.str, _cells(narrow), levels, None, False, codes.is_ordered, codes.is_declared, *of_strings)


def _cells(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B") if len(array) else memoryview(b"")


def _plain(name: str, levels: tuple) -> list:
    for level in levels:
        if not isinstance(level, (str, bool, int, float)):
            raise ValueError(f"column {name!r}: the level {level!r} is neither a string nor a number; convert it to strings")
    return list(levels)


def _unpacked(column: _Column) -> Raw:
    cells = np.frombuffer(column.cells, column.dtype)
    if column.levels is None:
        return Numbers.of(cells, unit=column.unit, is_whole=column.is_whole)
    codes = Codes(cells, tuple(column.levels), column.is_ordered, column.is_declared)
    if not column.is_strings:
        return codes
    return Strings(len(cells), lambda: codes, lambda: _documents(codes), column.is_category)


def _documents(codes: Codes) -> list[str | None]:
    names: list[Any] = [*codes.levels, None]
    return [names[code] for code in codes.codes.tolist()]


def _with_tuples(target: Target) -> Target:
    """The target as it was: a class that was a tuple comes back as a list."""
    if target.classes is None:
        return target
    classes = tuple(tuple(label) if isinstance(label, list) else label for label in target.classes)
    return msgspec.structs.replace(target, classes=classes)


T = TypeVar("T")

Declared = Mapping[str, Any] | None  # what a user says of columns, by name


class BlockInspection(msgspec.Struct, frozen=True):
    """What the first round saw in a piece; what it saw in two adds up."""

    place: str
    sizes: dict[str, int] = {}  # the rows that count of each piece, by its place, in the order of the pieces
    columns: tuple[str, ...] = ()
    n_given: int = 0
    n_rows: int = 0
    n_unlabelled: int = 0
    is_unweighted: bool = True
    target: Target | None = None  # None where no row counts
    census: TableProfile | None = None

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


class Vocabularies(msgspec.Struct, frozen=True):
    """The words of text columns."""

    vocabularies: tuple[tuple[str, ...], ...]

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.vocabularies, other.vocabularies, strict=True)
        return type(self)(tuple(a if a == b else tuple(sorted({*a, *b})) for a, b in pairs))


@contextmanager
def error_location(place: str) -> Iterator[None]:
    """While it lasts, an error in the rows also names where these rows are."""
    try:
        yield
    except (ValueError, TypeError) as error:
        told = str(error)
        raise type(error)(told if told.startswith(place) else f"{place}: {told}") from None


def inspect_block(
    declared: Declared,
    target: str,
    weight: str | None,
    read_labels: ReadLabels,
    frame: FrameLike,
    place: str,
) -> tuple[PackedBlock, BlockInspection]:
    """A piece, packed, and what was seen in it."""
    with error_location(place):
        sample, n_unlabelled = read_part(frame, target, weight, read_labels)
        piece = Block(place, sample)
        return pack(piece), msgspec.structs.replace(_sighted(piece, declared), n_unlabelled=n_unlabelled)


def _sighted(piece: Block, declared: Declared) -> BlockInspection:
    sample = piece.sample
    columns, n_rows = tuple(sample.frame.columns), sample.frame.n_rows
    n_given = n_rows if sample.row_mask is None else len(sample.row_mask)
    if not n_rows:
        return BlockInspection(piece.place, {}, columns, n_given, is_unweighted=sample.is_unweighted)
    census = TableProfile.of_part(sample.frame, declared)
    sizes = {piece.place: n_rows}
    return BlockInspection(
        piece.place, sizes, columns, n_given, n_rows, 0, sample.is_unweighted, sample.label.target, census
    )


def reinspect_block(declared: Declared, content: PackedBlock | bytes) -> BlockInspection:
    """What is seen in a packed piece where columns are declared otherwise."""
    piece = unpack(content)
    with error_location(piece.place):
        return _sighted(piece, declared)


def collect_vocabularies(schema: Schema, content: PackedBlock | bytes) -> Vocabularies:
    """The words in the text columns of a packed piece."""
    return Vocabularies(encode.vocabularies(unpack(content).sample.frame, schema))


def _either(left: T | None, right: T | None, both: Callable[[T, T], T]) -> T | None:
    return right if left is None else left if right is None else both(left, right)


def _both(place: str, left: TableProfile, right: TableProfile) -> TableProfile:
    with error_location(place):
        return left + right


def _refuse_other_columns(one: BlockInspection, other: BlockInspection) -> None:
    if not one.columns or not other.columns:
        return
    lacking = next((name for name in one.columns if name not in other.columns), None)
    if lacking is not None:
        raise ValueError(f"{other.place}: there is no column {lacking!r}, which {one.place} has")
    new = next((name for name in other.columns if name not in one.columns), None)
    if new is not None:
        raise ValueError(f"{other.place}: there is a column {new!r}, which {one.place} has not")
