"""Histograms of the split column inside the cards of a tree: the rows that reach a node, by class, before they are split.

They are computed from the rows that are given to a page, never stored in a model, and contain aggregates only: nodes with
fewer than `MIN_ROWS` rows have none, and of large trees only the first `MAX_NODES` splits, level by level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.summary.tree import TreeSummary
from baytree.tree.model.routing import leaves
from baytree.tree.model.tree import Tree

MAX_NODES = 200  # splits with a histogram: each takes about a kilobyte of the page

MIN_ROWS = 10  # rows of a node with a histogram; fewer could be recognised

N_BINS = 16  # of equal width: a card is 150 pixels wide

MAX_LEVELS = 8  # bars of a nominal column, the most frequent levels; the others are pooled into one


def node_histograms(tree: Tree, summary: TreeSummary, parents: list[int], table: Table) -> dict[int, dict[str, Any]]:
    """Histogram of each split by its place in the summary's nodes: edges or levels, and weights by bar and class.

    For a numeric target a bar has its number of rows, mean and standard deviation instead of weights by class.
    """
    nodes = summary.nodes
    column_of = {column.name: j for j, column in enumerate(table.schema.columns)}
    place_of = {node.id: place for place, node in enumerate(nodes)}
    reached = _rows_by_node(leaves(tree, table), place_of, parents)
    splits = [place for place, node in enumerate(nodes) if node.branches and node.column in column_of]
    splits.sort(key=lambda place: (nodes[place].depth, place))
    histograms = {}
    for place in splits[:MAX_NODES]:
        rows = reached.get(place, np.zeros(0, np.intp))
        j = column_of[nodes[place].column]
        values = table.values[j][rows]
        is_number = table.schema.columns[j].kind is Kind.NUMERIC
        known = np.isfinite(values) if is_number else values >= 0
        if known.sum() >= MIN_ROWS:
            histograms[place] = _histogram(values[known], is_number, table, rows[known])
    return histograms


def _rows_by_node(leaf: np.ndarray, place_of: dict[int, int], parents: list[int]) -> dict[int, np.ndarray]:
    """Rows that reach each node, by its place: of a leaf its own, of a split those of its children."""
    order = np.argsort(leaf, kind="stable")
    ids, first = np.unique(leaf[order], return_index=True)
    parts: dict[int, list[np.ndarray]] = {}
    for node, rows in zip(ids.tolist(), np.split(order, first[1:]), strict=True):
        if node in place_of:
            parts.setdefault(place_of[node], []).append(rows)
    for place in range(len(parents) - 1, 0, -1):  # children come after their parents
        if place in parts:
            parts.setdefault(parents[place], []).append(np.concatenate(parts[place]))
    return {place: np.concatenate(rows) for place, rows in parts.items()}


def _histogram(values: np.ndarray, is_number: bool, table: Table, rows: np.ndarray) -> dict[str, Any]:
    if is_number:
        low, high = float(values.min()), float(values.max())
        n_bars = N_BINS if low < high else 1  # halves of the values below, since their range may overflow
        position = (values / 2 - low / 2) / (high / 2 - low / 2) if low < high else np.zeros(len(values))
        bar = np.minimum((n_bars * position).astype(np.intp), n_bars - 1)
        axis: dict[str, Any] = {"range": [low, high]}
    else:
        count = np.bincount(values)
        shown = np.argsort(-count, kind="stable")[: min(MAX_LEVELS, int((count > 0).sum()))]
        bar_of = np.full(len(count), len(shown))
        bar_of[shown] = np.arange(len(shown))
        bar = bar_of[values]
        n_bars = int(bar.max()) + 1
        axis = {"levels": shown.tolist()}
    weight, label = table.weight[rows], table.label[rows]
    total = np.bincount(bar, weight, n_bars)
    if table.schema.target.classes is None:
        mean = np.divide(np.bincount(bar, weight * label, n_bars), total, out=np.zeros(n_bars), where=total > 0)
        square = np.bincount(bar, weight * (label - mean[bar]) ** 2, n_bars)
        deviation = np.sqrt(np.divide(square, total, out=np.zeros(n_bars), where=total > 0))
        return axis | {"rows": total.tolist(), "mean": _rounded(mean), "deviation": _rounded(deviation)}
    counts = np.zeros((n_bars, table.n_classes))
    np.add.at(counts, (bar, label), weight)
    used = np.flatnonzero(counts.any(axis=0))
    return axis | {"classes": used.tolist(), "weights": [_rounded(row) for row in counts[:, used]]}


def _rounded(values: np.ndarray) -> list[float]:
    """Five significant digits, more than a bar of some pixels shows."""
    return [float(f"{value:.5g}") for value in values]
