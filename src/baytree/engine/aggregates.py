"""What an observation needs to know of the rows, so that an engine that cannot run it can answer with aggregate queries.

A database adds up counts and sums, but it does not run Python on rows. An observation (the function given to `map_reduce`)
therefore may declare its aggregate form with `as_query`: a function of the same leading arguments that returns one of the
records below. Engines that run Python ignore it. An observation without a form needs the rows themselves and is refused by
engines that have none.

- `Marginals`: the statistic depends only on how often each value of each column occurs in each class. The engine fetches
  these counts and observes a few weighted rows with the same counts (`representative`), so there is one implementation.
- `CombinationCounts`: it depends on how often each combination of values occurs.
- `NodeCells`: counts by node of a tree, column code and class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


class Detail(StrEnum):
    """What a statistic needs of a numeric column of many distinct values."""

    VALUES = "values"  # every distinct value
    BUCKETS = "buckets"  # values rounded to a fine grid
    MOMENTS = "moments"  # weight, mean and variance in each class
    NOTHING = "nothing"  # the column is not read


class Marginals(msgspec.Struct, frozen=True):
    """Counts of the values of each column in each class.

    `join` puts the statistics of single columns together; without it all columns are observed at once. `finish` corrects
    what depends on the number of rows instead of their weight.
    """

    details: tuple[Detail, ...]  # by column
    join: Callable[[Sequence[Any]], Any] | None = None
    finish: Callable[[Any, int], Any] | None = None  # (statistic, number of rows) -> statistic
    observe: Callable[[Any], Any] | None = None  # replaces an observation that counts rows instead of weights


class CombinationCounts(msgspec.Struct, frozen=True):
    """Counts of the combinations of values of all columns and the class."""

    observe: Callable[[Any], Any] | None = None  # replaces the observation, which would count combinations instead of rows
    counts_rows: bool = False  # weigh combinations by their rows instead of the sum of their weights


class FeatureProducts(msgspec.Struct, frozen=True):
    """Weight, and sums and products of features, of each class or of all rows.

    `features` gives the features, from the schema, the columns with missing values and a value near the middle of each
    column. `finish` computes the statistic from weight [n_classes], sums [n_classes, p] and products [n_classes, p, p] of
    the features about these middle values.
    """

    features: Callable[[Any, np.ndarray, np.ndarray], Any]
    finish: Callable[[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Any]
    has_target: bool = False  # the numeric target is the last column, and there are no classes


class NodeCells(msgspec.Struct, frozen=True):
    """Counts of the rows that stop in some nodes of a tree, by node, code and class for each column.

    A row at node k with code c of column[k] goes to child[start[k] + c], or stops there if that is −1.
    """

    column: np.ndarray  # int32 [n_nodes], −1 for leaves
    start: np.ndarray  # int64 [n_nodes]
    child: np.ndarray  # int32
    nodes: np.ndarray  # int64 [n_counted], the nodes whose rows are counted
    # counts [n_counted, n_codes, n_classes] of each column, and rows int64 [n_counted] -> statistic
    finish: Callable[[Any, np.ndarray], Any]


class NodeRows(msgspec.Struct, frozen=True):
    """Number of rows that stop in each node of a tree; fields as in `NodeCells`."""

    column: np.ndarray
    start: np.ndarray
    child: np.ndarray
    finish: Callable[[Any], Any]  # int64 [n_nodes] -> statistic


class Coding(msgspec.Struct, frozen=True):
    """Form of a function that codes rows for further passes, which are `NodeCells` and `NodeRows` of these codes."""

    ends: tuple[np.ndarray | None, ...]  # upper bounds of the codes of numeric columns
    sizes: tuple[int, ...]  # number of codes of each column


class CompleteRows(msgspec.Struct, frozen=True):
    """Form of a transformation that drops rows without any known value."""


class SeveralForms(msgspec.Struct, frozen=True):
    """Forms of several observations in one pass."""

    forms: tuple[Any, ...]
    finish: Callable[[Sequence[Any]], Any]


def as_query(form: Callable[..., Any]) -> Callable[[F], F]:
    """Declare the aggregate form of an observation: a function of its arguments before the table, `self` included."""

    def declare(function: F) -> F:
        function.as_query = form  # type: ignore[attr-defined]
        return function

    return declare


def form_of(observe: Callable[..., Any]) -> Any:
    """Aggregate form of an observation with its bound arguments; None if it has none."""
    arguments: tuple = ()
    keywords: dict[str, Any] = {}
    while isinstance(observe, partial):
        arguments, keywords, observe = (*observe.args, *arguments), {**observe.keywords, **keywords}, observe.func
    form = getattr(observe, "as_query", None)
    if form is None:
        return None
    owner = getattr(observe, "__self__", None)
    arguments = arguments if owner is None or isinstance(owner, type) else (owner, *arguments)
    return form(*arguments, **keywords)


@runtime_checkable
class AggregateSource(Protocol):
    """Rows as users pass them that stay where they are."""

    def open_frame(self, target: str, weight: str | None, read_labels: Any, reader: str) -> Any:
        """Columns, target and weights for a model."""
        ...


@runtime_checkable
class AggregateRows(Protocol):
    """Rows of an engine that answers aggregate forms only."""

    schema: Any
    n_rows: int
    is_unweighted: bool

    def numeric_ends(self, columns: Sequence[int], max_distinct: int, n_quantiles: int) -> list[tuple[np.ndarray, bool]]:
        """Upper bounds of the codes of numeric columns, and whether each code stands for one number."""
        ...

    def quantile_edges(self, columns: Sequence[int], n_bins: int) -> list[np.ndarray]:
        """Upper edges of bins of similar weight of each column, without the last."""
        ...
