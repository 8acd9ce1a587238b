"""The figures of a model."""

from __future__ import annotations

import numpy as np

from baytree.reports.subject import Judged, Subject
from baytree.show.names import number
from baytree.show.report.records.table_views import Figure, Overview
from baytree.summary.hybrid import BayesTreeSummary
from baytree.summary.tree import TreeSummary

_LEARNT_FROM = "Rows that a model has learnt from make it look better than it is: compare tells how it does on others."


def overview(subject: Subject) -> Overview:
    """Rows, columns, the score where there are rows to judge by, and the size of a tree."""
    schema, judged = subject.predictor.schema, subject.judged
    figures = []
    if subject.profile is not None:
        figures.append(_count("n_rows", "rows", int(subject.profile.rows[0]) if judged is None else len(judged.table)))
    figures.append(_count("n_columns", "columns", len(schema.inputs) or len(schema)))
    if judged is not None:
        figures.append(_score(subject, judged))
    if isinstance(subject.summary, TreeSummary):
        figures += [*_sizes(subject.summary), *_costs(subject.summary)]
    if isinstance(subject.summary, BayesTreeSummary):
        models = _count("n_naive_bayes", "naive Bayes models", len(subject.summary.leaves))
        figures += [*_sizes(subject.summary.tree), models]
    if judged is None:
        return Overview(tuple(figures), remark="No rows were given to judge the model by.")
    return Overview(tuple(figures), subject.classes, _confusion(subject, judged), _LEARNT_FROM)


def _sizes(summary: TreeSummary) -> list[Figure]:
    nodes = summary.nodes
    leaves, depth = sum(not node.branches for node in nodes), max(node.depth for node in nodes)
    sizes = (("n_nodes", "nodes", len(nodes)), ("n_leaves", "leaves", leaves), ("depth", "depth", depth))
    return [_count(*size) for size in sizes]


def _costs(summary: TreeSummary) -> list[Figure]:
    """What a tree costs that was searched for, and what any tree costs."""
    told = summary.certificate
    if told is None:
        return []
    costs = (("objective", "cost", told.objective), ("bound", "least cost of any tree", told.bound))
    return [Figure(name, label, cost, number(cost)) for name, label, cost in costs]


def _count(name: str, label: str, value: int) -> Figure:
    return Figure(name, label, value, f"{value:,}")


def _score(subject: Subject, judged: Judged) -> Figure:
    if subject.classes:
        return Figure("accuracy", "accuracy on these rows", judged.score, f"{100 * judged.score:.1f} %")
    return Figure("r2", "R² on these rows", judged.score, f"{judged.score:.3f}")


def _confusion(subject: Subject, judged: Judged) -> tuple[tuple[float, ...], ...]:
    n = len(subject.classes)
    if not n:
        return ()
    counts = np.zeros((n, n), int)
    np.add.at(counts, (judged.table.label, judged.choice), 1)
    return tuple(map(tuple, counts.tolist()))
