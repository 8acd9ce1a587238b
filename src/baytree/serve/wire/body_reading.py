"""The body of a request, counted while it is read: not too long, not too slow, and not all large ones at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from baytree.serve.limits import BODY_SECONDS, LARGE, MOST_BYTES, MOST_LARGE_BYTES, Gone, Refusal

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_TOO_LONG = f"the body is longer than {MOST_BYTES >> 20} MiB; send the rows in several requests"


class Room:
    """Memory for large bodies: who needs more than is left waits, first come, first served."""

    def __init__(self, size: int = MOST_LARGE_BYTES):
        self.left, self._turn = size, asyncio.Condition()

    async def take(self, size: int) -> None:
        """Waits until there is so much room, and takes it."""
        async with self._turn:
            await self._turn.wait_for(lambda: self.left >= size)
            self.left -= size

    async def give(self, size: int) -> None:
        """Gives room back."""
        async with self._turn:
            self.left += size
            self._turn.notify_all()


class Held:
    """The room that one request holds while it is read and answered."""

    def __init__(self, room: Room):
        self._room, self.size = room, 0

    async def give_back(self) -> None:
        """Gives all of it back."""
        await self._room.give(self.size)
        self.size = 0

    async def grow(self, announced: int | None) -> None:
        """Takes room for a large body, once; a client that must wait too long is told so."""
        if self.size:
            return
        size = announced or MOST_BYTES
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._room.take(size)
        except TimeoutError:
            raise Refusal(429, "too many large bodies at once; try again") from None
        self.size = size


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, held: Held) -> bytes:
    """All bytes of a body. How long it may take to come is the connection's affair."""
    announced = _announced(headers)
    if announced is not None and announced > LARGE:
        await held.grow(announced)
    message = await _next(receive)
    if not message.get("more_body"):
        return _within(message.get("body", b""))
    parts = [message.get("body", b"")]
    length = len(parts[0])
    while message.get("more_body"):
        if length > LARGE:
            await held.grow(announced)
        message = await _next(receive)
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > MOST_BYTES:
            raise Refusal(413, _TOO_LONG)
    return b"".join(parts)


def _announced(headers: Mapping[bytes, bytes]) -> int | None:
    if b"content-encoding" in headers:
        raise Refusal(415, "send the body without a content encoding")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 12 or int(length) > MOST_BYTES):
        raise Refusal(413, _TOO_LONG)
    return int(length) if length.isdigit() else None


def _within(body: bytes) -> bytes:
    if len(body) > MOST_BYTES:
        raise Refusal(413, _TOO_LONG)
    return body


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] != "http.request":
        raise Gone
    return message
