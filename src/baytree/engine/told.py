"""What work on another machine gives, together with what it warned of, and how it is brought here."""

from __future__ import annotations

import pickle  # nosec B403
from collections.abc import Callable, Sequence
from typing import Any, Self

import msgspec

from baytree import notices
from baytree.engine.threads import added

AT_ONCE = 10_000_000  # bytes of answers that are brought here as they are; more are added up on the workers first
Sent = tuple[Any, bytes]  # the place of the first piece that an answer is of, and the answer


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


def as_bytes(answer: Told) -> bytes:
    """An answer as it travels."""
    return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)


def add_large(answers: Sequence[Sent], most: int) -> list[Sent]:
    """The answers in the order of their pieces; their sum in their place where they have more than `most` bytes.

    Small answers are added up on this machine alone, in the order of the pieces, whoever held them. Large ones are added up
    in any order: counts, whose sums are exact; rows, which carry their place (`Strung`, `Gathered`); or matrices of many
    features, which may differ in last bits with the workers.
    """
    if sum(len(content) for _, content in answers) <= most or len(answers) == 1:
        return in_order(answers)
    return [(min(place for place, _ in answers), as_bytes(_sum(answers)))]


def in_order(answers: Sequence[Sent]) -> list[Sent]:
    """The answers in the order of their pieces."""
    return sorted(answers, key=lambda answer: answer[0])


def brought(answers: Sequence[Sent]) -> Any:
    """The sum of all answers, in the order of their pieces, after what came with it was told here."""
    return _sum(answers).heard()


def _sum(answers: Sequence[Sent]) -> Told:
    # our own workers sent it
    return added([pickle.loads(content) for _, content in in_order(answers)])  # nosec B301
