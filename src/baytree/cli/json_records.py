"""Records of the output of each command with `--json`, from which the JSON Schemas in docs/schemas follow.

The tests hold the schemas to these records and the output of every command to its schema.
"""

from __future__ import annotations

from typing import Any

import msgspec

from baytree.auditing.result import Finding
from baytree.drift_detection.drift import ColumnDrift
from baytree.model_diff.difference import Difference
from baytree.summary import Summary

Label = str | bool | int | float


class DecisionCurveRecord(msgspec.Struct):
    """Net benefit by threshold of acting on a class."""

    label: Label
    threshold: list[float]
    model: list[float]
    all_rows: list[float]


class EvaluationRecord(msgspec.Struct):
    """Output of `evaluate`."""

    model: str
    target: str
    classes: list[Label]
    rows: int
    scores: dict[str, float]
    confusion: list[list[float]] | None  # rows: actual, columns: predicted, in the order of `classes`; null for numbers
    decision_curve: DecisionCurveRecord | None


class EvidenceRecord(msgspec.Struct, omit_defaults=True):
    """Contribution of one column to the score of each class."""

    column: str
    value: str
    effect: list[float]
    condition: str | msgspec.UnsetType = msgspec.UNSET
    excludes: list[Label] | msgspec.UnsetType = msgspec.UNSET  # classes that are impossible with this value


class ExplanationRecord(msgspec.Struct, omit_defaults=True):
    """Explanation of one row: start + effects = scores, in the order of the classes."""

    row: int
    prediction: Label | None
    probability: dict[str, float]
    unit: str
    start: list[float]
    evidence: list[EvidenceRecord]
    scores: list[float]
    unanswered: str | msgspec.UnsetType = msgspec.UNSET


class ExplanationsRecord(msgspec.Struct):
    """Output of `explain`."""

    model: str
    target: str
    rows: list[ExplanationRecord]


class RankRecord(msgspec.Struct):
    """One column in a ranking; the p-values are null where the measure has none."""

    column: str
    kind: str
    score: float
    how: str
    known: float
    p: float
    bonferroni: float
    fdr: float


class RankingRecord(msgspec.Struct):
    """Output of `rank`, best first."""

    by: str
    target: str
    columns: list[RankRecord]


class ColumnRecord(msgspec.Struct):
    """A column that a model uses."""

    name: str
    source: str  # column of the table that it is computed from
    kind: str
    levels: list[Label]
    unit: str | None


class ReasonRecord(msgspec.Struct):
    """A contribution to a prediction, compared with the runner-up."""

    reason: str | None
    effect: float


class PredictionRecord(msgspec.Struct, omit_defaults=True):
    """One line of the output of `predict`; every row is a JSON document of its own."""

    prediction: Label | None
    rejected: str | msgspec.UnsetType | None = msgspec.UNSET  # why there is no prediction; with --reject
    probability: dict[str, float] | msgspec.UnsetType = msgspec.UNSET  # with --proba
    reasons: list[ReasonRecord] | msgspec.UnsetType = msgspec.UNSET  # with --explain
    keep: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET  # with --keep


class DriftRecord(msgspec.Struct):
    """Output of `drift`."""

    rows: int
    unlike: float  # proportion of rows with a new level or a number outside the range of training
    alarms: list[str]
    columns: list[ColumnDrift]


class AuditRecord(msgspec.Struct):
    """Output of `audit`."""

    target: str
    rows: int
    findings: list[Finding]
    left_out: list[str]


class ComparedModelRecord(msgspec.Struct):
    """One model of a comparison. Further members are its metrics by name, such as "accuracy"."""

    model: str
    short: str
    low: float  # 95 % interval of the score that ranks the models
    high: float
    worse: float
    error: float
    p: float
    lost: float
    reason: str
    is_contender: bool
    seconds: float
    size: int
    scores: dict[str, list[float]]
    parameters: dict[str, Any]


class LeftOutRecord(msgspec.Struct):
    """A model that did not take part."""

    model: str
    reason: str


class ComparisonRecord(msgspec.Struct):
    """Output of `compare`, which is also the file results.json."""

    target: str
    metric: str
    folds: str
    rule: str
    models: list[ComparedModelRecord]
    always_the_same: dict[str, float]
    beats_always_the_same: bool
    cautions: list[str]
    audit: AuditRecord | None
    notes: list[str]
    left_out: list[LeftOutRecord]
    is_interrupted: bool
    recommended: str
    reason: str


class DatasetRecord(msgspec.Struct):
    """A bundled table."""

    name: str
    title: str
    rows: int
    target: str
    columns: dict[str, str]  # kind by name
    source: str
    terms: str
    changes: str


class DatasetsRecord(msgspec.Struct):
    """Output of `datasets`."""

    tables: list[DatasetRecord]


def _records() -> dict[str, Any]:
    shown = msgspec.defstruct(
        "ModelRecord",
        [
            ("model", str),
            ("target", str),
            ("classes", list[Label]),
            ("columns", list[ColumnRecord]),
            ("left_out", list[str]),
            ("notes", list[str]),
            ("costs", list[list[float]] | None),
            ("summary", Summary | None),
        ],
    )
    shown.__doc__ = "Output of `show`; the summary is null with --schema."
    difference = msgspec.defstruct(
        "DifferenceRecord",
        [("is_empty", bool), *((each.name, each.type) for each in msgspec.structs.fields(Difference))],
    )
    difference.__doc__ = "Output of `diff`."
    return {
        "audit": AuditRecord, "compare": ComparisonRecord, "datasets": DatasetsRecord, "diff": difference,
        "drift": DriftRecord, "evaluate": EvaluationRecord, "explain": ExplanationsRecord, "predict": PredictionRecord,
        "rank": RankingRecord, "show": shown,
    }  # fmt: skip


NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}, {"type": "null"}]}

_WITH_FURTHER_MEMBERS = ("ComparedModelRecord",)


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each command's output."""
    return {name: _schema(f"baytree {name} --json", record) for name, record in _records().items()}


def _schema(title: str, record: Any) -> dict[str, Any]:
    found = msgspec.json.schema(record, schema_hook=lambda _: {"description": "a value of any type"})
    definitions = found["$defs"] | {"Number": NUMBER}
    closed = {
        name: _closed(each, name in _WITH_FURTHER_MEMBERS) if name != "Number" else each
        for name, each in sorted(definitions.items())
    }
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **{name: each for name, each in found.items() if name != "$defs"}, "$defs": closed}


def _closed(value: Any, is_open: bool) -> Any:
    """Return a schema whose objects have no further members, and whose numbers may be undefined or infinite."""
    if isinstance(value, list | tuple):
        return [_closed(each, is_open) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "number":
        return {"$ref": "#/$defs/Number"}
    found = {name: _closed(each, is_open) for name, each in value.items()}
    if isinstance(value.get("description"), str):
        found["description"] = value["description"].split("\n\n")[0]
    return found | {"additionalProperties": False} if "properties" in value and not is_open else found
