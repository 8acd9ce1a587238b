"""Endpoints of the server: the table of paths, methods and handlers, and the handlers themselves."""

# ruff: noqa: ARG001 - every route has the same signature

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from baytree.serve import inference_protocol, responses
from baytree.serve.batching import BatchQueue
from baytree.serve.json_body import columns_of
from baytree.serve.limits import MOST_EXPLAINED, MOST_LEDGER_LINES, MOST_ROWS, RequestError
from baytree.serve.models import Models, Served
from baytree.serve.monitoring import Log, Metrics, families, family
from baytree.serve.openapi import document
from baytree.serve.request_body import JSON, encoded, frame_of, read_table
from baytree.serve.responses import encode, identity, index

HTML, PROMETHEUS = "text/html; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8"


class ServerState(NamedTuple):
    """State that handlers read: the models, the metrics, the queue and the log."""

    models: Models
    metrics: Metrics
    together: BatchQueue
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


Answer = Callable[[ServerState, Request], Reply]

Soon = Callable[[ServerState, Request], Awaitable[Reply]]


async def predict_batched(serving: ServerState, asked: Request) -> Reply:
    """Predict a short JSON body on the event loop, together with other requests if it has few rows."""
    served = serving.models[asked.name]
    columns = columns_of(asked.body)
    predictions = await serving.together.predicted(served, columns)
    return _rows_reply(served, predictions, columns.n_rows)


def predict(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    frame = frame_of(served.wanted, asked.body, asked.media, MOST_ROWS)
    table = encoded(served.predictor, frame) if frame.n_rows else None
    served.watch.see_all(frame)
    return _rows_reply(served, responses.predictions(served, table), frame.n_rows)


def explain(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    table = read_table(served.predictor, served.wanted, asked.body, asked.media, MOST_EXPLAINED)
    n_columns = len(served.predictor.schema.columns)
    if table is not None and len(table) * n_columns > MOST_LEDGER_LINES:
        raise RequestError(
            413, f"send at most {MOST_LEDGER_LINES // n_columns:,} rows of this model to be explained in one request"
        )
    return _rows_reply(served, responses.explanations(served, table), 0 if table is None else len(table))


def interview(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    _only_json(asked)
    return _rows_reply(served, responses.question(served, asked.body), 0)


def infer(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    _only_json(asked)
    response, n_rows = inference_protocol.infer(served, asked.body)
    return Reply(encode(response), served=served, n_rows=n_rows)


def health(serving: ServerState, asked: Request) -> Reply:
    return Reply(b'{"status":"ok"}')


def ready(serving: ServerState, asked: Request) -> Reply:
    return Reply(encode({"status": "ready", "models": len(serving.models.names)}))


def models(serving: ServerState, asked: Request) -> Reply:
    descriptions = [
        {"name": served.name, "version": served.version, "kind": served.predictor.name} for served in serving.models
    ]
    return Reply(encode({"models": descriptions}))


def model(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    return Reply(encode(responses.description(served)), served=served)


def page(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    return Reply(served.page(), HTML, served)


def home(serving: ServerState, asked: Request) -> Reply:
    served = list(serving.models)
    return Reply(served[0].page() if len(served) == 1 else index(served), HTML)


def metrics(serving: ServerState, asked: Request) -> Reply:
    live = [((("model", served.name), ("version", served.version)), 1.0) for served in serving.models]
    info = family("baytree_model_info", "gauge", "Served models and their versions.", live)
    n_dropped = [((), float(serving.log.n_dropped))]
    dropped = family("baytree_log_lines_dropped_total", "counter", "Number of log lines that were dropped.", n_dropped)
    drifts = [(served.name, drift) for served in serving.models if (drift := served.watch.drift()) is not None]
    return Reply(serving.metrics.text([info, dropped, families(drifts)]).encode(), PROMETHEUS)


def openapi(serving: ServerState, asked: Request) -> Reply:
    return Reply(encode(document()))


def v2_server(serving: ServerState, asked: Request) -> Reply:
    return Reply(encode(inference_protocol.server()))


def v2_live(serving: ServerState, asked: Request) -> Reply:
    return Reply(b'{"live":true}')


def v2_ready(serving: ServerState, asked: Request) -> Reply:
    return Reply(b'{"ready":true}')


def v2_model(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    return Reply(encode(inference_protocol.model(served)), served=served)


def v2_model_ready(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    return Reply(encode({"name": served.name, "ready": True}), served=served)


class Endpoint(NamedTuple):
    """A path, its handlers by method, and whether they need a thread."""

    path: str
    answers: Mapping[str, Answer]
    is_slow: bool = False
    soon: Soon | None = None  # handler of short JSON bodies, on the event loop


ENDPOINTS = (
    Endpoint("/models/{name}/predict", {"POST": predict}, soon=predict_batched),
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


def _rows_reply(served: Served, told: Mapping[str, Any], n_rows: int) -> Reply:
    return Reply(encode({**identity(served), **told}), served=served, n_rows=n_rows)


def _only_json(asked: Request) -> None:
    if asked.media != JSON:
        raise RequestError(415, f"send {JSON}")
