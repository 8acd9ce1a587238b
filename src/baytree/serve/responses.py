"""Responses as plain values or HTML: predictions, explanations, interview questions, model descriptions, the index page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Annotated, Any

import msgspec
import numpy as np

from baytree.base.unknown_values import name_unknown_values
from baytree.data.encoding.table import Table
from baytree.data.frames.raw import RawFrame
from baytree.data.schema.column import Column, Kind
from baytree.interview.interview import Interview, Question, resume_interview
from baytree.serve.json_body import Value, check_duplicate_keys, decoded
from baytree.serve.limits import RequestError, shown_name
from baytree.serve.models import Served
from baytree.uncertainty.rejection import low_confidence_reasons

_INTERVIEW_SHAPE = (
    'send {"answers": {column: a level, a number, a range [low, high], or null if unknown}}; '
    '"sure" is a probability above 0, at most 1; "question_costs" are numbers of at least 0, by column'
)


def identity(served: Served) -> dict[str, Any]:
    """Return the fields that every response contains: the name, version and digest of the model."""
    return {"model": served.name, "version": served.version, "digest": served.digest}


def predictions(served: Served, table: Table | None) -> dict[str, Any]:
    """Return the class and probabilities, or the number, of each row."""
    schema = served.predictor.schema
    if table is None:
        lists = (
            ["probabilities", *([] if served.min_probability is None else ["unanswered"])] if served.is_classifier else []
        )
        return {name: [] for name in ("predictions", *lists)}
    prediction, choice = served.predictor.predict_with_codes(table)
    if choice is None:
        return {"predictions": prediction[:, 0].tolist()}
    names, labels = served.class_names, list(map(schema.classes.__getitem__, choice.tolist()))
    # a loop would take twice the time
    probabilities = {"probabilities": list(map(dict, map(zip, repeat(names), prediction.tolist())))}
    if served.min_probability is None:
        return {"predictions": labels, **probabilities}
    reasons = unanswered(served, prediction, choice)
    sure = [None if reason else label for label, reason in zip(labels, reasons, strict=True)]
    return {"predictions": sure, "unanswered": [reason or None for reason in reasons], **probabilities}


def unanswered(served: Served, probability: np.ndarray, choice: np.ndarray) -> list[str]:
    """Return the reason why each row has no prediction; empty if it has one."""
    return low_confidence_reasons(probability[range(len(choice)), choice], served.min_probability or 0.0)


def explanations(served: Served, frame: RawFrame, table: Table | None) -> dict[str, Any]:
    """Return the explanation of each row; an effect that excludes a class is null, and the class is listed as excluded."""
    records = [] if table is None else served.predictor.explain_encoded(table)
    if table is not None and frame.is_named and table.schema.is_named:
        records = name_unknown_values(records, frame, table)
    return {"explanations": [record.to_dict() for record in records]}


class InterviewState(msgspec.Struct, forbid_unknown_fields=True):
    """State of an interview, sent by the client: answers so far, the probability at which to stop, and costs of columns."""

    answers: dict[str, Value | list[float | None]] = {}
    sure: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.99
    question_costs: dict[str, Annotated[float, msgspec.Meta(ge=0)]] = {}
    costs: dict[str, Annotated[float, msgspec.Meta(ge=0)]] = {}  # older name of `question_costs`


_talk = msgspec.json.Decoder(InterviewState)


def question(served: Served, body: bytes) -> dict[str, Any]:
    """Return the class probabilities after these answers, and the next question. The server keeps no state."""
    interview_state = decoded(body, _talk, _INTERVIEW_SHAPE)
    assert isinstance(interview_state, InterviewState)
    check_duplicate_keys(
        body,
        len(interview_state.answers)
        + len(interview_state.question_costs)
        + len(interview_state.costs)
        + len(msgspec.json.decode(body, type=dict[str, msgspec.Raw])),
    )
    for name in (*interview_state.answers, *interview_state.question_costs, *interview_state.costs):
        if name not in served.predictor.schema.names:
            raise RequestError(422, f"column {shown_name(name)} is not a column of the model; see GET /models/{{name}}")
    state = _resume(served, interview_state)
    next_question = state.next()
    belief = dict(zip(served.class_names, state.belief.values(), strict=True))
    return {
        "question": None if next_question is None else _question_fields(next_question),
        "belief": belief,
        "prediction": state.prediction,
    }


def _resume(served: Served, interview_state: InterviewState) -> Interview:
    try:
        first = served.interview()
    except ValueError:
        raise RequestError(422, "this model cannot be interviewed: it predicts numbers, or has no profile") from None
    try:
        costs = interview_state.question_costs or interview_state.costs
        return resume_interview(first, interview_state.answers, interview_state.sure, costs)
    except (ValueError, OverflowError):
        raise RequestError(422, "an answer is not a level, number or range of its column; see GET /models/{name}") from None


def _question_fields(question: Question) -> dict[str, Any]:
    return msgspec.to_builtins(question) | {"choices": [list(c) if isinstance(c, tuple) else c for c in question.choices]}


def description(served: Served) -> dict[str, Any]:
    """Return the description of a model and of the columns that it requires."""
    schema = served.predictor.schema
    target: dict[str, Any] = {"name": schema.target.name}
    if schema.target.classes is not None:
        target["classes"] = list(schema.classes)
    columns = [_column(column) for column in schema.columns]
    profile = served.predictor.profile
    rows = {} if profile is None else {"rows": int(profile.rows[0])}
    fields = {"name": served.name, "kind": served.predictor.name, "columns": columns, "target": target}
    return identity(served) | fields | rows


def _column(column: Column) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": column.source, "kind": str(column.kind)}
    if column.kind in (Kind.NOMINAL, Kind.ORDINAL):
        fields["levels"] = list(column.levels)
    return fields | ({"unit": column.unit} if column.unit else {})


def encode(value: Any) -> bytes:
    """Encode as JSON; NaN and infinity become null."""
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


def index(served: Iterable[Served]) -> bytes:
    """Return the list of models as an HTML page."""
    try:
        from jinja2 import Environment, PackageLoader
    except ModuleNotFoundError:
        raise RequestError(404, "pages need jinja2, which is not installed on this server") from None
    loader = PackageLoader("baytree.serve", "templates")
    template = Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("index.html")
    return template.render(models=list(served)).encode("utf-8", "backslashreplace")
