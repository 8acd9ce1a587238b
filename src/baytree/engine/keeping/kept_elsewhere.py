"""What is made once of each part of rows that are elsewhere, and kept there for further rounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from baytree.engine.anew import MadeAnew
from baytree.engine.gathering import Perhaps
from baytree.engine.keeping import array_bytes
from baytree.engine.keeping.array_bytes import K, Keepable
from baytree.engine.threads import S

T = TypeVar("T")


class KeptElsewhere(Generic[K]):
    """What was made of each part, in packs of its own: where it is lost, it is made anew."""

    def __init__(self, packs: Any, kind: type[K]):
        self.packs, self.kind = packs, kind

    def total(self, observe: Callable[[K], S], rows_per_part: int | None = None) -> S:
        """One round: what `observe` sees in what was made of each part, added up in the order of the parts."""
        return self.packs.total(partial(_observed, self.kind, observe)).value

    def made(self, make: Callable[[K], T]) -> MadeAnew[T]:
        """What `make` makes of each of these, made anew in each round."""
        return MadeAnew(self, make)

    def gather(self) -> list[K]:
        """All of them, in the order of the parts."""
        return self.total(lambda piece: [piece])


def _observed(kind: type[Keepable], observe: Callable[[Any], Any], content: bytes) -> Perhaps:
    made = kind.from_arrays(array_bytes.from_bytes(content))
    return Perhaps(observe(made) if len(made) else None)
