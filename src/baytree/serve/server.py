"""The server process: its socket, signals, graceful shutdown, and the reloading of model files."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import uvicorn
from uvicorn.server import ServerState

from baytree.serve.app import App
from baytree.serve.connections import Connection, State
from baytree.serve.limits import MAX_HEADER_BYTES, SHUTDOWN_TIMEOUT
from baytree.serve.models import Models
from baytree.serve.monitoring import Log, LogHandler

RELOAD_CHECK_SECONDS = 1.0  # between two checks whether model files have changed; a check costs one stat call per file

# Time at shutdown in which a client with a keep-alive connection may still send its next request.
_SHUTDOWN_GRACE_SECONDS = 0.25

_MAX_QUEUED_CONNECTIONS = 4096  # backlog of the listening socket, so that a burst of clients is not refused

_MAX_ACCEPTED_PER_TURN = 4  # connections accepted per turn of the event loop; more would delay pending requests


def read_token(path: Path) -> str:
    """Read the token of a file, without surrounding whitespace."""
    token = path.read_text(encoding="utf-8").strip()
    if not token or not token.isascii() or any(letter.isspace() for letter in token):
        raise ValueError(f"{path}: contains no token; it must be one line of ASCII characters without spaces")
    return token


def run(
    paths: Iterable[Path],
    host: str,
    port: int,
    token: str | None,
    announce: Callable[[str], object],
    min_probability: float | None = None,
) -> None:
    """Serve until stopped by a signal; `announce` is called with the address once the server listens.

    Classes below `min_probability` are not predicted.
    """
    models, log = Models(paths, min_probability), Log()
    # uvicorn, asyncio and warnings would write to standard error directly, and could block
    logging.basicConfig(handlers=[LogHandler(log)], force=True)
    logging.captureWarnings(True)
    with _listening(host, port) as listener:
        address = listener.getsockname()
        shown = f"[{address[0]}]" if listener.family == socket.AF_INET6 else address[0]
        asyncio.run(_serve(models, log, token, listener, lambda: announce(f"http://{shown}:{address[1]}")))


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open a listening socket with an explicit protocol: without it asyncio keeps Nagle's algorithm, 40 ms a response."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        yield listener


def _accept_all(listener: socket.socket) -> Iterator[socket.socket]:
    """Yield the connections that the system has queued for a listener."""
    while True:
        try:
            yield listener.accept()[0]
        except OSError:
            return


class _Server(uvicorn.Server):
    """uvicorn's server without its signal handlers, which would end the process by the signal that stopped it."""

    def __init__(self, config: uvicorn.Config, app: App):
        super().__init__(config)
        self._state = State()
        self.server_state: ServerState = self._state
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, with a longer backlog: asyncio accepts as many connections per turn as its own backlog."""
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(_MAX_QUEUED_CONNECTIONS)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Stop accepting, and let pending requests finish."""
        self._app.is_stopping = self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer every request that has reached this machine, each with `Connection: close`, and close idle connections.

        uvicorn closes immediately: clients whose connection was not yet accepted, or whose next request was not yet read,
        would be reset.
        """
        queued = [connection for listener in sockets or [] for connection in _accept_all(listener)]
        for server in self.servers:
            server.close()
        loop, config = asyncio.get_running_loop(), self.config
        for connection in queued:
            protocol = Connection(config=config, server_state=self._state, app_state={}, _loop=loop)
            await loop.connect_accepted_socket(lambda protocol=protocol: protocol, connection)
        deadline = loop.time() + _SHUTDOWN_GRACE_SECONDS
        while self.server_state.connections and loop.time() < deadline:
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)


async def _serve(
    models: Models, log: Log, token: str | None, listener: socket.socket, announce: Callable[[], object]
) -> None:
    app = App(models, log, token)
    server = _Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_MAX_ACCEPTED_PER_TURN,
            h11_max_incomplete_event_size=2 * MAX_HEADER_BYTES,
            timeout_graceful_shutdown=SHUTDOWN_TIMEOUT,
        ),
        app,
    )
    reload_requested = asyncio.Event()
    _on_signal("SIGTERM", server.stop)
    _on_signal("SIGINT", server.stop)
    _on_signal("SIGHUP", reload_requested.set)
    watching = asyncio.create_task(_watch(app, reload_requested))
    serving = asyncio.create_task(server.serve([listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.001)
    for served in models:
        log.write("loaded", model=served.name, version=served.version)
    gc.freeze()  # loaded objects stay alive: exclude them from garbage collection
    announce()
    await serving
    watching.cancel()


def _on_signal(name: str, act: Callable[[], object]) -> None:
    """Register a signal handler, if the system has the signal."""
    number = getattr(signal, name, None)
    if number is None:
        return
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, act)
    except NotImplementedError:  # event loops on Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(act))


async def _watch(app: App, reload_requested: asyncio.Event) -> None:
    """Reload files that have changed, or all of them on request."""
    loop, models = asyncio.get_running_loop(), app.state.models
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reload_requested.wait(), RELOAD_CHECK_SECONDS)
        names = models.names if reload_requested.is_set() else models.changed_models()
        reload_requested.clear()
        for name in names:
            outcome = await loop.run_in_executor(app.threads, _reload, models, name)
            app.state.metrics.reloads[name, outcome] += 1
            app.log.write("reload", model=name, version=models[name].version, outcome=outcome)


def _reload(models: Models, name: str) -> str:
    try:
        return "changed" if models.reload(name) else "same"
    except Exception:  # a file that is gone, damaged or half written: the old model stays
        return "failed"
