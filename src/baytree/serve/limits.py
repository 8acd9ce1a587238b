"""How much a client may send, how long it may take, and how it is told that this was too much."""

from __future__ import annotations

MOST_BYTES = 16 << 20  # of a body

MOST_ROWS = 100_000

MOST_EXPLAINED = 10_000  # rows: a ledger is a hundred times as long as a row

MOST_CELLS = 2_000_000

MOST_VALUES = 2 * MOST_CELLS  # that rows have as the model sees them: columns that were left out, and probabilities, too

MOST_LEDGER_LINES = 500_000  # of explanations: a line takes about a kilobyte

MOST_TEXT = 4 * MOST_BYTES  # bytes of all strings of a body, where a value that is stored once stands in many rows

MOST_HEADER_BYTES = 64 << 10

HEADER_SECONDS = 10.0

BODY_SECONDS = 30.0

LEAST_RATE = 1000  # bytes a second, after the time that headers may take

ANSWER_SECONDS = 30.0  # until a client has taken its answer

STOP_SECONDS = 4  # until what was started must be finished

AT_ONCE = 64 << 10  # bytes of a body that is answered without a thread of its own

LARGE = 1 << 20  # bytes from which on bodies wait for each other

MOST_LARGE_BYTES = 48 << 20  # of all large bodies that are held at once

MOST_SENTENCE = 500  # letters of an error

MOST_NAME = 60  # letters of a column's name in an error


class RequestError(Exception):
    """A request that is answered with an error: its status, and a sentence without anything of the request's values."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status, self.sentence = status, sentence[:MOST_SENTENCE]


class ClientDisconnected(Exception):
    """The client has left before its request was whole."""


def named(column: str) -> str:
    """A column's name as an error shows it."""
    return repr(column if len(column) <= MOST_NAME else column[:MOST_NAME] + "…")
