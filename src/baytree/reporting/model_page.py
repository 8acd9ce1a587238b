"""Page of a model: which sections it has, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from baytree._typing import FrameLike
from baytree.base.predictor import FittedEstimator, Predictor
from baytree.data.schema.column import Kind
from baytree.display.terminal import escaped
from baytree.exporters import program
from baytree.metrics.confusion import Confusion
from baytree.metrics.evaluation_page import curves_view, errors_view, with_cells
from baytree.metrics.residuals import Residuals
from baytree.rendering.page.html_page import Page, Section
from baytree.rendering.page.model_views import ScorecardView, TextView, TreeView
from baytree.rendering.page.table_views import BoundaryView, QuestionsView, WhatIfView
from baytree.reporting import trees
from baytree.reporting.coefficients import coefficients_view, nomograms, slopes_view
from baytree.reporting.columns import best_gain, impurity_view, table_view
from baytree.reporting.distributions import bayes_view, dependence_view, ellipses_view, joint_view
from baytree.reporting.interactive import interview_payload, rows_view
from baytree.reporting.model_card import card
from baytree.reporting.rejection import (
    PredictionSetsLike,
    RejectionCurveLike,
    rejection_payload,
    rejection_view,
    sets_payload,
)
from baytree.reporting.scorecard import scorecard_view
from baytree.reporting.splines import functions_view
from baytree.reporting.subject import ReportSubject, overview, predictor_of
from baytree.reporting.trees import PruningPathLike, leaves_view, trials_view, validated_path, voting_rules_view, with_errors
from baytree.summary.additive import AdditiveSummary
from baytree.summary.linear import LinearSummary, QuadraticSummary, RegressionSummary, SplineSummary
from baytree.summary.naive_bayes import JointSummary, NaiveBayesSummary
from baytree.summary.scorecard import ScorecardSummary
from baytree.summary.tree import BayesTreeSummary, RuleSetSummary, TreeSummary, TrialsSummary
from baytree.tree.model.tree import Tree

MAX_TEXT_CHARACTERS = 20_000  # of the printed model at the end of the page


def model_page(
    model: FittedEstimator | Predictor,
    frame: FrameLike,
    rows: int | Sequence[int] | None,
    sets: PredictionSetsLike | None = None,
) -> Page:
    """Page of one model."""
    predictor = predictor_of(model)
    subject = ReportSubject.of(predictor, frame)
    model_parts, payload = model_sections(subject, validated=validated_path(model, subject, frame), sets=sets)
    sections: list[Section] = [overview(subject), *_evaluation(subject), *model_parts]
    if subject.profile is not None:
        sections.append(table_view(predictor.schema, subject.profile))
    if isinstance(subject.summary, TreeSummary) and subject.profile is not None and len(subject.classes) > 1:
        sections.append(impurity_view(subject))
    if rows is not None:
        sections.append(rows_view(subject, rows))
    parameters = None if isinstance(model, Predictor) else model.get_params(deep=False)
    sections += [card(predictor, parameters), TextView(_text(predictor))]
    script = str(program(predictor, "javascript"))
    return Page(title(predictor), _lead(subject), tuple(sections), (payload,), (script,), rows is not None)


def _evaluation(subject: ReportSubject) -> list[Section]:
    """Curves and calibration, or errors, on the given rows."""
    evaluated, target = subject.evaluated, subject.predictor.schema.target.name
    if evaluated is None:
        return []
    truth, weight = evaluated.table.label, None if evaluated.table.is_unweighted else evaluated.table.weight
    if subject.classes:
        counted = Confusion.of(truth, evaluated.choice, evaluated.predictions, weight)
        return [curves_view(counted, subject.classes)]
    predicted = evaluated.predictions[:, 0]
    return [with_cells(errors_view(Residuals.of(truth, predicted, weight), target), predicted, truth)]


def model_sections(
    subject: ReportSubject,
    held_out_curve: RejectionCurveLike | None = None,
    validated: PruningPathLike | None = None,
    sets: PredictionSetsLike | None = None,
) -> tuple[list[Section], dict[str, Any]]:
    """Sections that show a model and let a reader try it, and the data of their scripts.

    `held_out_curve` is the rejection curve on held-out rows.
    """
    target, payload = subject.predictor.schema.target.name, _payload(subject, validated)
    if subject.classes:
        payload["silence"] = rejection_payload(subject, held_out_curve)
    if sets is not None:
        payload["sets"] = sets_payload(subject, sets)
    rejection = rejection_view(payload["silence"]) if subject.classes else None
    promise = "" if sets is None else str(sets.guarantee_settings)
    sections: list[Section] = [*_model_views(subject, payload), WhatIfView(subject.classes, target, rejection, promise)]
    if payload.get("ask"):
        sections.append(QuestionsView(target, subject.classes, _unasked(subject)))
    if len(payload["boundary"]) > 1:
        names = tuple(subject.predictor.schema.names[j] for j in payload["boundary"])
        sections.append(BoundaryView(names, subject.classes))
    return sections, payload


def _unasked(subject: ReportSubject) -> tuple[str, ...]:
    """Text columns: no question could list their answers."""
    return tuple(column.name for column in subject.predictor.schema.columns if column.kind is Kind.TEXT)


def static_page(predictor: Predictor) -> Page:
    """Page of a model for notebooks: the sections without scripts."""
    subject = ReportSubject.of(predictor, None)
    static = [_static_section(subject, section) for section in _model_views(subject, {})]
    sections = [overview(subject), *static]
    return Page(title(predictor), _lead(subject), (*sections, TextView(_text(predictor))))


def _static_section(subject: ReportSubject, section: Section) -> Section:
    """The section, or one that needs no script: a picture of a tree, a card without its calculator."""
    if isinstance(section, ScorecardView):
        return msgspec.structs.replace(section, has_calculator=False)
    tree = subject.summary.tree if isinstance(subject.summary, BayesTreeSummary) else subject.summary
    if isinstance(section, TreeView) and isinstance(tree, TreeSummary):
        return trees.drawing_view(tree)
    return section


def title(predictor: Predictor) -> str:
    """Model and target."""
    return f"{predictor.name} for {predictor.schema.target.name}"


def _lead(subject: ReportSubject) -> str:
    n, schema = len(subject.predictor.schema), subject.predictor.schema
    what = f"one of {len(schema.classes)} classes" if schema.classes else "a number"
    return f"Predicts {schema.target.name}, {what}, from {n} column{'s' * (n != 1)}."


def _payload(subject: ReportSubject, validated: PruningPathLike | None) -> dict[str, Any]:
    schema = subject.predictor.schema
    columns, ask, _ = interview_payload(subject)
    payload: dict[str, Any] = {"target": schema.target.name, "classes": list(subject.classes), "columns": columns}
    if ask is not None:
        payload["ask"] = ask
    costs = subject.predictor.costs
    if costs is not None and subject.predictor.has_costs:
        payload["costs"] = costs.amounts.tolist()
    payload["boundary"] = _boundary_columns(subject) if ask is not None else []
    if isinstance(subject.summary, TreeSummary):
        rows = None if subject.evaluated is None else subject.evaluated.table
        tree = subject.predictor.model if isinstance(subject.predictor.model, Tree) else None
        payload["tree"] = with_errors(trees.tree_payload(subject.summary, schema, tree, rows), subject, validated)
    if isinstance(subject.summary, BayesTreeSummary):  # pruning by a penalty would change its naive Bayes models
        payload["tree"] = trees.tree_payload(subject.summary.tree, schema) | {"path": [], "isPart": True}
    return payload


def _boundary_columns(subject: ReportSubject) -> list[int]:
    """Columns that can be drawn against each other: numbers first, each kind by information gain."""
    schema, profile = subject.predictor.schema, subject.profile
    if profile is None:
        return []
    usable = [j for j, c in enumerate(schema.columns) if c.kind is not Kind.TEXT and not c.unit]
    gain = {j: best_gain(schema.columns[j], profile.columns[j])[0] for j in usable}
    return sorted(usable, key=lambda j: (schema.columns[j].kind is not Kind.NUMERIC, -gain[j]))[:60]


def _model_views(subject: ReportSubject, payload: dict[str, Any]) -> list[Section]:
    """Sections that depend on the kind of model."""
    match subject.summary:
        case TreeSummary():
            path = payload.get("tree", {}).get("path", [])
            return [trees.tree_view(subject.summary, len(path)), trees.rules_view(subject.summary)]
        case NaiveBayesSummary():
            return [view for view in (bayes_view(subject), dependence_view(subject)) if view is not None]
        case LinearSummary():
            return [coefficients_view(subject.summary), *nomograms(subject)]
        case RegressionSummary():
            return [slopes_view(subject.summary)]
        case QuadraticSummary():
            return [view for view in [ellipses_view(subject.summary, _numbers(subject))] if view is not None]
        case JointSummary():
            return [joint_view(subject.summary, subject.classes)]
        case SplineSummary():
            return [view for view in [functions_view(subject)] if view is not None]
        case AdditiveSummary():
            has_pairs = any(len(term.columns) > 1 for term in subject.summary.terms)
            views = [view for view in [functions_view(subject)] if view is not None]
            return [*views, *([] if has_pairs else nomograms(subject))]
        case ScorecardSummary():
            return [scorecard_view(subject.summary), *nomograms(subject)]
        case RuleSetSummary():
            return [voting_rules_view(subject.summary)]
        case TrialsSummary():
            return [trials_view(subject.summary)]
        case BayesTreeSummary():
            return [trees.tree_view(subject.summary.tree, 0), leaves_view(subject)]
    return []


def _numbers(subject: ReportSubject) -> frozenset[str]:
    return frozenset(column.name for column in subject.predictor.schema.columns if column.kind is Kind.NUMERIC)


def _text(predictor: Predictor) -> str:
    text = escaped(predictor.describe(), keep="\n")
    return (
        text if len(text) <= MAX_TEXT_CHARACTERS else f"{text[:MAX_TEXT_CHARACTERS]}\n… ({len(text):,} characters in total)"
    )
