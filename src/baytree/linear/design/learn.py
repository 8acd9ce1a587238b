"""Learn a `Design` from rows: imputed values, reference levels, mean and standard deviation of each feature, idf of words.

`learn_design` is the entry; `learn_layout` alone serves MARS. Each statistic is one map-reduce over the partitions.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from baytree.data.encoding.bag_of_words import DocumentFrequency, inverse_frequency, within_limits
from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.column import Kind, Text
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions
from baytree.linear.design.design import Design, TfidfWords
from baytree.linear.design.feature_layout import VALUE, FeatureLayout, features_of
from baytree.linear.design.moments import moments_by_counts, moments_of
from baytree.linear.design.row_summary import KnownValues, Moments, RowSummary

MISSING_POLICIES = ("mean+indicator", "mean", "error")


def learn_design(
    rows: Partitions, look: RowSummary, *, ordinal: str = "rank", missing: str = "mean+indicator", standardize: bool = True
) -> Design:
    """Learn the design of weighted rows.

    Dense features are always standardised, for the solver's sake; words only if `standardize` is true, because otherwise
    rare words would get the largest scale factors. `missing` is one of `MISSING_POLICIES`; "error" raises ValueError if
    values are missing.
    """
    layout, reference, moments = learn_layout(rows, look, ordinal=ordinal, missing=missing)
    centre, deviation = moments or moments_by_counts(rows, layout, look)
    words = tuple(_words(rows, j) for j, column in enumerate(rows.schema.columns) if column.kind is Kind.TEXT)
    scale = np.concatenate([_positive(deviation), *(np.ones(len(text.idf)) for text in words)])
    design = Design(layout, centre, scale, reference, words)
    if not (words and standardize):
        return design
    scale = np.concatenate([_positive(deviation), *map(_positive, _word_spreads(rows, design, look.weight))])
    return msgspec.structs.replace(design, scale=scale)


class LearnedLayout(NamedTuple):
    """Feature layout, reference level of each column and, if already known, the moments of the features."""

    layout: FeatureLayout
    reference: np.ndarray  # int32 [n_columns], -1 for none
    moments: Moments | None


def learn_layout(rows: Partitions, look: RowSummary, *, ordinal: str, missing: str) -> LearnedLayout:
    """Learn the layout of rows. Numeric columns without missing values need only their moments, which are returned too."""
    if missing == "error":
        _refuse_gaps(rows.schema, look.gaps)
    layout = features_of(rows.schema, ordinal, look.gaps & (missing == "mean+indicator"))
    if len(layout) and (layout.level == VALUE).all() and not look.gaps.any():
        moments = look.moments or moments_of(rows, layout, look)
        fill = layout.fill.copy()
        fill[layout.source] = moments[0]
        return LearnedLayout(msgspec.structs.replace(layout, fill=fill), np.full(len(rows.schema), -1, np.int32), moments)
    known = rows.map_reduce(partial(KnownValues.of, look.gaps), rows_per_part=None)
    layout, reference = _with_stand_ins(rows, layout, look, known), _references(known, layout)
    is_reference = (layout.level >= 0) & (layout.level == reference[layout.source])
    return LearnedLayout(layout.take(np.flatnonzero(~is_reference)), reference, look.moments)


def _positive(spread: np.ndarray) -> np.ndarray:
    return np.where(spread > 0, spread, 1.0)


def _refuse_gaps(schema: Schema, gaps: np.ndarray) -> None:
    if gaps.any():
        name = schema.columns[int(np.argmax(gaps))].name
        raise ValueError(f"column {name!r} has missing values; use missing='mean+indicator' or fill them first")


def _with_stand_ins(rows: Partitions, layout: FeatureLayout, look: RowSummary, known: KnownValues) -> FeatureLayout:
    """Layout with imputed values: the mean of each numeric column and the most frequent level of each other column.

    Columns without missing values get one as well, because a row to be predicted may have the first.
    """
    fill, mode = layout.fill.copy(), layout.mode.copy()
    numeric_columns = layout.source[layout.level == VALUE]
    complete = [j for j in numeric_columns if not look.gaps[j]]
    fill[complete] = moments_of(rows, layout.take(np.flatnonzero(np.isin(layout.source, complete))), look)[0]
    with_missing = [int(j) for j in numeric_columns if look.gaps[j] and known.weight[j] > 0]
    if with_missing:
        pivot, weight = known.number[with_missing] / 2, known.weight[with_missing]
        fill[with_missing] = 2 * (
            pivot + rows.map_reduce(partial(_mean_of_known, with_missing, pivot, weight), rows_per_part=None)
        )
    for j in sorted(set(range(len(mode))) - set(numeric_columns)):
        if known.weight[j] > 0:
            mode[j] = int(np.argmax(known.levels[j]))
    return msgspec.structs.replace(layout, fill=fill, mode=mode)


def _mean_of_known(columns: list[int], middle: np.ndarray, weight: np.ndarray, table: Table) -> np.ndarray:
    """Mean of half of each column's known values, relative to a pivot: halves, because a difference of two doubles may
    overflow.
    """
    return np.array([_about(table, j, m, w) for j, m, w in zip(columns, middle, weight, strict=True)])


def _about(table: Table, column: int, middle: float, weight: float) -> float:
    values = table.values[column]
    known = ~is_missing(values)
    return float(table.weight * known / weight @ np.where(known, values / 2 - middle, 0.0))


def _references(known: KnownValues, layout: FeatureLayout) -> np.ndarray:
    """First level of each nominal column that occurs. int32 [n_columns]"""
    reference = np.full(layout.n_columns, -1, np.int32)
    for j in np.unique(layout.source[layout.level >= 0]):
        reference[j] = np.argmax(known.levels[j] > 0)
    return reference


def _words(rows: Partitions, column: int) -> TfidfWords:
    """Idf of each word; 0 for a word outside the document-frequency limits."""
    known = rows.schema.columns[column]
    options = known.text or Text()
    frequency = rows.map_reduce(
        lambda table: DocumentFrequency.of(known.levels, table.values[column], table.weight), rows_per_part=None
    )
    return TfidfWords(column, within_limits(frequency, options) * inverse_frequency(frequency), options.norm is not None)


def _word_spreads(rows: Partitions, design: Design, total: float) -> list[np.ndarray]:
    mean, square = rows.map_reduce(partial(_word_sums, design), rows_per_part=None) / total
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.split(deviation, np.cumsum([len(text.idf) for text in design.words])[:-1])


def _word_sums(design: Design, table: Table) -> np.ndarray:
    """Weighted sums of all word features, and of their squares. [2, n_words]"""
    sums = []
    for _, words in design.text(table):
        weight = np.repeat(table.weight, np.diff(words.start))
        each = (weight * words.value, weight * words.value**2)
        sums.append(np.stack([np.bincount(words.code, added, minlength=words.n_features) for added in each]))
    return np.concatenate(sums, axis=1)
