"""Connections that hold nobody up: headers come within their time and size, or the connection is closed."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from baytree.serve.limits import ANSWER_SECONDS, HEADER_SECONDS, MOST_HEADER_BYTES


class Connection(H11Protocol):
    """uvicorn's connection, with a deadline until the headers of a request are there: uvicorn has none of its own."""

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._n_waiting = 0  # bytes of a request whose headers are not complete
        self._untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._drop)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            return self._stop_waiting()
        self._n_waiting += len(data)
        if self._n_waiting > MOST_HEADER_BYTES:
            return self._refuse(b"431 Request Header Fields Too Large", "the headers are longer than 64 kB")
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._drop)
        return None

    def pause_writing(self) -> None:
        """The client does not take its answer: it has some time to do so."""
        super().pause_writing()
        self._untaken = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._untaken is not None:
            self._untaken.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as HTTP is answered in the form of every other error."""
        self._refuse(b"400 Bad Request", "this is no HTTP request")

    def _refuse(self, status: bytes, sentence: str) -> None:
        if self.transport.is_closing():
            return
        body = b'{"error":"%s"}' % sentence.encode()
        head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % (status, len(body)) + body)
        self.transport.close()

    def _stop_waiting(self) -> None:
        self._n_waiting = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _drop(self) -> None:
        self._deadline = None
        self.transport.abort()
