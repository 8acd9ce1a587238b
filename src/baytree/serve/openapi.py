"""OpenAPI 3.1 description of the server; schemas of bodies are generated from the structs that decode them."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from baytree.serve.inference_protocol import Infer
from baytree.serve.json_body import Rows
from baytree.serve.request_body import ARROW, CSV, JSON
from baytree.serve.responses import InterviewState
from baytree.version import __version__

_REFUSALS = {
    "400": "The request cannot be parsed.",
    "401": "The token is missing or wrong.",
    "404": "There is no such path or model.",
    "408": "The body arrives too slowly.",
    "413": "The body is too long or has too many rows.",
    "415": "The content type is not supported.",
    "421": "The Host header is not accepted.",
    "422": "A value does not match its column, or the body has another shape.",
    "429": "Too many large bodies at the same time.",
}

_BODILESS = ("401", "404", "421")

_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}

_LABEL = {"type": ["string", "number", "boolean"]}


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    bodies, components = msgspec.json.schema_components(
        (Rows, InterviewState, Infer), ref_template="#/components/schemas/{name}"
    )
    rows, interview, inference = bodies
    components["Rows"]["anyOf"] = [{"required": ["rows"]}, {"required": ["columns"]}]
    tables = {JSON: {"schema": rows}, CSV: {"schema": _TEXT}, ARROW: {"schema": {"type": "string", "format": "binary"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "baytree", "version": __version__, "description": "Predictions of interpretable models."},
        "paths": {
            "/models/{name}/predict": _post("predict", "Predict each row.", tables, _predictions()),
            "/models/{name}/explain": _post("explain", "Explain the prediction of each row.", tables, _explanations()),
            "/models/{name}/interview": _post(
                "interview",
                "Return the next question and the class probabilities.",
                {JSON: {"schema": interview}},
                _question(),
            ),
            "/models": _get("models", "List the served models.", _list_of("models", _object(name=_TEXT, version=_TEXT))),
            "/models/{name}": _get("model", "Describe a model: its columns and version.", _answer(), is_of_model=True),
            "/models/{name}/page": _get("page", "HTML page of a model.", None, is_of_model=True),
            "/": _get("home", "HTML page of the only model, or the list of models.", None),
            "/health": _get("health", "Liveness: the process responds.", _object(status=_TEXT)),
            "/ready": _get("ready", "Readiness: models are loaded.", _object(status=_TEXT, models={"type": "integer"})),
            "/metrics": _get("metrics", "Metrics for Prometheus.", None, "text/plain"),
            "/openapi.json": _get("openapi", "This document.", {"type": "object"}),
            "/v2": _get("serverMetadata", "Metadata of this server.", _object(name=_TEXT, version=_TEXT)),
            "/v2/health/live": _get("serverLive", "Liveness: the process responds.", _object(live={"type": "boolean"})),
            "/v2/health/ready": _get("serverReady", "Readiness: models are loaded.", _object(ready={"type": "boolean"})),
            "/v2/models/{name}": _get(
                "modelMetadata", "Metadata of a model: its tensors.", _object(name=_TEXT), is_of_model=True
            ),
            "/v2/models/{name}/ready": _get("modelReady", "Readiness of a model.", _object(name=_TEXT), is_of_model=True),
            "/v2/models/{name}/infer": _post(
                "infer", "Predict each row, with tensors.", {JSON: {"schema": inference}}, _tensors()
            ),
        },
        "components": {
            "schemas": {**components, "Error": _object(error={"type": "string", "maxLength": 2048})},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _post(name: str, summary: str, content: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    operation = {
        "operationId": name,
        "summary": summary,
        "parameters": [_MODEL],
        "requestBody": {"required": True, "content": content},
        "responses": {"200": _response(summary, schema, JSON), **_refusals(tuple(_REFUSALS))},
    }
    return {"post": operation}


def _get(
    name: str, summary: str, schema: dict[str, Any] | None, media: str = "text/html", is_of_model: bool = False
) -> dict[str, Any]:
    response = _response(summary, schema or _TEXT, media if schema is None else JSON)
    operation: dict[str, Any] = {"operationId": name, "summary": summary}
    if is_of_model:
        operation["parameters"] = [_MODEL]
    return {"get": {**operation, "responses": {"200": response, **_refusals(_BODILESS)}}}


def _response(summary: str, schema: dict[str, Any], media: str) -> dict[str, Any]:
    return {"description": summary, "content": {media: {"schema": schema}}}


def _refusals(statuses: tuple[str, ...]) -> dict[str, Any]:
    error = {"$ref": "#/components/schemas/Error"}
    return {status: _response(_REFUSALS[status], error, JSON) for status in statuses}


_MODEL = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "Name of a model: its file name without .baytree.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
}


def _object(**fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _list_of(name: str, item: dict[str, Any]) -> dict[str, Any]:
    return _object(**{name: {"type": "array", "items": item}})


def _answer(**fields: dict[str, Any]) -> dict[str, Any]:
    return _object(model=_TEXT, version=_TEXT, digest=_TEXT, **fields)


def _predictions() -> dict[str, Any]:
    probabilities = {"type": "array", "items": {"type": "object", "additionalProperties": _NUMBER}}
    schema = _answer(predictions={"type": "array", "items": {"type": [*_LABEL["type"], "null"]}})
    unanswered = {"type": "array", "items": {"type": ["string", "null"]}}
    return {**schema, "properties": {**schema["properties"], "probabilities": probabilities, "unanswered": unanswered}}


def _explanations() -> dict[str, Any]:
    effects = {"type": "array", "items": {"type": ["number", "null"]}}
    line = _object(column=_TEXT, value=_TEXT, effect=effects)
    ledger = _object(prediction=_LABEL, unit=_TEXT, start=effects, evidence={"type": "array", "items": line}, scores=effects)
    return _answer(explanations={"type": "array", "items": ledger})


def _question() -> dict[str, Any]:
    question = {**_object(column=_TEXT, kind=_TEXT, choices={"type": "array"}, gain=_NUMBER), "type": ["object", "null"]}
    return _answer(question=question, belief={"type": "object", "additionalProperties": _NUMBER}, prediction=_LABEL)


def _tensors() -> dict[str, Any]:
    tensor = _object(
        name=_TEXT, datatype=_TEXT, shape={"type": "array", "items": {"type": "integer"}}, data={"type": "array"}
    )
    return _object(model_name=_TEXT, model_version=_TEXT, outputs={"type": "array", "items": tensor})
