"""Answers of a model as plain values: predictions, ledgers, the next question of an interview.

The page of a server of several models: their names, each with a link to its own page.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Annotated, Any

import msgspec
import numpy as np

from baytree.base.model import predict_with_codes
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.interview.interview import Interview, Question, resume_interview
from baytree.serve.json_body import Value, check_duplicate_keys, decoded
from baytree.serve.limits import RequestError, named
from baytree.serve.models import Served
from baytree.uncertainty.rejection import low_confidence_reasons

_INTERVIEW_SHAPE = (
    'send {"answers": {column: a level, a number, a range [low, high], or null where it is not known}}; '
    '"sure" is a probability above 0, at most 1; "costs" are numbers of at least 0, by column'
)


def identity(served: Served) -> dict[str, Any]:
    """What every answer carries: which model it is of, and which version of it."""
    return {"model": served.name, "version": served.version, "digest": served.digest}


def predictions(served: Served, table: Table | None) -> dict[str, Any]:
    """The class and the probabilities, or the number, of each row."""
    schema = served.predictor.schema
    if table is None:
        lists = ["probabilities", *([] if served.least is None else ["unanswered"])] if served.is_classifier else []
        return {name: [] for name in ("predictions", *lists)}
    answers, choice = predict_with_codes(served.predictor.model, table)
    if choice is None:
        return {"predictions": answers[:, 0].tolist()}
    names, labels = served.class_names, list(map(schema.classes.__getitem__, choice.tolist()))
    told = {"probabilities": list(map(dict, map(zip, repeat(names), answers.tolist())))}  # a loop takes twice the time
    if served.least is None:
        return {"predictions": labels, **told}
    reasons = unanswered(served, answers, choice)
    sure = [None if reason else label for label, reason in zip(labels, reasons, strict=True)]
    return {"predictions": sure, "unanswered": [reason or None for reason in reasons], **told}


def unanswered(served: Served, probability: np.ndarray, choice: np.ndarray) -> list[str]:
    """Why the class of a row is not told; empty where it is."""
    return low_confidence_reasons(probability[range(len(choice)), choice], served.least or 0.0)


def explanations(served: Served, table: Table | None) -> dict[str, Any]:
    """The ledger of each row; an effect that excludes a class is null, and the class is among those that it excludes."""
    found = [] if table is None else served.predictor.model.explain(table)
    return {"explanations": [each.to_dict() for each in found]}


class InterviewState(msgspec.Struct, forbid_unknown_fields=True):
    """What has been answered so far, how sure an answer must be, and what it costs to ask for columns."""

    answers: dict[str, Value | list[float | None]] = {}
    sure: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.99
    costs: dict[str, Annotated[float, msgspec.Meta(ge=0)]] = {}


_talk = msgspec.json.Decoder(InterviewState)


def question(served: Served, body: bytes) -> dict[str, Any]:
    """What is believed after these answers, and what to ask next: nothing is kept between two requests."""
    talk = decoded(body, _talk, _INTERVIEW_SHAPE)
    assert isinstance(talk, InterviewState)
    check_duplicate_keys(
        body, len(talk.answers) + len(talk.costs) + len(msgspec.json.decode(body, type=dict[str, msgspec.Raw]))
    )
    for name in (*talk.answers, *talk.costs):
        if name not in served.predictor.schema.names:
            raise RequestError(422, f"column {named(name)} is none of the model; see GET /models/{{name}}")
    state = _resumed(served, talk)
    asked = state.next()
    belief = dict(zip(served.class_names, state.belief.values(), strict=True))
    return {"question": None if asked is None else _told(asked), "belief": belief, "prediction": state.prediction}


def _resumed(served: Served, talk: InterviewState) -> Interview:
    try:
        first = served.interview()
    except ValueError:
        raise RequestError(422, "this model cannot be interviewed: it predicts numbers, or keeps no profile") from None
    try:
        return resume_interview(first, talk.answers, talk.sure, talk.costs)
    except (ValueError, OverflowError):
        raise RequestError(
            422, "an answer is none of its column's levels, no number or no range; see GET /models/{name}"
        ) from None


def _told(question: Question) -> dict[str, Any]:
    return msgspec.to_builtins(question) | {"choices": [list(c) if isinstance(c, tuple) else c for c in question.choices]}


def description(served: Served) -> dict[str, Any]:
    """What a model is and what it asks of rows."""
    schema = served.predictor.schema
    target: dict[str, Any] = {"name": schema.target.name}
    if schema.target.classes is not None:
        target["classes"] = list(schema.classes)
    columns = [_column(column) for column in schema.columns]
    profile = served.predictor.profile
    rows = {} if profile is None else {"rows": int(profile.rows[0])}
    told = {"name": served.name, "kind": served.predictor.name, "columns": columns, "target": target}
    return identity(served) | told | rows


def _column(column: Column) -> dict[str, Any]:
    told: dict[str, Any] = {"name": column.source, "kind": str(column.kind)}
    if column.kind in (Kind.NOMINAL, Kind.ORDINAL):
        told["levels"] = list(column.levels)
    return told | ({"unit": column.unit} if column.unit else {})


def encode(value: Any) -> bytes:
    """JSON; a number that is none is null."""
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


def index(served: Iterable[Served]) -> bytes:
    """The list of models as HTML."""
    try:
        from jinja2 import Environment, PackageLoader
    except ModuleNotFoundError:
        raise RequestError(404, "this server shows no pages; install jinja2 beside it") from None
    loader = PackageLoader("baytree.serve", "templates")
    template = Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("index.html")
    return template.render(models=list(served)).encode("utf-8", "backslashreplace")
