"""How a design is learnt: stand-ins for gaps, reference levels, and the mean and spread of each feature."""

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
    """The design of these rows, each counted with its weight.

    Numbers and marks are always brought to standard units, for the solver's sake; words only where `standardize` asks
    for it, since rare words would otherwise get the largest units.
    """
    layout, reference, moments = learn_layout(rows, look, ordinal=ordinal, missing=missing)
    centre, spread = moments or moments_by_counts(rows, layout, look)
    words = tuple(_words(rows, j) for j, column in enumerate(rows.schema.columns) if column.kind is Kind.TEXT)
    scale = np.concatenate([_positive(spread), *(np.ones(len(text.idf)) for text in words)])
    design = Design(layout, centre, scale, reference, words)
    if not (words and standardize):
        return design
    scale = np.concatenate([_positive(spread), *map(_positive, _word_spreads(rows, design, look.weight))])
    return msgspec.structs.replace(design, scale=scale)


class LearnedLayout(NamedTuple):
    """Which features rows have, the level that each column is compared with, and the moments if they are known by then."""

    layout: FeatureLayout
    reference: np.ndarray  # int32 [n_columns]; -1 where there is none
    moments: Moments | None


def learn_layout(rows: Partitions, look: RowSummary, *, ordinal: str, missing: str) -> LearnedLayout:
    """The features of these rows; numbers without gaps need no more than their moments, which are told on."""
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
    """The mean of each column of numbers, and the commonest level of each other one, in place of a gap.

    All columns get theirs: a gap may come for the first time with a row to be predicted.
    """
    fill, mode = layout.fill.copy(), layout.mode.copy()
    numbers = layout.source[layout.level == VALUE]
    complete = [j for j in numbers if not look.gaps[j]]
    fill[complete] = moments_of(rows, layout.take(np.flatnonzero(np.isin(layout.source, complete))), look)[0]
    gappy = [int(j) for j in numbers if look.gaps[j] and known.weight[j] > 0]
    if gappy:
        middle, weight = known.number[gappy] / 2, known.weight[gappy]
        fill[gappy] = 2 * (middle + rows.map_reduce(partial(_mean_of_known, gappy, middle, weight), rows_per_part=None))
    for j in sorted(set(range(len(mode))) - set(numbers)):
        if known.weight[j] > 0:
            mode[j] = int(np.argmax(known.levels[j]))
    return msgspec.structs.replace(layout, fill=fill, mode=mode)


def _mean_of_known(columns: list[int], middle: np.ndarray, weight: np.ndarray, table: Table) -> np.ndarray:
    """The mean of half of each column's known values about a middle: the distance between two doubles may be none."""
    return np.array([_about(table, j, m, w) for j, m, w in zip(columns, middle, weight, strict=True)])


def _about(table: Table, column: int, middle: float, weight: float) -> float:
    values = table.values[column]
    known = ~is_missing(values)
    return float(table.weight * known / weight @ np.where(known, values / 2 - middle, 0.0))


def _references(known: KnownValues, layout: FeatureLayout) -> np.ndarray:
    """The first level of each nominal column that occurs. int32 [n_columns]"""
    reference = np.full(layout.n_columns, -1, np.int32)
    for j in np.unique(layout.source[layout.level >= 0]):
        reference[j] = np.argmax(known.levels[j] > 0)
    return reference


def _words(rows: Partitions, column: int) -> TfidfWords:
    """The idf of each word, 0 for one outside the limits on documents."""
    known = rows.schema.columns[column]
    options = known.text or Text()
    frequency = rows.map_reduce(
        lambda table: DocumentFrequency.of(known.levels, table.values[column], table.weight), rows_per_part=None
    )
    return TfidfWords(column, within_limits(frequency, options) * inverse_frequency(frequency), options.norm is not None)


def _word_spreads(rows: Partitions, design: Design, total: float) -> list[np.ndarray]:
    mean, square = rows.map_reduce(partial(_word_sums, design), rows_per_part=None) / total
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.split(spread, np.cumsum([len(text.idf) for text in design.words])[:-1])


def _word_sums(design: Design, table: Table) -> np.ndarray:
    """Weighted sums of all words' features, and of their squares. [2, n_words]"""
    sums = []
    for _, words in design.text(table):
        weight = np.repeat(table.weight, np.diff(words.start))
        each = (weight * words.value, weight * words.value**2)
        sums.append(np.stack([np.bincount(words.code, added, minlength=words.n_features) for added in each]))
    return np.concatenate(sums, axis=1)
