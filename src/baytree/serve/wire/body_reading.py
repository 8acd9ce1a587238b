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
    """Memory for large bodies, by what has arrived of them: who needs more than is left waits.

    The body that came first always finds room, so that bodies which wait for each other cannot all stand still.
    """

    def __init__(self, size: int = MOST_LARGE_BYTES):
        self._others = size - MOST_BYTES  # for all bodies but the first
        self._sizes: dict[Held, int] = {}  # in the order in which they became large
        self._turn = asyncio.Condition()

    async def take(self, held: Held, size: int) -> None:
        """Wait until a request may hold so many bytes."""
        async with self._turn:
            await self._turn.wait_for(lambda: self._fits(held, size))
            self._sizes[held] = size

    async def give_back(self, held: Held) -> None:
        """Free what a request holds."""
        async with self._turn:
            self._sizes.pop(held, None)
            self._turn.notify_all()

    def _fits(self, held: Held, size: int) -> bool:
        first = next(iter(self._sizes), held)
        others = sum(own for each, own in self._sizes.items() if each is not first and each is not held)
        return held is first or others + size <= self._others


class Held:
    """The room that one request holds while it is read and answered."""

    def __init__(self, room: Room):
        self._room, self.size = room, 0

    async def give_back(self) -> None:
        """Gives all of it back."""
        await self._room.give_back(self)
        self.size = 0

    async def grow(self, size: int) -> None:
        """Takes room for what has come of a large body; a client that must wait too long is told so."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._room.take(self, size)
        except TimeoutError:
            raise Refusal(429, "too many large bodies at once; try again") from None
        self.size = size


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, held: Held) -> bytes:
    """All bytes of a body. How long it may take to come is the connection's affair."""
    _check_headers(headers)
    message = await _next(receive)
    if not message.get("more_body"):
        return _within(message.get("body", b""))
    parts = [message.get("body", b"")]
    length = len(parts[0])
    while message.get("more_body"):
        message = await _next(receive)
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > MOST_BYTES:
            raise Refusal(413, _TOO_LONG)
        if length > LARGE:
            await held.grow(length)
    return b"".join(parts)


def _check_headers(headers: Mapping[bytes, bytes]) -> None:
    if b"content-encoding" in headers:
        raise Refusal(415, "send the body without a content encoding")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 12 or int(length) > MOST_BYTES):
        raise Refusal(413, _TOO_LONG)


def _within(body: bytes) -> bytes:
    if len(body) > MOST_BYTES:
        raise Refusal(413, _TOO_LONG)
    return body


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] != "http.request":
        raise Gone
    return message
