"""Values computed once per partition, and their serialization.

`PersistedPartitionValues` are stored with the blocks of a remote engine as bytes (`as_bytes`, `from_bytes`; read back, the
arrays are views). `RecomputedPartitionValues` are for values that cannot be stored: they are recomputed in every pass.
`LocalPartitionValues`, for rows in memory, are in `engine.partitions`.
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
    """Values `make(part)`, recomputed in every pass."""

    def __init__(self, rows: Any, make: Callable[[Any], T], rows_per_part: int | None = None):
        self.rows, self.make, self.rows_per_part = rows, make, rows_per_part

    def map_reduce(self, observe: Callable[[T], S]) -> S:
        """Compute the value of each part, observe it, and add up the results (one pass over the rows)."""
        return self.rows.map_reduce(partial(compose, self.make, observe), self.rows_per_part)

    def apply(self, make: Callable[[T], U]) -> RecomputedPartitionValues[U]:
        """Values `make(value)`, recomputed in every pass."""
        return RecomputedPartitionValues(self.rows, partial(compose, self.make, make), self.rows_per_part)

    def gather(self) -> list[T]:
        """All values, in the order of the parts."""
        return self.map_reduce(lambda value: [value])


def compose(make: Callable[[Table], T], then: Callable[[T], U], table: Table) -> U:
    """Return then(make(table)). A plain function, since a closure would pickle the rows along with it."""
    return then(make(table))


_ALIGNMENT_BYTES = 64  # start of each array: a cache line, as vector instructions read it


class ArraySerializable(Protocol):
    """Object that can be stored as a sequence of arrays."""

    def arrays(self) -> Sequence[np.ndarray]:
        """Arrays from which `from_arrays` rebuilds this object."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> Self:
        """Rebuild the object from its arrays."""
        ...

    def __len__(self) -> int: ...


K = TypeVar("K", bound=ArraySerializable)


class _Shape(msgspec.Struct, frozen=True, array_like=True):
    dtype: str
    shape: tuple[int, ...]


def as_bytes(arrays: Sequence[np.ndarray]) -> bytes:
    """Serialize arrays: a msgpack header with dtypes and shapes, then the aligned data."""
    header = msgspec.msgpack.encode([_Shape(array.dtype.str, array.shape) for array in arrays])
    parts = [_padded(len(header).to_bytes(8, "little") + header)]
    return b"".join([*parts, *(_padded(np.ascontiguousarray(array).tobytes()) for array in arrays)])


def from_bytes(content: bytes | memoryview) -> list[np.ndarray]:
    """Arrays stored in these bytes, as views."""
    start = 8 + int.from_bytes(content[:8], "little")
    arrays = []
    for array_shape in msgspec.msgpack.decode(content[8:start], type=list[_Shape]):
        start = -(-start // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
        count = int(np.prod(array_shape.shape, dtype=np.int64))
        arrays.append(np.frombuffer(content, array_shape.dtype, count, start).reshape(array_shape.shape))
        start += arrays[-1].nbytes
    return arrays


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNMENT_BYTES)


class PersistedPartitionValues(Generic[K]):
    """Values computed once per block and stored with the blocks; lost ones are recomputed."""

    def __init__(self, blocks: Any, kind: type[K]):
        self.blocks, self.kind = blocks, kind

    def map_reduce(self, observe: Callable[[K], S], rows_per_part: int | None = None) -> S:
        """Apply `observe` to the value of each block and return the sum, in block order (one pass)."""
        return self.blocks.map_reduce(partial(_observe_bytes, self.kind, observe)).value

    def apply(self, make: Callable[[K], T]) -> RecomputedPartitionValues[T]:
        """Values `make(value)`, recomputed in every pass."""
        return RecomputedPartitionValues(self, make)

    def gather(self) -> list[K]:
        """All values, in the order of the blocks."""
        return self.map_reduce(lambda value: [value])


def _observe_bytes(kind: type[ArraySerializable], observe: Callable[[Any], Any], content: bytes) -> OptionalStatistic:
    value = kind.from_arrays(from_bytes(content))
    return OptionalStatistic(observe(value) if len(value) else None)
