"""Arrays as bytes, in which what is made of a piece is kept beside it; read back, they are views of these bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

import msgspec
import numpy as np

_ALIGNED = 64  # bytes: vector instructions read whole lines


class Keepable(Protocol):
    """What can be kept as arrays."""

    def arrays(self) -> Sequence[np.ndarray]:
        """All that it is."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> Self:
        """What had these arrays."""
        ...

    def __len__(self) -> int: ...


K = TypeVar("K", bound=Keepable)


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
