"""HTTP connections with deadlines: a client that sends too slowly or too much is disconnected.

Headers, bodies and the reading of the response have deadlines; a request that has arrived completely needs no timer.
"""

from __future__ import annotations

import asyncio
import select
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from baytree.serve.limits import BODY_TIMEOUT, HEADER_TIMEOUT, MAX_HEADER_BYTES, MIN_BODY_BYTES_PER_SECOND, RESPONSE_TIMEOUT

# Between two closings while requests are being answered: closing takes as long as a response.
_CLOSE_INTERVAL_SECONDS = 0.001


class State(ServerState):
    """State that all connections of a server share."""

    def __init__(self) -> None:
        super().__init__()
        self.closings = CloseQueue(self.tasks)


class CloseQueue:
    """Closes late clients one at a time, after the requests that are being answered.

    Closing a socket takes about as long as a small response, and clients that connected together are late together.
    """

    def __init__(self, answering: set[asyncio.Task[None]]):
        self._answering = answering
        self._pending: deque[Callable[[], None]] = deque()

    def add(self, close: Callable[[], None]) -> None:
        self._pending.append(close)
        if len(self._pending) == 1:
            self._schedule()

    def _schedule(self) -> None:
        asyncio.get_running_loop().call_later(_CLOSE_INTERVAL_SECONDS if self._answering else 0.0, self._close_one)

    def _close_one(self) -> None:
        close = self._pending.popleft()
        if self._pending:
            self._schedule()
        close()


class Connection(H11Protocol):
    """uvicorn's connection, with deadlines for receiving a request and for the client to read its response."""

    def __init__(self, *given: Any, server_state: State, **named: Any):
        super().__init__(*given, server_state=server_state, **named)
        self._closings = server_state.closings
        self._deadline: asyncio.TimerHandle | None = None
        self._wait_start = 0.0
        self._n_headers = 0  # bytes of a request whose headers are incomplete
        self._n_body = 0  # bytes of a request whose headers are complete
        self._is_body = False  # whether the rest of a body is awaited
        self._read_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore
        super().connection_made(transport)
        self._wait_until(HEADER_TIMEOUT)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.is_idle:
            self._wait_for_headers(len(data))
        elif self.cycle.more_body:
            self._wait_for_body(len(data))
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Continue with a pipelined request; its body has a deadline like any other."""
        super().on_response_complete()
        if not self.is_idle and self.cycle.more_body:
            self._wait_for_body(0)

    @property
    def is_idle(self) -> bool:
        """Whether no request with complete headers waits for its response."""
        return self.cycle is None or self.cycle.response_complete

    def shutdown(self) -> None:
        """Close the connection, unless a request is being answered or has arrived unread."""
        if not (self.is_idle and self._has_unread()):
            super().shutdown()

    def _has_unread(self) -> bool:
        descriptor = self.transport.get_extra_info("socket").fileno()
        if descriptor < 0:
            return False
        if not hasattr(select, "poll"):  # Windows, where `select` accepts any descriptor
            return bool(select.select([descriptor], [], [], 0)[0])
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))

    def pause_writing(self) -> None:
        """Start the deadline for a client that does not read its response."""
        super().pause_writing()
        self._read_deadline = self.loop.call_later(RESPONSE_TIMEOUT, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._read_deadline is not None:
            self._read_deadline.cancel()
            self._read_deadline = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._read_deadline is not None:
            self._read_deadline.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with a JSON error like every other error."""
        self._send_error(b"400 Bad Request", "this is not an HTTP request")

    def _wait_for_headers(self, n: int) -> None:
        self._n_headers += n
        if self._n_headers > MAX_HEADER_BYTES:
            self._send_error(b"431 Request Header Fields Too Large", "the headers are longer than 64 kB")
        elif self._deadline is None:
            self._wait_until(HEADER_TIMEOUT)

    def _wait_for_body(self, n: int) -> None:
        """Give a body ten seconds, plus one second per kilobyte received, up to half a minute."""
        if not self._is_body:
            self._stop_waiting()
        self._is_body = True
        self._n_body += n
        if self._deadline is None:
            self._wait_until(HEADER_TIMEOUT)

    def _wait_until(self, seconds: float) -> None:
        if not self.transport.is_closing():
            self._wait_start = self.loop.time()
            self._deadline = self.loop.call_later(seconds, self._on_timeout)

    def _on_timeout(self) -> None:
        self._deadline = None
        if self._is_body and self._has_time():
            self._deadline = self.loop.call_later(1.0, self._on_timeout)
        elif self._is_body:
            self._closings.add(partial(self._send_error, b"408 Request Timeout", "the body arrives too slowly"))
        else:
            self._closings.add(self.transport.abort)

    def _has_time(self) -> bool:
        """Whether the client is within its deadline, or the server has paused reading."""
        elapsed = self.loop.time() - self._wait_start
        return self.flow.read_paused or elapsed < min(
            BODY_TIMEOUT, HEADER_TIMEOUT + self._n_body / MIN_BODY_BYTES_PER_SECOND
        )

    def _send_error(self, status: bytes, message: str) -> None:
        if self.transport.is_closing():
            return
        body = b'{"error":"%s"}' % message.encode()
        head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % (status, len(body)) + body)
        self.transport.close()

    def _stop_waiting(self) -> None:
        self._n_headers = self._n_body = 0
        self._is_body = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
