"""How a design is learnt: stand-ins for gaps, reference levels, and the mean and spread of each feature."""

from __future__ import annotations

from itertools import chain

import msgspec
import numpy as np

from ..table import Kind, SparseColumns, Table, Tokens
from .design import Design, Words
from .layout import VALUE, Layout, features_of, gaps_of
from .threads import chunks, in_order

MISSING_POLICIES = ("mean+indicator", "mean", "error")
_ROWS = 1024
_TINY = 1e-140  # below it, squares leave the range of doubles


def learn_design(
    table: Table, *, ordinal: str = "rank", missing: str = "mean+indicator", standardize: bool = True
) -> Design:
    """The design of a table's rows, each counted with its weight.

    Numbers and marks are always brought to standard units, for the solver's sake; words only where `standardize` asks
    for it, since rare words would otherwise get the largest units.
    """
    gaps = gaps_of(table)
    if missing == "error":
        _refuse_gaps(table, gaps)
    layout = features_of(table, ordinal, gaps & (missing == "mean+indicator"))
    plain = len(layout) and (layout.level == VALUE).all() and not gaps.any()
    layout = layout if plain else _with_stand_ins(table, layout, gaps)
    reference = _references(table, layout)
    is_reference = (layout.level >= 0) & (layout.level == reference[layout.source])
    layout = layout.take(np.flatnonzero(~is_reference))
    centre, spread = _moments(table, layout)
    if plain:
        fill = layout.fill.copy()
        fill[layout.source] = centre
        layout = msgspec.structs.replace(layout, fill=fill)
    words = tuple(_words(table, j) for j, column in enumerate(table.schema.columns) if column.kind is Kind.TEXT)
    scale = np.concatenate([_positive(spread), *(np.ones(len(text.idf)) for text in words)])
    design = Design(layout, centre, scale, reference, words)
    if not (words and standardize):
        return design
    scale = np.concatenate([_positive(spread), *map(_positive, _word_spreads(table, design))])
    return msgspec.structs.replace(design, scale=scale)


def _positive(spread: np.ndarray) -> np.ndarray:
    return np.where(spread > 0, spread, 1.0)


def _refuse_gaps(table: Table, gaps: np.ndarray) -> None:
    if gaps.any():
        name = table.schema.columns[int(np.argmax(gaps))].name
        raise ValueError(f"column {name!r} has missing values; use missing='mean+indicator' or fill them first")


def _with_stand_ins(table: Table, layout: Layout, gaps: np.ndarray) -> Layout:
    """The mean of each column of numbers, and the commonest level of each other one, in place of a gap.

    All columns get theirs: a gap may come for the first time with a row to be predicted.
    """
    fill, mode = layout.fill.copy(), layout.mode.copy()
    numbers = layout.source[layout.level == VALUE]
    complete = [j for j in numbers if not gaps[j]]
    fill[complete] = _moments(table, layout.take(np.flatnonzero(np.isin(layout.source, complete))))[0]
    for j in sorted(set(range(len(gaps))) - set(complete)):
        values = table.values[j]
        if isinstance(values, Tokens):
            continue
        known = ~np.isnan(values) if values.dtype.kind == "f" else values >= 0
        weight = table.weight * known
        if j in numbers and weight.sum() > 0:
            middle = float(values[np.argmax(weight > 0)])
            fill[j] = middle + np.average(np.where(known, values, middle) - middle, weights=weight)
        elif j not in numbers and weight.sum() > 0:
            mode[j] = int(np.argmax(np.bincount(values[known], weight[known])))
    return msgspec.structs.replace(layout, fill=fill, mode=mode)


def _references(table: Table, layout: Layout) -> np.ndarray:
    """The first level of each nominal column that occurs. int32 [n_columns]"""
    reference = np.full(layout.n_columns, -1, np.int32)
    for j in np.unique(layout.source[layout.level >= 0]):
        codes = table.values[j][table.weight > 0]
        reference[j] = max(0, codes[codes >= 0].min(initial=np.iinfo(np.int32).max)) if (codes >= 0).any() else 0
    return reference


