"""Answers of a model as plain values: predictions, ledgers, the next question of an interview."""

from __future__ import annotations

from itertools import repeat
from typing import Annotated, Any

import msgspec
import numpy as np

from baytree.interview.interview import Interview, Question, resumed
from baytree.limits.reject import too_unsure
from baytree.model import answered
from baytree.serve.limits import Refusal, named
from baytree.serve.served_models import Served
from baytree.serve.wire.json_body import Value, decoded, refuse_twice
from baytree.table.schema import Column, Kind
from baytree.table.table import Table

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
    answers, choice = answered(served.predictor.model, table)
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
    return too_unsure(probability[range(len(choice)), choice], served.least or 0.0)


def explanations(served: Served, table: Table | None) -> dict[str, Any]:
    """The ledger of each row; an effect that excludes a class is null, and the class is among those that it excludes."""
    found = [] if table is None else served.predictor.model.explain(table)
    return {"explanations": [each.to_dict() for each in found]}


class Talk(msgspec.Struct, forbid_unknown_fields=True):
    """What has been answered so far, how sure an answer must be, and what it costs to ask for columns."""

    answers: dict[str, Value | list[float | None]] = {}
    sure: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.99
    costs: dict[str, Annotated[float, msgspec.Meta(ge=0)]] = {}


_talk = msgspec.json.Decoder(Talk)


def question(served: Served, body: bytes) -> dict[str, Any]:
    """What is believed after these answers, and what to ask next: nothing is kept between two requests."""
    talk = decoded(body, _talk, _INTERVIEW_SHAPE)
    assert isinstance(talk, Talk)
    refuse_twice(body, len(talk.answers) + len(talk.costs) + len(msgspec.json.decode(body, type=dict[str, msgspec.Raw])))
    for name in (*talk.answers, *talk.costs):
        if name not in served.predictor.schema.names:
            raise Refusal(422, f"column {named(name)} is none of the model; see GET /models/{{name}}")
    state = _resumed(served, talk)
    asked = state.next()
    belief = dict(zip(served.class_names, state.belief.values(), strict=True))
    return {"question": None if asked is None else _told(asked), "belief": belief, "prediction": state.prediction}


def _resumed(served: Served, talk: Talk) -> Interview:
    try:
        first = served.interview()
    except ValueError:
        raise Refusal(422, "this model cannot be interviewed: it predicts numbers, or keeps no profile") from None
    try:
        return resumed(first, talk.answers, talk.sure, talk.costs)
    except (ValueError, OverflowError):
        raise Refusal(
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
