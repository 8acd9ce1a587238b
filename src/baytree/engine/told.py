"""What work on another machine gives, together with what it warned of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import msgspec

from baytree import notices


class Failed(msgspec.Struct, frozen=True):
    """An error in the rows, which travels as an answer: to the caller it is one error, without the way it took."""

    kind: type[Exception]
    words: str


class Told(msgspec.Struct, frozen=True):
    """A value, and the notices that came with it; two add up."""

    value: Any
    notices: tuple[tuple[str, type[Warning]], ...] = ()

    def __add__(self, other: Self) -> Self:
        if isinstance(self.value, Failed) or isinstance(other.value, Failed):
            return self if isinstance(self.value, Failed) else other
        return type(self)(self.value + other.value, tuple(dict.fromkeys((*self.notices, *other.notices))))

    def heard(self) -> Any:
        """The value, after what came with it was told here; an error that came instead of it is raised."""
        if isinstance(self.value, Failed):
            raise self.value.kind(self.value.words)
        notices.tell(list(self.notices))
        return self.value


def telling(work: Callable[..., Any], *arguments: Any) -> Told:
    """What work gives, its notices kept."""
    with notices.keeping() as kept:
        return Told(work(*arguments), tuple(dict.fromkeys(kept)))


def telling_errors(work: Callable[..., Any], *arguments: Any) -> Told:
    """What work gives, its notices kept, or the error that it met in the rows."""
    try:
        return telling(work, *arguments)
    except (ValueError, TypeError) as error:
        kind = next(kind for kind in (ValueError, TypeError) if isinstance(error, kind))
        return Told(Failed(kind, str(error)))
