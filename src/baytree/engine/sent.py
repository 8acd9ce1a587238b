"""Answers of pieces on their way from workers to this machine: as they are where they are small, else added up."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from baytree.engine.threads import added
from baytree.engine.told import Told

AT_ONCE = 10_000_000  # bytes of answers that are brought here as they are; more are added up on the workers first
Sent = tuple[Any, bytes]  # the place of the first piece that an answer is of, and the answer


def as_bytes(answer: Told) -> bytes:
    """An answer as it travels."""
    return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)


def add_large(answers: Sequence[Sent], most: int) -> list[Sent]:
    """The answers in the order of their pieces; their sum in their place where they have more than `most` bytes.

    Small answers are added up on this machine alone, in the order of the pieces, whoever held them. Large ones are counts,
    whose sums are exact in any order, or matrices of many features, which may differ in last bits with the workers.
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
    return added([pickle.loads(content) for _, content in in_order(answers)])
