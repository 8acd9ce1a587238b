"""What the server tells while it runs: a line of JSON for each request and event, without anything of the rows."""

from __future__ import annotations

import logging
import os
import select
import sys
from datetime import UTC, datetime

import msgspec


class Log:
    """Write lines to a file descriptor, standard error by default, and never wait for it.

    A line that would have to wait (a pipe that nobody reads, a stopped terminal) or cannot be written (a closed pipe, a full
    disk) is dropped and counted. A line is shorter than PIPE_BUF, so a pipe that is writable takes it whole.
    """

    def __init__(self, descriptor: int | None = None):
        self._descriptor = sys.stderr.fileno() if descriptor is None else descriptor
        self.n_dropped = 0
        self._poll = None
        if hasattr(select, "poll"):  # Windows has none
            self._poll = select.poll()
            self._poll.register(self._descriptor, select.POLLOUT)

    def write(self, event: str, **told: str | int | float | None) -> None:
        """One line: the time, what happened, and what is known of it."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        known = {key: value for key, value in told.items() if value is not None}
        line = msgspec.json.encode({"time": now, "event": event, **known}) + b"\n"
        try:
            if self._poll is None or self._poll.poll(0):
                os.write(self._descriptor, line)
                return
        except OSError:
            pass
        self.n_dropped += 1


class LogHandler(logging.Handler):
    """Send records of Python's logging to a `Log`: only where they come from, since their text may hold values."""

    def __init__(self, log: Log):
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        place = f"{record.module}:{record.lineno}"
        self._log.write("message", level=record.levelname.lower(), logger=record.name, place=place)
