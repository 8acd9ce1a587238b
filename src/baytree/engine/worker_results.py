"""Results of work on other machines, with their warnings and errors, and how they are added up.

A `WorkerResult` travels pickled as `PickledResult`; `combine_results` adds the results up in block order, emits the warnings
and raises the error. `OptionalStatistic`, `StatisticTuple` and `TableList` are additive containers of results.
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

# Total size of the results of a pass that are sent to this process one by one, so that they are added up in block order.
# Larger results are added up on the workers first, to save transport.
MAX_GATHERED_BYTES = 10_000_000

PickledResult = tuple[Any, bytes]  # index of the first block that a result covers, and the pickled `WorkerResult`


class WorkerError(msgspec.Struct, frozen=True):
    """Error in the rows, sent as a result so that the caller sees the plain error without the traceback of the engine."""

    kind: type[Exception]
    message: str


class WorkerResult(msgspec.Struct, frozen=True):
    """Value with the warnings that were raised while it was computed; adding keeps distinct warnings, or the first error."""

    value: Any
    warnings: tuple[tuple[str, type[Warning]], ...] = ()

    def __add__(self, other: Self) -> Self:
        if isinstance(self.value, WorkerError) or isinstance(other.value, WorkerError):
            return self if isinstance(self.value, WorkerError) else other
        return type(self)(self.value + other.value, tuple(dict.fromkeys((*self.warnings, *other.warnings))))

    def unwrap(self) -> Any:
        """Return the value after emitting the worker's warnings; raise the worker's error if it failed."""
        if isinstance(self.value, WorkerError):
            raise self.value.kind(self.value.message)
        _warnings.emit(list(self.warnings))
        return self.value


def capture_warnings(work: Callable[..., Any], *arguments: Any) -> WorkerResult:
    """Result of work(*arguments) with its warnings."""
    with _warnings.capture() as captured:
        return WorkerResult(work(*arguments), tuple(dict.fromkeys(captured)))


def capture_errors(work: Callable[..., Any], *arguments: Any) -> WorkerResult:
    """Result of work(*arguments) with its warnings, or its ValueError or TypeError."""
    try:
        return capture_warnings(work, *arguments)
    except (ValueError, TypeError) as error:
        kind = next(kind for kind in (ValueError, TypeError) if isinstance(error, kind))
        return WorkerResult(WorkerError(kind, str(error)))


def as_bytes(result: WorkerResult) -> bytes:
    """Pickle a result for transport."""
    return pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)


def combine_large_results(results: Sequence[PickledResult], max_bytes: int) -> list[PickledResult]:
    """Results in block order, or their sum in one item if they have more than `max_bytes`.

    Small results are added up only in this process, in block order, whichever worker computed them. Large results are added
    up in any order. They are counts, whose sums are exact; rows, which carry their position (`RowArrays`, `TableList`); or
    matrices of many features, whose last bits may depend on the workers.
    """
    if sum(len(content) for _, content in results) <= max_bytes or len(results) == 1:
        return sort_by_block(results)
    return [(min(index for index, _ in results), as_bytes(_sum(results)))]


def sort_by_block(results: Sequence[PickledResult]) -> list[PickledResult]:
    """Results in block order."""
    return sorted(results, key=lambda result: result[0])


def combine_results(results: Sequence[PickledResult]) -> Any:
    """Sum of all results, in block order, after emitting their warnings; raises the error of a failed one."""
    return _sum(results).unwrap()


def _sum(results: Sequence[PickledResult]) -> WorkerResult:
    # pickled by our own workers
    return sum_in_order([pickle.loads(content) for _, content in sort_by_block(results)])  # nosec B301


class OptionalStatistic(msgspec.Struct, frozen=True):
    """Statistic of a part; None if the part has no rows."""

    value: Any = None

    def __add__(self, other: Self) -> Self:
        if self.value is None or other.value is None:
            return other if self.value is None else self
        return type(self)(self.value + other.value)


class StatisticTuple(msgspec.Struct, frozen=True):
    """Statistics of several queries."""

    values: tuple

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)))


class TableList(msgspec.Struct, frozen=True):
    """Selected rows of some parts, in arbitrary order of parts; `concatenate_tables` restores the row order."""

    tables: tuple[Table, ...]

    @classmethod
    def of(cls, select: Callable[[Table], Table], table: Table) -> Self:
        """Rows that `select` selects from a table."""
        return cls((msgspec.structs.replace(select(table), first=table.first),))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.tables + other.tables)


def concatenate_tables(tables: Sequence[Table]) -> Table:
    """Concatenate tables of one schema, ordered by the number of rows before each (`first`)."""
    ordered = sorted(tables, key=lambda table: table.first)
    non_empty = [table for table in ordered if len(table)] or ordered[:1]
    if len(non_empty) == 1:
        return msgspec.structs.replace(non_empty[0], first=0)
    columns = zip(*(table.values for table in non_empty), strict=True)
    values = tuple(_concatenate_column(column) for column in columns)
    label, weight = (np.concatenate([getattr(table, name) for table in non_empty]) for name in ("label", "weight"))
    return Table(non_empty[0].schema, values, weight, label, all(table.is_unweighted for table in non_empty))


def _concatenate_column(column: Sequence[Any]) -> Any:
    if not isinstance(column[0], Tokens):
        return np.concatenate(column)
    ends = np.cumsum([len(tokens.code) for tokens in column])
    start = [column[0].start, *(tokens.start[1:] + end for tokens, end in zip(column[1:], ends[:-1], strict=True))]
    arrays = (np.concatenate([getattr(tokens, name) for tokens in column]) for name in ("code", "count", "missing"))
    return Tokens(np.concatenate(start), *arrays)
