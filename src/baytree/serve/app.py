"""From a request to an answer: the token, the route, the body, the function that answers, the log and the counts."""

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
from baytree.serve.limits import AT_ONCE, LARGE, ClientDisconnected, RequestError
from baytree.serve.models import Models
from baytree.serve.monitoring import Log, Metrics
from baytree.serve.request_body import JSON, MemoryBudget, MemoryLease, read_body
from baytree.serve.responses import encode
from baytree.serve.routes import ENDPOINTS, Endpoint, Reply, Request, ServerState

_OPEN = ("/health", "/v2/health/live")  # need no token: whoever looks after the process has none

_CLOSES = {400, 408, 413, 429}  # the rest of the body may never come, and nobody wants it


class App:
    """The server as an ASGI application."""

    def __init__(self, models: Models, log: Log, token: str | None = None):
        self.is_local = token is None  # an address that others reach needs a token
        self.is_stopping = False
        self.serving, self.log, self.token = ServerState(models, Metrics(), BatchQueue(), log), log, token
        self.room = MemoryBudget()
        self.threads = ThreadPoolExecutor(2, "answer")
        self.large = ThreadPoolExecutor(1, "large")  # bodies of megabytes wait for each other: they take much memory
        nowhere = _EndpointHandler(self, Endpoint("other", {}))
        routes = [Route(way.path, _EndpointHandler(self, way)) for way in ENDPOINTS]
        self.router = Router(routes, redirect_slashes=False, default=nowhere)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.router(scope, receive, send)

    def is_allowed(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Whether the token is right, or none is needed."""
        if self.token is None or path in _OPEN:
            return True
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        return kind.lower() == b"bearer" and hmac.compare_digest(given.strip(), self.token.encode())


@lru_cache(256)
def is_local_name(host: bytes) -> bool:
    """Whether a `Host` header names this machine.

    A page of a stranger may let its own name point here (DNS rebinding); then the browser sends that name.

    >>> is_local_name(b"localhost:8080"), is_local_name(b"[::1]"), is_local_name(b"127.0.0.1.example.org")
    (True, True, False)
    """
    name = re.sub(r":\d*$", "", host.decode("latin-1").strip())
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return is_loopback(name.lower())


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _EndpointHandler:
    """One path: reads the request, has it answered, tells of it."""

    def __init__(self, app: App, way: Endpoint):
        self.app, self.way = app, way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, held = time.perf_counter(), MemoryLease(self.app.room)
        try:
            reply = await self._replied(scope, receive, held)
        except ClientDisconnected:
            return self._tell(scope, Reply(b"", status=499), 0, started)
        finally:
            if held.size:
                await held.give_back()
        await _send(send, reply, self.way, self.app.is_stopping)
        return self._tell(scope, reply, len(reply.body), started)

    async def _replied(self, scope: Scope, receive: Receive, held: MemoryLease) -> Reply:
        headers = dict(scope["headers"])
        try:
            return await self._answered(scope, headers, receive, held)
        except ClientDisconnected:
            raise
        except RequestError as refusal:
            return _refused(refusal)
        except asyncio.CancelledError:  # the server stops, and the client is still sending
            return _refused(RequestError(408, "the server stops"))
        except MemoryError:
            return _refused(RequestError(413, "there is not enough memory for these rows; send fewer"))
        except Exception as error:
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            place = f"{where.tb_frame.f_code.co_name}:{where.tb_lineno}" if where else ""
            self.app.log.write("error", kind=type(error).__name__, place=place, route=self.way.path)
            return _refused(RequestError(500, "this should not happen; the log of the server says where"))

    async def _answered(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, held: MemoryLease) -> Reply:
        app, method = self.app, scope["method"]
        if b"transfer-encoding" in headers and b"content-length" in headers:  # a proxy may take the other one
            raise RequestError(400, "give the length of the body once: Content-Length, or Transfer-Encoding: chunked")
        if not app.is_allowed(scope["path"], headers):
            raise RequestError(401, "give the token of this server: Authorization: Bearer TOKEN")
        if not self.way.answers:
            raise RequestError(404, "there is no such path; see GET /openapi.json")
        answer = self.way.answers.get("GET" if method == "HEAD" else method)
        if answer is None:
            raise RequestError(405, f"this path takes {', '.join(self.way.answers)}")
        body = await read_body(headers, receive, held) if method == "POST" else b""
        if app.is_local and not is_local_name(headers.get(b"host", b"localhost")):
            raise RequestError(
                421, "this server answers as localhost or 127.0.0.1; for other names start it with a --token-file"
            )
        asked = Request(scope["path_params"].get("name", ""), body, _media(headers))
        if len(body) <= AT_ONCE and not self.way.is_slow:
            if self.way.soon is not None and asked.media == JSON:
                return await self.way.soon(app.serving, asked)
            return answer(app.serving, asked)
        threads = app.large if len(body) > LARGE else app.threads
        return await asyncio.get_running_loop().run_in_executor(threads, answer, app.serving, asked)

    def _tell(self, scope: Scope, reply: Reply, length: int, started: float) -> None:
        seconds, served = time.perf_counter() - started, reply.served
        method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD") else "other"
        self.app.serving.metrics.count(self.way.path, method, reply.status, seconds)
        if served is not None:
            self.app.serving.metrics.rows[served.name] += reply.n_rows
        self.app.log.write(
            "request",
            method=method,
            route=self.way.path,
            status=reply.status,
            model=served.name if served else None,
            version=served.version if served else None,
            rows=reply.n_rows,
            bytes=length,
            ms=round(seconds * 1e3, 3),
        )


async def _send(send: Send, reply: Reply, way: Endpoint, is_last: bool) -> None:
    headers = [
        (b"content-type", reply.media.encode()),
        (b"content-length", b"%d" % len(reply.body)),
        (b"x-content-type-options", b"nosniff"),
    ]
    if reply.status in _CLOSES or is_last:
        headers.append((b"connection", b"close"))
    if reply.status == 405:
        headers.append((b"allow", ", ".join([*way.answers, *(["HEAD"] if "GET" in way.answers else [])]).encode()))
    if reply.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def _refused(refusal: RequestError) -> Reply:
    return Reply(encode({"error": refusal.sentence}), status=refusal.status)


def _media(headers: Mapping[bytes, bytes]) -> str:
    """The content type without its parameters; JSON where none is given."""
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    return media.decode("latin-1") or JSON
