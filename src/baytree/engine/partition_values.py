"""For engines whose rows do not stay: what is made of a part is made anew in each round, by the same functions.

What is made once of each part of rows that are elsewhere, and kept there for further rounds.

Arrays as bytes, in which what is made of a piece is kept beside it; read back, they are views of these bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.worker_results import OptionalStatistic
from baytree.parallel.threads import S

T = TypeVar("T")

U = TypeVar("U")


class RecomputedPartitionValues(Generic[T]):
    """What `make` makes of each part of these rows, whenever a round asks for it."""

    def __init__(self, rows: Any, make: Callable[[Any], T], rows_per_part: int | None = None):
        self.rows, self.make, self.rows_per_part = rows, make, rows_per_part

    def map_reduce(self, observe: Callable[[T], S]) -> S:
        """One round over the rows: each part is made, and observed."""
        return self.rows.map_reduce(partial(compose, self.make, observe), self.rows_per_part)

    def apply(self, make: Callable[[T], U]) -> RecomputedPartitionValues[U]:
        """What `make` makes of each of these."""
        return RecomputedPartitionValues(self.rows, partial(compose, self.make, make), self.rows_per_part)

    def gather(self) -> list[T]:
        """All of them, in the order of the parts."""
        return self.map_reduce(lambda piece: [piece])


def compose(make: Callable[[Table], T], then: Callable[[T], U], table: Table) -> U:
    """A plain function: what it is given travels to the rows, and the rows must not travel with it."""
    return then(make(table))


_ALIGNED = 64  # bytes: vector instructions read whole lines


class ArraySerializable(Protocol):
    """What can be kept as arrays."""

    def arrays(self) -> Sequence[np.ndarray]:
        """All that it is."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> Self:
        """What had these arrays."""
        ...

    def __len__(self) -> int: ...


K = TypeVar("K", bound=ArraySerializable)


class _Shape(msgspec.Struct, frozen=True, array_like=True):
    dtype: str
    shape: tuple[int, ...]


def as_bytes(arrays: Sequence[np.ndarray]) -> bytes:
    """These arrays, one after the other."""
    known = msgspec.msgpack.encode([_Shape(array.dtype.str, array.shape) for array in arrays])
    pieces = [_padded(len(known).to_bytes(8, "little") + known)]
    return b"".join([*pieces, *(_padded(np.ascontiguousarray(array).tobytes()) for array in arrays)])


def from_bytes(content: bytes | memoryview) -> list[np.ndarray]:
    """The arrays that these bytes hold."""
    start = 8 + int.from_bytes(content[:8], "little")
    found = []
    for each in msgspec.msgpack.decode(content[8:start], type=list[_Shape]):
        start = -(-start // _ALIGNED) * _ALIGNED
        count = int(np.prod(each.shape, dtype=np.int64))
        found.append(np.frombuffer(content, each.dtype, count, start).reshape(each.shape))
        start += found[-1].nbytes
    return found


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNED)


class PersistedPartitionValues(Generic[K]):
    """What was made of each part, in packs of its own: where it is lost, it is made anew."""

    def __init__(self, packs: Any, kind: type[K]):
        self.packs, self.kind = packs, kind

    def map_reduce(self, observe: Callable[[K], S], rows_per_part: int | None = None) -> S:
        """One round: what `observe` sees in what was made of each part, added up in the order of the parts."""
        return self.packs.map_reduce(partial(_observed, self.kind, observe)).value

    def apply(self, make: Callable[[K], T]) -> RecomputedPartitionValues[T]:
        """What `make` makes of each of these, made anew in each round."""
        return RecomputedPartitionValues(self, make)

    def gather(self) -> list[K]:
        """All of them, in the order of the parts."""
        return self.map_reduce(lambda piece: [piece])


def _observed(kind: type[ArraySerializable], observe: Callable[[Any], Any], content: bytes) -> OptionalStatistic:
    made = kind.from_arrays(from_bytes(content))
    return OptionalStatistic(observe(made) if len(made) else None)
