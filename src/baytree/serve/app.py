"""ASGI application of the server: authenticate, route, read the body, answer, log and count each request.

Short bodies are answered on the event loop, others by a pool of threads, and large ones by a single thread.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from baytree.serve.batching import BatchQueue
from baytree.serve.limits import LARGE_BODY_BYTES, MAX_EVENT_LOOP_BYTES, ClientDisconnected, RequestError
from baytree.serve.models import Models
from baytree.serve.monitoring import Log, Metrics
from baytree.serve.request_body import JSON, MemoryBudget, MemoryLease, read_body
from baytree.serve.responses import encode
from baytree.serve.routes import ENDPOINTS, Endpoint, Reply, Request, ServerState

_OPEN = ("/health", "/v2/health/live")  # no token needed, since health checks have none

_CLOSES = {400, 408, 413, 429}  # the rest of the body is not read, so the connection is closed


class App:
    """The ASGI application."""

    def __init__(self, models: Models, log: Log, token: str | None = None):
        self.is_local = token is None  # an address other than loopback requires a token
        self.is_stopping = False
        self.state, self.log, self.token = ServerState(models, Metrics(), BatchQueue(), log), log, token
        self.memory_budget = MemoryBudget()
        self.threads = ThreadPoolExecutor(2, "answer")
        # bodies of megabytes are handled one at a time, because they need much memory
        self.large = ThreadPoolExecutor(1, "large")
        not_found = _EndpointHandler(self, Endpoint("other", {}))
        routes = [Route(endpoint.path, _EndpointHandler(self, endpoint)) for endpoint in ENDPOINTS]
        self.router = Router(routes, redirect_slashes=False, default=not_found)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.router(scope, receive, send)

    def is_allowed(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether the path needs no token or the request has the right one."""
        if self.token is None or path in _OPEN:
            return True
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        return kind.lower() == b"bearer" and hmac.compare_digest(given.strip(), self.token.encode())


@lru_cache(256)
def is_local_name(host: bytes) -> bool:
    """Return whether a `Host` header names this machine.

    Any web site may point its own name at this address (DNS rebinding); the browser then sends that name.

    >>> is_local_name(b"localhost:8080"), is_local_name(b"[::1]"), is_local_name(b"127.0.0.1.example.org")
    (True, True, False)
    """
    name = re.sub(r":\d*$", "", host.decode("latin-1").strip())
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return is_loopback(name.lower())


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _EndpointHandler:
    """Handler of one path: reads the request, has it answered, and logs it."""

    def __init__(self, app: App, endpoint: Endpoint):
        self.app, self.endpoint = app, endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, lease = time.perf_counter(), MemoryLease(self.app.memory_budget)
        try:
            reply = await self._reply(scope, receive, lease)
        except ClientDisconnected:
            return self._log_request(scope, Reply(b"", status=499), 0, started)
        finally:
            if lease.size:
                await lease.release()
        await _send(send, reply, self.endpoint, self.app.is_stopping)
        return self._log_request(scope, reply, len(reply.body), started)

    async def _reply(self, scope: Scope, receive: Receive, lease: MemoryLease) -> Reply:
        headers = dict(scope["headers"])
        try:
            return await self._dispatch(scope, headers, receive, lease)
        except ClientDisconnected:
            raise
        except RequestError as refusal:
            return _error_reply(refusal)
        except asyncio.CancelledError:  # the server stops while the client is still sending
            return _error_reply(RequestError(408, "the server is shutting down"))
        except MemoryError:
            return _error_reply(RequestError(413, "not enough memory for these rows; send fewer rows"))
        except Exception as error:
            traceback = error.__traceback__
            while traceback is not None and traceback.tb_next is not None:
                traceback = traceback.tb_next
            location = f"{traceback.tb_frame.f_code.co_name}:{traceback.tb_lineno}" if traceback else ""
            self.app.log.write("error", kind=type(error).__name__, place=location, route=self.endpoint.path)
            return _error_reply(RequestError(500, "internal error; see the log of the server"))

    async def _dispatch(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, lease: MemoryLease) -> Reply:
        app, method = self.app, scope["method"]
        # request smuggling: a proxy may use the other length
        if b"transfer-encoding" in headers and b"content-length" in headers:
            raise RequestError(400, "send either Content-Length or Transfer-Encoding: chunked, not both")
        if not app.is_allowed(scope["path"], headers):
            raise RequestError(401, "the token is missing or wrong; send Authorization: Bearer TOKEN")
        if not self.endpoint.handlers:
            raise RequestError(404, "there is no such path; see GET /openapi.json")
        answer = self.endpoint.handlers.get("GET" if method == "HEAD" else method)
        if answer is None:
            raise RequestError(405, f"this path supports {', '.join(self.endpoint.handlers)}")
        body = await read_body(headers, receive, lease) if method == "POST" else b""
        if app.is_local and not is_local_name(headers.get(b"host", b"localhost")):
            raise RequestError(
                421,
                "the Host header must be localhost or 127.0.0.1; to allow other names, start the server with --token-file",
            )
        request = Request(scope["path_params"].get("name", ""), body, _media(headers))
        if len(body) <= MAX_EVENT_LOOP_BYTES and not self.endpoint.is_slow:
            if self.endpoint.batched_handler is not None and request.media == JSON:
                return await self.endpoint.batched_handler(app.state, request)
            return answer(app.state, request)
        threads = app.large if len(body) > LARGE_BODY_BYTES else app.threads
        return await asyncio.get_running_loop().run_in_executor(threads, answer, app.state, request)

    def _log_request(self, scope: Scope, reply: Reply, length: int, started: float) -> None:
        seconds, served = time.perf_counter() - started, reply.served
        method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD") else "other"
        self.app.state.metrics.count(self.endpoint.path, method, reply.status, seconds)
        if served is not None:
            self.app.state.metrics.rows[served.name] += reply.n_rows
        self.app.log.write(
            "request",
            method=method,
            route=self.endpoint.path,
            status=reply.status,
            model=served.name if served else None,
            version=served.version if served else None,
            rows=reply.n_rows,
            bytes=length,
            ms=round(seconds * 1e3, 3),
        )


async def _send(send: Send, reply: Reply, endpoint: Endpoint, is_last: bool) -> None:
    headers = [
        (b"content-type", reply.media.encode()),
        (b"content-length", b"%d" % len(reply.body)),
        (b"x-content-type-options", b"nosniff"),
    ]
    if reply.status in _CLOSES or is_last:
        headers.append((b"connection", b"close"))
    if reply.status == 405:
        headers.append(
            (b"allow", ", ".join([*endpoint.handlers, *(["HEAD"] if "GET" in endpoint.handlers else [])]).encode())
        )
    if reply.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def _error_reply(error: RequestError) -> Reply:
    return Reply(encode({"error": error.message}), status=error.status)


def _media(headers: Mapping[bytes, bytes]) -> str:
    """Return the content type without its parameters; JSON if there is none."""
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    return media.decode("latin-1") or JSON
