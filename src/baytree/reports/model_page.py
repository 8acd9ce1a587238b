"""The page of a model: which sections it has, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baytree.exports import program
from baytree.given import FrameLike
from baytree.predictor import Predictor
from baytree.reports.asking import asking
from baytree.reports.chosen_rows import rows_view
from baytree.reports.impurities import impurity_view
from baytree.reports.likelihoods import bayes_view
from baytree.reports.overview import overview
from baytree.reports.pruned_errors import Path, validated_path, with_errors
from baytree.reports.sections import tree_section
from baytree.reports.sections.coefficient_section import coefficients_view, nomograms, slopes_view
from baytree.reports.sections.column_section import table_view, told_by
from baytree.reports.sections.distribution_section import ellipses_view, joint_view
from baytree.reports.sections.leaf_section import leaves_view
from baytree.reports.sections.set_section import Sets, sets_payload
from baytree.reports.sections.silence_section import Curve, silence_payload, silence_view
from baytree.reports.sections.spline_section import functions_view
from baytree.reports.sections.vote_section import trials_view, voting_rules_view
from baytree.reports.subject import Fitted, Subject, predictor_of
from baytree.show.report.records import Page, Section
from baytree.show.report.records.interactive_views import AskView, BoundaryView, WhatIfView
from baytree.show.report.records.model_views import ProseView, TreeView
from baytree.show.terminal import escaped
from baytree.summary.bayes import JointSummary, NaiveBayesSummary
from baytree.summary.hybrid import BayesTreeSummary
from baytree.summary.linear import LinearSummary, QuadraticSummary, RegressionSummary, SplineSummary
from baytree.summary.tree import RuleSetSummary, TreeSummary, TrialsSummary
from baytree.table.schema import Kind

MOST_PROSE = 20_000  # letters


def model_page(
    model: Fitted | Predictor, frame: FrameLike, rows: int | Sequence[int] | None, sets: Sets | None = None
) -> Page:
    """Everything about one model."""
    predictor = predictor_of(model)
    subject = Subject.of(predictor, frame)
    own, payload = whole(subject, validated=validated_path(model, subject, frame), sets=sets)
    sections: list[Section] = [overview(subject), *own]
    if subject.profile is not None:
        sections.append(table_view(predictor.schema, subject.profile))
    if isinstance(subject.summary, TreeSummary) and subject.profile is not None and len(subject.classes) > 1:
        sections.append(impurity_view(subject))
    if rows is not None:
        sections.append(rows_view(subject, rows))
    sections.append(ProseView(_prose(predictor)))
    script = str(program(predictor, "javascript"))
    return Page(title(predictor), _lead(subject), tuple(sections), (payload,), (script,), rows is not None)


def whole(
    subject: Subject, kept_back: Curve | None = None, validated: Path | None = None, sets: Sets | None = None
) -> tuple[list[Section], dict[str, Any]]:
    """The sections in which a model is looked at and tried, and what their scripts read.

    `kept_back` is how accurate the surest answers are for rows that the model has not learnt from.
    """
    target, payload = subject.predictor.schema.target.name, _payload(subject, validated)
    if subject.classes:
        payload["silence"] = silence_payload(subject, kept_back)
    if sets is not None:
        payload["sets"] = sets_payload(subject, sets)
    silence = silence_view(payload["silence"]) if subject.classes else None
    promise = "" if sets is None else str(sets.promise)
    sections: list[Section] = [*_drawn(subject, payload), WhatIfView(subject.classes, target, silence, promise)]
    if payload.get("ask"):
        sections.append(AskView(target, subject.classes, _unasked(subject)))
    if len(payload["boundary"]) > 1:
        names = tuple(subject.predictor.schema.names[j] for j in payload["boundary"])
        sections.append(BoundaryView(names, subject.classes))
    return sections, payload


def _unasked(subject: Subject) -> tuple[str, ...]:
    """The columns of text: no question could offer their answers."""
    return tuple(column.name for column in subject.predictor.schema.columns if column.kind is Kind.TEXT)


def still(predictor: Predictor) -> Page:
    """What a notebook shows of a model: the sections that need no script."""
    subject = Subject.of(predictor, None)
    drawn = [_stilled(subject, section) for section in _drawn(subject, {})]
    sections = [overview(subject), *drawn]
    return Page(title(predictor), _lead(subject), (*sections, ProseView(_prose(predictor))))


def _stilled(subject: Subject, section: Section) -> Section:
    """The section, or in place of a tree that a script would draw a picture of it."""
    tree = subject.summary.tree if isinstance(subject.summary, BayesTreeSummary) else subject.summary
    if isinstance(section, TreeView) and isinstance(tree, TreeSummary):
        return tree_section.drawing_view(tree)
    return section


def title(predictor: Predictor) -> str:
    """The model and what it predicts."""
    return f"{predictor.name} for {predictor.schema.target.name}"


def _lead(subject: Subject) -> str:
    n, schema = len(subject.predictor.schema), subject.predictor.schema
    what = f"one of {len(schema.classes)} classes" if schema.classes else "a number"
    return f"Predicts {schema.target.name}, {what}, from {n} column{'s' * (n != 1)}."


def _payload(subject: Subject, validated: Path | None) -> dict[str, Any]:
    schema = subject.predictor.schema
    columns, ask, _ = asking(subject)
    payload: dict[str, Any] = {"target": schema.target.name, "classes": list(subject.classes), "columns": columns}
    if ask is not None:
        payload["ask"] = ask
    payload["boundary"] = _crossed(subject) if ask is not None else []
    if isinstance(subject.summary, TreeSummary):
        payload["tree"] = with_errors(tree_section.tree_payload(subject.summary, schema), subject, validated)
    if isinstance(subject.summary, BayesTreeSummary):  # pruned by a penalty, its naive Bayes models would be others
        payload["tree"] = tree_section.tree_payload(subject.summary.tree, schema) | {"path": [], "isPart": True}
    return payload


def _crossed(subject: Subject) -> list[int]:
    """The columns that can be drawn against each other: numbers first, each kind by what it tells."""
    schema, profile = subject.predictor.schema, subject.profile
    if profile is None:
        return []
    able = [j for j, c in enumerate(schema.columns) if c.kind is not Kind.TEXT and not c.unit]
    gain = {j: told_by(schema.columns[j], profile.columns[j])[0] for j in able}
    return sorted(able, key=lambda j: (schema.columns[j].kind is not Kind.NUMERIC, -gain[j]))[:60]


def _drawn(subject: Subject, payload: dict[str, Any]) -> list[Section]:
    """The sections that show the model for what it is."""
    match subject.summary:
        case TreeSummary():
            path = payload.get("tree", {}).get("path", [])
            return [tree_section.tree_view(subject.summary, len(path)), tree_section.rules_view(subject.summary)]
        case NaiveBayesSummary():
            return [bayes_view(subject)]
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
        case RuleSetSummary():
            return [voting_rules_view(subject.summary)]
        case TrialsSummary():
            return [trials_view(subject.summary)]
        case BayesTreeSummary():
            return [tree_section.tree_view(subject.summary.tree, 0), leaves_view(subject)]
    return []


def _numbers(subject: Subject) -> frozenset[str]:
    return frozenset(column.name for column in subject.predictor.schema.columns if column.kind is Kind.NUMERIC)


def _prose(predictor: Predictor) -> str:
    text = escaped(predictor.describe(), keep="\n")
    return text if len(text) <= MOST_PROSE else f"{text[:MOST_PROSE]}\n… ({len(text):,} letters in all)"
