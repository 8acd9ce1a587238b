"""Limits of the server on sizes, times and concurrency, and the errors for requests that exceed them."""

from __future__ import annotations

# Size of one request. Decoded values take many times the bytes of a body, so rows and cells are counted before decoding.

MAX_BODY_BYTES = 16 << 20

MAX_ROWS = 100_000

MAX_EXPLAINED_ROWS = 10_000  # fewer than MAX_ROWS: an explanation is about a hundred times as long as a row

MAX_CELLS = 2_000_000

MAX_ENCODED_VALUES = 2 * MAX_CELLS  # of a request, including missing columns and probabilities

MAX_CONTRIBUTIONS = 500_000  # in all explanations of a request: each takes about a kilobyte of memory

MAX_STRING_BYTES = 4 * MAX_BODY_BYTES  # all strings of a request, since a value that is stored once may occur in many rows

MAX_HEADER_BYTES = 64 << 10

# Deadlines, in seconds. Longer ones help slow clients; each waiting client holds a connection.

HEADER_TIMEOUT = 10.0

BODY_TIMEOUT = 30.0

MIN_BODY_BYTES_PER_SECOND = 1000  # speed at which a body must arrive once HEADER_TIMEOUT has passed

RESPONSE_TIMEOUT = 30.0  # until a client has read its response

SHUTDOWN_TIMEOUT = 4  # until pending requests must be answered at shutdown: the process ends within five seconds

# Concurrency by size of the body: short bodies avoid the change to a thread, and large ones share a memory budget.

MAX_EVENT_LOOP_BYTES = 64 << 10  # longer bodies would block the event loop noticeably

LARGE_BODY_BYTES = 1 << 20  # larger bodies are answered one at a time

MAX_LARGE_BODIES_BYTES = 48 << 20  # all large bodies in memory: three of maximum size

# Length of error messages, which contain names that a client has sent.

MAX_ERROR_CHARACTERS = 500

MAX_NAME_CHARACTERS = 60


class RequestError(Exception):
    """A request that is answered with an error: its HTTP status, and a message without values of the request."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status, self.message = status, message[:MAX_ERROR_CHARACTERS]


class ClientDisconnected(Exception):
    """The client disconnected before its request was complete."""


def shown_name(column: str) -> str:
    """Return a column name as shown in errors."""
    return repr(column if len(column) <= MAX_NAME_CHARACTERS else column[:MAX_NAME_CHARACTERS] + "…")
