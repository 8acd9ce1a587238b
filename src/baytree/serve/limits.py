"""Limits of the server on sizes, times and concurrency, and the errors for requests that exceed them."""

from __future__ import annotations

MOST_BYTES = 16 << 20  # bytes of a body

MOST_ROWS = 100_000

MOST_EXPLAINED = 10_000  # rows: an explanation is a hundred times as long as a row

MOST_CELLS = 2_000_000

MOST_VALUES = 2 * MOST_CELLS  # encoded values of a request, including missing columns and probabilities

MOST_LEDGER_LINES = 500_000  # contributions in all explanations: each takes about a kilobyte

MOST_TEXT = 4 * MOST_BYTES  # bytes of all strings of a body, where a value that is stored once may be in many rows

MOST_HEADER_BYTES = 64 << 10

HEADER_SECONDS = 10.0

BODY_SECONDS = 30.0

LEAST_RATE = 1000  # bytes per second of a body, after the time allowed for headers

ANSWER_SECONDS = 30.0  # until a client has read its response

STOP_SECONDS = 4  # until pending requests must be finished at shutdown

AT_ONCE = 64 << 10  # bytes: bodies up to this size are answered on the event loop

LARGE = 1 << 20  # bytes: larger bodies are answered one at a time

MOST_LARGE_BYTES = 48 << 20  # of all large bodies in memory

MOST_SENTENCE = 500  # characters of an error message

MOST_NAME = 60  # characters of a column name in an error message


class RequestError(Exception):
    """A request that is answered with an error: its HTTP status, and a message without values of the request."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status, self.sentence = status, sentence[:MOST_SENTENCE]


class ClientDisconnected(Exception):
    """The client disconnected before its request was complete."""


def named(column: str) -> str:
    """Return a column name as shown in errors."""
    return repr(column if len(column) <= MOST_NAME else column[:MOST_NAME] + "…")
