"""Endpoints of the server: the table of paths, methods and handlers, and the handlers themselves."""

# ruff: noqa: ARG001 - every route has the same signature

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from baytree.serve import inference_protocol, responses
from baytree.serve.batching import BatchQueue
from baytree.serve.json_body import columns_of
from baytree.serve.limits import MAX_CONTRIBUTIONS, MAX_EXPLAINED_ROWS, MAX_ROWS, RequestError
from baytree.serve.models import Models, Served
from baytree.serve.monitoring import Log, Metrics, families, family
from baytree.serve.openapi import document
from baytree.serve.request_body import JSON, encoded, frame_of
from baytree.serve.responses import encode, identity, index

HTML, PROMETHEUS = "text/html; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8"


class ServerState(NamedTuple):
    """State that handlers read: the models, the metrics, the queue and the log."""

    models: Models
    metrics: Metrics
    queue: BatchQueue
    log: Log


class Request(NamedTuple):
    """A request: the model named in its path, its body, and the content type."""

    name: str
    body: bytes
    media: str


class Reply(NamedTuple):
    """A response: its bytes and content type, and what is logged about it."""

    body: bytes
    media: str = JSON
    served: Served | None = None
    n_rows: int = 0
    status: int = 200


Handler = Callable[[ServerState, Request], Reply]

BatchedHandler = Callable[[ServerState, Request], Awaitable[Reply]]


async def predict_batched(state: ServerState, request: Request) -> Reply:
    """Predict a short JSON body on the event loop, together with other requests if it has few rows."""
    served = state.models[request.name]
    columns = columns_of(request.body)
    predictions = await state.queue.predict(served, columns)
    return _rows_reply(served, predictions, columns.n_rows)


def predict(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    frame = frame_of(served.required, request.body, request.media, MAX_ROWS)
    table = encoded(served.predictor, frame) if frame.n_rows else None
    served.drift_monitor.add_many(frame)
    return _rows_reply(served, responses.predictions(served, table), frame.n_rows)


def explain(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    frame = frame_of(served.required, request.body, request.media, MAX_EXPLAINED_ROWS)
    table = encoded(served.predictor, frame) if frame.n_rows else None
    n_columns = len(served.predictor.schema.columns)
    if table is not None and len(table) * n_columns > MAX_CONTRIBUTIONS:
        raise RequestError(
            413, f"send at most {MAX_CONTRIBUTIONS // n_columns:,} rows of this model to be explained in one request"
        )
    return _rows_reply(served, responses.explanations(served, frame, table), 0 if table is None else len(table))


def interview(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    _require_json(request)
    return _rows_reply(served, responses.question(served, request.body), 0)


def infer(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    _require_json(request)
    response, n_rows = inference_protocol.infer(served, request.body)
    return Reply(encode(response), served=served, n_rows=n_rows)


def health(state: ServerState, request: Request) -> Reply:
    return Reply(b'{"status":"ok"}')


def ready(state: ServerState, request: Request) -> Reply:
    return Reply(encode({"status": "ready", "models": len(state.models.names)}))


def models(state: ServerState, request: Request) -> Reply:
    descriptions = [
        {"name": served.name, "version": served.version, "kind": served.predictor.name} for served in state.models
    ]
    return Reply(encode({"models": descriptions}))


def model(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    return Reply(encode(responses.description(served)), served=served)


def page(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    return Reply(served.page(), HTML, served)


def home(state: ServerState, request: Request) -> Reply:
    served = list(state.models)
    return Reply(served[0].page() if len(served) == 1 else index(served), HTML)


def metrics(state: ServerState, request: Request) -> Reply:
    live = [((("model", served.name), ("version", served.version)), 1.0) for served in state.models]
    info = family("baytree_model_info", "gauge", "Served models and their versions.", live)
    n_dropped = [((), float(state.log.n_dropped))]
    dropped = family("baytree_log_lines_dropped_total", "counter", "Number of log lines that were dropped.", n_dropped)
    drifts = [(served.name, drift) for served in state.models if (drift := served.drift_monitor.drift()) is not None]
    return Reply(state.metrics.text([info, dropped, families(drifts)]).encode(), PROMETHEUS)


def openapi(state: ServerState, request: Request) -> Reply:
    return Reply(encode(document()))


def v2_server(state: ServerState, request: Request) -> Reply:
    return Reply(encode(inference_protocol.server()))


def v2_live(state: ServerState, request: Request) -> Reply:
    return Reply(b'{"live":true}')


def v2_ready(state: ServerState, request: Request) -> Reply:
    return Reply(b'{"ready":true}')


def v2_model(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    return Reply(encode(inference_protocol.model(served)), served=served)


def v2_model_ready(state: ServerState, request: Request) -> Reply:
    served = state.models[request.name]
    return Reply(encode({"name": served.name, "ready": True}), served=served)


class Endpoint(NamedTuple):
    """A path, its handlers by method, and whether they need a thread."""

    path: str
    handlers: Mapping[str, Handler]
    is_slow: bool = False
    batched_handler: BatchedHandler | None = None  # handler of short JSON bodies, on the event loop


ENDPOINTS = (
    Endpoint("/models/{name}/predict", {"POST": predict}, batched_handler=predict_batched),
    Endpoint("/models/{name}/explain", {"POST": explain}),
    Endpoint("/v2/models/{name}/infer", {"POST": infer}),
    Endpoint("/health", {"GET": health}),
    Endpoint("/ready", {"GET": ready}),
    Endpoint("/models", {"GET": models}),
    Endpoint("/models/{name}", {"GET": model}),
    Endpoint("/models/{name}/interview", {"POST": interview}, is_slow=True),
    Endpoint("/models/{name}/page", {"GET": page}, is_slow=True),
    Endpoint("/", {"GET": home}, is_slow=True),
    Endpoint("/metrics", {"GET": metrics}, is_slow=True),
    Endpoint("/openapi.json", {"GET": openapi}),
    Endpoint("/v2", {"GET": v2_server}),
    Endpoint("/v2/health/live", {"GET": v2_live}),
    Endpoint("/v2/health/ready", {"GET": v2_ready}),
    Endpoint("/v2/models/{name}", {"GET": v2_model}),
    Endpoint("/v2/models/{name}/ready", {"GET": v2_model_ready}),
)


def _rows_reply(served: Served, fields: Mapping[str, Any], n_rows: int) -> Reply:
    return Reply(encode({**identity(served), **fields}), served=served, n_rows=n_rows)


def _require_json(request: Request) -> None:
    if request.media != JSON:
        raise RequestError(415, f"send {JSON}")
