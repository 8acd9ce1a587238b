"""Model card: what is known of a model, for those who must decide whether to use it (Mitchell and others, 2019).

Everything comes from the model: schema, profile of the training rows, costs, and the provenance that `compare` recorded.
What is not stored is said to be not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from baytree.base.predictor import Predictor
from baytree.base.provenance import Provenance, RecordedAudit, RecordedScore, RecordedValidation
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.display.terminal import MAX_LISTED_LEVELS, listed, number
from baytree.rendering.model_card import to_markdown
from baytree.rendering.page.table_views import CardPart, CardView
from baytree.statistics.counts import Counts
from baytree.statistics.profile import EXACT_EXPONENT, Histogram, Profile

NOT_RECORDED = "Not recorded"


def markdown(predictor: Predictor, parameters: Mapping[str, Any] | None, more: Provenance) -> str:
    """Card in Markdown; `more` replaces what is stored with the model."""
    return to_markdown(card(predictor, parameters, more))


def card(predictor: Predictor, parameters: Mapping[str, Any] | None = None, more: Provenance | None = None) -> CardView:
    """Card of a predictor."""
    predictor.check_target()
    known, given = predictor.provenance or Provenance(), more or Provenance()
    validation, audit = given.validation or known.validation, given.audit or known.audit
    parts = (
        _model(predictor, parameters),
        _data(predictor),
        _schema(predictor.schema, predictor.profile),
        _validation(validation),
        _audit(audit),
        _drift(predictor.profile),
        _limits(predictor, validation),
    )
    return CardView(f"Model card: {predictor.name} for {predictor.schema.target.name}", parts)


def _model(predictor: Predictor, parameters: Mapping[str, Any] | None) -> CardPart:
    classes = predictor.schema.target.classes
    what = (
        "a number"
        if classes is None
        else f"one of {len(classes)} classes: {listed(classes, MAX_LISTED_LEVELS, noun='classes')}"
    )
    lines = [f"{predictor.name} predicts {predictor.schema.target.name}, {what}."]
    if parameters is not None:
        given = {name: value for name, value in parameters.items() if name != "schema" and value is not None}
        lines.append("Parameters: " + ", ".join(f"{name}={value!r}" for name, value in sorted(given.items())) + ".")
    if predictor.has_costs:
        lines.append("It predicts the class of least expected cost, by the costs that are stored with it.")
    lines.append(f"Purpose, authors and date: {NOT_RECORDED.lower()}.")
    return CardPart("Model", tuple(lines))


def _data(predictor: Predictor) -> CardPart:
    profile, target = predictor.profile, predictor.schema.target
    source = f"Source, period and sampling of the rows: {NOT_RECORDED.lower()}."
    if profile is None:
        return CardPart("Training data", (f"{NOT_RECORDED}: the model is stored without a profile of its rows.", source))
    lines = [f"{int(profile.rows[0]):,} rows with a known {target.name}.", source]
    if target.classes is None:
        assert profile.target is not None
        points = profile.target.points()
        lines.insert(
            1, f"The values of {target.name} range from {number(float(points.min()))} to {number(float(points.max()))}."
        )
        return CardPart("Training data", tuple(lines))
    weights = _class_weights(profile)
    if weights is None:
        return CardPart("Training data", tuple(lines))
    total = weights.sum()
    rows = [(str(label), number(w), f"{100 * w / total:.1f} %") for label, w in zip(target.classes, weights, strict=True)]
    return CardPart("Training data", tuple(lines), (target.name, "weight", "proportion"), tuple(rows))


def _class_weights(profile: Profile) -> np.ndarray | None:
    """Weight of each class [n_classes]; None without columns."""
    return _cells(profile.columns[0]).sum(axis=0) if profile.columns else None


def _cells(distribution: Histogram | Counts) -> np.ndarray:
    counts = distribution.counts if isinstance(distribution, Histogram) else distribution
    return counts.cells.rounded()


def _schema(schema: Schema, profile: Profile | None) -> CardPart:
    known = [None] * len(schema.columns) if profile is None else profile.columns
    rows = [_column(column, own) for column, own in zip(schema.columns, known, strict=True)]
    lines = [f"Left out: {', '.join(schema.left_out)}."] if schema.left_out else []
    lines += [f"Note: {note}" for note in schema.notes]
    header = ("column", "kind", "values in training", "missing in training")
    return CardPart("Columns", tuple(lines), header, tuple(rows))


def _column(column: Column, distribution: Histogram | Counts | None) -> tuple[str, ...]:
    name, kind = column.name, column.kind.value
    levels = f"{len(column.levels):,} words" if column.kind is Kind.TEXT else listed(column.levels, MAX_LISTED_LEVELS)
    if distribution is None:
        return (name, kind, levels if column.levels else NOT_RECORDED.lower(), NOT_RECORDED.lower())
    if isinstance(distribution, Histogram):
        points = distribution.points()
        about = "" if int(distribution.exponent[0]) == EXACT_EXPONENT else "about "  # else edges of buckets
        levels = (
            f"{about}{column.show(float(points.min()))} to {column.show(float(points.max()))}" if len(points) else "none"
        )
    cells = _cells(distribution)
    missing = float(cells[0].sum() / cells.sum()) if cells.sum() else 0.0
    return (name, kind, levels, f"{100 * missing:.1f} %")


def _validation(validation: RecordedValidation | None) -> CardPart:
    if validation is None:
        why = "compare and cross_validate know it: card(validation=…)"
        return CardPart("Validation", (f"{NOT_RECORDED}: no cross-validation is stored with the model ({why}).",))
    lines = (
        f"Cross-validation of {validation.rows:,} rows: {validation.folds}. Models are fitted to the training rows of each "
        "fold; this model is fitted to all rows.",
    )
    rows = tuple((each.metric, _score(each.mean), _score(each.low), _score(each.high)) for each in validation.scores)
    return CardPart("Validation", lines, ("score", "mean", "95 % from", "to"), rows)


def _score(value: float | None) -> str:
    return "–" if value is None or np.isnan(value) else f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"


def _audit(audit: RecordedAudit | None) -> CardPart:
    if audit is None:
        return CardPart("Audit", (f"{NOT_RECORDED}: no audit of the table is stored with the model (card(audit=…)).",))
    n = len(audit.findings)
    lines = [f"{audit.rows:,} rows: {f'{n} finding' + 's' * (n != 1) if n else 'nothing found'}."]
    lines += [f"Not checked: {each}." for each in audit.left_out]
    rows = tuple((each.kind.replace("_", " "), each.message, each.remedy) for each in audit.findings)
    return CardPart("Audit", tuple(lines), ("kind", "found", "remedy") if rows else (), rows)


def _drift(profile: Profile | None) -> CardPart:
    if profile is None:
        return CardPart("Drift reference", (f"{NOT_RECORDED}: without a profile, new rows cannot be compared with these.",))
    sampled = "" if profile.is_complete else f", from a sample of {profile.n_sampled:,}"
    text = (
        f"The model holds the distribution of each column in its {int(profile.rows[0]):,} training rows{sampled}. "
        "bt.drift and baytree drift compare new rows with it."
    )
    return CardPart("Drift reference", (text,))


def _limits(predictor: Predictor, validation: RecordedValidation | None) -> CardPart:
    unseen = "are treated as missing" if predictor.unseen == "missing" else "are refused"
    lines = [
        f"Levels that did not occur in training {unseen}.",
        "It was not fitted to numbers outside the values above; bt.drift counts rows that have some.",
    ]
    if validation is None:
        lines.append("How well it predicts new rows is not recorded.")
    elif not _is_above_chance(validation):
        lines.append(
            "No score of the validation says that it predicts better than a constant; compare it with the baseline."
        )
    lines.append(f"Performance in subgroups, fairness and effects of use: {NOT_RECORDED.lower()}.")
    return CardPart("Limits", tuple(lines))


def _is_above_chance(validation: RecordedValidation) -> bool:
    """Whether AUC, MCC or R² has an interval above its value for a constant; True if none of them is defined."""
    constants = {"AUC": 0.5, "MCC": 0.0, "R²": 0.0}
    known = [each for each in validation.scores if each.metric in constants and each.low is not None]
    return not known or any(_low(each) > constants[each.metric] for each in known)


def _low(score: RecordedScore) -> float:
    return -np.inf if score.low is None or np.isnan(score.low) else score.low
