"""What a page is about: a model, the profile of its rows, and, where rows are given, how well it does on them.

The figures of a model.
"""

from __future__ import annotations

from typing import Protocol

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.labelled_rows import encode_labelled
from baytree.base.model import predict_codes
from baytree.base.predictor import Predictor
from baytree.data.encoding.table import Table
from baytree.display.terminal import number
from baytree.rendering.page.table_views import Figure, Overview
from baytree.statistics.profile import Profile
from baytree.summary import Summary
from baytree.summary.tree import BayesTreeSummary, TreeSummary


class FittedEstimator(Protocol):
    """A fitted estimator."""

    @property
    def _predictor(self) -> Predictor: ...


def predictor_of(model: FittedEstimator | Predictor) -> Predictor:
    """What a fitted estimator, or a model file, answers with."""
    return model if isinstance(model, Predictor) else model._predictor


class EvaluatedRows(msgspec.Struct, frozen=True):
    """Rows whose label is known, what the model answers, and the score: accuracy, or R²."""

    table: Table
    answers: np.ndarray  # [n_rows, n_outputs]
    choice: np.ndarray  # [n_rows], class codes; empty where the target is a number
    score: float
    places: np.ndarray  # of the rows in the frame


class ReportSubject(msgspec.Struct, frozen=True):
    """A model and everything that sections read."""

    predictor: Predictor
    summary: Summary
    profile: Profile | None
    judged: EvaluatedRows | None = None

    @classmethod
    def of(cls, predictor: Predictor, frame: FrameLike) -> ReportSubject:
        """The model, judged on the rows of a frame where there is one."""
        summary = predictor.model.summary(predictor.schema)
        if frame is None:
            return cls(predictor, summary, predictor.profile)
        judged = _judged(predictor, frame)
        profile = Profile.of(judged.table)
        return cls(msgspec.structs.replace(predictor, profile=profile), summary, profile, judged)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as they are written; none where the target is a number."""
        return tuple(map(str, self.predictor.schema.classes))


def _judged(predictor: Predictor, frame: FrameLike) -> EvaluatedRows:
    kept, places = encode_labelled(predictor, frame)
    answers = predictor.model.predict(kept)
    if predictor.schema.target.classes is None:
        return EvaluatedRows(kept, answers, np.zeros(0, np.int32), _explained(kept.label, answers[:, 0]), places)
    choice = predict_codes(predictor.model, kept)
    return EvaluatedRows(kept, answers, choice, float(np.mean(choice == kept.label)), places)


def _explained(truth: np.ndarray, answer: np.ndarray) -> float:
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - answer) ** 2).sum()) / spread if spread else float("nan")


_LEARNT_FROM = "Rows that a model has learnt from make it look better than it is: compare tells how it does on others."


def overview(subject: ReportSubject) -> Overview:
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


def _score(subject: ReportSubject, judged: EvaluatedRows) -> Figure:
    if subject.classes:
        return Figure("accuracy", "accuracy on these rows", judged.score, f"{100 * judged.score:.1f} %")
    return Figure("r2", "R² on these rows", judged.score, f"{judged.score:.3f}")


def _confusion(subject: ReportSubject, judged: EvaluatedRows) -> tuple[tuple[float, ...], ...]:
    n = len(subject.classes)
    if not n:
        return ()
    counts = np.zeros((n, n), int)
    np.add.at(counts, (judged.table.label, judged.choice), 1)
    return tuple(map(tuple, counts.tolist()))
