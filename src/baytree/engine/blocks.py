"""Packed blocks of rows, and the first pass over remote rows.

A block is the raw (not yet encoded) rows of one batch: numbers, and codes with levels, held as arrays of this process or,
on disk and between machines, as msgpack bytes (`pack`, `packed_bytes`, `unpack`). The first pass packs each block and
collects a `BlockInspection`; inspections add up to the profile from which the schema is inferred.
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
    """Cells of one packed column and the metadata to rebuild it."""

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
    """Packed rows of one block. Cells are views and are copied only when converted to bytes."""

    location: str
    n_rows: int
    columns: dict[str, _Column]
    target: Target
    label: _Column
    weight: memoryview | None  # None if every weight is 1
    is_unweighted: bool

    def __len__(self) -> int:
        """Number of bytes of the cells."""
        columns = sum(column.cells.nbytes for column in self.columns.values())
        return columns + self.label.cells.nbytes + (0 if self.weight is None else self.weight.nbytes)


class Block(msgspec.Struct, frozen=True):
    """Raw rows of one block with target and weights, and their location for messages."""

    location: str
    sample: TrainingSample


def pack(block: Block) -> PackedBlock:
    """Lay out the rows of a block as a `PackedBlock`."""
    sample = block.sample
    columns = {name: _pack_column(name, raw) for name, raw in sample.frame.columns.items()}
    weight = None if sample.is_unweighted else _cells(sample.weight)
    label = _Column(sample.label.values.dtype.str, _cells(sample.label.values))
    fields = (block.location, sample.frame.n_rows, columns, sample.label.target, label, weight, sample.is_unweighted)
    return PackedBlock(*fields)


def packed_bytes(content: PackedBlock | bytes) -> bytes:
    """Packed block as msgpack bytes, as it is written and sent."""
    return msgspec.msgpack.encode(content) if isinstance(content, PackedBlock) else content


def unpack(content: PackedBlock | bytes) -> Block:
    """Rebuild a block; its columns are views of the packed cells."""
    block = content if isinstance(content, PackedBlock) else msgspec.msgpack.decode(content, type=PackedBlock)
    columns = {name: _unpack_column(column) for name, column in block.columns.items()}
    frame = RawFrame(columns, block.n_rows, True, True, target=block.target.name)
    weight = np.ones(block.n_rows) if block.weight is None else np.frombuffer(block.weight)
    label = Labels(np.frombuffer(block.label.cells, block.label.dtype), _restore_tuple_classes(block.target))
    return Block(block.location, TrainingSample(frame, label, weight, block.is_unweighted))


def _pack_column(name: str, raw: Raw) -> _Column:
    if isinstance(raw, Numbers):
        values = raw.matrix.array[:, raw.column]
        return _Column(values.dtype.str, _cells(values), None, raw.unit, raw.is_whole)
    codes = raw.factorise() if isinstance(raw, Strings) else raw
    narrow = np.asarray(codes.codes).astype(np.min_scalar_type(-max(len(codes.levels), 1)))
    string_flags = isinstance(raw, Strings), isinstance(raw, Strings) and raw.is_category
    levels = _checked_levels(name, codes.levels)
    return _Column(narrow.dtype.str, _cells(narrow), levels, None, False, codes.is_ordered, codes.is_declared, *string_flags)


def _cells(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B") if len(array) else memoryview(b"")


def _checked_levels(name: str, levels: tuple) -> list:
    for level in levels:
        if not isinstance(level, (str, bool, int, float)):
            raise ValueError(f"column {name!r}: the level {level!r} is neither a string nor a number; convert it to strings")
    return list(levels)


def _unpack_column(column: _Column) -> Raw:
    cells = np.frombuffer(column.cells, column.dtype)
    if column.levels is None:
        return Numbers.of(cells, unit=column.unit, is_whole=column.is_whole)
    codes = Codes(cells, tuple(column.levels), column.is_ordered, column.is_declared)
    if not column.is_strings:
        return codes
    return Strings(len(cells), lambda: codes, lambda: _decode_strings(codes), column.is_category)


def _decode_strings(codes: Codes) -> list[str | None]:
    names: list[Any] = [*codes.levels, None]
    return [names[code] for code in codes.codes.tolist()]


def _restore_tuple_classes(target: Target) -> Target:
    """Target with tuple classes restored: msgpack returns them as lists."""
    if target.classes is None:
        return target
    classes = tuple(tuple(label) if isinstance(label, list) else label for label in target.classes)
    return msgspec.structs.replace(target, classes=classes)


T = TypeVar("T")

Declarations = Mapping[str, Any] | None  # column kinds and levels that the user declares, by column name


class BlockInspection(msgspec.Struct, frozen=True):
    """Additive summary of the first pass over one or more blocks."""

    location: str
    sizes: dict[str, int] = {}  # number of rows that count in each block, by location, in block order
    columns: tuple[str, ...] = ()
    n_given: int = 0
    n_rows: int = 0
    n_unlabelled: int = 0
    is_unweighted: bool = True
    target: Target | None = None  # None if no row counts
    profile: TableProfile | None = None

    def __add__(self, other: Self) -> Self:
        _check_same_columns(self, other)
        return type(self)(
            self.location if self.n_rows else other.location,
            {**self.sizes, **other.sizes},
            self.columns or other.columns,
            self.n_given + other.n_given,
            self.n_rows + other.n_rows,
            self.n_unlabelled + other.n_unlabelled,
            self.is_unweighted and other.is_unweighted,
            _merge_optional(self.target, other.target, lambda a, b: a.union(b)),
            _merge_optional(self.profile, other.profile, partial(_merge_profiles, other.location)),
        )


class Vocabularies(msgspec.Struct, frozen=True):
    """Vocabularies of the text columns; adding two gives the sorted union of each."""

    vocabularies: tuple[tuple[str, ...], ...]

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.vocabularies, other.vocabularies, strict=True)
        return type(self)(tuple(a if a == b else tuple(sorted({*a, *b})) for a, b in pairs))


@contextmanager
def error_location(location: str) -> Iterator[None]:
    """Prefix errors raised inside this context with the location of the rows."""
    try:
        yield
    except (ValueError, TypeError) as error:
        message = str(error)
        raise type(error)(message if message.startswith(location) else f"{location}: {message}") from None


def inspect_block(
    declarations: Declarations,
    target: str,
    weight: str | None,
    read_labels: ReadLabels,
    frame: FrameLike,
    location: str,
) -> tuple[PackedBlock, BlockInspection]:
    """Pack the rows of one block and inspect them."""
    with error_location(location):
        sample, n_unlabelled = read_part(frame, target, weight, read_labels)
        block = Block(location, sample)
        return pack(block), msgspec.structs.replace(_inspection(block, declarations), n_unlabelled=n_unlabelled)


def _inspection(block: Block, declarations: Declarations) -> BlockInspection:
    sample = block.sample
    columns, n_rows = tuple(sample.frame.columns), sample.frame.n_rows
    n_given = n_rows if sample.row_mask is None else len(sample.row_mask)
    if not n_rows:
        return BlockInspection(block.location, {}, columns, n_given, is_unweighted=sample.is_unweighted)
    profile = TableProfile.of_part(sample.frame, declarations)
    sizes = {block.location: n_rows}
    return BlockInspection(
        block.location, sizes, columns, n_given, n_rows, 0, sample.is_unweighted, sample.label.target, profile
    )


def reinspect_block(declarations: Declarations, content: PackedBlock | bytes) -> BlockInspection:
    """Inspect a packed block again, under other column declarations."""
    block = unpack(content)
    with error_location(block.location):
        return _inspection(block, declarations)


def collect_vocabularies(schema: Schema, content: PackedBlock | bytes) -> Vocabularies:
    """Vocabularies of the text columns of a packed block."""
    return Vocabularies(encode.vocabularies(unpack(content).sample.frame, schema))


def _merge_optional(left: T | None, right: T | None, both: Callable[[T, T], T]) -> T | None:
    return right if left is None else left if right is None else both(left, right)


def _merge_profiles(location: str, left: TableProfile, right: TableProfile) -> TableProfile:
    with error_location(location):
        return left + right


def _check_same_columns(one: BlockInspection, other: BlockInspection) -> None:
    if not one.columns or not other.columns:
        return
    lacking = next((name for name in one.columns if name not in other.columns), None)
    if lacking is not None:
        raise ValueError(f"{other.location}: there is no column {lacking!r}, which {one.location} has")
    new = next((name for name in other.columns if name not in one.columns), None)
    if new is not None:
        raise ValueError(f"{other.location}: there is a column {new!r}, which {one.location} does not have")
