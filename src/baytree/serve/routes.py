"""What can be asked, and which function answers: the whole surface of the server in one table."""

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
    """What routes read: the models, and what was counted."""

    models: Models
    metrics: Metrics
    together: BatchQueue
    log: Log


class Request(NamedTuple):
    """A request: the model that its path names, its body, and what that is."""

    name: str
    body: bytes
    media: str


class Reply(NamedTuple):
    """An answer: its bytes and what they are, and what the log tells of it."""

    body: bytes
    media: str = JSON
    served: Served | None = None
    n_rows: int = 0
    status: int = 200


Answer = Callable[[ServerState, Request], Reply]

Soon = Callable[[ServerState, Request], Awaitable[Reply]]


async def predict_batched(serving: ServerState, asked: Request) -> Reply:
    """Predictions of a short body: together with those of other requests where it has few rows, and without a thread."""
    served = serving.models[asked.name]
    columns = columns_of(asked.body)
    told = await serving.together.predicted(served, columns)
    return _rows_reply(served, told, columns.n_rows)


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
            413, f"send at most {MOST_LEDGER_LINES // n_columns:,} rows of this model to be explained at once"
        )
    return _rows_reply(served, responses.explanations(served, table), 0 if table is None else len(table))


def interview(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    _only_json(asked)
    return _rows_reply(served, responses.question(served, asked.body), 0)


def infer(serving: ServerState, asked: Request) -> Reply:
    served = serving.models[asked.name]
    _only_json(asked)
    told, n_rows = inference_protocol.infer(served, asked.body)
    return Reply(encode(told), served=served, n_rows=n_rows)


def health(serving: ServerState, asked: Request) -> Reply:
    return Reply(b'{"status":"ok"}')


def ready(serving: ServerState, asked: Request) -> Reply:
    return Reply(encode({"status": "ready", "models": len(serving.models.names)}))


def models(serving: ServerState, asked: Request) -> Reply:
    told = [{"name": served.name, "version": served.version, "kind": served.predictor.name} for served in serving.models]
    return Reply(encode({"models": told}))


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
    told = family("baytree_model_info", "gauge", "The models that are served, and their versions.", live)
    n_dropped = [((), float(serving.log.n_dropped))]
    dropped = family("baytree_log_lines_dropped_total", "counter", "Log lines that were not written.", n_dropped)
    drifts = [(served.name, drift) for served in serving.models if (drift := served.watch.drift()) is not None]
    return Reply(serving.metrics.text([told, dropped, families(drifts)]).encode(), PROMETHEUS)


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
    """A path, who answers it by which method, and whether that takes a thread of its own."""

    path: str
    answers: Mapping[str, Answer]
    is_slow: bool = False
    soon: Soon | None = None  # who answers short bodies of JSON instead


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
