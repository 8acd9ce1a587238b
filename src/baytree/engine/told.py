"""What work on another machine gives, together with what it warned of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import msgspec

from baytree import notices


class Told(msgspec.Struct, frozen=True):
    """A value, and the notices that came with it; two add up."""

    value: Any
    notices: tuple[tuple[str, type[Warning]], ...] = ()

    def __add__(self, other: Self) -> Self:
        return type(self)(self.value + other.value, tuple(dict.fromkeys((*self.notices, *other.notices))))

    def heard(self) -> Any:
        """The value, after what came with it was told here."""
        notices.tell(list(self.notices))
        return self.value


def telling(work: Callable[..., Any], *arguments: Any) -> Told:
    """What work gives, its notices kept."""
    with notices.keeping() as kept:
        return Told(work(*arguments), tuple(dict.fromkeys(kept)))
