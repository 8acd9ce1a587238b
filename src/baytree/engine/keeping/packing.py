"""Rows of one piece as they are kept: numbers, and codes with levels, in arrays of this process or, on disk and between
machines, as bytes.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.table.frames import Codes, Numbers, Raw, RawFrame, Strings
from baytree.table.labels import Labels
from baytree.table.sample import Sample
from baytree.table.schema import Target


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


class Packed(msgspec.Struct, frozen=True, array_like=True):
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


class Piece(msgspec.Struct, frozen=True):
    """The rows of a piece, and where they were found."""

    place: str
    sample: Sample


def pack(piece: Piece) -> Packed:
    """The piece, laid out."""
    sample = piece.sample
    columns = {name: _packed(name, raw) for name, raw in sample.frame.columns.items()}
    weight = None if sample.is_unweighted else _cells(sample.weight)
    label = _Column(sample.label.values.dtype.str, _cells(sample.label.values))
    known = (piece.place, sample.frame.n_rows, columns, sample.label.target, label, weight, sample.is_unweighted)
    return Packed(*known)


def packed_bytes(content: Packed | bytes) -> bytes:
    """What is packed, as it is written and sent."""
    return msgspec.msgpack.encode(content) if isinstance(content, Packed) else content


def unpack(content: Packed | bytes) -> Piece:
    """The piece that was packed; its columns are views of what they were packed in."""
    piece = content if isinstance(content, Packed) else msgspec.msgpack.decode(content, type=Packed)
    columns = {name: _unpacked(column) for name, column in piece.columns.items()}
    frame = RawFrame(columns, piece.n_rows, True, True, target=piece.target.name)
    weight = np.ones(piece.n_rows) if piece.weight is None else np.frombuffer(piece.weight)
    label = Labels(np.frombuffer(piece.label.cells, piece.label.dtype), _with_tuples(piece.target))
    return Piece(piece.place, Sample(frame, label, weight, piece.is_unweighted))


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
