"""What work on another machine gives, together with what it warned of, and how it is brought here.

Rows of several parts brought together, and what may be there or not.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, Self

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.encoding.table import Table, Tokens
from baytree.parallel.threads import sum_in_order

AT_ONCE = 10_000_000  # bytes of answers that are brought here as they are; more are added up on the workers first

Sent = tuple[Any, bytes]  # the place of the first piece that an answer is of, and the answer


class WorkerError(msgspec.Struct, frozen=True):
    """An error in the rows, which travels as an answer: to the caller it is one error, without the way it took."""

    kind: type[Exception]
    words: str


class WorkerResult(msgspec.Struct, frozen=True):
    """A value, and the notices that came with it; two add up."""

    value: Any
    notices: tuple[tuple[str, type[Warning]], ...] = ()

    def __add__(self, other: Self) -> Self:
        if isinstance(self.value, WorkerError) or isinstance(other.value, WorkerError):
            return self if isinstance(self.value, WorkerError) else other
        return type(self)(self.value + other.value, tuple(dict.fromkeys((*self.notices, *other.notices))))

    def unwrap(self) -> Any:
        """The value, after what came with it was told here; an error that came instead of it is raised."""
        if isinstance(self.value, WorkerError):
            raise self.value.kind(self.value.words)
        _warnings.emit(list(self.notices))
        return self.value


def capture_warnings(work: Callable[..., Any], *arguments: Any) -> WorkerResult:
    """What work gives, its notices kept."""
    with _warnings.capture() as kept:
        return WorkerResult(work(*arguments), tuple(dict.fromkeys(kept)))


def capture_errors(work: Callable[..., Any], *arguments: Any) -> WorkerResult:
    """What work gives, its notices kept, or the error that it met in the rows."""
    try:
        return capture_warnings(work, *arguments)
    except (ValueError, TypeError) as error:
        kind = next(kind for kind in (ValueError, TypeError) if isinstance(error, kind))
        return WorkerResult(WorkerError(kind, str(error)))


def as_bytes(answer: WorkerResult) -> bytes:
    """An answer as it travels."""
    return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)


def combine_large_results(answers: Sequence[Sent], most: int) -> list[Sent]:
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


def combine_results(answers: Sequence[Sent]) -> Any:
    """The sum of all answers, in the order of their pieces, after what came with it was told here."""
    return _sum(answers).unwrap()


def _sum(answers: Sequence[Sent]) -> WorkerResult:
    # our own workers sent it
    return sum_in_order([pickle.loads(content) for _, content in in_order(answers)])  # nosec B301


class OptionalStatistic(msgspec.Struct, frozen=True):
    """What was made of a part; None where it has no rows."""

    value: Any = None

    def __add__(self, other: Self) -> Self:
        if self.value is None or other.value is None:
            return other if self.value is None else self
        return type(self)(self.value + other.value)


class StatisticTuple(msgspec.Struct, frozen=True):
    """The answers to several questions."""

    values: tuple

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)))


class TableList(msgspec.Struct, frozen=True):
    """Rows of some parts, in the order in which their answers are added up; `concatenate_tables` puts them in the order of the rows."""

    tables: tuple[Table, ...]

    @classmethod
    def of(cls, choose: Callable[[Table], Table], table: Table) -> Self:
        """The rows that are chosen of these."""
        return cls((msgspec.structs.replace(choose(table), first=table.first),))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.tables + other.tables)


def concatenate_tables(tables: Sequence[Table]) -> Table:
    """The rows of tables of one schema, in the order of the rows that come before each table."""
    ordered = sorted(tables, key=lambda table: table.first)
    kept = [table for table in ordered if len(table)] or ordered[:1]
    if len(kept) == 1:
        return msgspec.structs.replace(kept[0], first=0)
    columns = zip(*(table.values for table in kept), strict=True)
    values = tuple(_stacked(column) for column in columns)
    label, weight = (np.concatenate([getattr(table, name) for table in kept]) for name in ("label", "weight"))
    return Table(kept[0].schema, values, weight, label, all(table.is_unweighted for table in kept))


def _stacked(column: Sequence[Any]) -> Any:
    if not isinstance(column[0], Tokens):
        return np.concatenate(column)
    ends = np.cumsum([len(tokens.code) for tokens in column])
    start = [column[0].start, *(tokens.start[1:] + end for tokens, end in zip(column[1:], ends[:-1], strict=True))]
    arrays = (np.concatenate([getattr(tokens, name) for tokens in column]) for name in ("code", "count", "missing"))
    return Tokens(np.concatenate(start), *arrays)
