"""How a design is learnt: stand-ins for gaps, reference levels, and the mean and spread of each feature."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.design.design import Design
from baytree.linear.design.features import VALUE, Layout, features_of
from baytree.linear.design.spread import Look, moments_of
from baytree.linear.design.word_features import Words
from baytree.table.schema import Kind, Text
from baytree.table.table import Table, Tokens
from baytree.table.text.frequency import DocumentFrequency, inverse_frequency, within_limits

MISSING_POLICIES = ("mean+indicator", "mean", "error")


def learn_design(
    table: Table, look: Look, *, ordinal: str = "rank", missing: str = "mean+indicator", standardize: bool = True
) -> Design:
    """The design of a table's rows, each counted with its weight.

    Numbers and marks are always brought to standard units, for the solver's sake; words only where `standardize` asks
    for it, since rare words would otherwise get the largest units.
    """
    gaps = look.gaps
    if missing == "error":
        _refuse_gaps(table, gaps)
    layout = features_of(table, ordinal, gaps & (missing == "mean+indicator"))
    plain = len(layout) and (layout.level == VALUE).all() and not gaps.any()
    layout = layout if plain else _with_stand_ins(table, layout, gaps)
    reference = _references(table, layout)
    is_reference = (layout.level >= 0) & (layout.level == reference[layout.source])
    layout = layout.take(np.flatnonzero(~is_reference))
    centre, spread = look.moments or moments_of(table, layout)
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
    fill[complete] = moments_of(table, layout.take(np.flatnonzero(np.isin(layout.source, complete))))[0]
    for j in sorted(set(range(len(gaps))) - set(complete)):
        values = table.values[j]
        if isinstance(values, Tokens):
            continue
        known = ~np.isnan(values) if values.dtype.kind == "f" else values >= 0
        weight = table.weight * known
        if j in numbers and weight.sum() > 0:
            middle = float(values[np.argmax(weight > 0)]) / 2  # halves: the distance between two doubles may be none
            fill[j] = 2 * (middle + weight / weight.sum() @ np.where(known, values / 2 - middle, 0.0))
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


def _words(table: Table, column: int) -> Words:
    """The idf of each word, 0 for one outside the limits on documents."""
    known = table.schema.columns[column]
    options = known.text or Text()
    frequency = DocumentFrequency.of(known.levels, table.values[column], table.weight)
    return Words(column, within_limits(frequency, options) * inverse_frequency(frequency), options.norm is not None)


def _word_spreads(table: Table, design: Design) -> list[np.ndarray]:
    total = table.weight.sum()
    spreads = []
    for _, words in design.text(table):
        weight = np.repeat(table.weight, np.diff(words.start))
        mean = np.bincount(words.code, weight * words.value, minlength=words.n_features) / total
        square = np.bincount(words.code, weight * words.value**2, minlength=words.n_features) / total
        spreads.append(np.sqrt(np.maximum(square - mean**2, 0.0)))
    return spreads
