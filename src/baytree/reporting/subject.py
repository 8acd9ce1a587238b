"""Subject of a report: a model, the profile of its rows, its evaluation on given rows, and the overview section."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.labelled_rows import encode_labelled
from baytree.base.predictor import FittedEstimator, Predictor
from baytree.data.encoding.table import Table
from baytree.display.terminal import number
from baytree.rendering.page.table_views import Figure, Overview
from baytree.rendering.tree_layout import parent_places
from baytree.statistics.counts import Counts
from baytree.statistics.profile import Histogram, Profile
from baytree.summary import Summary
from baytree.summary.tree import BayesTreeSummary, NamedCondition, TreeSummary


def predictor_of(model: FittedEstimator | Predictor) -> Predictor:
    """Predictor of a fitted estimator; a predictor, such as of a model file, is returned unchanged."""
    return model if isinstance(model, Predictor) else model._predictor


class EvaluatedRows(msgspec.Struct, frozen=True):
    """Rows with a known label, the model's predictions, and the score: accuracy, or R²."""

    table: Table
    predictions: np.ndarray  # [n_rows, n_outputs]
    choice: np.ndarray  # [n_rows], class codes; empty if the target is numeric
    score: float
    row_numbers: np.ndarray  # row indices in the frame


class ReportSubject(msgspec.Struct, frozen=True):
    """A model and all data that sections are computed from."""

    predictor: Predictor
    summary: Summary
    profile: Profile | None
    evaluated: EvaluatedRows | None = None

    @classmethod
    def of(cls, predictor: Predictor, frame: FrameLike) -> ReportSubject:
        """Evaluate the model on the rows of a frame, if there is one."""
        predictor.check_target()
        summary = _shown(predictor)
        if frame is None:
            return cls(predictor, summary, predictor.profile)
        judged = _evaluated(predictor, frame)
        profile = Profile.of(judged.table)
        return cls(msgspec.structs.replace(predictor, profile=profile), summary, profile, judged)

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes as they are written; empty if the target is numeric."""
        return tuple(map(str, self.predictor.schema.classes))


def _shown(predictor: Predictor) -> Summary:
    """Summary of the model, a tree without "or missing" where no value was missing."""
    summary = predictor.summary()
    if not isinstance(summary, TreeSummary) or predictor.profile is None:
        return summary
    pairs = zip(predictor.schema.columns, predictor.profile.columns, strict=True)
    return _without_needless_missing(summary, {column.name for column, profile in pairs if _has_missing(profile)})


def _without_needless_missing(summary: TreeSummary, has_missing: Collection[str]) -> TreeSummary:
    """The tree with "or missing" only in conditions where it tells something.

    That is, where rows without a value occurred in training, or where they do not simply follow the majority.
    """
    heaviest: dict[int, int] = {}
    parents = parent_places(summary.nodes)
    for place, node in enumerate(summary.nodes[1:], 1):
        best = heaviest.get(parents[place])
        if best is None or node.weight > summary.nodes[best].weight:
            heaviest[parents[place]] = place
    nodes = [
        msgspec.structs.replace(node, condition=msgspec.structs.replace(node.condition, missing=False))
        if node.condition is not None
        and node.condition.missing
        and _has_test(node.condition)
        and node.condition.column not in has_missing
        and heaviest[parents[place]] == place
        else node
        for place, node in enumerate(summary.nodes)
    ]
    return msgspec.structs.replace(summary, nodes=tuple(nodes))


def _has_test(condition: NamedCondition) -> bool:
    """Whether the condition says more than that the value is missing."""
    return bool(condition.levels) or condition.low is not None or condition.high is not None


def _has_missing(profile: Histogram | Counts) -> bool:
    counts = profile.counts if isinstance(profile, Histogram) else profile
    return bool(counts.cells.rounded()[0].any())


def _evaluated(predictor: Predictor, frame: FrameLike) -> EvaluatedRows:
    table, positions = encode_labelled(predictor, frame)
    predictions = predictor.model.predict(table)
    if predictor.schema.target.classes is None:
        return EvaluatedRows(
            table, predictions, np.zeros(0, np.int32), _r_squared(table.label, predictions[:, 0]), positions
        )
    choice = predictor.predict_codes(table)
    return EvaluatedRows(table, predictions, choice, float(np.mean(choice == table.label)), positions)


def _r_squared(truth: np.ndarray, answer: np.ndarray) -> float:
    total_squares = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - answer) ** 2).sum()) / total_squares if total_squares else float("nan")


_LEARNT_FROM = (
    "If these are the training rows, the figures are optimistic. Run `baytree compare` for a cross-validated estimate."
)

_BY_COSTS = " The model predicts the class of least expected cost, which need not be the most probable one."


def overview(subject: ReportSubject) -> Overview:
    """Overview: rows, columns, the score on given rows, and the size of a tree."""
    schema, evaluated = subject.predictor.schema, subject.evaluated
    figures = []
    if subject.profile is not None:
        figures.append(_count("n_rows", "rows", int(subject.profile.rows[0]) if evaluated is None else len(evaluated.table)))
    figures.append(_count("n_columns", "columns", len(schema.inputs) or len(schema)))
    if evaluated is not None:
        figures += [_score(subject, evaluated), *_expected_cost(subject.predictor, evaluated)]
    if isinstance(subject.summary, TreeSummary):
        figures += [*_sizes(subject.summary), *_costs(subject.summary)]
    if isinstance(subject.summary, BayesTreeSummary):
        models = _count("n_naive_bayes", "naive Bayes models", len(subject.summary.leaves))
        figures += [*_sizes(subject.summary.tree), models]
    decision = _BY_COSTS if subject.predictor.has_costs else ""
    if evaluated is None:
        return Overview(tuple(figures), remark=f"No rows were given to evaluate the model on.{decision}")
    return Overview(tuple(figures), subject.classes, _confusion(subject, evaluated), f"{_LEARNT_FROM}{decision}")


def _sizes(summary: TreeSummary) -> list[Figure]:
    nodes = summary.nodes
    leaves, depth = sum(not node.branches for node in nodes), max(node.depth for node in nodes)
    sizes = (("n_nodes", "nodes", len(nodes)), ("n_leaves", "leaves", leaves), ("depth", "depth", depth))
    return [_count(*size) for size in sizes]


def _costs(summary: TreeSummary) -> list[Figure]:
    """Cost of a tree that was found by exact search, and the lower bound for all trees."""
    certificate = summary.certificate
    if certificate is None:
        return []
    costs = (("objective", "cost", certificate.objective), ("bound", "lower bound of the cost", certificate.bound))
    return [Figure(name, label, cost, number(cost)) for name, label, cost in costs]


def _count(name: str, label: str, value: int) -> Figure:
    return Figure(name, label, value, f"{value:,}")


def _score(subject: ReportSubject, judged: EvaluatedRows) -> Figure:
    if subject.classes:
        return Figure("accuracy", "accuracy on these rows", judged.score, f"{100 * judged.score:.1f} %")
    return Figure("r2", "R² on these rows", judged.score, f"{judged.score:.3f}")


def _expected_cost(predictor: Predictor, evaluated: EvaluatedRows) -> list[Figure]:
    """Mean cost of the predictions, if the model has costs."""
    if predictor.costs is None or not predictor.has_costs:
        return []
    mean = float(predictor.costs.amounts[evaluated.table.label, evaluated.choice].mean())
    return [Figure("expected_cost", "mean cost on these rows", mean, number(mean))]


def _confusion(subject: ReportSubject, judged: EvaluatedRows) -> tuple[tuple[float, ...], ...]:
    n = len(subject.classes)
    if not n:
        return ()
    counts = np.zeros((n, n), int)
    np.add.at(counts, (judged.table.label, judged.choice), 1)
    return tuple(map(tuple, counts.tolist()))
