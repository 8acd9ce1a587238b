"""Columns that tell much about the target and little about each other (mRMR)."""

from __future__ import annotations

import numpy as np

from baytree.choose.select import measures
from baytree.choose.select.cuts import Coded, cut_up, numbers_of
from baytree.choose.select.ranking import Rank
from baytree.table.schema import Kind
from baytree.table.table import Table


def mrmr(table: Table, cuts: str = "auto") -> tuple[Rank, ...]:
    """Columns in the order in which they are chosen: next is the largest I(column; class) − mean I(column; chosen ones).

    Ding and Peng (2005), the difference form, in bits. Numbers are cut into ten equal shares unless `cuts` says otherwise;
    every pair counts the rows where both are known. Text columns come last: their words are no single variable.
    """
    columns = [j for j, column in enumerate(table.schema) if column.kind is not Kind.TEXT]
    coded = [_coded(table, j, "quantiles" if cuts == "auto" else cuts) for j in columns]
    classes = Coded(table.label, table.n_classes, "")
    relevance = np.array([_information(column, classes) for column in coded])
    ranks = [_rank(table, columns[k], coded[k], relevance[k], worth) for k, worth in _chosen(coded, relevance)]
    left = [(c.name, c.kind.value, "words are no single variable") for c in table.schema if c.kind is Kind.TEXT]
    left += [(name, "left out", "only identifies rows") for name in table.schema.left_out]
    return (*ranks, *(Rank(name, kind, np.nan, how) for name, kind, how in left))


def _chosen(coded: list[Coded], relevance: np.ndarray) -> list[tuple[int, float]]:
    """The columns in their order, and what each was worth when it was chosen."""
    order: list[tuple[int, float]] = []
    redundancy = np.zeros(len(coded))
    is_open = np.ones(len(coded), bool)
    for n_chosen in range(len(coded)):
        worth = np.where(is_open, relevance - redundancy / max(n_chosen, 1), -np.inf)
        best = int(np.argmax(worth))
        order.append((best, float(worth[best])))
        is_open[best] = False
        redundancy[is_open] += [_information(coded[k], coded[best]) for k in np.flatnonzero(is_open)]
    return order


def _coded(table: Table, j: int, cut: str) -> Coded:
    column = table.schema.columns[j]
    if column.kind is not Kind.NUMERIC:
        return Coded(table.values[j], len(column.levels), f"{len(column.levels)} levels")
    return cut_up(column, numbers_of(column, table.values[j]), table, cut)


def _information(left: Coded, right: Coded) -> float:
    known = (left.codes >= 0) & (right.codes >= 0)
    pair = left.codes[known].astype(np.int64) * right.n_levels + right.codes[known]
    counts = np.bincount(pair, minlength=left.n_levels * right.n_levels).reshape(left.n_levels, right.n_levels)
    return measures.mutual_information(counts.astype(np.float64))


def _rank(table: Table, j: int, coded: Coded, relevance: float, worth: float) -> Rank:
    column = table.schema.columns[j]
    how = f"{relevance:.3f} bits, {coded.how}"
    return Rank(column.name, column.kind.value, worth, how, float((coded.codes >= 0).mean()))