def _moments(table: Table, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation (divisor n) of each feature, a block of rows at a time."""
    if isinstance(table.values, SparseColumns) and (layout.level == VALUE).all() and not gaps_of(table).any():
        return _sparse_moments(table, layout)
    pivot = _pivot(table, layout)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = _moments_in(table, layout, pivot, np.ones(len(layout)))
    unsafe = ~np.isfinite(spread) | ((spread < _TINY) & (layout.level == VALUE))
    if unsafe.any():  # squares left the range of doubles, or the column is constant
        mean, spread = _moments_in(table, layout, pivot, np.where(unsafe, _units(table, layout, pivot), 1.0))
    return mean, spread


def _moments_in(table: Table, layout: Layout, pivot: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation, with squares taken of (value − pivot) / unit."""
    whole = layout.view(table)

    def part(rows: slice) -> tuple[list, list, list]:
        return _block_moments(table, layout, whole, (pivot, unit), rows)

    parts = zip(*in_order(part, chunks(len(table))), strict=True)
    totals, means, squares = (list(chain.from_iterable(lists)) for lists in parts)
    share = np.array(totals) / np.sum(totals)
    mean = share @ np.array(means)
    variance = np.sum(squares, axis=0) / np.sum(totals) + share @ np.square(means - mean)
    return pivot + unit * mean, unit * np.sqrt(variance)


def _units(table: Table, layout: Layout, pivot: np.ndarray) -> np.ndarray:
    """The power of two above each feature's largest distance from its pivot; 1 where there is none."""
    largest = np.zeros(len(layout))
    for first in range(0, len(table), _ROWS):
        x = layout.matrix(table, slice(first, min(first + _ROWS, len(table))))
        largest = np.maximum(largest, np.abs(x / 4 - pivot / 4).max(axis=0))
    exponent = np.clip(np.frexp(largest)[1] + 2, -1000, 1000).astype(np.float64)
    return np.where(largest > 0, np.exp2(exponent), 1.0)


def _block_moments(
    table: Table, layout: Layout, whole: np.ndarray | None, frame: tuple[np.ndarray, np.ndarray], rows: slice
) -> tuple[list, list, list]:
    """Weight, mean and sum of squares about it, of each block of a run of rows, about a pivot and in a unit."""
    pivot, unit = frame
    is_plain = bool((unit == 1).all())
    totals, means, squares = [], [], []
    for first in range(rows.start, rows.stop, _ROWS):
        own = slice(first, min(first + _ROWS, rows.stop))
        weight = table.weight[own]
        total = weight.sum()
        x = whole[own] if whole is not None else layout.matrix(table, own)
        x = x - pivot if is_plain else x / unit - pivot / unit
        mean = weight @ x / total if total > 0 else np.zeros(len(layout))
        x -= mean
        totals.append(total)
        means.append(mean)
        squares.append(weight @ np.square(x, out=x))
    return totals, means, squares


def _sparse_moments(table: Table, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the columns of a sparse matrix; what is not stored is 0."""
    matrix, share = table.values.matrix, table.weight / table.weight.sum()
    weight = np.repeat(share, np.diff(matrix.indptr))
    mean = np.bincount(matrix.indices, weight * matrix.data, minlength=matrix.shape[1])
    apart = matrix.data - mean[matrix.indices]
    stored = np.bincount(matrix.indices, weight, minlength=matrix.shape[1])
    variance = np.bincount(matrix.indices, weight * apart**2, minlength=matrix.shape[1])
    variance += np.maximum(1 - stored, 0.0) * mean**2
    return mean[layout.source], np.sqrt(variance)[layout.source]


def _pivot(table: Table, layout: Layout) -> np.ndarray:
    """A value of each feature, the median of about a hundred rows, so that a constant column is exactly constant."""
    step = max(1, len(table) // 101)
    whole = layout.view(table)
    some = whole[::step] if whole is not None else layout.matrix(table.take(np.arange(0, len(table), step)))
    return np.sort(some, axis=0)[len(some) // 2]


def _words(table: Table, column: int) -> Words:
    """The idf of each word, log((1 + n) / (1 + rows with the word)) + 1."""
    tokens = table.values[column]
    weight = np.repeat(table.weight, np.diff(tokens.start))
    n_words = max(len(table.schema.columns[column].levels), int(tokens.code.max(initial=-1)) + 1)
    rows_with = np.bincount(tokens.code, weight, minlength=n_words)
    return Words(column, np.log((1 + table.weight.sum()) / (1 + rows_with)) + 1)


def _word_spreads(table: Table, design: Design) -> list[np.ndarray]:
    total = table.weight.sum()
    spreads = []
    for _, words in design.text(table):
        weight = np.repeat(table.weight, np.diff(words.start))
        mean = np.bincount(words.code, weight * words.value, minlength=words.n_features) / total
        square = np.bincount(words.code, weight * words.value**2, minlength=words.n_features) / total
        spreads.append(np.sqrt(np.maximum(square - mean**2, 0.0)))
    return spreads
